import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import type { Finding } from '../../../src/compare/findings/finding.ts'
import { restoreComparison, takeSnapshot } from '../../../src/compare/snapshot.ts'
import { listedFindings } from '../../../src/explain/listed-findings.ts'
import { AFTER, BEFORE } from '../../../src/flows/flow-set.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { reportMarkdown } from '../../../src/views/report/report.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

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
  const random = randomSource(offset + 1)
  const spans: SpanSketch[] = []
  const calls = { web: 0, order: 0 }
  const failures = { web: 0, order: 0 }
  for (let request = 0; request < requests; request++) {
    const trace = `${offset} ${request}`
    const own: SpanSketch[] = []
    let nowUs = offset * 1e9 + request * 1e5
    const span = (service: string, parent: string | null, inner: (id: string) => boolean) => {
      const sketch = { trace, id: `${trace} ${own.length}`, parent, service, startUs: nowUs }
      const at = own.push({ ...sketch, endUs: nowUs }) - 1
      nowUs += 50 + random.integer(20)
      const isFailing = inner(sketch.id)
      nowUs += 50 + random.integer(20)
      const status = isFailing ? ('error' as const) : ('ok' as const)
      own[at] = { ...sketch, endUs: nowUs, status }
      return isFailing
    }
    const tried = (most: number, attempt: () => boolean) => {
      for (let i = 0; i < most; i++) if (!attempt()) return false
      return true
    }
    const counted = { web: 1, order: 0 }
    const failed = { web: 0, order: 0 }
    const isFailing = span('web', null, (web) =>
      tried(attempts[1], () => {
        counted.order++
        const isOrder = span('order', web, (order) =>
          tried(attempts[0], () => span('pay', order, () => random.next() < failing)),
        )
        failed.order += Number(isOrder)
        return isOrder
      }),
    )
    if (request < paused) {
      nowUs += 20_000
      own[0] = { ...own[0]!, endUs: nowUs }
    }
    failed.web = Number(isFailing)
    const probability = isFailing ? 1 : kept
    if (random.next() >= probability) continue
    spans.push(...own.map((one) => ({ ...one, probability })))
    for (const service of ['web', 'order'] as const) {
      calls[service] += counted[service] / probability
      failures[service] += failed[service] / probability
    }
  }
  return { traces: makeSpans(spans), calls, failures }
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
    { numRuns: 15 },
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
function twoItems(offset: number, failing: number): SpanSketch[] {
  const random = randomSource(offset)
  return Array.from({ length: 300 }, (_, i): SpanSketch[] => {
    const trace = `${offset} ${i}`
    const startUs = offset * 1e9 + i * 1e5
    const call = (id: string, fromUs: number): SpanSketch => ({
      trace,
      id,
      parent: 'r',
      service: 'pay',
      operation: 'CHECK',
      startUs: startUs + fromUs,
      endUs: startUs + fromUs + 900 + random.integer(200),
      status: random.next() < failing ? 'error' : 'ok',
    })
    const root = { trace, id: 'r', service: 'web', operation: 'GET', startUs }
    return [{ ...root, endUs: startUs + 3500 }, call('a', 100), call('b', 1800)]
  }).flat()
}

test('calls that are made several times in any case are no retries of those that fail', () => {
  const { steps, findings } = compare(makeSpans(twoItems(1, 0)), makeSpans(twoItems(2, 0.2)))
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
  const random = randomSource(offset + 11)
  const spans: SpanSketch[] = []
  for (let request = 0; request < 400; request++) {
    const trace = `${offset} ${request}`
    const startUs = offset * 1e10 + request * 2e6
    let nowUs = startUs + ownMs * 1000 + random.integer(3000)
    let isFailing = true
    for (let attempt = 0; isFailing && attempt < 3; attempt++) {
      if (attempt > 0) nowUs += backoffMs * 1000 * (0.9 + 0.2 * random.next())
      const breaks = random.next() < failing
      const takesUs = 1000 * (breaks ? 4 : usualMs * Math.exp(random.normal() / 2))
      const limitUs = deadlineMs * 1000 * (spread === 0 ? 1 : 1 + spread * (random.next() - 0.5))
      const endUs = Math.min(nowUs + takesUs + 700, nowUs + limitUs)
      const isGivenUp = endUs < nowUs + takesUs + 700
      isFailing = breaks || isGivenUp
      const id = `${trace} ${attempt}`
      const call = { trace, operation: 'CHARGE', startUs: nowUs, endUs }
      const status = (fails: boolean) => (fails ? ('error' as const) : ('ok' as const))
      const isCut = isCancelled && isGivenUp
      const serverUs = isCut ? endUs - 350 : nowUs + 350 + takesUs
      const server = { startUs: nowUs + 350, endUs: serverUs, host: 'b', service: 'pay' }
      const says = isCut ? { attributes: { 'rpc.grpc.status_code': 1 } } : {}
      spans.push(
        { ...call, id, parent: trace, service: 'shop', kind: 'client', status: status(isFailing) },
        {
          ...call,
          ...server,
          ...says,
          id: `${id} pay`,
          parent: id,
          status: status(breaks || isCut),
        },
      )
      nowUs = endUs
    }
    const root = { trace, id: trace, service: 'shop', operation: 'BUY', host: 'a', startUs }
    spans.push({ ...root, endUs: nowUs + 2000, status: isFailing ? 'error' : 'ok' })
  }
  return makeSpans(spans.map((span) => ({ host: 'a', ...span })))
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
    const random = randomSource(offset + 5)
    const spans = Array.from({ length: 500 }, (_, request): SpanSketch[] => {
      const trace = `${offset} ${request}`
      const startUs = offset * 1e10 + request * 1e6
      let nowUs = startUs + 3000 + random.integer(1000)
      const calls: SpanSketch[] = []
      for (let fails = true; fails && calls.length < 3; ) {
        if (calls.length > 0) nowUs += 30_000
        fails = random.next() < failing
        const endUs = nowUs + 8000 + random.integer(2000)
        const status = fails ? 'error' : 'ok'
        const call = { trace, id: `${trace} ${calls.length}`, parent: trace, service: 'web' }
        const told = { operation: 'POST', kind: 'client' as const, attributes }
        calls.push({ ...call, ...told, startUs: nowUs, endUs, status })
        nowUs = endUs
      }
      const root = {
        trace,
        id: trace,
        service: 'web',
        operation: 'GET',
        startUs,
        endUs: nowUs + 2000,
      }
      return [root, ...calls]
    })
    const attempts = spans.flat().filter(({ operation }) => operation === 'POST')
    const failed = attempts.filter(({ status }) => status === 'error').length
    return { traces: makeSpans(spans.flat()), attempts: attempts.length, failed }
  }

  test.each([
    [{ 'server.address': 'tax.example', 'url.full': 'https://10.0.0.1/rates' }, ' to tax.example'],
    [{ 'peer.service': 'tax' }, ' to tax'],
    [{ 'url.full': 'https://me@tax.example:8443/rates?of=7' }, ' to tax.example'],
    [{ 'server.address': '10.2.3.4' }, ' to <address>'],
    [{}, ''],
  ])('the call that fails is named, and whom it calls: %o', (attributes, to) => {
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
  })

  test('peers of more names than can be told apart leave messages as they are', () => {
    const many = (offset: number) =>
      Array.from({ length: 500 }, (_, i): SpanSketch[] => {
        const [trace, startUs] = [`${offset} ${i}`, offset + i * 1e6]
        const call = { trace, id: `${trace} c`, parent: trace, startUs: startUs + 10 }
        const name = `pod-${String.fromCharCode(97 + (i % 26))}${String.fromCharCode(97 + (i % 25))}`
        const attributes = { 'server.address': name, 'error.type': i % 3 === 0 ? 'full' : 'gone' }
        const status = offset > 0 && i % 4 === 0 ? ('error' as const) : ('ok' as const)
        const told = {
          service: 'web',
          kind: 'client' as const,
          operation: 'PUT',
          attributes,
          status,
        }
        return [
          { trace, id: trace, service: 'web', startUs, endUs: startUs + 1000 },
          { ...call, ...told, endUs: startUs + 900 },
        ]
      }).flat()
    const { errors } = compare(makeSpans(many(0)), makeSpans(many(1e10))).steps
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
  const random = randomSource(offset + 21)
  const level = 0.97 + 0.06 * random.next()
  const spans = Array.from({ length: 600 }, (_, request): SpanSketch[] => {
    const trace = `${offset} ${request}`
    const startUs = offset * 1e10 + request * 3e6
    const fails = random.next() < failing
    const fromUs = startUs + ownMs * 1000 * level * Math.exp(random.normal() / 5)
    const takesUs = fails ? afterMs * 1000 : 15_000 * level * Math.exp(random.normal() / 3)
    const span = (id: string, [from, to]: readonly [from: number, to: number]) => ({
      trace,
      id: trace + id,
      startUs: from,
      endUs: to,
    })
    const asked = { operation: 'PRICE', host: 'b', parent: trace, service: 'price' }
    const tax = { operation: 'POST', kind: 'client' as const, parent: `${trace} price` }
    const attributes = { 'server.address': 'tax.example' }
    const status = fails ? ('error' as const) : ('ok' as const)
    return [
      { ...span('', [startUs, fromUs + takesUs + 3000]), service: 'shop', operation: 'BUY' },
      { ...span(' price', [fromUs + 500, fromUs + takesUs + 1000]), ...asked },
      {
        ...span(' tax', [fromUs + 700, fromUs + takesUs + 700]),
        ...asked,
        ...tax,
        attributes,
        status,
      },
    ]
  })
  return makeSpans(spans.flat())
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
