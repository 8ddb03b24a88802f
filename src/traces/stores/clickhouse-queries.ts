import type { QualityLog } from '../quality.ts'
import { textOf } from '../readers/json-values.ts'
import type { SpanTable } from './clickhouse-tables.ts'
import { leastDurationUs, rootService, spanTests } from './pushed-conditions.ts'
import { requestGroup, type StoreQuery } from './store.ts'

export type Parameters = Record<string, string | number | readonly string[]>

/** A table of spans, as it is written in SQL. */
export interface FoundTable {
  readonly name: string
  readonly isDistributed: boolean
  /** Columns that it has. */
  readonly has: ReadonlySet<string>
  /** Whether columns of it are JSON, whose attributes cannot be asked by name. */
  readonly isJson: boolean
}

/** The `WHERE` of a query, with the values that it names. */
export interface Asked {
  readonly where: string
  readonly parameters: Parameters
}

const rootTest = ({ parentId }: SpanTable['parts']) => `match(toString(${parentId}), '^0*$')`

export function inOperator({ isDistributed }: FoundTable): string {
  return isDistributed ? 'GLOBAL IN' : 'IN'
}

/** Returns the `WHERE` of a query, with its conditions. */
export async function conditionOf(
  server: Queried,
  {
    table,
    columns: { traceId, service, time, duration, alsoFrom, attribute, parts },
    resourceAttributes,
  }: { table: FoundTable; columns: SpanTable; resourceAttributes: boolean },
  { fromUs, toUs, conditions }: StoreQuery,
): Promise<Asked> {
  const { name, isJson } = table
  const isIn = inOperator(table)
  const parameters: Parameters = {}
  const own: string[] = []
  const bound = (key: string, op: string, us: number) => {
    // Rounded outwards: exact times are compared once spans are read.
    parameters[key] = `${BigInt(key === 'to' ? Math.ceil(us) : Math.floor(us)) * 1000n}`
    own.push(`${time} ${op} fromUnixTimestamp64Nano({${key}:Int64})`)
  }
  if (fromUs !== null) bound('from', '>=', fromUs)
  if (fromUs !== null && alsoFrom !== undefined) own.push(alsoFrom)
  if (toUs !== null) bound('to', '<', toUs)
  const isRoot = rootTest(parts)
  const someRootHas = async (condition: string) => {
    const terms = [isRoot, `(${condition})`, ...during].join(' AND ')
    let found = false
    await server.query(`SELECT 1 FROM ${name} WHERE ${terms} LIMIT 1`, parameters, () => {
      found = true
    })
    return found
  }
  const during = [...own]
  const leastUs = leastDurationUs(conditions)
  if (leastUs > 0) {
    parameters['least'] = Math.floor(leastUs * 1e3)
    own.push(`${duration} >= {least:UInt64}`)
  }
  const root = rootService(conditions)
  if (root !== null) {
    parameters['root'] = root
    own.push(`${service} = {root:String}`)
  }
  // One span meets the conditions on the root; others are of the other services.
  const within = own.length === 0 ? [] : [own]
  const literal = (text: string) => {
    const key = `text${Object.keys(parameters).length}`
    parameters[key] = text
    return `{${key}:String}`
  }
  const tests = await spanTests(
    conditions.filter((asked) => root === null || rootService([asked]) !== root),
    {
      service,
      operation: parts.name ?? "''",
      literal,
      isRoot,
      someRootHas,
      attribute: isJson || resourceAttributes ? null : (key) => attribute(literal(key)),
      number: (text) => `toFloat64OrNull(${text})`,
      matches: (text, pattern) => `match(${text}, '${pattern}')`,
    },
  )
  for (const test of tests) within.push([test])
  const where = within.reduce(
    (inner, terms) =>
      ` WHERE ${traceId} ${isIn} (SELECT ${traceId} FROM ${name} WHERE ${terms.join(' AND ')}${inner.replace(/^ WHERE/, ' AND')})`,
    '',
  )
  return { where, parameters }
}

/** Connection that answers queries row by row. */
interface Queried {
  query(
    sql: string,
    parameters: Parameters,
    onRow: (row: readonly unknown[]) => void,
  ): Promise<void>
}

/** Requests of a sample: how many each stands for, and their spans. */
export interface Drawn {
  readonly weights: ReadonlyMap<string, number>
  readonly spans: number
  /** Ids of their traces, as a query. */
  readonly ids: string
}

/** Has requests grouped and a sample of them drawn; notes the groups in `quality`. */
export async function drawSample(
  server: Queried,
  { sql, parameters }: { readonly sql: string; readonly parameters: Parameters },
  { sample, seed, quality }: { sample: number; seed: number; quality: QualityLog },
): Promise<Drawn> {
  const due = requestsDue(sql, { sample, seed })
  await server.query(
    `SELECT if(uniqExact(r_root) = 1, any(r_root), '(other roots)') AS shown, any(r_failed),
         uniqExact(r_kind), avg(r_spans), sum(r_rate) AS requests, any(r_due), avg(r_tookNs) / 1e3,
         arrayMap(ns -> ns / 1e3, quantilesExactInclusive(0.5, 0.95, 0.99)(r_tookNs))
       FROM (${due}) GROUP BY r_group ORDER BY requests DESC, shown, r_group`,
    parameters,
    (row) => quality.groups.push(requestGroup(row)),
  )
  const drawn = `SELECT argMin((r_trace, r_spans, r_recorded / r_due), (cityHash64(r_trace, ${seed}), r_trace)) AS one
      FROM (${due}) GROUP BY r_group, floor((r_nth - 1) * r_due / r_recorded)`
  const weights = new Map<string, number>()
  let all = 0
  // Ordered, because the query is repeated from the point where an answer breaks off.
  const listed = `SELECT one.1, one.2, one.3 FROM (${drawn}) ORDER BY one.1`
  await server.query(listed, parameters, (row) => {
    const [trace, spans, weight] = row
    weights.set(textOf(trace), Number(weight))
    all += Number(spans)
  })
  return { weights, spans: all, ids: `SELECT one.1 FROM (${drawn})` }
}

/** Returns one row per request that is asked for, as SQL. */
export function requestsOf(
  table: FoundTable,
  { traceId, service, time, duration, parts }: SpanTable,
  { asked, query }: { readonly asked: Asked; readonly query: StoreQuery },
): { readonly sql: string; readonly parameters: Parameters } {
  const name = `concat(toString(${service}), ' ', toString(${parts.name}))`
  const isRoot = rootTest(parts)
  const isError = `match(toString(${parts.status}), '(?i)^(status_code_)?error$|^2$')`
  const startNs = `toUnixTimestamp64Nano(${time})`
  const endNs = `${startNs} + toInt64(${duration})`
  const rate = table.has.has('SampleRate')
    ? 'max(greatest(toFloat64(SampleRate), 1))'
    : 'toFloat64(1)'
  const having = [
    ...(query.fromUs === null
      ? []
      : [`r_arrivedNs >= ${BigInt(Math.floor(query.fromUs)) * 1000n}`]),
    ...(query.toUs === null ? [] : [`r_arrivedNs < ${BigInt(Math.ceil(query.toUs)) * 1000n}`]),
  ]
  const sql = `SELECT toString(${traceId}) AS r_trace, count() AS r_spans, ${rate} AS r_rate,
      max(${isRoot} AND ${isError}) AS r_failed, minIf(${name}, ${isRoot}) AS r_root,
      cityHash64(count(), sum(cityHash64(${name})), r_failed) AS r_kind,
      if(countIf(${isRoot}) > 0, minIf(${startNs}, ${isRoot}), min(${startNs})) AS r_arrivedNs,
      if(countIf(${isRoot}) > 0, maxIf(toInt64(${duration}), ${isRoot}), max(${endNs}) - min(${startNs})) AS r_tookNs
    FROM ${table.name}${asked.where} GROUP BY ${traceId}${having.length === 0 ? '' : ` HAVING ${having.join(' AND ')}`}`
  return { sql, parameters: asked.parameters }
}

/**
 * Adds to each request its group, its place in it by arrival, and how many requests of the sample
 * the group is due. What is too rare to be due one counts with others of its root, or with all.
 */
function requestsDue(
  requests: string,
  { sample, seed }: { readonly sample: number; readonly seed: number },
): string {
  const shift = `(cityHash64(${seed}) % 1000000) / 1e6`
  const counted = `SELECT *, least(1., ${sample} / count() OVER ()) AS r_share,
    count() OVER (PARTITION BY r_kind) AS r_ofKind FROM (${requests})`
  const placed = `SELECT *, if(r_ofKind * r_share >= 1, r_kind, cityHash64(r_root, r_failed)) AS r_place
    FROM (${counted})`
  const grouped = `SELECT *, count() OVER (PARTITION BY r_place) AS r_ofPlace FROM (${placed})`
  const named = `SELECT *, if(r_ofPlace * r_share >= 1, r_place, cityHash64(r_failed)) AS r_group
    FROM (${grouped})`
  const ordered = `SELECT *, count() OVER (PARTITION BY r_group) AS r_recorded,
    count() OVER (ORDER BY r_group) AS r_upTo,
    row_number() OVER (PARTITION BY r_group ORDER BY r_arrivedNs, r_trace) AS r_nth FROM (${named})`
  return `SELECT *, least(toFloat64(r_recorded), greatest(1, floor(r_upTo * r_share + ${shift})
    - floor((r_upTo - r_recorded) * r_share + ${shift}))) AS r_due FROM (${ordered})`
}
