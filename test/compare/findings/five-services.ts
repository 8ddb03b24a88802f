import { randomSource } from '../../../src/stats/random.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

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
  const random = randomSource(seed)
  const chance = randomSource(seed + 100)
  const spans = Array.from({ length: 400 }, (_, request): SpanSketch[] => {
    const trace = `${seed} ${request}`
    const page = pages[request % pages.length] as string
    const of = { tenant: Math.floor(request / pages.length) % 4, page, at: request / 400 }
    let [nowUs, spansMade] = [seed * 1e10 + request * 1e6, 0]
    const work = (
      service: string,
      parent: string | null,
      inner: () => SpanSketch[],
      host = HOSTS[random.integer(3)] as string,
    ) => {
      const usualUs = (4000 + 500 * SERVICES.indexOf(service)) * slower(service, host, of)
      const own = { trace, service, host }
      const id = parent === null ? `${trace} front` : `${trace} ${service} ${spansMade++}`
      const startUs = nowUs
      nowUs += random.logNormal(Math.log(usualUs), 0.3)
      const queried = {
        ...own,
        id: `${id} db`,
        parent: id,
        operation: `SELECT ${service}`,
        startUs: nowUs,
      }
      nowUs += random.logNormal(Math.log(700 * database(service)), 0.3)
      const query = { ...queried, endUs: nowUs }
      const called = inner()
      nowUs += 100
      const isFailing = chance.next() < failing(service, host, of)
      const said = {
        operation: `${service} ${parent === null ? page : 'it'}`,
        ...(isFailing && { status: 'error' as const }),
        ...(parent === null && isOfTenants && { attributes: { tenant: String(of.tenant) } }),
      }
      return [{ ...own, ...said, id, parent, startUs, endUs: nowUs }, query, ...called]
    }
    const from = HOSTS[random.integer(3)] as string
    const called = SERVICES.filter((service) => service !== 'front').flatMap((service) =>
      Array.from({ length: callsOf(service) }, (_, nth) => ({
        service,
        shard: callsOf(service) === 1 ? undefined : HOSTS[nth % 3],
      })),
    )
    const call = ({ service, shard }: (typeof called)[number]): SpanSketch[] => {
      const [id, parent] = [`${trace} to ${service} ${spansMade++}`, `${trace} front`]
      if (transitUs === undefined) return work(service, parent, () => [], shard)
      const startUs = nowUs
      nowUs += random.logNormal(Math.log(300), 0.3)
      const host = shard ?? (HOSTS[random.integer(3)] as string)
      nowUs += transitUs(service, host, from)
      const called = work(service, id, () => [], host)
      nowUs += 50
      const own = { trace, service: 'front', id, parent, kind: 'client' as const }
      return [{ ...own, operation: `call ${service}`, startUs, endUs: nowUs }, ...called]
    }
    return work('front', null, () => called.flatMap(call), from)
  })
  return makeSpans(spans.flat())
}
