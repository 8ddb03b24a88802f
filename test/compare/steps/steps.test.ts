import { describe, expect, test } from 'vitest'
import { findStepChanges } from '../../../src/compare/steps/find-step-changes.ts'
import { type StepKind, stepTimes } from '../../../src/compare/steps/step-times.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { compare } from '../../../src/index.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'
import { expectRelative } from '../../stats/expect-relative.ts'
import { call, record } from '../../worlds.ts'

/** One span of a request, times in µs from its start. */
interface Part extends Omit<SpanSketch, 'startUs' | 'endUs'> {
  readonly from: number
  readonly to: number
}

/** Traces of the requests that `partsOf` draws, one every 100 ms. */
function period(name: string, requests: number, partsOf: (i: number) => readonly Part[]) {
  const sketches = Array.from({ length: requests }, (_, i) =>
    partsOf(i).map(
      ({ from, to, ...part }): SpanSketch => ({
        ...part,
        trace: `${name}-${i}`,
        startUs: 100_000 * i + from,
        endUs: 100_000 * i + to,
      }),
    ),
  )
  return makeSpans(sketches.flat(), name)
}

/** Values of a step in the first request of the first period. */
function timeOf(parts: readonly Part[], kind: StepKind, service: string): number | undefined {
  const flows = buildFlows([period('before', 3, () => parts), period('after', 3, () => parts)])
  const step = stepTimes(flows).find((one) => one.kind === kind && one.service === service)
  return step?.strata[0]?.before.values[0]
}

describe('the time of a step', () => {
  //  web   ├────────────────────────────┤ 0-100
  //  call    ├────────────┤               10-50, of a
  //  a         ├────────┤                 15-45
  //  call          ├────────────┤         30-80, of b, beside it
  //  b               ├────────┤           35-75
  const concurrent: Part[] = [
    { id: 'r', service: 'web', operation: 'GET', from: 0, to: 100 },
    { id: 'ca', parent: 'r', service: 'web', operation: 'call a', from: 10, to: 50 },
    { id: 'a', parent: 'ca', service: 'a', operation: 'A', from: 15, to: 45 },
    { id: 'cb', parent: 'r', service: 'web', operation: 'call b', from: 30, to: 80 },
    { id: 'b', parent: 'cb', service: 'b', operation: 'B', from: 35, to: 75 },
  ]

  test('under concurrent calls is no work of the caller, whichever of them covers it', () => {
    expect(timeOf(concurrent, 'work', 'web')).toBe(10 + 20)
    expect(timeOf(concurrent, 'work', 'a')).toBe(30)
    expect(timeOf(concurrent, 'request', 'web')).toBe(100)
  })

  test('on the way to a service is its time at the caller less that at the service', () => {
    expect(timeOf(concurrent, 'call', 'a')).toBe(10)
    expect(timeOf(concurrent, 'call', 'b')).toBe(10)
  })

  test('on the way does not hang on the clock of the service', () => {
    const ahead = concurrent.map((part) =>
      part.id === 'b' ? { ...part, from: part.from + 7000, to: part.to + 7000 } : part,
    )
    expect(timeOf(ahead, 'call', 'b')).toBe(10)
    expect(timeOf(ahead, 'work', 'web')).toBe(30)
  })

  test('at a service that recorded nothing is that of the call, if its operation is known', () => {
    const answered: Part[] = concurrent.slice(0, 3)
    const partsOf = (i: number) => (i % 2 === 0 ? answered : answered.slice(0, 2))
    const flows = buildFlows([period('before', 4, partsOf), period('after', 4, partsOf)])
    const steps = stepTimes(flows)
    const call = steps.find(({ kind }) => kind === 'call')
    expect(call).toMatchObject({ service: 'a', caller: 'web' })
    expect(call?.strata.map(({ before }) => [...before.values]).sort()).toEqual([
      [10, 10],
      [40, 40],
    ])
    const work = steps.find(({ kind, service }) => kind === 'work' && service === 'web')
    expect(work?.strata.flatMap(({ before }) => [...before.values])).toEqual([60, 60, 60, 60])
    // Elsewhere unknown, it is the caller's own doing.
    expect(timeOf(answered.slice(0, 2), 'work', 'web')).toBe(100)
  })

  test('at a service that recorded nothing is no call of a service that only others call so', () => {
    //  web      ├──────────────────┤ 0-100
    //  call b     ├────┤             10-30, which `a` calls so elsewhere and `b` answers
    const unanswered: Part[] = [
      { id: 'r', service: 'web', operation: 'GET', from: 0, to: 100 },
      { id: 'c', parent: 'r', service: 'web', operation: 'PUT', from: 10, to: 30 },
      { id: 'd', parent: 'r', service: 'a', operation: 'A', from: 40, to: 90 },
      { id: 'e', parent: 'd', service: 'a', operation: 'PUT', from: 50, to: 80 },
      { id: 'b', parent: 'e', service: 'b', operation: 'B', from: 55, to: 75 },
    ]
    expect(timeOf(unanswered, 'call', 'b')).toBe(10)
    expect(timeOf(unanswered, 'work', 'web')).toBe(50)
  })
})

/** What a request of the shop below takes, in µs, and does. */
interface Shop {
  readonly seed: number
  /** Every so many requests buy; the others look. */
  readonly buysEvery?: number
  readonly itselfUs?: number
  readonly wayUs?: number
  readonly backUs?: number
  /** Look-ups, one after the other. */
  readonly lookups?: number
  readonly pays?: boolean
  readonly requests?: number
}

/** `shop LOOK` calls `stock FIND`; `shop BUY` calls `stock FIND`, `tax RATE` and then `pay CHARGE`. */
function shop({
  seed,
  buysEvery = 3,
  itselfUs = 300,
  wayUs = 100,
  backUs = wayUs,
  lookups = 1,
  pays = true,
  requests = 200,
}: Shop) {
  return record({ seed, requests, everyUs: 1e5 }, (r) => {
    const about = (us: number) => us * (0.9 + 0.2 * r.next())
    const firstUs = about(itselfUs)
    const ask = (of: string, us: number) => {
      const client = { us: [about(wayUs), about(backUs)], operation: `call ${of}` } as const
      return call(of, about(us), { client, gapUs: about(50) })
    }
    const isBuying = r.index % buysEvery === 0
    return call(isBuying ? 'shop BUY' : 'shop LOOK', [firstUs, 0], {}, [
      ...Array.from({ length: lookups }, () => ask('stock FIND', 1000)),
      isBuying && ask('tax RATE', 400),
      isBuying && pays && ask('pay CHARGE', 2000),
    ])
  })
}

const compared = (before: Partial<Shop>, after: Partial<Shop>) =>
  compare(shop({ seed: 1, ...before }), shop({ seed: 2, ...after }))

describe('findings of steps', () => {
  test('another mix of request types changes no call and no step', () => {
    const { steps } = compared({ buysEvery: 2 }, { buysEvery: 6 })
    expect(steps.calls.filter(({ changed }) => changed)).toEqual([])
    expect(steps.changes.filter(({ kind }) => kind !== 'request')).toEqual([])
  })

  test('a caller whose calls are all slower is named, not those that it calls', () => {
    const { findings } = compared({}, { wayUs: 250 })
    expect(findings.findings.map(({ where, direction }) => [where, direction])).toEqual([
      ['shop', 'slower'],
    ])
    expect(findings.findings[0]?.what).toBe(
      'its calls to stock, pay and tax take 300 µs longer in transit',
    )
  })

  test('time in transit is told by the way that it is on, where both sides were recorded', () => {
    const told = (after: Partial<Shop>) => compared({}, after).findings.findings[0]?.text
    expect(told({ wayUs: 400, backUs: 100 })).toContain(
      ' · the time is lost on the way to the called service, not back · ',
    )
    expect(told({ backUs: 400 })).toContain(
      ' · the time is lost on the way back from the called service · ',
    )
    expect(told({ wayUs: 250 })).toMatch(
      / · (49|50|51) % of it on the way to the called service, (49|50|51) % back · /,
    )
    expect(told({ itselfUs: 900 })).not.toContain('on the way')
  })

  test('a caller that works longer, too, is told by both, the larger first', () => {
    const { findings } = compared({}, { wayUs: 250, itselfUs: 900 })
    expect(findings.findings.map(({ where }) => where)).toEqual(['shop'])
    expect(findings.findings[0]?.what).toMatch(
      /^its work takes [56]\d\d µs longer and its calls to stock, pay and tax take 300 µs longer in transit$/,
    )
  })

  test('a caller that works longer is named by its own work', () => {
    const { findings } = compared({}, { itselfUs: 900 })
    expect(findings.findings.map(({ where }) => where)).toEqual(['shop'])
    expect(findings.findings[0]?.what).toMatch(/itself takes [56]\d\d µs longer/)
  })

  //  shop BUY   ├──────────────────┤  own 1 ms, 6 ms after
  //  shop PACK     ├──────────┤       own 1 ms, 3 ms after
  //  stock FIND         ├──┤          0.5 ms, with any of six spans within
  const buys = (name: string, [buyUs, packUs]: readonly [number, number], requests = 60) =>
    record({ seed: name.length, requests, everyUs: 1e5, name }, (r) => {
      const [packs, calls, found] = [buyUs, packUs, 500].map((us) => us * (0.9 + 0.2 * r.next()))
      const scans = [0, 1, 2, 3, 4, 5]
        .filter(() => requests < 60 && r.is(0.5))
        .map((i) => call(`stock scan ${i}`, 10, { beside: true }))
      const client = { us: [10, 10], operation: 'call FIND' } as const
      const find = call('stock FIND', [20, found! - 60], { client }, scans)
      return call('shop BUY', [packs!, 10], {}, [call('shop PACK', [calls!, 0], {}, [find])])
    })

  test('work of an operation that holds another is not said to be its own, and its parts add up to the mean told', () => {
    const [finding] = compare(buys('before', [1000, 1000]), buys('after', [6000, 3000])).findings
      .findings
    expect(finding?.title).toMatch(
      /^shop: BUY, internal spans included, takes [67][.\d]* ms longer$/,
    )
    const told = / take (\S+) ms longer.* (\S+) ms made up of (\S+) ms in BUY, (\S+) ms in PACK/
    const [each = 0, all = 0, buy = 0, pack = 0] =
      told
        .exec(finding?.text ?? '')
        ?.slice(1)
        .map(Number) ?? []
    expect([each, buy + pack]).toEqual([all, expect.closeTo(all, 1)])
    expect(buy).toBeCloseTo(5, 0)
    const [own] = compare(buys('before', [1000, 1000]), buys('after', [6000, 1000])).findings
      .findings
    expect(own?.title).toMatch(/^shop: BUY itself takes [45][.\d]* ms longer$/)
    expect(own?.text).not.toContain('of these')
  })

  const searches = (
    name: string,
    code: readonly [own: number, find: number],
    statement = 'SELECT',
  ) =>
    record({ seed: name.length, everyUs: 1e5, name }, (r) => {
      const [own, find] = [r.about(code[0], 0.3), r.about(code[1], 0.3)]
      if (statement === '') return call('search Query', own + find)
      const both = [call('search SELECT', find), call('search GET', own - 100)]
      if (statement === 'SELECT and GET') return call('search Query', [100, 0], {}, both)
      return call('search Query', [100, own - 100], {}, both.slice(0, 1))
    })

  test('what a service does itself and what it waits for are told apart where they change against each other', () => {
    const { findings } = compare(
      searches('before', [12_000, 25_000]),
      searches('after', [23_000, 14_000]),
    ).findings
    expect(findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^search: Query itself takes 1[01][.\d]* ms longer$/),
      expect.stringMatching(/^search: SELECT within Query takes [01\d]+[.\d]* ms less$/),
    ])
    const [itself, within] = findings.map(({ steps: [step], id }) => ({ ...step, id }))
    expect([itself?.part, within?.part]).toEqual(['itself', 'within'])
    expect(itself?.id).not.toBe(within?.id)
  })

  test('where both change alike, the service is told as one', () => {
    const { findings } = compare(
      searches('before', [12_000, 25_000]),
      searches('after', [23_000, 45_000]),
    ).findings
    expect(findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^search: Query, internal spans included, takes 3[\d.]+ ms longer$/),
    ])
  })

  test('spans that are no longer recorded, or recorded beside others, make no part of the work faster or slower', () => {
    const usual = searches('before', [12_000, 25_000])
    for (const statement of ['', 'SELECT and GET']) {
      const { changes } = compare(usual, searches('after', [12_000, 25_000], statement)).steps
      expect(changes, statement).toEqual([])
    }
  })

  test('an edge named for a step that no category can tell has the shift of the edge, not of the step', () => {
    const few = 14
    const { findings } = compare(
      buys('before', [1000, 1000], few),
      buys('after', [6000, 3000], few),
    )
    const [finding] = findings.findings
    expect(finding?.steps[0]?.shiftUs).toBeGreaterThan(6500)
    const [edge] = finding?.changedEdges ?? []
    expect([edge?.fromNode.operation, edge?.toNode.operation]).toEqual(['BUY', 'PACK'])
    expect(edge?.shiftUs).toBeGreaterThan(4500)
    expect(edge?.interval[1]).toBeLessThan(5700)
  })

  test('a call that is left out is told after what, with its shares', () => {
    const { findings, steps } = compared({}, { pays: false })
    const ends = steps.calls.find(
      ({ call, previous }) => call === null && previous?.service === 'tax',
    )
    expect(ends).toMatchObject({
      kind: 'next',
      of: { service: 'shop', operation: 'BUY' },
      made: [0, 67],
      chances: [67, 67],
      changed: true,
      why: null,
    })
    const tables = [steps.table(), steps.callTable(), steps.errorTable()]
    const rows = tables.flatMap((table) => table.objects()) as Record<string, unknown>[]
    for (const { changed, why } of rows) expect(why === null).toBe(changed)
    expect(new Set(rows.map(({ why }) => why))).toContain('may be chance')
    expect(findings.findings.map(({ title }) => title)).toEqual([
      'shop: BUY no longer calls pay CHARGE after tax RATE (67 of 67 calls before)',
    ])
  })

  test('a call made ten times instead of once is a repeat, and no step is slower', () => {
    const { findings, steps } = compared({}, { lookups: 10 })
    expect(
      steps.repeats
        .filter(({ changed }) => changed)
        .map(({ call, beforeTimes, afterTimes }) => [call.operation, beforeTimes, afterTimes]),
    ).toEqual([
      ['FIND', 1, 10],
      ['FIND', 1, 10],
    ])
    expect(findings.findings[0]?.what).toMatch(/calls stock FIND 10 times instead of 1/)
    expect(steps.changes.filter(({ kind }) => kind === 'call')).toEqual([])
  })
})

test('slow calls of a single request are one observation, which no test goes by', () => {
  // Only the first request of ten calls the store, for three kinds of work.
  const recorded = (seed: number, requests: number, slowUs: number) =>
    record({ seed, requests, everyUs: 1e5 }, (r) => {
      const calls = ['read', 'sort', 'list'].map((operation) => {
        const us = 500 + Math.floor(100 * r.next()) + slowUs
        return r.index % 10 === 0 && call(`store ${operation}`, us, { gapUs: 400 })
      })
      return call('web GET', 2000, {}, calls)
    })
  const before = recorded(1, 120, 0)
  const stepsWith = (requests: number) =>
    compare(before, recorded(2, requests, 1500)).steps.steps.filter(
      ({ service }) => service === 'store',
    )
  const found = (requests: number) => stepsWith(requests).filter(({ changed }) => changed).length
  expect(found(9)).toBe(0)
  expect(found(19)).toBe(1)
  // What cannot be found, whatever its times, is not corrected for either.
  expect(stepsWith(9).map(({ q }) => q)).toEqual([Number.NaN])
})

test('steps are the same whichever period comes first, but for signs', () => {
  const [one, two] = [shop({ seed: 1 }), shop({ seed: 2, itselfUs: 500 })]
  const stepsOf = (flows: ReturnType<typeof buildFlows>) =>
    findStepChanges({ flows })
      .steps.map(({ kind, service, p, shiftUs }) => ({ step: `${kind} ${service}`, p, shiftUs }))
      .sort((a, b) => (a.step < b.step ? -1 : 1))
  const back = stepsOf(buildFlows([two, one]))
  expect(back.length).toBeGreaterThan(5)
  for (const [i, there] of stepsOf(buildFlows([one, two])).entries()) {
    expect(back[i]?.step).toBe(there.step)
    // Parts of after are tested by themselves too: of what is beyond doubt, one may be surer.
    if (there.p > 1e-12) expectRelative(back[i]?.p as number, there.p, 1e-7)
    else expect(back[i]?.p).toBeLessThan(1e-12)
    expect(back[i]?.shiftUs).toBeCloseTo(-there.shiftUs, 6)
  }
})

describe('what no step accounts for', () => {
  /** `web GET` does 12 things one after the other; the first takes `firstUs` longer. */
  const services = (seed: number, { shiftUs = 0, firstUs = 0 }) =>
    record({ seed, requests: 200, everyUs: 1e5 }, (r) => {
      const works = Array.from({ length: 12 }, (_, n) =>
        call(`s${n} DO`, 1000 + shiftUs + 200 * r.normal() + (n === 0 ? firstUs : 0)),
      )
      return call('web GET', 20, {}, works)
    })

  test('is told of the requests alone where no step is significant', () => {
    const { findings, edges } = compare(services(1, {}), services(2, { shiftUs: 35 }))
    expect(findings.findings.map(({ title }) => title)).toEqual([
      'web GET: requests take 405 µs longer; no single step changed enough to blame',
    ])
    const [only] = findings.findings
    expect((only?.contributionUs as number) / edges.observedChangeUs).toBeCloseTo(1, 1)
  })

  test('is what is left beside the step that is', () => {
    const { findings, edges } = compare(services(1, {}), services(2, { shiftUs: 35, firstUs: 500 }))
    expect(findings.findings.map(({ title }) => title)).toEqual([
      's0: DO itself takes 535 µs longer',
      'web GET: requests take 896 µs longer; no single step explains 365 µs of it',
    ])
    const all = findings.findings.reduce((sum, { contributionUs }) => sum + contributionUs, 0)
    expect(all / edges.observedChangeUs).toBeCloseTo(1, 1)
  })

  /** `gateway GET` takes 3 ms longer in the second half; stock varies by chance alone. */
  const late = (seed: number, { spread, shiftUs = 0 }: { spread: number; shiftUs?: number }) =>
    record({ seed, requests: 1200, everyUs: 1e5 }, (r) => {
      const ownUs = r.about(1500) + (r.index < 600 ? 0 : shiftUs)
      return call('gateway GET', [ownUs - 500, 500], {}, [
        call('stock LOOKUP', r.about(15_000, spread)),
      ])
    })

  test('is no finding beside a step where it may be chance', () => {
    const spread = 0.8
    const after = late(58, { spread, shiftUs: 3000 })
    const { findings } = compare(late(8, { spread }), after).findings
    expect(findings.map(({ where }) => where)).toEqual(['gateway'])
  })

  test('is held against the findings of the same requests, not those of another root', () => {
    const two = (seed: number, { shiftUs = 0, jobUs = 0 }) =>
      record({ seed, requests: 400, everyUs: 1e5 }, (r) => {
        const isWeb = r.index % 2 === 0
        const works = Array.from({ length: isWeb ? 12 : 1 }, (_, n) => {
          const us = isWeb ? 1000 + shiftUs : 12_000 + jobUs
          return call(isWeb ? `s${n} DO` : 'worker DO', us + 200 * r.normal())
        })
        return call(isWeb ? 'web GET' : 'batch RUN', 20, {}, works)
      })
    const { findings } = compare(two(1, {}), two(2, { shiftUs: 35, jobUs: 9000 }))
    expect(findings.findings.map(({ kind, where }) => `${kind} of ${where}`)).toEqual([
      'latency of worker',
      'unattributed of web GET',
    ])
    expect(findings.findings[1]?.what).toMatch(
      /^requests take \d+ µs longer; no single step changed enough/,
    )
    expect(findings.findings[1]?.requests).toBe(200)
  })

  test('is no finding where the steps add up', () => {
    const { findings } = compare(services(1, {}), services(2, { firstUs: 500 }))
    expect(findings.findings.map(({ where }) => where)).toEqual(['s0'])
  })
})

//  web    ├──────────────────────┤   LOOK or BUY
//  stock    ├─────────────────┤      FIND
//  archive     ├────┤                READ, for most of BUY and hardly ever for LOOK
describe('calls given their parent', () => {
  const mix = (seed: number, { buying = 0.5, reading = 0.9 }) =>
    record({ seed, everyUs: 1e5 }, (r) => {
      const isBuying = r.is(buying)
      const read = r.is(isBuying ? reading : 0.05) && call('archive READ', 300)
      const find = call('stock FIND', read ? 500 : 800, {}, [read])
      return call(isBuying ? 'web BUY' : 'web LOOK', 200, {}, [find])
    })
  const changed = (before: ReturnType<typeof mix>, after: ReturnType<typeof mix>) =>
    findStepChanges({ flows: buildFlows([before, after]) }).calls.filter((call) => call.changed)

  test('are not changed by another mix of request types, though fewer are made in all', () => {
    const after = mix(2, { buying: 0.15 })
    const [call] = findStepChanges({ flows: buildFlows([mix(1, {}), after]) }).calls.filter(
      (one) => one.kind === 'calls' && one.call?.service === 'archive',
    )
    expect(call?.made[0]).toBeGreaterThan(2 * (call?.made[1] as number))
    expect(changed(mix(1, {}), after)).toEqual([])
  })

  test('are changed if one of the types makes fewer', () => {
    const calls = changed(mix(1, {}), mix(2, { reading: 0.6 }))
    expect(calls.map(({ of, call }) => `${of.operation} ${call?.operation}`)).toContain('FIND READ')
  })

  test('left out in some of the many calls of each request are told with all those requests', () => {
    const looking = (seed: number, leftOut: number) =>
      record({ seed, requests: 100, everyUs: 1e5 }, (r) => {
        const finds = [0, 1, 2, 3, 4, 5].map((n) => {
          const [us, read] = [800 + 20 * r.normal(), n >= leftOut && call('archive READ', 450)]
          return call('stock FIND', read ? us - 450 : us, { gapUs: 200 }, [read])
        })
        return call('web GET', 200, {}, finds)
      })
    const [finding] = compare(looking(1, 0), looking(2, 2)).findings.findings
    expect(finding).toMatchObject({ where: 'stock', kind: 'structure', requests: 100 })
    expect(finding?.what).toContain('400 of 600 calls (600 of 600 before)')
    expect(finding?.size.interval.some(Number.isNaN)).toBe(false)
  })
})
