import { describe, expect, test } from 'vitest'
import { draftFindings } from '../../../src/compare/findings/draft-findings.ts'
import { Prices } from '../../../src/compare/findings/prices.ts'
import { RequestColumns } from '../../../src/compare/segments/request-columns.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { firstQuick } from '../../first-quick.ts'
import { call, record, recordWithSum } from '../../worlds.ts'

interface World {
  readonly seed: number
  /** Whether requests with the flag call insights, 35 ms each. */
  readonly insights?: boolean
  /** Whether a fifth of the calls to the ledger wait, 60 ms on average. */
  readonly waits?: boolean
}

/** 600 requests of the web, a fifth with a flag, and 60 batches of twelve calls in four lanes. */
function period({ seed, insights = false, waits = false }: World) {
  return recordWithSum({ seed, requests: 660 }, (r) => {
    const entriesUs = () => {
      const [usual, isSlow, wait] = [
        r.about(7000, 0.3),
        r.is(0.2),
        -60_000 * Math.log(1 - r.next()),
      ]
      return usual + (waits && isSlow ? wait : 0)
    }
    if (r.index % 11 === 0) {
      const lanes = [0, 0, 0, 0]
      let lastUs = 0
      const calls = Array.from({ length: 12 }, () => {
        lanes.sort((a, b) => a - b)
        const [us, fromUs] = [entriesUs(), lanes[0]!]
        const gapUs = fromUs - lastUs
        lanes[0] = fromUs + us
        lastUs = fromUs
        return call('ledger ENTRIES', us, { beside: true, gapUs })
      })
      return call('batch RUN', 4000, {}, calls)
    }
    const flag = r.is(0.2) ? 'on' : 'off'
    const calls = [call('ledger ENTRIES', entriesUs()), call('insights GET', r.about(32_000, 0.3))]
    const own = [r.about(2000, 0.3), r.about(1000, 0.3)] as const
    const attributes = { flag }
    return call('web SHOW', own, { attributes }, calls.slice(0, insights && flag === 'on' ? 2 : 1))
  })
}

const compared = (world: Omit<World, 'seed'>, seed: number) => {
  const after = period({ ...world, seed: seed + 1 })
  const { findings } = compare(period({ seed }).traces, after.traces)
  return { findings, trulyUs: after.totalUs - period({ seed: seed + 1 }).totalUs }
}

describe.each(firstQuick([11, 21]))('of each seed', ({ rows, tags }) => {
  test.each(rows)(
    'a new call of some requests accounts for all that these take longer, seed %i',
    { tags },
    (seed) => {
      const { findings, trulyUs } = compared({ insights: true }, seed)
      expect(findings.findings.map(({ title }) => title)).toEqual([
        expect.stringMatching(/^web: SHOW .*(insights|ENTRIES).*, only where flag = on$/),
      ])
      expect(Math.abs(findings.attributedUs / trulyUs - 1)).toBeLessThan(0.1)
    },
  )
})

test.each([41])(
  'a slow step accounts for batches that wait for the slowest of its calls in parallel, seed %i',
  (seed) => {
    const { findings } = compared({ waits: true }, seed)
    expect(findings.findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^ledger: ENTRIES itself takes .* ms longer( per call)? in \d+ % of/),
    ])
  },
)

interface Calls {
  readonly seed: number
  /** Share of title look-ups that a cache answers. */
  readonly cached?: number
  /** Whether ranks are given without a model, and then no titles are asked for. */
  readonly isEmpty?: boolean
}

/** 800 requests of home, which ask for ranks, and then for the titles of these. */
function homes({ seed, cached = 0, isEmpty = false }: Calls) {
  return recordWithSum({ seed, requests: 800 }, (r) => {
    const [rankUs, titlesUs, otherUs] = [r.about(30_000), r.about(4000), r.about(9000)]
    const isHit = r.is(cached)
    const lookUp = [
      isHit ? 'titles MGET' : 'titles SELECT',
      r.about(isHit ? 1000 : 14_000),
    ] as const
    const titles = call('titles BATCH', titlesUs, {}, [call(...lookUp, { kind: 'client' })])
    const model = call('ranks MODEL', 1000, { kind: 'client' })
    const rank = call('ranks RANK', [0, isEmpty ? 2000 : rankUs], {}, [!isEmpty && model])
    return call('home GET', [otherUs, 500], {}, [rank, !isEmpty && titles])
  })
}

test.each([
  ['nearly all look-ups are answered by a cache', { cached: 0.95 }],
  ['two calls are left out at once', { isEmpty: true }],
])('what %s saves is counted once', (_, after) => {
  for (const seed of [5]) {
    const { findings } = compare(
      homes({ seed }).traces,
      homes({ ...after, seed: seed + 1 }).traces,
    ).findings
    const trulyUs = homes({ ...after, seed: seed + 1 }).totalUs - homes({ seed: seed + 1 }).totalUs
    const toldUs = findings.reduce((all, { contributionUs }) => all + contributionUs, 0)
    expect(findings.some(({ kind }) => kind === 'structure')).toBe(true)
    // The 40 requests without a hit tell what others would take to a tenth or so.
    expect(Math.abs(toldUs / trulyUs - 1)).toBeLessThan(0.25)
  }
})

/** 800 requests of web to store, half of which look up and half create; after, both prefetch, which costs 4 ms. */
function stores(seed: number, prefetches: boolean) {
  return recordWithSum({ seed, requests: 800 }, (r) => {
    const operation = r.pick(['LOOKUP', 'CREATE'])
    const [workUs, prefetch] = [r.about(5000), call('store prefetch', r.about(4000))]
    const store = call(`store ${operation}`, [workUs, 0], {}, [prefetches && prefetch])
    return call(`web ${operation}`, [0, 1000], {}, [store])
  })
}

test.each([71])(
  'delays of all operations of a service stand beside a call that one of them makes, seed %i',
  (seed) => {
    const { findings } = compare(stores(seed, false).traces, stores(seed + 1, true).traces).findings
    const trulyUs = stores(seed + 1, true).totalUs - stores(seed + 1, false).totalUs
    const toldUs = findings.reduce((all, { contributionUs }) => all + contributionUs, 0)
    expect(findings.some(({ kind }) => kind === 'structure')).toBe(true)
    expect(Math.abs(toldUs / trulyUs - 1)).toBeLessThan(0.1)
  },
)

/** Two minutes of requests: `shop GET` calls stock, which takes 1 ms longer, 20 ms more in the first 24 s. */
function coldStart(name: string, isCold: boolean, seed: number) {
  return record({ seed, requests: 600, everyUs: 2e5, name }, (r) => {
    const coldUs = isCold ? 1000 + (r.index < 120 ? 20_000 : 0) : 0
    const stock = call('stock LOOKUP', r.about(5000, 0.3) + coldUs)
    return call('shop GET', [500, r.about(30_000)], {}, [stock])
  })
}

test('what a step takes longer for some time is not left over in the requests of that time', () => {
  const comparison = compare(coldStart('before', false, 1), coldStart('after', true, 2))
  const { steps, edges, flows } = comparison
  const drafts = draftFindings({ evidence: comparison.ranking, edges, steps })
  expect(drafts.map(({ services }) => services)).toEqual([['stock']])
  const cold = Array.from({ length: 120 }, (_, i) => flows.ids.indexOf(`after-${i}`))
  const prices = new Prices(steps, new RequestColumns(flows))
  const [priced] = prices.priced(
    drafts,
    drafts.map((cause) => ({ cause, consequences: [] })),
  )
  // What is left is less than findings leave.
  expect(prices.addedTo(cold, priced!) / (120 * 21_000)).toBeGreaterThan(0.8)
})

/** 400 requests of quotes, which ask for a job of up to a second, 3 ms each time, until it is done. */
function polls(seed: number, everyUs: number) {
  return recordWithSum({ seed, requests: 400, everyUs: 5e6 }, (r) => {
    const [asks, us, ownUs] = [
      Math.ceil((1e6 * r.next()) / everyUs),
      r.about(3000, 0.1),
      r.about(2000),
    ]
    const ask = call('quotes SELECT', us, { kind: 'client', gapUs: everyUs })
    return call('quotes POST', ownUs, {}, Array(asks).fill(ask))
  })
}

test('fewer calls save what these took, whatever their caller waits longer for', () => {
  const { findings } = compare(polls(1, 100_000).traces, polls(2, 900_000).traces).findings
  const trulyUs = polls(2, 900_000).totalUs - polls(2, 100_000).totalUs
  const fewer = findings.find(({ title }) => /SELECT 1\.1 times instead of 5\.\d$/.test(title))
  expect(fewer?.contributionUs).toBeGreaterThan(400 * -5 * 3000)
  expect(fewer?.contributionUs).toBeLessThan(0)
  for (const { contributionUs, requests, eachInterval, consequences } of findings) {
    expect(consequences).toEqual([])
    const eachUs = (eachInterval[0] + eachInterval[1]) / 2
    expect(Math.abs((eachUs * requests) / contributionUs - 1)).toBeLessThan(0.01)
  }
  const toldUs = findings.reduce((all, { contributionUs }) => all + contributionUs, 0)
  expect(Math.abs(toldUs / trulyUs - 1)).toBeLessThan(0.1)
})

/** 300 requests, a share of which ask entitlement for 12 ms first, and then rank for about 300 ms. */
function checks(seed: number, share: number) {
  return record({ seed, everyUs: 2e6 }, (r) => {
    const check = r.is(share) && call('entitlement CHECK', r.about(12_000, 0.1))
    return call('web GET', 0, {}, [check, call('rank RANK', r.about(300_000, 0.6))])
  })
}

test('a new call of all requests of a root costs what it takes, not what else differs in these', () => {
  const [finding] = compare(checks(1, 0), checks(2, 1)).findings.findings
  expect(finding?.title).toBe(
    'web: GET now calls entitlement CHECK in 300 of 300 calls (0 of 300 before)',
  )
  const [low, high] = finding?.eachInterval ?? []
  expect([low, high].map((us) => Math.round((us ?? 0) / 1000))).toEqual([12, 12])
})

/** 500 searches, which ask six shards at once, wait for the slowest of these, then for a rank and for much else. */
function searches(seed: number, { shards = 1, rankUs = 5000 } = {}) {
  let waitedUs = 0
  const traces = record({ seed, requests: 500 }, (r) => {
    const times = [0, 1, 2, 3, 4, 5].map(() => r.about(10_000 * shards, 0.6))
    waitedUs += Math.max(...times)
    const asked = times.map((us) => call('index QUERY', us, { beside: true }))
    const calls = [...asked, call('rank RANK', r.about(rankUs, 0.05))]
    return call('search GET', [0, r.about(60_000, 0.6)], {}, calls)
  })
  return { traces, waitedUs }
}

test.each([101])(
  'calls in parallel save what requests wait less for the slowest, and hide nothing of a slower step, seed %i',
  (seed) => {
    const [before, after] = [searches(seed), searches(seed + 1, { shards: 0.35, rankUs: 12_000 })]
    const { findings } = compare(before.traces, after.traces).findings
    const addedBy = (service: string) =>
      findings.find(({ services }) => services[0] === service)?.contributionUs ?? 0
    const trulyUs = after.waitedUs - before.waitedUs
    expect(Math.abs(addedBy('index') / trulyUs - 1)).toBeLessThan(0.1)
    expect(Math.abs(addedBy('rank') / (500 * 7000) - 1)).toBeLessThan(0.1)
  },
)

test.each([111])(
  'calls in parallel matter by what requests wait for, not by the sum of all calls, seed %i',
  (seed) => {
    const [before, after] = [searches(seed), searches(seed + 1, { shards: 1.07 })]
    const { steps, findings } = compare(before.traces, after.traces)
    const { q, shiftUs, callsEach, effect, changed } = steps.steps.find(
      ({ service }) => service === 'index',
    )!
    expect(q).toBeLessThan(0.05)
    // A search takes 95 ms.
    expect((shiftUs * callsEach) / 95_000).toBeGreaterThan(0.03)
    expect(effect).toBeLessThan(0.03)
    expect(changed).toBe(false)
    expect(findings.findings).toEqual([])
  },
)
