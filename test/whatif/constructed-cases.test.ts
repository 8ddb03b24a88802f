import { describe, expect, test } from 'vitest'
import type { Finding } from '../../src/compare/findings/finding.ts'
import { compare } from '../../src/comparison/comparison.ts'
import type { Findings } from '../../src/comparison/words/findings.ts'
import { randomSource } from '../../src/stats/random.ts'
import { diagnoseLatency } from '../../src/whatif/diagnosis/diagnose-latency.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

interface Changes {
  /** Share of calls to `stock` that fail and are made again. */
  readonly retries?: number
  readonly stockCalls?: number
  /** In which share of requests there are so many; once in all others. Default: all. */
  readonly stockShare?: number
  /** A new call, 15 ms. */
  readonly audit?: boolean
  readonly authMoreUs?: number
  readonly stockMoreUs?: number
  /** Carts of more than 400 items take 20 ms more. */
  readonly largeCarts?: boolean
  /** Share of requests from mobile clients, which also render. */
  readonly mobile?: number
  /** What 3 % of the calls to `price`, beside `cart`, take more. */
  readonly rarelyMoreUs?: number
}

// web  |auth 4 ms|  |cart: stock 3 ms, once|  |render 25 ms, mobile only|
//                   |price 8 ms            |
function period(seed: number, changes: Changes = {}) {
  const { retries = 0, stockCalls = 1, audit = false, mobile = 0.3, largeCarts = false } = changes
  const { authMoreUs = 0, stockMoreUs = 0, rarelyMoreUs = 0 } = changes
  const { stockShare = 1 } = changes
  const random = randomSource(seed)
  const about = (us: number) => random.logNormal(Math.log(us), 0.25)
  const spans: SpanSketch[] = []
  for (let request = 0; request < 1000; request++) {
    const trace = `t${request}`
    const isMobile = random.next() < mobile
    const items = 1 + random.integer(500)
    const below: SpanSketch[] = []
    const call = (service: string, startUs: number, us: number, more: Partial<SpanSketch> = {}) => {
      const id = `${service}-${below.length}`
      below.push({ parent: 'web', ...more, trace, id, service, startUs, endUs: startUs + us })
      return startUs + us
    }
    let atUs = call('auth', about(1000), about(4000) + authMoreUs) + about(300)
    if (audit) atUs = call('audit', atUs, about(15_000)) + about(300)
    const cart = { parent: 'cart' }
    let doneUs = atUs + about(500)
    for (let i = 0; i < (request % 10 < 10 * stockShare ? stockCalls : 1); i++) {
      const isRetried = random.next() < retries
      doneUs = call('stock', doneUs, about(3000) + stockMoreUs, {
        ...cart,
        ...(isRetried && { status: 'error' }),
      })
      if (isRetried) doneUs = call('stock', doneUs + about(6000), about(3000), cart)
      doneUs += about(100)
    }
    doneUs += about(500) + (largeCarts && items > 400 ? 20_000 : 0)
    below.push({
      trace,
      id: 'cart',
      parent: 'web',
      startUs: atUs,
      endUs: doneUs,
      attributes: { items },
    })
    const isSlow = random.next() < 0.03
    const pricedUs = call('price', atUs, about(8000) + (isSlow ? rarelyMoreUs : 0))
    let endUs = Math.max(doneUs, pricedUs) + about(500)
    if (isMobile) endUs = call('render', endUs, about(25_000)) + about(200)
    const attributes = { client: isMobile ? 'mobile' : 'desktop' }
    spans.push({ trace, id: 'web', startUs: 0, endUs, attributes }, ...below)
  }
  return makeSpans(spans)
}

describe('the change that was made is named first, and significant', () => {
  const before = period(1)
  const known = new Map<string, ReturnType<typeof compared>>()
  const compared = (changes: Changes) => {
    const after = period(2, changes)
    return { after, diagnosis: diagnoseLatency(before, after) }
  }
  /** The period with some changes and what explains it, found once for all tests. */
  const changed = (changes: Changes) => {
    const key = JSON.stringify(changes)
    const found = known.get(key) ?? compared(changes)
    known.set(key, found)
    return found
  }
  test.each<[string, Changes]>([
    ['cart call calls stock call 1.18 times on average instead of once', { retries: 0.2 }],
    ['cart call calls stock call 6 times on average instead of once', { stockCalls: 6 }],
    [
      'cart call calls stock call 3 times on average instead of once',
      { stockCalls: 5, stockShare: 0.5 },
    ],
    ['web call now calls audit call', { audit: true }],
    ['server time of auth call as after', { authMoreUs: 10_000 }],
    ['server time of cart call with items > 400 as after', { largeCarts: true }],
    ['mix of requests by client as after (desktop 31 % instead of 70 %)', { mobile: 0.7 }],
    ['server time of price call as after', { rarelyMoreUs: 100_000 }],
  ])('%s', (title, changes) => {
    const { best } = changed(changes).diagnosis
    expect(best?.scenario.title).toBe(title)
    expect(best?.significant).toBe(true)
  })

  test('two causes are named one after the other, with what both explain', () => {
    const { together } = diagnoseLatency(
      before,
      period(2, { authMoreUs: 10_000, stockMoreUs: 10_000 }),
    )
    const [first, second] = together
    expect(together.map(({ cause }) => cause.scenario.title).sort()).toEqual([
      'server time of auth call as after',
      'server time of stock call as after',
    ])
    expect(first?.gain).toBe(first?.cause.gain)
    expect(second?.gain).toBeGreaterThan((first?.gain ?? 1) + 0.1)
    expect(second?.gain).toBeGreaterThan(0.9)
  })

  test.each<[string, Changes]>([
    ['server time of auth call as after', { authMoreUs: 10_000 }],
    ['web call now calls audit call', { audit: true }],
    ['cart call calls stock call 6 times on average instead of once', { stockCalls: 6 }],
  ])('a finding of a comparison and its cause know each other: %s', (title, changes) => {
    const { after, diagnosis } = changed(changes)
    const { findings } = compare(before, after)
    const [first] = diagnosis.explains(findings)
    expect(first?.finding.rank).toBe(1)
    expect(first?.cause?.scenario.title).toBe(title)
    const begun = diagnoseLatency(before, after, { finding: first?.finding ?? null })
    expect(begun.best?.scenario.title).toBe(title)
    expect(begun.size).toBeLessThan(diagnosis.size)
  })

  test('what a finding does not tell explains none', () => {
    const { after, diagnosis } = changed({ authMoreUs: 10_000 })
    const [found] = compare(before, after).findings.findings
    const otherway = { findings: [{ ...found, direction: 'faster' }] } as unknown as Findings
    expect(diagnosis.explains(otherway)[0]?.cause).toBeNull()
    const elsewhere = { ...found, steps: [{ ...found?.steps[0], service: 'nosuch' }] } as Finding
    expect(() => diagnoseLatency(before, after, { finding: elsewhere })).toThrow(
      'is about no call of these requests',
    )
  })

  test('one cause stands alone', () => {
    const { together } = changed({ authMoreUs: 10_000 }).diagnosis
    expect(together.map(({ cause }) => cause.rank)).toEqual([1])
  })

  test('nothing is significant where nothing was changed', () => {
    const found = [2, 3].flatMap((seed) => diagnoseLatency(before, period(seed)).ranked)
    expect(found.filter(({ significant }) => significant)).toEqual([])
  })

  test('fewer calls, and calls that are no longer made, are named as well', () => {
    const titleOf = (changes: Changes) =>
      diagnoseLatency(period(2, changes), before).best?.scenario.title
    expect(titleOf({ stockCalls: 6 })).toBe(
      'cart call calls stock call once on average instead of 6 times',
    )
    expect(titleOf({ audit: true })).toBe('web call no longer calls audit call')
  })
})

// before a  |web 2 ms|                 before b  |web 5 ms: stock 3 ms|
// after     |web 25 ms: stock 3 ms, six times|
test('callers of different numbers of calls that pair with the same one each gain what they lack', () => {
  const request = (trace: string, calls: number): SpanSketch[] => {
    const endUs = 1000 + (calls === 0 ? 1000 : 4000 * calls)
    const stocks = Array.from({ length: calls }, (_, i) => {
      const startUs = 1000 + 4000 * i
      const id = `stock-${i}`
      return { trace, id, parent: 'web', service: 'stock', startUs, endUs: startUs + 3000 }
    })
    return [{ trace, id: 'web', startUs: 0, endUs }, ...stocks]
  }
  const before = makeSpans([...request('a', 0), ...request('b', 1)])
  const { ranked } = diagnoseLatency(before, makeSpans(request('c', 6)), { minimumPartition: 1 })
  const count = ranked.find(({ scenario }) => scenario.kind === 'count')
  expect([...(count?.evaluation.latencyUs ?? [])]).toEqual([26_000, 25_000])
})
