import { compare } from '../../../src/compare/comparison.ts'
import type { ComparisonOptions } from '../../../src/compare/comparison-options.ts'
import { randomSource } from '../../../src/stats/random.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

/** What requests of the small shop below take, in µs, and which of them do what. */
export interface Shop {
  readonly requests?: number
  /** Before the service begins what it was called for, and after. */
  readonly networkUs?: number
  readonly stockUs?: number
  readonly payUs?: number
  /** Of every so many requests, one pays. */
  readonly payEvery?: number
  /** Ways to pay, each a structure of its own. */
  readonly ways?: number
  /** Share of requests whose stock is looked up in the archive as well. */
  readonly archive?: number
  /** Which look-ups of stock fail, in a tenth of the time: a share, or a share by request. */
  readonly failing?: number | ((request: number) => number)
  /** Whether the shop fails with them, and takes no pay then; default true. */
  readonly passesOn?: boolean
  readonly seed?: number
}

/**
 * One period of a shop: `shop GET` calls `stock LOOKUP` (which may call `archive READ`), and some
 * requests call `pay CHARGE` then.
 */
export function shopPeriod({
  requests = 300,
  networkUs = 100,
  stockUs = 1000,
  payUs = 2000,
  payEvery = 3,
  ways = 1,
  archive = 0,
  failing = 0,
  passesOn = true,
  seed = 1,
}: Shop = {}): SpanTraces {
  const random = randomSource(seed)
  const about = (us: number) => us * (0.9 + 0.2 * random.next())
  const sketches: SpanSketch[] = []
  for (let i = 0; i < requests; i++) {
    const trace = `t${seed}-${i}`
    const startUs = 20_000.5 * i
    let nowUs = startUs + about(200)
    const failingNow = typeof failing === 'number' ? failing : failing(i)
    const fails = failingNow > 0 && random.next() < failingNow
    const isFailing = (service: string) => fails && service === 'stock'
    const call = (service: string, operation: string, usualUs: number, parent: string) => {
      const workUs = isFailing(service) ? usualUs / 10 : usualUs
      const status = isFailing(service) ? 'error' : 'unset'
      const attributes: Record<string, string | number> = isFailing(service)
        ? { 'http.response.status_code': 503, 'otel.status_description': 'no stock' }
        : {}
      const begins = nowUs
      const inner = { startUs: begins + about(networkUs), endUs: 0 }
      inner.endUs = inner.startUs + workUs
      const ends = inner.endUs + about(networkUs)
      const id = `${service}-client`
      sketches.push(
        {
          trace,
          id,
          parent,
          service: parent === 'root' ? 'shop' : 'stock',
          operation: `call ${operation}`,
          status,
          startUs: begins,
          endUs: ends,
        },
        { trace, id: service, parent: id, service, operation, status, attributes, ...inner },
      )
      nowUs = ends + about(50)
    }
    const looksInArchive = random.next() < archive
    call('stock', 'LOOKUP', about(stockUs), 'root')
    if (looksInArchive) call('archive', 'READ', about(5000), 'root')
    if (i % payEvery === 0 && ways > 1)
      call(`way ${(i / payEvery) % ways}`, 'CHECK', about(50), 'root')
    const stops = fails && passesOn
    if (i % payEvery === 0 && !stops) call('pay', 'CHARGE', about(payUs), 'root')
    sketches.push({
      trace,
      id: 'root',
      service: 'shop',
      operation: 'GET',
      status: stops ? 'error' : 'unset',
      startUs,
      endUs: nowUs + about(100),
    })
  }
  return makeSpans(sketches)
}

export function compareShops(before: Shop, after: Shop, options: Partial<ComparisonOptions> = {}) {
  return compare(shopPeriod(before), shopPeriod({ seed: 2, ...after }), options)
}
