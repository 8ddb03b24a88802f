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
  seed = 1,
}: Shop = {}): SpanTraces {
  const random = randomSource(seed)
  const about = (us: number) => us * (0.9 + 0.2 * random.next())
  const sketches: SpanSketch[] = []
  for (let i = 0; i < requests; i++) {
    const trace = `t${seed}-${i}`
    const startUs = 20_000.5 * i
    let nowUs = startUs + about(200)
    const call = (service: string, operation: string, workUs: number, parent: string) => {
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
          startUs: begins,
          endUs: ends,
        },
        { trace, id: service, parent: id, service, operation, ...inner },
      )
      nowUs = ends + about(50)
    }
    const looksInArchive = random.next() < archive
    call('stock', 'LOOKUP', about(stockUs), 'root')
    if (looksInArchive) call('archive', 'READ', about(5000), 'root')
    if (i % payEvery === 0 && ways > 1)
      call(`way ${(i / payEvery) % ways}`, 'CHECK', about(50), 'root')
    if (i % payEvery === 0) call('pay', 'CHARGE', about(payUs), 'root')
    sketches.push({
      trace,
      id: 'root',
      service: 'shop',
      operation: 'GET',
      startUs,
      endUs: nowUs + about(100),
    })
  }
  return makeSpans(sketches)
}

export function compareShops(before: Shop, after: Shop, options: Partial<ComparisonOptions> = {}) {
  return compare(shopPeriod(before), shopPeriod({ seed: 2, ...after }), options)
}
