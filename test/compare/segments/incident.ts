import type { Comparison } from '../../../src/compare/comparison.ts'
import { compare } from '../../../src/index.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

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
  const random = randomSource(2 * seed + period)
  const pick = <T>(values: readonly T[]) => values[random.integer(values.length)] as T
  const spans: SpanSketch[] = []
  let level = 1
  for (let i = 0; i < requests; i++) {
    if (i % Math.ceil(requests / 30) === 0) level = Math.exp(drift * random.normal())
    const tier =
      random.next() < enterprise[period] ? 'enterprise' : random.next() < 0.3 ? 'pro' : 'free'
    const request: SimulatedRequest = {
      operation: pick(['GET /cart', 'GET /orders', 'POST /orders']),
      tier,
      region: pick(['ap', 'eu', 'us', 'sa']),
      pod: pick(['a', 'b', 'c', 'd', 'e', 'f']),
      flag: random.next() < (tier === 'enterprise' ? 0.8 : 0.3),
      cached: random.next() < 0.7,
      size: Math.round(Math.exp(8 + 1.5 * random.normal())),
      coupon: random.next() < 0.3 ? pick(['TEN', 'FREE', 'GIFT']) : undefined,
    }
    const pause = random.next() < 0.01 ? 400_000 : 0
    const usual =
      level *
      20_000 *
      Math.exp(0.5 * random.normal()) *
      (tier === 'enterprise' ? 2 : 1) *
      (1 + request.size / 50_000)
    const isFailed = random.next() < 0.02
    const {
      factor = 1,
      addedUs = 0,
      fails = false,
    } = period === 1 ? effectOf(request, () => random.next()) : {}
    const storeUs = Math.round(usual * factor + addedUs + pause)
    const shopUs = Math.round(5_000 * Math.exp(0.3 * random.normal()))
    const noise = Object.fromEntries(
      ['build', 'zone', 'browser', 'language', 'ab', 'theme'].map((name, n) => [
        name,
        `${name}-${random.integer(2 + 3 * n)}`,
      ]),
    )
    const startUs = 100_000 * i
    const trace = `${period}-${i}`
    spans.push(
      {
        trace,
        id: 'r',
        service: 'shop',
        operation: request.operation,
        host: request.pod,
        startUs,
        endUs: startUs + storeUs + shopUs,
        status: fails || isFailed ? 'error' : 'ok',
        attributes: {
          'tenant.tier': tier,
          plan: `plan-${tier}`,
          region: request.region,
          ...(hasRoute && { 'http.route': request.operation.split(' ')[1] }),
          ...noise,
          flag: request.flag,
          'cache.hit': request.cached,
          'body.size': request.size,
          ...(request.coupon !== undefined && { coupon: request.coupon }),
          'user.id': `u${random.integer(1e9)}`,
          'session.key': `s${random.integer(1e9)}`,
          paused: pause > 0,
        },
      },
      {
        trace,
        id: 's',
        parent: 'r',
        service: 'store',
        operation: 'query',
        startUs: startUs + 1_000,
        endUs: startUs + 1_000 + storeUs,
        attributes: { shard: random.integer(4), 'db.system': 'postgres' },
      },
    )
  }
  return makeSpans(spans, period === 0 ? 'before' : 'after')
}
