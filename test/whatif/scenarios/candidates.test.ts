import { describe, expect, test } from 'vitest'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { learnExecutionModels } from '../../../src/whatif/models/execution-models.ts'
import { RequestModel } from '../../../src/whatif/recompute/request-model.ts'
import { firstCandidates } from '../../../src/whatif/scenarios/call-candidates.ts'
import { candidateContext } from '../../../src/whatif/scenarios/candidate-context.ts'
import type { Candidate } from '../../../src/whatif/scenarios/scenario.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'
import { serviceTraces } from './service-traces.ts'

const SERVICES = {
  web: { ownUs: 500, calls: ['cart', 'price'] },
  cart: { ownUs: 1000, calls: ['stock', 'db'], parallel: true },
  price: { ownUs: 1500, calls: ['db'] },
  stock: { ownUs: 4000, calls: [] },
  db: { ownUs: 800, calls: [] },
}
const SIMULATED = { services: SERVICES, root: 'web', requests: 120, hosts: 2, hitRate: 0.3 }
const OPTIONS = { features: 'auto', minimumPartition: 30, factors: [0.5, 2] } as const
const ALL = { services: true, structural: true }

function prepared(before: SpanTraces, after?: SpanTraces) {
  const models = learnExecutionModels(after === undefined ? before : [before, after])
  const base = new RequestModel(models, 0)
  const target = after === undefined ? null : new RequestModel(models, 1)
  const first = firstCandidates(candidateContext(base, target, OPTIONS), ALL)
  const named = (title: string) => {
    const found = first.find((each) => each.title === title)
    if (found === undefined) throw new Error(`no ${title} among ${titles(first)}`)
    return found
  }
  const timesUnder = (scenario: Candidate) =>
    Array.from(base.responseTimes(scenario.apply(base, target).changes))
  return { base, target, first, named, timesUnder }
}

const titles = (candidates: readonly Candidate[]) => candidates.map(({ title }) => title).sort()
const before = serviceTraces({ ...SIMULATED, seed: 1 })
const after = serviceTraces({ ...SIMULATED, seed: 2, slower: { stock: { networkUs: 5000 } } })

describe('what is tried first', () => {
  test('the calls of the first call, its own time, services wherever they are, and kinds of requests', () => {
    expect(titles(prepared(before, after).first)).toEqual([
      'mix of requests by cache.hit as after (false 61 % instead of 73 %)',
      'mix of requests by host as after',
      'mix of requests by load as after',
      'mix of requests by what they call as after',
      'network to cart serve cart as after',
      'network to db serve db as after',
      'network to everything that web serve web calls, as after',
      'network to price serve price as after',
      'network to stock serve stock as after',
      'own time of web serve web as after',
      'server time of cart serve cart as after',
      'server time of db serve db as after',
      'server time of price serve price as after',
      'server time of stock serve stock as after',
      'web serve web calling cart serve cart, price serve price, as fast as the others',
      'web serve web calling nothing, as fast as the others',
      'web serve web calls cart serve cart in 61 % of its calls instead of 73 %',
      'web serve web calls price serve price in 61 % of its calls instead of 73 %',
      'web serve web on host web-0, as fast as the others',
      'web serve web on host web-1, as fast as the others',
      'web serve web with cache.hit = false, as fast as the others',
      'web serve web with cache.hit = true, as fast as the others',
    ])
  })

  test('within a server time: its own time, the calls it makes, kinds of its calls', () => {
    const within = prepared(before, after).named('server time of cart serve cart as after').within()
    expect(titles(within)).toEqual([
      'cart serve cart on host cart-0, as fast as the others',
      'cart serve cart on host cart-1, as fast as the others',
      'mix of calls to cart serve cart by host as after',
      'network to db serve db called by cart as after',
      'network to everything that cart serve cart calls, as after',
      'network to stock serve stock as after',
      'own time of cart serve cart as after',
      'server time of cart serve cart on host cart-0 as after',
      'server time of cart serve cart on host cart-1 as after',
      'server time of db serve db called by cart as after',
      'server time of stock serve stock as after',
    ])
  })

  test('within calls of several callers: those of each', () => {
    const within = prepared(before, after).named('network to db serve db as after').within()
    expect(titles(within)).toEqual([
      'network to db serve db called by cart as after',
      'network to db serve db called by price as after',
    ])
  })

  test('without a second period: factors, and kinds of requests more and less often', () => {
    const found = titles(prepared(before).first)
    expect(found).toContain('network to cart serve cart × 2')
    expect(found).toContain('half as many requests with cache.hit = true')
    expect(found.filter((title) => title.includes('as after'))).toEqual([])
  })
})

describe('what they change', () => {
  test('one period against itself: nothing, to the last bit', () => {
    const { base, first, timesUnder } = prepared(before, before)
    const recorded = Array.from(base.responseTimes([]))
    for (const candidate of first.filter(({ kind }) => kind !== 'partition')) {
      expect(timesUnder(candidate), candidate.title).toEqual(recorded)
    }
  })

  const call = (trace: string, totalUs: number, stockUs: number): SpanSketch[] => [
    { trace, id: 'web', startUs: 0, endUs: totalUs },
    { trace, id: 'stock', parent: 'web', startUs: 10, endUs: 10 + stockUs },
  ]

  test('each call takes the time at the same rank of the same path in the other period', () => {
    const one = makeSpans([...call('a', 100, 20), ...call('b', 100, 40)])
    const other = makeSpans([...call('a', 300, 200), ...call('b', 400, 150)])
    const { named, timesUnder } = prepared(one, other)
    expect(timesUnder(named('server time of stock call as after'))).toEqual([230, 260])
    expect(timesUnder(named('own time of web call as after'))).toEqual([270, 140])
  })

  test('calls that the other period does not make take no time', () => {
    const one = makeSpans(call('a', 100, 20))
    const other = makeSpans([{ id: 'web', startUs: 0, endUs: 50 }])
    const { named, timesUnder } = prepared(one, other)
    expect(timesUnder(named('server time of stock call as after'))).toEqual([80])
  })

  test('calls of a path that only the other period has change nothing', () => {
    const one = makeSpans([{ id: 'web', startUs: 0, endUs: 50 }])
    const other = makeSpans(call('a', 100, 20))
    const { first, timesUnder } = prepared(one, other)
    const ofStock = first.filter(({ service }) => service === 'stock')
    expect(ofStock).toHaveLength(1)
    for (const candidate of ofStock) expect(timesUnder(candidate)).toEqual([50])
  })

  test('the mix of requests becomes the other period’s', () => {
    const hits = serviceTraces({ ...SIMULATED, seed: 2, hitRate: 0.6 })
    const { base, target, named } = prepared(before, hits)
    const { weight, changes } = named(
      'mix of requests by cache.hit as after (false 37 % instead of 73 %)',
    ).apply(base, target)
    expect(changes).toEqual([])
    const share = (model: RequestModel | null, weights: Float64Array | null) => {
      if (model === null || weights === null) throw new Error('no weights')
      const { requestOffsets, serverSpan, traces } = model.forest
      let hits = 0
      let all = 0
      weights.forEach((own, request) => {
        const span = serverSpan[requestOffsets[request] as number] as number
        if (traces.attributes.get(span, 'cache.hit') === true) hits += own
        all += own
      })
      return hits / all
    }
    expect(share(base, weight)).toBeCloseTo(share(target, target?.forest.weight ?? null), 12)
    expect(weight?.reduce((a, b) => a + b)).toBeCloseTo(120, 9)
  })

  test('the calls on one host become as fast as those elsewhere', () => {
    const slow = serviceTraces({ ...SIMULATED, seed: 3, slowHostUs: 3000 })
    const { base, first, timesUnder } = prepared(slow, before)
    const mean = (times: readonly number[]) => times.reduce((a, b) => a + b) / times.length
    const recorded = mean(Array.from(base.responseTimes([])))
    const at = (host: string) =>
      mean(timesUnder(first.find(({ title }) => title.includes(`on host ${host},`)) as Candidate))
    expect(at('web-0') - recorded).toBeLessThan(-1000)
    expect(at('web-1') - recorded).toBeGreaterThan(1000)
  })
})

describe('what speaks for them', () => {
  test('one call of each request, so that values are independent', () => {
    const { base, target, named } = prepared(before, after)
    if (target === null) throw new Error('no target')
    const requests = Array.from(base.forest.requestTrace).length
    const db = named('server time of db serve db as after').evidence(base, target)
    expect(db.measured).toBe('times')
    expect(db.before.values.length).toBeLessThan(requests)
    expect(
      named('own time of web serve web as after').evidence(base, target).before.values.length,
    ).toBe(requests)
    const mix = named('mix of requests by host as after').evidence(base, target)
    expect([mix.measured, mix.before.values.length]).toEqual(['kinds', requests])
  })

  test('a part that changed as all others did has not changed itself', () => {
    const slower = serviceTraces({ ...SIMULATED, seed: 2, slower: { web: { serverUs: 20_000 } } })
    const { base, target, named } = prepared(before, slower)
    if (target === null) throw new Error('no target')
    const host = named('web serve web on host web-0, as fast as the others')
    const { before: was, after: is } = host.evidence(base, target)
    const mean = (values: Float64Array) => values.reduce((a, b) => a + b) / values.length
    expect(Math.abs(mean(is.values) - mean(was.values))).toBeLessThan(3000)
  })
})
