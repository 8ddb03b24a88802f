import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { draftFindings } from '../../../src/compare/findings/draft-findings.ts'
import { Prices } from '../../../src/compare/findings/prices.ts'
import { RequestColumns } from '../../../src/compare/segments/request-columns.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

interface World {
  readonly seed: number
  /** Whether requests with the flag call insights, 35 ms each. */
  readonly insights?: boolean
  /** Whether a fifth of the calls to the ledger wait, 60 ms on average. */
  readonly waits?: boolean
}

/** 600 requests of the web, a fifth with a flag, and 60 batches of twelve calls in four lanes. */
function period({ seed, insights = false, waits = false }: World) {
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  let totalUs = 0
  const entries = (of: Pick<SpanSketch, 'trace' | 'parent'>, id: string, startUs: number) => {
    const usual = 7000 * random.logNormal(0, 0.3)
    const [isSlow, wait] = [random.next() < 0.2, -60_000 * Math.log(1 - random.next())]
    const endUs = startUs + usual + (waits && isSlow ? wait : 0)
    spans.push({ ...of, id, service: 'ledger', operation: 'ENTRIES', startUs, endUs })
    return endUs
  }
  for (let i = 0; i < 660; i++) {
    const [trace, startUs] = [`t${i}`, i * 1e6]
    const root = { trace, id: `r${i}`, startUs }
    const of = { trace, parent: root.id }
    if (i % 11 === 0) {
      const lanes = [0, 0, 0, 0].map(() => startUs + 2000)
      for (let call = 0; call < 12; call++) {
        lanes.sort((a, b) => a - b)
        lanes[0] = entries(of, `e${i}.${call}`, lanes[0] as number)
      }
      const endUs = Math.max(...lanes) + 2000
      totalUs += endUs - startUs
      spans.push({ ...root, service: 'batch', operation: 'RUN', endUs })
      continue
    }
    const flag = random.next() < 0.2 ? 'on' : 'off'
    const insightsUs = 32_000 * random.logNormal(0, 0.3)
    let endUs = entries(of, `e${i}`, startUs + 2000 * random.logNormal(0, 0.3))
    if (insights && flag === 'on') {
      const from = endUs
      endUs += insightsUs
      const called = { service: 'insights', operation: 'GET', startUs: from, endUs }
      spans.push({ ...of, id: `i${i}`, ...called })
    }
    endUs += 1000 * random.logNormal(0, 0.3)
    totalUs += endUs - startUs
    spans.push({ ...root, service: 'web', operation: 'SHOW', endUs, attributes: { flag } })
  }
  return { traces: makeSpans(spans), totalUs }
}

const compared = (world: Omit<World, 'seed'>, seed: number) => {
  const after = period({ ...world, seed: seed + 1 })
  const { findings } = compare(period({ seed }).traces, after.traces)
  return { findings, trulyUs: after.totalUs - period({ seed: seed + 1 }).totalUs }
}

test.each([11, 21])(
  'a new call of some requests accounts for all that these take longer, seed %i',
  (seed) => {
    const { findings, trulyUs } = compared({ insights: true }, seed)
    expect(findings.findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^web: SHOW .*(insights|ENTRIES).*, only where flag = on$/),
    ])
    expect(Math.abs(findings.attributedUs / trulyUs - 1)).toBeLessThan(0.1)
    expect(findings.text()).not.toContain('other findings count')
  },
)

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
  const random = randomSource(seed)
  const about = (us: number) => us * random.logNormal(0, 0.2)
  const spans: SpanSketch[] = []
  let totalUs = 0
  for (let i = 0; i < 800; i++) {
    const [trace, startUs] = [`t${i}`, i * 1e6]
    const [rankUs, titlesUs, otherUs] = [about(30_000), about(4000), about(9000)]
    const isHit = random.next() < cached
    const lookUpUs = isHit ? about(1000) : about(14_000)
    const root = { trace, id: `r${i}`, startUs }
    let nowUs = startUs + otherUs
    const rank = { trace, id: `k${i}`, parent: root.id, service: 'ranks', operation: 'RANK' }
    spans.push({ ...rank, startUs: nowUs, endUs: nowUs + (isEmpty ? 2000 : rankUs) })
    const of = { trace, parent: rank.id, service: 'ranks', kind: 'client' as const }
    const model = { id: `m${i}`, operation: 'MODEL', startUs: nowUs, endUs: nowUs + 1000 }
    if (!isEmpty) spans.push({ ...of, ...model })
    nowUs += isEmpty ? 2000 : rankUs
    if (!isEmpty) {
      const called = { trace, id: `c${i}`, parent: root.id, service: 'titles', operation: 'BATCH' }
      const endUs = nowUs + titlesUs + lookUpUs
      spans.push({ ...called, startUs: nowUs, endUs })
      const within = { trace, id: `d${i}`, parent: called.id, service: 'titles' }
      const operation = isHit ? 'MGET' : 'SELECT'
      const times = { startUs: nowUs + 100, endUs: nowUs + 100 + lookUpUs }
      spans.push({ ...within, operation, kind: 'client', ...times })
      nowUs = endUs
    }
    spans.push({ ...root, service: 'home', operation: 'GET', endUs: nowUs + 500 })
    totalUs += nowUs + 500 - startUs
  }
  return { traces: makeSpans(spans), totalUs }
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
  const random = randomSource(seed)
  const about = (us: number) => us * random.logNormal(0, 0.2)
  let totalUs = 0
  const spans = Array.from({ length: 800 }, (_, i): SpanSketch[] => {
    const [trace, startUs] = [`t${i}`, i * 1e6]
    const operation = random.next() < 0.5 ? 'LOOKUP' : 'CREATE'
    const [workUs, prefetchUs] = [about(5000), about(4000)]
    const endUs = startUs + workUs + (prefetches ? prefetchUs : 0)
    totalUs += endUs + 1000 - startUs
    const own = { trace, service: 'store', startUs, endUs }
    const within = {
      ...own,
      id: 'p',
      parent: 's',
      operation: 'prefetch',
      startUs: startUs + workUs,
    }
    return [
      { ...own, id: 'r', service: 'web', operation: `web ${operation}`, endUs: endUs + 1000 },
      { ...own, id: 's', parent: 'r', operation },
      ...(prefetches ? [within] : []),
    ]
  })
  return { traces: makeSpans(spans.flat()), totalUs }
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
  const random = randomSource(seed)
  const spans = Array.from({ length: 600 }, (_, i): SpanSketch[] => {
    const [trace, startUs] = [`${name}-${i}`, i * 200_000]
    const stockUs = 5000 * random.logNormal(0, 0.3) + (isCold ? 1000 + (i < 120 ? 20_000 : 0) : 0)
    const endUs = startUs + 30_000 * random.logNormal(0, 0.2) + stockUs
    const call = { startUs: startUs + 500, endUs: startUs + 500 + stockUs }
    return [
      { trace, id: 'r', service: 'shop', operation: 'GET', startUs, endUs },
      { trace, id: 's', parent: 'r', service: 'stock', operation: 'LOOKUP', ...call },
    ]
  })
  return makeSpans(spans.flat(), name)
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
  const random = randomSource(seed)
  let totalUs = 0
  const spans = Array.from({ length: 400 }, (_, i): SpanSketch[] => {
    const [trace, startUs] = [`t${i}`, i * 5e6]
    const asks = Math.ceil((1e6 * random.next()) / everyUs)
    const endUs = startUs + asks * (everyUs + 3000) + 2000 * random.logNormal(0, 0.3)
    totalUs += endUs - startUs
    const own = { trace, service: 'quotes' }
    return [
      { ...own, id: 'r', operation: 'POST', startUs, endUs },
      ...Array.from({ length: asks }, (_, ask): SpanSketch => {
        const from = startUs + everyUs + ask * (everyUs + 3000)
        const times = { startUs: from, endUs: from + 3000 * random.logNormal(0, 0.1) }
        return { ...own, id: `s${ask}`, parent: 'r', operation: 'SELECT', kind: 'client', ...times }
      }),
    ]
  })
  return { traces: makeSpans(spans.flat()), totalUs }
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
  const random = randomSource(seed)
  const spans = Array.from({ length: 300 }, (_, i): SpanSketch[] => {
    const [trace, startUs] = [`t${i}`, i * 2e6]
    const isChecked = random.next() < share
    const fromUs = startUs + (isChecked ? 12_000 * random.logNormal(0, 0.1) : 0)
    const endUs = fromUs + 300_000 * random.logNormal(0, 0.6)
    const of = { trace, parent: 'r' }
    const check = { ...of, id: 'c', service: 'entitlement', operation: 'CHECK', startUs }
    return [
      { trace, id: 'r', service: 'web', operation: 'GET', startUs, endUs },
      { ...of, id: 'k', service: 'rank', operation: 'RANK', startUs: fromUs, endUs },
      ...(isChecked ? [{ ...check, endUs: fromUs }] : []),
    ]
  })
  return makeSpans(spans.flat())
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
  const random = randomSource(seed)
  let waitedUs = 0
  const spans = Array.from({ length: 500 }, (_, i): SpanSketch[] => {
    const [trace, startUs] = [`t${i}`, i * 1e6]
    const times = [0, 1, 2, 3, 4, 5].map(() => 10_000 * shards * random.logNormal(0, 0.6))
    const rankFrom = startUs + Math.max(...times)
    const rankEnd = rankFrom + rankUs * random.logNormal(0, 0.05)
    const endUs = rankEnd + 60_000 * random.logNormal(0, 0.6)
    waitedUs += rankFrom - startUs
    const of = { trace, parent: 'r' }
    return [
      { trace, id: 'r', service: 'search', operation: 'GET', startUs, endUs },
      ...times.map((us, shard): SpanSketch => {
        const id = `s${shard}`
        return { ...of, id, service: 'index', operation: 'QUERY', startUs, endUs: startUs + us }
      }),
      { ...of, id: 'k', service: 'rank', operation: 'RANK', startUs: rankFrom, endUs: rankEnd },
    ]
  })
  return { traces: makeSpans(spans.flat()), waitedUs }
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
