import type { Comparison } from '../../../src/comparison/comparison.ts'
import { compare } from '../../../src/index.ts'
import { makeSpans } from '../../make-traces.ts'
import { call, spansOf } from '../../worlds.ts'

/** What a simulated request is, beside noise. */
export interface SimulatedRequest {
  readonly operation: 'GET /cart' | 'GET /orders' | 'POST /orders'
  readonly tier: 'free' | 'pro' | 'enterprise'
  readonly region: string
  readonly pod: string
  readonly flag: boolean
  readonly cached: boolean
  readonly size: number
  readonly coupon: string | undefined
}

/** What befalls a request after. */
export interface Effect {
  /** Times of the database are multiplied by this. */
  readonly factor?: number
  readonly addedUs?: number
  readonly fails?: boolean
}

export interface Incident {
  readonly seed: number
  /** Requests of each period. */
  readonly requests?: number
  readonly effectOf?: (request: SimulatedRequest, chance: () => number) => Effect
  /** Share of requests of the enterprise tier, before and after. */
  readonly enterprise?: readonly [before: number, after: number]
  /** Whether roots have an attribute that says their operation again. */
  readonly hasRoute?: boolean
  /** How far the level of all times wanders from minute to minute, as a share. */
  readonly drift?: number
}

/**
 * Compares two periods of a shop: `shop` asks `store`, whose time is log-normal with a heavy tail.
 * Before, too, enterprise requests take twice as long, large ones longer, one request in fifty
 * fails, a pause strikes one in a hundred, and a flag is on for most of the enterprise tier.
 */
export function simulateIncident(incident: Incident): Comparison {
  return compare(...simulatePeriods(incident))
}

let known: Comparison | undefined

/** Queries of the enterprise tier take six times as long; compared once for all files of tests. */
export function enterpriseIncident(): Comparison {
  known ??= simulateIncident({
    seed: 1,
    effectOf: ({ tier }) => ({ factor: tier === 'enterprise' ? 6 : 1 }),
  })
  return known
}

export function simulatePeriods(incident: Incident) {
  return [simulatePeriod(incident, 0), simulatePeriod(incident, 1)] as const
}

function simulatePeriod(
  {
    seed,
    requests = 1_500,
    effectOf = () => ({}),
    enterprise = [0.08, 0.08],
    hasRoute = false,
    drift = 0,
  }: Incident,
  period: 0 | 1,
) {
  let level = 1
  const given = { seed: 2 * seed + period, requests, everyUs: 1e5, name: `${period}` }
  const spans = spansOf(given, (r) => {
    if (r.index % Math.ceil(requests / 30) === 0) level = Math.exp(drift * r.normal())
    const tier = r.is(enterprise[period]) ? 'enterprise' : r.is(0.3) ? 'pro' : 'free'
    const request: SimulatedRequest = {
      operation: r.pick(['GET /cart', 'GET /orders', 'POST /orders']),
      tier,
      region: r.pick(['ap', 'eu', 'us', 'sa']),
      pod: r.pick(['a', 'b', 'c', 'd', 'e', 'f']),
      flag: r.is(tier === 'enterprise' ? 0.8 : 0.3),
      cached: r.is(0.7),
      size: Math.round(Math.exp(8 + 1.5 * r.normal())),
      coupon: r.is(0.3) ? r.pick(['TEN', 'FREE', 'GIFT']) : undefined,
    }
    const pause = r.is(0.01) ? 400_000 : 0
    const usualUs =
      level * r.about(20_000, 0.5) * (tier === 'enterprise' ? 2 : 1) * (1 + request.size / 50_000)
    const isFailed = r.is(0.02)
    const effect = period === 1 ? effectOf(request, () => r.next()) : {}
    const { factor = 1, addedUs = 0, fails = false } = effect
    const shopUs = r.about(5000, 0.3)
    const noise = ['build', 'zone', 'browser', 'language', 'ab', 'theme'].map(
      (name, n) => [name, `${name}-${r.integer(2 + 3 * n)}`] as const,
    )
    const attributes = {
      'tenant.tier': tier,
      plan: `plan-${tier}`,
      region: request.region,
      ...(hasRoute && { 'http.route': request.operation.split(' ')[1]! }),
      ...Object.fromEntries(noise),
      flag: request.flag,
      'cache.hit': request.cached,
      'body.size': request.size,
      ...(request.coupon !== undefined && { coupon: request.coupon }),
      'user.id': `u${r.integer(1e9)}`,
      'session.key': `s${r.integer(1e9)}`,
      paused: pause > 0,
    }
    const own = { host: request.pod, fails: fails || isFailed, attributes }
    const store = call('store query', Math.round(usualUs * factor + addedUs + pause), {
      attributes: { shard: r.integer(4), 'db.system': 'postgres' },
    })
    return call(`shop ${request.operation}`, [1000, Math.max(0, shopUs - 1000)], own, [store])
  })
  return makeSpans(spans, period === 0 ? 'before' : 'after')
}
