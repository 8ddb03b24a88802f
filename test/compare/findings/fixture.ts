import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import type { ComparisonOptions } from '../../../src/comparison/comparison-options.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { makeSpans } from '../../make-traces.ts'
import { call, spansOf } from '../../worlds.ts'

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
  const spans = spansOf({ seed, requests, everyUs: 20_000.5, name: `t${seed}` }, (r) => {
    const about = (us: number) => us * (0.9 + 0.2 * r.next())
    const firstUs = about(200)
    const failingNow = typeof failing === 'number' ? failing : failing(r.index)
    const fails = failingNow > 0 && r.is(failingNow)
    let restUs = 0
    const ask = (of: string, usualUs: number) => {
      const isFailing = fails && of.startsWith('stock')
      const said = isFailing
        ? { 'http.response.status_code': 503, 'otel.status_description': 'no stock' }
        : {}
      const operation = `call ${of.split(' ').at(-1)}`
      const client = {
        us: [about(networkUs), about(networkUs)],
        operation,
        kind: 'internal',
      } as const
      const gapUs = restUs
      restUs = about(50)
      const how = { fails: isFailing, attributes: said, client, gapUs }
      return call(of, isFailing ? usualUs / 10 : usualUs, how)
    }
    const looksInArchive = r.is(archive)
    const pays = r.index % payEvery === 0
    const stops = fails && passesOn
    const calls = [
      ask('stock LOOKUP', about(stockUs)),
      looksInArchive && ask('archive READ', about(5000)),
      pays && ways > 1 && ask(`way-${(r.index / payEvery) % ways} CHECK`, about(50)),
      pays && !stops && ask('pay CHARGE', about(payUs)),
    ]
    return call('shop GET', [firstUs, restUs + about(100)], { fails: stops }, calls)
  })
  return makeSpans(spans)
}

/** Comparisons that several tests ask for, the last ones. */
const known = new Map<string, Comparison>()
const MAX_KNOWN = 24

/** Compares two periods of the shop; tests that ask for the same one share it. */
export function compareShops(before: Shop, after: Shop, options: Partial<ComparisonOptions> = {}) {
  const made = () => compare(shopPeriod(before), shopPeriod({ seed: 2, ...after }), options)
  const given = [before, after, options]
  if (given.flatMap(Object.values).some((value) => typeof value === 'function')) return made()
  const key = JSON.stringify(given)
  const comparison = known.get(key) ?? made()
  known.delete(key)
  known.set(key, comparison)
  if (known.size > MAX_KNOWN) known.delete([...known.keys()][0]!)
  return comparison
}
