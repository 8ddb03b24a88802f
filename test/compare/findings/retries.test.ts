import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Finding } from '../../../src/compare/findings/finding.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { listedFindings } from '../../../src/explain/listed-findings.ts'
import { AFTER, BEFORE } from '../../../src/flows/flow-set.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { reportMarkdown } from '../../../src/views/report/report.ts'
import { firstQuick } from '../../first-quick.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'
import { call, failsForCaller, record, spansOf, tries } from '../../worlds.ts'

interface Shop {
  readonly offset: number
  /** Share of attempts that fail. */
  readonly failing: number
  /** Most attempts of each call of `pay`, and of each call of `order`. */
  readonly attempts: readonly [pay: number, order: number]
  readonly requests?: number
  /** Requests that did not fail are kept by this chance. */
  readonly kept?: number
  /** So many requests pause at `web` for 20 ms. */
  readonly paused?: number
}

/** `web BUY` calls `order PLACE`, which calls `pay CHARGE`, each again after a failure. */
function shop({ offset, failing, attempts, requests = 150, kept = 1, paused = 0 }: Shop) {
  const calls = { web: 0, order: 0 }
  const failures = { web: 0, order: 0 }
  const given = { seed: offset + 1, requests, everyUs: 1e5, fromUs: offset * 1e9 }
  const traces = record(given, (r) => {
    const ownUs = () => 100 + r.integer(40)
    const orders = tries(attempts[1], () => {
      const paid = tries(attempts[0], () => call('pay', ownUs(), { fails: r.is(failing) }))
      return call('order', ownUs(), { fails: paid.every(failsForCaller) }, paid)
    })
    const fails = orders.every(failsForCaller)
    const probability = fails ? 1 : kept
    if (!r.is(probability)) return false
    calls.web += 1 / probability
    calls.order += orders.length / probability
    failures.web += Number(fails) / probability
    failures.order += orders.filter(failsForCaller).length / probability
    const pausedUs = r.index < paused ? 20_000 : 0
    return call('web', [ownUs(), pausedUs], { fails, probability }, orders)
  })
  return { traces, calls, failures }
}

const compared = (before: Omit<Shop, 'offset'>, after: Omit<Shop, 'offset'>) => {
  const [first, second] = [shop({ ...before, offset: 0 }), shop({ ...after, offset: 1 })]
  return { comparison: compare(first.traces, second.traces), periods: [first, second] as const }
}

test('what failures and the calls made again after them add is counted once', () => {
  const requests = 600
  const { comparison } = compared(
    { failing: 0, attempts: [1, 1], requests },
    { failing: 0.08, attempts: [3, 1], requests, paused: 3 },
  )
  const { findings, observedChangeUs } = comparison.findings
  const ofRetriesUs = observedChangeUs - 3 * 20_000
  const [first] = findings
  expect(first?.title).toMatch(/^pay/)
  expect(first?.consequences.some(({ title }) => title.includes('retries'))).toBe(true)
  expect(first!.contributionUs / ofRetriesUs).toBeGreaterThan(0.8)
  expect(first!.contributionUs / ofRetriesUs).toBeLessThan(1.2)
})

test('a caller fails once for each of its calls, however many of its attempts fail, and shares are at most 1', () => {
  let told = 0
  const share = fc.constantFrom(0, 0.05, 0.6, 0.9, 1)
  const most = fc.integer({ min: 1, max: 4 })
  const shops = fc.record({
    failing: share,
    attempts: fc.tuple(most, most),
    kept: fc.constantFrom(1, 0.3),
  })
  fc.assert(
    fc.property(shops, shops, (before, after) => {
      const { comparison, periods } = compared(before, after)
      const { findings } = comparison.findings
      for (const { calls } of findings.flatMap((one) => [one, ...one.consequences])) {
        // Of repeats, all that are made are counted, not whether any is.
        for (const { kind, of, made, chances } of calls.filter((one) => one.kind !== 'repeats')) {
          for (const period of [BEFORE, AFTER]) {
            expect(made[period]).toBeGreaterThanOrEqual(0)
            expect(made[period]).toBeLessThanOrEqual(chances[period])
            if (kind !== 'fails with' || (of.service !== 'web' && of.service !== 'order')) continue
            told++
            const { calls, failures } = periods[period]
            expect(Math.abs(chances[period] - calls[of.service])).toBeLessThanOrEqual(0.5)
            expect(Math.abs(made[period] - failures[of.service])).toBeLessThanOrEqual(0.5)
          }
        }
      }
      for (const one of listedFindings(comparison)) {
        if (one.kind !== 'errors') continue
        expect(Math.abs(one.size.value as number)).toBeLessThanOrEqual(1)
      }
      expect(reportMarkdown(comparison)).not.toMatch(/NaN|undefined/)
    }),
    { numRuns: 10 },
  )
  expect(told).toBeGreaterThan(20)
})

test('of a total outage, each calling request is told once', () => {
  const usual = { failing: 0, attempts: [3, 1] } as const
  const { comparison } = compared(usual, { ...usual, failing: 1 })
  const [first] = comparison.findings.findings
  expect(first?.title).toBe('pay: call fails in 450 of 450 calls (0 of 150 before)')
  expect(first?.consequences.slice(0, 2).map(({ title }) => title)).toEqual([
    'order: call fails in 150 of 150 calls (0 of 150 before)',
    'web: call fails in 150 of 150 calls (0 of 150 before)',
  ])
})

/** `web GET` calls `pay CHECK` twice for two items, one after the other, whether or not the first fails. */
function twoItems(seed: number, failing: number) {
  return record({ seed, everyUs: 1e5, fromUs: seed * 1e9 }, (r) => {
    const check = () => call('pay CHECK', 900 + r.integer(200), { fails: r.is(failing) })
    return call('web GET', [100, 1000], {}, [check(), check()])
  })
}

test('calls that are made several times in any case are no retries of those that fail', () => {
  const { steps, findings } = compare(twoItems(1, 0), twoItems(2, 0.2))
  const again = steps.calls.filter(({ kind }) => kind === 'again')
  expect(again).toMatchObject([{ made: [0, expect.any(Number)], why: 'not borne out' }])
  const [first, ...others] = findings.findings
  expect(first?.what).toMatch(/^CHECK fails/)
  expect([...others, ...first!.consequences].map(({ title }) => title)).toEqual([])
})

interface Provider {
  readonly offset: number
  /** Median time of an attempt, and after which time its caller gives it up, in ms. */
  readonly usualMs?: number
  readonly deadlineMs?: number
  /** Share of attempts that fail at once. */
  readonly failing?: number
  /** What each attempt after the first is waited with, in ms. */
  readonly backoffMs?: number
  /** What `shop` works first, in ms. */
  readonly ownMs?: number
  /** Whether what is given up ends with its caller, failing. */
  readonly isCancelled?: boolean
  /** By which share deadlines differ from call to call. */
  readonly spread?: number
}

/** `shop BUY` calls `pay CHARGE` up to three times; `pay` goes on with what is given up. */
function purchases({
  offset,
  usualMs = 60,
  deadlineMs = 600,
  failing = 0,
  backoffMs = 60,
  ownMs = 5,
  isCancelled = false,
  spread = 0,
}: Provider) {
  const given = { seed: offset + 11, requests: 400, everyUs: 2e6, fromUs: offset * 1e10 }
  return record(given, (r) => {
    const firstUs = ownMs * 1000 + r.integer(3000)
    const attempts = tries(3, (attempt) => {
      const gapUs = attempt > 0 ? backoffMs * 1000 * (0.9 + 0.2 * r.next()) : 0
      const breaks = r.is(failing)
      const takesUs = breaks ? 4000 : r.about(1000 * usualMs, 0.5)
      const limitUs = deadlineMs * 1000 * (1 + spread * (r.next() - 0.5))
      const isGivenUp = takesUs + 700 > limitUs
      const isCut = isCancelled && isGivenUp
      const backUs = isCut ? 350 : Math.min(350, limitUs - 350 - takesUs)
      const client = { us: [350, backUs], host: 'a', fails: breaks || isGivenUp } as const
      const says = isCut ? { attributes: { 'rpc.grpc.status_code': 1 } } : {}
      const how = { host: 'b', fails: breaks || isCut, gapUs, client, ...says }
      return call('pay CHARGE', isCut ? limitUs - 700 : takesUs, how)
    })
    const fails = attempts.every(failsForCaller)
    return call('shop BUY', [firstUs, 2000], { host: 'a', fails }, attempts)
  })
}

test.each([
  [480, 420],
  // All attempts are given up: each takes 540 ms more, as far as anybody waited.
  [5000, 540],
])(
  'attempts that clients give up count as long as they were waited for: %d ms',
  (usualMs, moreMs) => {
    const comparison = compare(purchases({ offset: 0 }), purchases({ offset: 1, usualMs }))
    const { findings } = comparison
    const latency = findings.findings.find(({ kind }) => kind === 'latency')
    expect(latency).toMatchObject({ where: 'pay' })
    // Of those answered in time alone, 320 ms, and none.
    const { shiftUs = 0 } = latency?.steps[0] ?? {}
    expect(Math.abs(shiftUs / (moreMs * 1000) - 1)).toBeLessThan(0.1)
    const share = (latency?.contributionUs ?? 0) / findings.observedChangeUs
    expect(share).toBeGreaterThan(0.75)
    expect(share).toBeLessThan(1.02)
    expect(comparison.warnings().map(({ code }) => code)).not.toContain('clock-skew')
  },
)

test.each([0.25, 0.6])(
  'what retries of %d of the attempts take belongs to their failures',
  (failing) => {
    const { findings } = compare(purchases({ offset: 0 }), purchases({ offset: 1, failing }))
    const [first, ...others] = findings.findings
    expect(others).toEqual([])
    expect(first).toMatchObject({ kind: 'errors', where: 'pay' })
    const kinds = first?.consequences.map(({ kind }) => kind)
    expect(kinds).toContain('latency')
    expect(kinds?.some((kind) => kind === 'structure' || kind === 'concurrency')).toBe(true)
    expect(Math.abs(first!.contributionUs / findings.observedChangeUs - 1)).toBeLessThan(0.25)
  },
)

test('what a caller takes longer in all requests is no consequence of failures in some', () => {
  const { findings } = compare(
    purchases({ offset: 0 }),
    purchases({ offset: 1, failing: 0.4, backoffMs: 0, ownMs: 30 }),
  )
  expect(findings.findings.map(({ kind, where }) => `${kind} ${where}`).sort()).toEqual([
    'errors pay',
    'latency shop',
  ])
})

describe('of calls to a service that records nothing', () => {
  /** `web GET` calls `tax`, which fails in a quarter of attempts, and calls again after 30 ms. */
  const taxes = (offset: number, failing: number, attributes: SpanSketch['attributes'] = {}) => {
    const given = { seed: offset + 5, requests: 500, fromUs: offset * 1e10 }
    const spans = spansOf(given, (r) => {
      const calls = tries(3, (attempt) => {
        const how = { kind: 'client', attributes, gapUs: attempt > 0 ? 30_000 : 0 } as const
        return call('web POST', 8000 + r.integer(2000), { ...how, fails: r.is(failing) })
      })
      return call('web GET', [3000 + r.integer(1000), 2000], {}, calls)
    })
    const attempts = spans.filter(({ operation }) => operation === 'POST')
    const failed = attempts.filter(({ status }) => status === 'error').length
    return { traces: makeSpans(spans), attempts: attempts.length, failed }
  }

  describe.each(
    firstQuick(
      [
        [
          { 'server.address': 'tax.example', 'url.full': 'https://10.0.0.1/rates' },
          ' to tax.example',
        ],
        [{ 'peer.service': 'tax' }, ' to tax'],
        [{ 'url.full': 'https://me@tax.example:8443/rates?of=7' }, ' to tax.example'],
        [{ 'server.address': '10.2.3.4' }, ' to <address>'],
        [{}, ''],
      ],
      2,
    ),
  )('of each peer', ({ rows, tags }) => {
    test.each(rows)(
      'the call that fails is named, and whom it calls: %o',
      { tags },
      (attributes, to) => {
        const after = taxes(1, 0.25, attributes)
        const comparison = compare(taxes(0, 0).traces, after.traces)
        const [first, ...others] = comparison.findings.findings
        // Each attempt is a call of its own, however many of them a GET makes.
        const counts = `${after.failed} of ${after.attempts} calls (0 of 500 before)`
        expect(first?.title).toBe(`web: POST${to} within GET fails in ${counts}`)
        const share = after.failed / after.attempts
        expect(first?.size).toMatchObject({ unit: 'rate', per: 'call' })
        expect(first?.size.value).toBeCloseTo(share, 9)
        expect(first?.facts[0]).toMatch(`${Number((100 * share).toPrecision(2))} % of calls`)
        expect(first?.look).toBe(to === '' ? 'web' : `web and ${to.slice(4)}`)
        // That it calls again, and takes longer for it, is of the same cause.
        expect(others).toEqual([])
        expect(first?.consequences.map(({ kind }) => kind)).toContain('latency')
        const snapshot = takeSnapshot(comparison, { ids: true, latenciesOf: () => true })
        const restored = restoreComparison(JSON.parse(JSON.stringify(snapshot)))
        expect(restored.findings.text()).toBe(comparison.findings.text())
      },
    )
  })

  test('peers of more names than can be told apart leave messages as they are', () => {
    const many = (offset: number) =>
      record({ seed: offset, requests: 500, fromUs: offset }, ({ index: i }) => {
        const [a, b] = [97 + (i % 26), 97 + (i % 25)]
        const name = `pod-${String.fromCharCode(a, b)}`
        const attributes = { 'server.address': name, 'error.type': i % 3 === 0 ? 'full' : 'gone' }
        const fails = offset > 0 && i % 4 === 0
        return call('web', 100, {}, [call('web PUT', 900, { kind: 'client', attributes, fails })])
      })
    const { errors } = compare(many(0), many(1e10)).steps
    expect(errors[0]?.messages.map(({ text, made }) => [text, made[1]])).toEqual([
      ['gone', 83],
      ['full', 42],
    ])
    const counts = { made: [0, 125], chances: [500, 500], worth: [500, 500] }
    expect(errors[0]?.inner).toMatchObject({ operation: 'PUT', peer: '', ...counts })
  })
})

/** `shop BUY` calls `price PRICE`, which calls `tax.example`; some of these calls fail, as a rule after 2 s. */
function prices(offset: number, { failing = 0, afterMs = 2000, ownMs = 5 } = {}) {
  const given = { seed: offset + 21, requests: 600, everyUs: 3e6, fromUs: offset * 1e10 }
  const level = 0.97 + 0.06 * randomSource(given.seed).next()
  return record(given, (r) => {
    const fails = r.is(failing)
    const firstUs = level * r.about(ownMs * 1000)
    const takesUs = fails ? afterMs * 1000 : level * r.about(15_000, 1 / 3)
    const tax = { fails, host: 'b', attributes: { 'server.address': 'tax.example' } } as const
    const asked = call('price POST', takesUs, { ...tax, kind: 'client' })
    const price = call('price PRICE', 500, { host: 'b', gapUs: 500 }, [asked])
    return call('shop BUY', [firstUs, 2000], {}, [price])
  })
}

describe('of several runs before, where times of few are not tested', () => {
  const before = [0, 1, 2].map((offset) => prices(offset))

  test('what requests take longer with failures is theirs, not a finding that nothing explains', () => {
    const { findings } = compare(before, prices(3, { failing: 0.05, ownMs: 6.5 }))
    const [first, second, ...others] = findings.findings
    expect([first?.where, second?.where, others]).toEqual(['price → tax.example', 'shop', []])
    expect(first?.kind).toBe('errors')
    expect(first?.facts.join()).toMatch(
      /failing calls take 1\.9\d s longer in each affected request \(95 % CI/,
    )
    const told = first?.contributionUs ?? 0
    expect(told / findings.observedChangeUs).toBeGreaterThan(0.95)
    expect(told).toBeLessThan(findings.observedChangeUs)
  })

  test('failures that end sooner take as much less as they do', () => {
    const { findings } = compare(before, prices(3, { failing: 0.05, afterMs: 5, ownMs: 6.5 }))
    const failures = findings.findings.find(({ kind }) => kind === 'errors')
    expect(failures?.where).toBe('price → tax.example')
    // Calls take exp(0.03²/2 + (1/3)²/2) times 15 ms on average, failing ones 5 ms.
    const lessUs = 15_700 - 5000
    expect(failures!.contributionUs / failures!.requests / -lessUs).toBeCloseTo(1, 1)
  })
})

describe.each([
  { pairs: 3, atMost: 0, tags: [] },
  { pairs: 12, atMost: 2, tags: ['full'] },
])('of $pairs pairs of periods, compared both ways', ({ pairs, atMost, tags }) => {
  test.each([{ isCancelled: false }, { isCancelled: true }, { isCancelled: false, spread: 1 }])(
    'calls that are given up sooner do not make their callee faster: %o',
    { tags },
    (how) => {
      let told = 0
      for (let pair = 0; pair < pairs; pair++) {
        const deadlineMs = [50, 70, 90][pair % 3] as number
        const [long, short] = [
          purchases({ offset: 2 * pair, ...how }),
          purchases({ offset: 2 * pair + 1, deadlineMs, ...how }),
        ]
        for (const { findings } of [compare(long, short).findings, compare(short, long).findings]) {
          const ofPay = ({ kind, where }: Finding) => kind === 'latency' && where === 'pay'
          told += findings.filter(ofPay).length
          expect(findings[0]).toMatchObject({ kind: 'errors' })
        }
      }
      expect(told).toBeLessThanOrEqual(atMost)
    },
  )
})

test('a callee that is faster where its calls are given up sooner, too, is found', () => {
  const faster = purchases({ offset: 1, usualMs: 30, deadlineMs: 60 })
  const { findings } = compare(purchases({ offset: 0 }), faster).findings
  const pay = findings.find(({ kind, where }) => kind === 'latency' && where === 'pay')
  expect(pay).toMatchObject({ direction: 'faster' })
})
