import { randomSource } from '../../../src/stats/random.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { makeSpans } from '../../make-traces.ts'
import { type Call, call, type Details, spansOf } from '../../worlds.ts'

export const SERVICES = ['auth', 'cart', 'front', 'price', 'stock']
export const HOSTS = ['node-1', 'node-2', 'node-3']

/** Whose request it is, and what is asked for: each tenant asks for each page. */
export interface Request {
  readonly tenant: number
  readonly page: string
  /** When it comes: from 0 at the start of the period to 1 at its end. */
  readonly at: number
}

export interface Period {
  readonly seed: number
  /** By what factor a service takes longer on a host in what it does itself. */
  readonly slower?: (service: string, host: string, of: Request) => number
  /** Which share of the calls of a service fails. */
  readonly failing?: (service: string, host: string, of: Request) => number
  readonly pages?: readonly string[]
  /** Whether requests say whose they are. */
  readonly isOfTenants?: boolean
  /** By what factor databases take longer. */
  readonly database?: (service: string) => number
  /** Where `front` records its calls too: how long they are under way before a service begins, in µs. */
  readonly transitUs?: (service: string, host: string, from: string) => number
  /** How often `front` calls a service: more than once, on one host after the other. */
  readonly calls?: (service: string) => number
}

/**
 * `front` calls each of four services in turn, on any of three hosts; all work some milliseconds
 * and call their database.
 */
export function period({
  seed,
  slower = () => 1,
  failing = () => 0,
  pages = ['it'],
  isOfTenants = false,
  database = () => 1,
  transitUs,
  calls: callsOf = () => 1,
}: Period): SpanTraces {
  const chance = randomSource(seed + 100)
  const spans = spansOf({ seed, requests: 400, fromUs: seed * 1e10, name: `${seed}` }, (r) => {
    const page = pages[r.index % pages.length]!
    const of = { tenant: Math.floor(r.index / pages.length) % 4, page, at: r.part }
    const host = () => HOSTS[r.integer(3)]!
    const work = (service: string, details: Details & { host: string }, called: () => Call[]) => {
      const usualUs = (4000 + 500 * SERVICES.indexOf(service)) * slower(service, details.host, of)
      const ownUs = r.about(usualUs, 0.3)
      const dbUs = r.about(700 * database(service), 0.3)
      const query = call(`${service} SELECT ${service}`, dbUs, { host: details.host })
      const calls = [query, ...called()]
      const fails = chance.next() < failing(service, details.host, of)
      const operation = `${service} ${service === 'front' ? page : 'it'}`
      return call(`${service} ${operation}`, [ownUs, 100], { ...details, fails }, calls)
    }
    const from = host()
    const callsTo = (service: string) =>
      Array.from({ length: callsOf(service) }, (_, nth) => {
        const shard = callsOf(service) === 1 ? undefined : HOSTS[nth % 3]!
        if (transitUs === undefined) return work(service, { host: shard ?? host() }, () => [])
        const thereUs = r.about(300, 0.3)
        const to = shard ?? host()
        const us = [thereUs + transitUs(service, to, from), 50] as const
        return work(service, { host: to, client: { us, operation: `call ${service}` } }, () => [])
      })
    const tenant = isOfTenants ? { attributes: { tenant: String(of.tenant) } } : {}
    const others = SERVICES.filter((service) => service !== 'front')
    return work('front', { host: from, ...tenant }, () => others.flatMap(callsTo))
  })
  return makeSpans(spans)
}
