import type { QualityLog } from '../quality.ts'
import { requestGroup, type StoreQuery } from './store.ts'

/** Functions that the SQL of engines calls by different names. */
export interface SqlDialect {
  readonly hash: (...values: readonly (string | number)[]) => string
  /** Sum of the hashes of a text, over the rows of a group. */
  readonly sumOfHashes: (text: string) => string
  /** Median, 95th and 99th percentile in µs of a column of ns, as a list. */
  readonly quantilesUs: (column: string) => string
  /** Whether a text matches a regular expression. */
  readonly matches: (text: string, pattern: string) => string
  /** Number in a text, NULL if it is none. */
  readonly number: (text: string) => string
}

/** Parts of a span as SQL over one row of a table. */
export interface SpanColumns {
  readonly trace: string
  /** Text of the parent's id: empty or zeros in roots. */
  readonly parent: string
  readonly service: string
  readonly operation: string
  readonly status: string
  readonly startNs: string
  readonly durationNs: string
  /** Number of requests that a span already stands for. */
  readonly rate: string
}

export function rootTest({ matches }: SqlDialect, parent: string): string {
  return matches(parent, '^0*$')
}

/** Returns SQL with one row per request: its spans, kind, root, arrival and duration. */
export function requestsOf(
  dialect: SqlDialect,
  { trace, parent, service, operation, status, startNs, durationNs, rate }: SpanColumns,
  { from, tests, fromUs, toUs }: { from: string; tests: readonly string[] } & Times,
): string {
  const { hash, sumOfHashes, matches } = dialect
  const isRoot = rootTest(dialect, parent)
  const name = `concat(${service}, ' ', ${operation})`
  const failed = `max(${isRoot} AND ${matches(status, '(?i)^(status_code_)?error$|^2$')})`
  const ofRoot = (aggregate: string, column: string, otherwise: string) =>
    `coalesce(${aggregate}(CASE WHEN ${isRoot} THEN ${column} END), ${otherwise})`
  const having = [
    ...(fromUs === null ? [] : [`r_arrivedNs >= ${BigInt(Math.floor(fromUs)) * 1000n}`]),
    ...(toUs === null ? [] : [`r_arrivedNs < ${BigInt(Math.ceil(toUs)) * 1000n}`]),
    ...tests,
  ]
  return `SELECT ${trace} AS r_trace, count(*) AS r_spans, max(${rate}) AS r_rate,
      ${failed} AS r_failed, ${ofRoot('min', name, "''")} AS r_root,
      ${hash('count(*)', sumOfHashes(name), failed)} AS r_kind,
      ${ofRoot('min', startNs, `min(${startNs})`)} AS r_arrivedNs,
      ${ofRoot('max', durationNs, `max(${startNs} + ${durationNs}) - min(${startNs})`)} AS r_tookNs
    FROM ${from} GROUP BY ${trace}${having.length === 0 ? '' : ` HAVING ${having.join(' AND ')}`}`
}

type Times = Pick<StoreQuery, 'fromUs' | 'toUs'>

/** Size of a sample, and the seed that decides which it is. */
interface Size {
  readonly sample: number
  readonly seed: number
}

/** Adds to each request its group, its place in it, and how many requests its group is due; see `groupsOf`. */
function requestsDue({ hash }: SqlDialect, requests: string, { sample, seed }: Size): string {
  const shift = `(${hash(seed)} % 1000000) / 1e6`
  const counted = `SELECT *, least(1.0, ${sample} / count(*) OVER ()) AS r_share,
    count(*) OVER (PARTITION BY r_kind) AS r_ofKind FROM ${requests}`
  const placed = `SELECT *, CASE WHEN r_ofKind * r_share >= 1 THEN r_kind
    ELSE ${hash('r_root', 'r_failed')} END AS r_place FROM (${counted})`
  const grouped = `SELECT *, count(*) OVER (PARTITION BY r_place) AS r_ofPlace FROM (${placed})`
  const named = `SELECT *, CASE WHEN r_ofPlace * r_share >= 1 THEN r_place
    ELSE ${hash('r_failed')} END AS r_group FROM (${grouped})`
  const ordered = `SELECT *, count(*) OVER (PARTITION BY r_group) AS r_recorded,
    count(*) OVER (ORDER BY r_group) AS r_upTo,
    row_number() OVER (PARTITION BY r_group ORDER BY r_arrivedNs, r_trace) AS r_nth FROM (${named})`
  return `SELECT *, least(r_recorded * 1.0, greatest(1.0, floor(r_upTo * r_share + ${shift})
    - floor((r_upTo - r_recorded) * r_share + ${shift}))) AS r_due FROM (${ordered})`
}

/**
 * Has requests grouped, notes the groups in `quality`, and returns the SQL of the sample: each group in order of arrival
 * is cut into as many stretches as it is due requests, and of each stretch one is drawn (`r_trace`, `r_arrivedNs`,
 * `r_spans`, and the requests that it stands for, `r_weight`).
 *
 * @param requests table or query in brackets of the rows of `requestsOf`
 * @param onRows runs a query
 */
export async function sampleOf(
  dialect: SqlDialect,
  requests: string,
  { sample, seed, quality }: Size & { readonly quality: QualityLog },
  onRows: (sql: string, onRow: (row: readonly unknown[]) => void) => Promise<void>,
): Promise<string> {
  const due = requestsDue(dialect, requests, { sample, seed })
  await onRows(
    `SELECT CASE WHEN count(DISTINCT r_root) = 1 THEN min(r_root) ELSE '(other roots)' END AS shown,
       max(r_failed), count(DISTINCT r_kind), avg(r_spans), sum(r_rate) AS requests, max(r_due),
       avg(r_tookNs) / 1e3, ${dialect.quantilesUs('r_tookNs')}
     FROM (${due}) GROUP BY r_group ORDER BY requests DESC, shown, r_group`,
    (row) => quality.groups.push(requestGroup(row)),
  )
  const ranked = `SELECT r_trace, r_arrivedNs, r_spans, r_recorded / r_due AS r_weight,
      row_number() OVER (PARTITION BY r_group, floor((r_nth - 1) * r_due / r_recorded)
        ORDER BY ${dialect.hash('r_trace', seed)}, r_trace) AS r_best FROM (${due})`
  return `SELECT r_trace, r_arrivedNs, r_spans, r_weight FROM (${ranked}) WHERE r_best = 1`
}
