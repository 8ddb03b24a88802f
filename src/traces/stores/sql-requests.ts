import type { QualityLog } from '../quality.ts'
import { builtIn, type Condition, leastDurationUs, servicesWithin } from '../selection/condition.ts'
import type { StoreQuery } from './store.ts'

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
  readonly literal: (text: string) => string
}

/** Spans of an engine: parts of a span as SQL over one row of a table. */
export interface SqlSpans {
  /** Table, or what stands for it after `FROM`. */
  readonly source: string
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
  /** Texts of an attribute, empty ones where there is none; `null` where its columns cannot be asked. */
  readonly attribute: ((name: string) => readonly string[]) | null
  /** Whether a span began in the time asked for; empty for any time. */
  readonly during: string
  /** Operator between a trace and a query of traces. Default: `IN`. */
  readonly isIn?: string
}

/** Runs a query. */
export type AskSql = (sql: string, onRow: (row: readonly unknown[]) => void) => Promise<void>

/**
 * Returns SQL with one row per request asked for: its spans, kind, root, arrival and duration. Requests for which the
 * time or a condition surely does not hold are left out; `loadTraces` tests the rest.
 */
export async function requestsOf(
  dialect: SqlDialect,
  spans: SqlSpans,
  { query, ask }: { readonly query: StoreQuery; readonly ask: AskSql },
): Promise<string> {
  const { hash, sumOfHashes, matches } = dialect
  const { source, trace, service, operation, startNs, durationNs, during, isIn = 'IN' } = spans
  const { fromUs, toUs, conditions } = query
  const isRoot = rootTest(dialect, spans)
  const name = `concat(${service}, ' ', ${operation})`
  const failed = `max(${isRoot} AND ${matches(spans.status, '(?i)^(status_code_)?error$|^2$')})`
  const ofRoot = (aggregate: string, column: string, otherwise: string) =>
    `coalesce(${aggregate}(CASE WHEN ${isRoot} THEN ${column} END), ${otherwise})`
  const leastNs = Math.floor(leastDurationUs(conditions) * 1e3)
  const tests = await spanTests(dialect, spans, conditions, ask)
  const having = [
    ...(fromUs === null ? [] : [`r_arrivedNs >= ${nanos(Math.floor(fromUs))}`]),
    ...(toUs === null ? [] : [`r_arrivedNs < ${nanos(Math.ceil(toUs))}`]),
    ...(leastNs === 0 ? [] : [`max(${durationNs}) >= ${leastNs}`]),
    ...tests.map((test) => `max(CASE WHEN ${test} THEN 1 ELSE 0 END) = 1`),
  ]
  const within =
    during === '' ? '' : ` WHERE ${trace} ${isIn} (SELECT ${trace} FROM ${source} WHERE ${during})`
  return `SELECT ${trace} AS r_trace, count(*) AS r_spans, max(${spans.rate}) AS r_rate,
      ${failed} AS r_failed, ${ofRoot('min', name, "''")} AS r_root,
      ${hash('count(*)', sumOfHashes(name), failed)} AS r_kind,
      ${ofRoot('min', startNs, `min(${startNs})`)} AS r_arrivedNs,
      ${ofRoot('max', durationNs, `max(${startNs} + ${durationNs}) - min(${startNs})`)} AS r_tookNs
    FROM ${source}${within} GROUP BY ${trace}${having.length === 0 ? '' : ` HAVING ${having.join(' AND ')}`}`
}

export function nanos(us: number): string {
  return `${BigInt(us) * 1000n}`
}

function rootTest({ matches }: SqlDialect, { parent }: SqlSpans): string {
  return matches(parent, '^0*$')
}

/** Names that attributes get from elsewhere: events, messages, resources; and quotes. */
const DERIVED = /^(event|otel\.status_description|resource\..*)$| · |"/
const SIGNS: Readonly<Record<string, string>> = {
  from: '>=',
  above: '>',
  below: '<',
  'up to': '<=',
}
/** Texts whose printed form differs from the recorded one. */
const PRINTED_OTHERWISE = '[^ -~]|^ | $'

/**
 * Returns necessary conditions, each as SQL about one span: every request that meets the given conditions has a span
 * that meets it. They cover services, operations and attributes. Conditions that also hold without a value give none,
 * and a part that SQL cannot decide counts as met.
 */
async function spanTests(
  dialect: SqlDialect,
  spans: SqlSpans,
  conditions: readonly Condition[],
  ask: AskSql,
): Promise<readonly string[]> {
  const { literal, matches } = dialect
  const { service, operation, source, during } = spans
  const isRoot = rootTest(dialect, spans)
  const listed = (values: readonly string[]) => `(${values.map(literal).join(', ')})`
  // Where roots have an attribute, theirs count.
  const isOfRoots = async (texts: readonly string[]) => {
    const isOwn = `(${texts.map((text) => `${text} <> ''`).join(' OR ')})`
    const where = [isRoot, isOwn, ...(during === '' ? [] : [during])].join(' AND ')
    let found = false
    await ask(`SELECT 1 FROM ${source} WHERE ${where} LIMIT 1`, () => {
      found = true
    })
    return found
  }
  const all: string[] = []
  for (const asked of conditions) {
    const [services] = servicesWithin([asked])
    const terms = services === undefined ? [] : [`${service} IN ${listed(services)}`]
    const { op, attribute, values, orNotRecorded } = asked
    const isWhole = values.length > 0 && values.every((value) => !/^$|…/.test(value))
    if (isWhole && !orNotRecorded) {
      const name = builtIn(asked)
      if (name === 'operation' && op === 'is') {
        terms.push(
          `(${operation} IN ${listed(values)} OR ${matches(operation, PRINTED_OTHERWISE)})`,
        )
      }
      if (name === null && spans.attribute !== null && !DERIVED.test(attribute)) {
        const texts = spans.attribute(attribute)
        const tests = texts.map((text) => attributeTest(dialect, asked, text))
        if (tests.length > 0 && tests.every((test) => test !== null)) {
          terms.push(`(${tests.join(' OR ')})`)
          if (asked.service === null && (await isOfRoots(texts))) terms.push(isRoot)
        }
      }
    }
    if (terms.length > 0) all.push(`(${terms.join(' AND ')})`)
  }
  return all
}

function attributeTest(
  { literal, number, matches }: SqlDialect,
  { op, values }: Condition,
  text: string,
): string | null {
  const numbers = values.map(Number).filter(Number.isFinite)
  if (op === 'is') {
    return [
      `${text} IN (${values.map(literal).join(', ')})`,
      ...(numbers.length === 0 ? [] : [`${number(text)} IN (${numbers.join(', ')})`]),
      matches(text, PRINTED_OTHERWISE),
    ].join(' OR ')
  }
  const [limit] = numbers
  const sign = SIGNS[op]
  if (sign === undefined || limit === undefined) return null
  return `${number(text)} ${sign} ${limit} OR (${number(text)} IS NULL AND ${text} <> '')`
}

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
 */
export async function sampleOf(
  dialect: SqlDialect,
  requests: string,
  { sample, seed, quality }: Size & { readonly quality: QualityLog },
  ask: AskSql,
): Promise<string> {
  const due = requestsDue(dialect, requests, { sample, seed })
  await ask(
    `SELECT CASE WHEN count(DISTINCT r_root) = 1 THEN min(r_root) ELSE '(other roots)' END AS shown,
       max(r_failed), count(DISTINCT r_kind), avg(r_spans), sum(r_rate) AS requests, max(r_due),
       avg(r_tookNs) / 1e3, ${dialect.quantilesUs('r_tookNs')}
     FROM (${due}) GROUP BY r_group ORDER BY requests DESC, shown, r_group`,
    ([root, failed, structures, spans, requests, sampled, meanUs, quantiles]) => {
      const [p50Us = 0, p95Us = 0, p99Us = 0] = (quantiles as unknown[]).map(Number)
      quality.groups.push({
        root: String(root),
        outcome: Number(failed) === 1 ? 'error' : 'ok',
        structures: Number(structures),
        spans: Number(spans),
        requests: Number(requests),
        sampled: Number(sampled),
        meanUs: Number(meanUs),
        p50Us,
        p95Us,
        p99Us,
      })
    },
  )
  const ranked = `SELECT r_trace, r_arrivedNs, r_spans, r_recorded / r_due AS r_weight,
      row_number() OVER (PARTITION BY r_group, floor((r_nth - 1) * r_due / r_recorded)
        ORDER BY ${dialect.hash('r_trace', seed)}, r_trace) AS r_best FROM (${due})`
  return `SELECT r_trace, r_arrivedNs, r_spans, r_weight FROM (${ranked}) WHERE r_best = 1`
}
