import { FlowdeltaError } from '../../core/errors.ts'
import { defineOptions, number, optionalText } from '../../core/options.ts'
import { counted, grouped } from '../../core/words.ts'
import {
  ATTRIBUTE_TYPES,
  type AttributeEntry,
  attributeOf,
  isJsonObject,
  numberOrText,
  textOf,
} from '../readers/json-values.ts'
import type { ReadSink } from '../readers/trace-reader.ts'
import { SPAN_PARTS, SPAN_TABLES, type SpanTable } from './clickhouse-tables.ts'
import { requireUrl } from './http.ts'
import { leastDurationUs, rootService, servicesWithin } from './pushed-conditions.ts'
import { rowAdder } from './span-rows.ts'
import { type StoreLocation, type StoreQuery, storeKind } from './store.ts'

/** Parameters of the addresses of ClickHouse: `clickhouse://user@host:8123/database?table=otel_traces`. */
export const CLICKHOUSE_OPTIONS = defineOptions({
  table: optionalText(
    'Table of spans; null for the one whose columns are known, a Distributed one if there is any',
  ),
  timeout: number({
    default: 300,
    min: 0.001,
    unit: 's',
    sentence: 'How long an answer may keep silent',
  }),
})

type Client = import('@clickhouse/client').ClickHouseClient
type Parameters = Record<string, string | number | readonly string[]>

/**
 * ClickHouse with the tables of the OpenTelemetry Collector's exporter (attributes as Map or JSON),
 * of ClickStack (whose `SampleRate` is the weight of a request), of SigNoz, or of Jaeger. Time, the
 * least duration and services are part of the query. What is read is counted beforehand, so that an
 * answer that is cut is an error.
 *
 * The password is that of the address, or `FLOWDELTA_CLICKHOUSE_PASSWORD` in the environment;
 * `FLOWDELTA_CLICKHOUSE_TOKEN` is a token instead.
 */
export const clickhouseStore = storeKind({
  parameters: CLICKHOUSE_OPTIONS,
  isFile: false,
  open: async (location, options) => ({
    name: location.name,
    read: async (query, sink) => {
      const client = await connect(location, options.timeout)
      try {
        const server = new ClickHouse(client, location.name, query.signal)
        const { table, columns } = await server.findTable(options.table)
        await server.readSpans(table, columns, query, sink)
      } finally {
        await client.close()
      }
    },
  }),
})

async function connect(location: StoreLocation, timeout: number): Promise<Client> {
  const url = requireUrl(location, 'clickhouse')
  const { FLOWDELTA_CLICKHOUSE_PASSWORD: password, FLOWDELTA_CLICKHOUSE_TOKEN: token } = process.env
  const given = url.password === '' ? password : decodeURIComponent(url.password)
  const user = {
    ...(url.username !== '' && { username: decodeURIComponent(url.username) }),
    ...(given !== undefined && { password: given }),
  }
  const database = decodeURIComponent(url.pathname.slice(1))
  const { createClient, ClickHouseLogLevel } = await import('@clickhouse/client').catch(() => {
    throw new FlowdeltaError(
      `${location.name} is read with the package @clickhouse/client, which is not installed. Run npm install @clickhouse/client.`,
    )
  })
  return createClient({
    url: url.origin,
    ...(database !== '' && { database }),
    ...(token === undefined ? user : { access_token: token }),
    ...{ request_timeout: timeout * 1e3, application: 'flowdelta' },
    log: { level: ClickHouseLogLevel.OFF },
  })
}

/** A table of spans, as it is written in SQL. */
interface FoundTable {
  readonly name: string
  readonly isDistributed: boolean
  /** Columns that it has. */
  readonly has: ReadonlySet<string>
}

class ClickHouse {
  readonly #client: Client
  readonly #name: string
  readonly #signal: AbortSignal | null

  constructor(client: Client, name: string, signal: AbortSignal | null) {
    this.#client = client
    this.#name = name
    this.#signal = signal
  }

  /** Finds a table whose columns are known: the one that is named, else the first of its database. */
  async findTable(
    named: string | null,
  ): Promise<{ readonly table: FoundTable; readonly columns: SpanTable }> {
    const found: FoundTable[] = []
    await this.#query(
      "SELECT table, engine = 'Distributed', groupArray(c.name) FROM system.columns AS c " +
        'INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table ' +
        `WHERE c.database = currentDatabase() AND engine NOT LIKE '%View'${named === null ? '' : ' AND table = {table:String}'} ` +
        "GROUP BY table, engine ORDER BY engine = 'Distributed' DESC, table = 'otel_traces' DESC, table",
      { table: named ?? '' },
      ([name, isDistributed, has]) => {
        found.push({
          name: `\`${textOf(name).replace(/[\\`]/g, '\\$&')}\``,
          isDistributed: Number(isDistributed) === 1,
          has: new Set(has as string[]),
        })
      },
    )
    for (const columns of Object.values(SPAN_TABLES)) {
      const table = found.find(({ has }) => columns.needs.every((column) => has.has(column)))
      if (table !== undefined) return { table, columns }
    }
    const there =
      found
        .map(({ name }) => name)
        .slice(0, 8)
        .join(', ') || 'nothing'
    throw new FlowdeltaError(
      named === null || found.length === 0
        ? `${this.#name} has no ${named === null ? 'table of spans' : `table ${named}`}; its database has ${there}. Give another database in the address, or the parameter table.`
        : `${this.#name} has a table ${named}, but not with columns that are known. Known are those of the OpenTelemetry Collector, ClickStack, SigNoz and Jaeger.`,
    )
  }

  /** Reads the spans of all traces that are asked for, in the order in which they began. */
  async readSpans(
    table: FoundTable,
    columns: SpanTable,
    query: StoreQuery,
    sink: ReadSink,
  ): Promise<void> {
    const { where, parameters } = conditionOf(table, columns, query)
    let expected = 0
    await this.#query(`SELECT count() FROM ${table.name}${where}`, parameters, ([count]) => {
      expected = Number(count)
    })
    const { traceId, service, time, duration, parts } = columns
    const isThere = (sql: string | undefined) =>
      sql !== undefined && (sql !== 'SampleRate' || table.has.has(sql))
    const read = [
      ...[traceId, service, `toString(toUnixTimestamp64Nano(${time}))`, `toString(${duration})`],
      ...SPAN_PARTS.map((part) => {
        const sql = isThere(parts[part]) ? (parts[part] as string) : "''"
        // As text it is compared with those before.
        return part === 'resource' ? `toJSONString(${sql})` : sql
      }),
    ]
    const add = spanAdder(columns.isTyped, sink, this.#name)
    let rows = 0
    await this.#query(
      `SELECT ${read.join(', ')} FROM ${table.name}${where} ORDER BY ${time}, ${traceId}, ${parts.spanId}`,
      parameters,
      (row) => {
        add(row as unknown as Row)
        rows++
      },
      (bytes) => query.onProgress(bytes, rows / Math.max(expected, rows)),
    )
    if (rows >= expected) return
    throw new FlowdeltaError(
      `${this.#name} gave ${grouped(rows)} of ${counted(expected, 'span')}: its limits cut the answer (max_result_rows, perhaps), or it broke off. ` +
        'Ask for less with between or where, or as a user without such limits.',
    )
  }

  async #query(
    sql: string,
    parameters: Parameters,
    onRow: (row: readonly unknown[]) => void,
    onBytes: (bytes: number) => void = () => {},
  ): Promise<void> {
    try {
      const answer = await this.#client.query({
        ...{ query: sql, query_params: parameters, format: 'JSONCompactEachRow' },
        ...(this.#signal !== null && { abort_signal: this.#signal }),
      })
      for await (const rows of answer.stream()) {
        for (const row of rows) onRow(row.json() as readonly unknown[])
        onBytes(rows.reduce((sum, { text }) => sum + text.length, 0))
      }
    } catch (error) {
      if (error instanceof FlowdeltaError) throw error
      this.#signal?.throwIfAborted()
      const { code, message } = error as NodeJS.ErrnoException
      const isServers = (error as Error).name === 'ClickHouseError' || /^\d+$/.test(code ?? '')
      const said = isServers
        ? `answered with an error: ${message}`
        : `cannot be reached, or broke off (${code ?? message})`
      throw new FlowdeltaError(
        `${this.#name} ${said.trim().replace(/\.$/, '')}. Check the address, the user and the database.`,
      )
    }
  }
}

/** The `WHERE` of a query, with what it asks for. */
function conditionOf(
  { name, isDistributed }: FoundTable,
  { traceId, service, time, duration, alsoFrom }: SpanTable,
  { fromUs, toUs, conditions }: StoreQuery,
): { readonly where: string; readonly parameters: Parameters } {
  const isIn = isDistributed ? 'GLOBAL IN' : 'IN'
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
  // One span has what is asked of the root; others are of the other services.
  const within = own.length === 0 ? [] : [own]
  const others = servicesWithin(conditions).filter(
    (services) => services.length !== 1 || services[0] !== root,
  )
  for (const [i, services] of others.entries()) {
    parameters[`services${i}`] = services
    within.push([`${service} IN {services${i}:Array(String)}`])
  }
  const where = within.reduce(
    (inner, terms) =>
      ` WHERE ${traceId} ${isIn} (SELECT ${traceId} FROM ${name} WHERE ${terms.join(' AND ')}${inner.replace(/^ WHERE/, ' AND')})`,
    '',
  )
  return { where, parameters }
}

/** A row: id of the trace, service, start and duration in ns, then `SPAN_PARTS`. */
type Row = readonly [
  ...[traceId: string, service: string, start: string, duration: string, spanId: string],
  ...[parent: string, traceState: string, name: string, kind: string, status: string],
  ...[message: string, resource: string, attributes: unknown, events: unknown, links: unknown],
  sampleRate: string,
]

/** Returns what adds a row to the traces. */
function spanAdder(isTyped: boolean, sink: ReadSink, file: string) {
  const add = rowAdder(sink, file)
  return (row: Row): void => {
    const [traceId, service, startNs, duration, spanId, parentId, traceState, ...others] = row
    const [operation, kind, status, message, resource, attributes, events, links, rate] = others
    add({
      ...{ traceId, service, startNs, spanId, parentId, traceState, operation },
      ...{ kind, status, message },
      durationUs: Number(duration) / 1e3,
      followsFrom: isFollowing(links, parentId, isTyped),
      attributes: entriesOf(attributes, isTyped),
      events: pairsOf(events).map(([name, own]) => [textOf(name), entriesOf(own, false)] as const),
      resourceKey: resource,
      resource: () => entriesOf(JSON.parse(resource), isTyped),
      sampleRate: Number(rate || 0),
    })
  }
}

/** Attributes of an object, nested or not; of `[key, text, type]`s; or of several objects as JSON. */
function entriesOf(value: unknown, isTyped: boolean, prefix = ''): AttributeEntry[] {
  if (Array.isArray(value)) {
    return value.flatMap((one): AttributeEntry[] => {
      if (typeof one === 'string') return entriesOf(JSON.parse(one), isTyped)
      const [key, text, type] = one as [string, string, string]
      return [[key, (ATTRIBUTE_TYPES[type] ?? numberOrText)(text)]]
    })
  }
  const entries: AttributeEntry[] = []
  if (!isJsonObject(value)) return entries
  for (const key in value) {
    const one = value[key]
    if (isJsonObject(one)) entries.push(...entriesOf(one, isTyped, `${prefix}${key}.`))
    else if (typeof one === 'string' && !isTyped) entries.push([prefix + key, numberOrText(one)])
    else if (one !== null) entries.push([prefix + key, attributeOf(one)])
  }
  return entries
}

/** Names of events, or spans that links lead to, each with its attributes. */
function pairsOf(value: unknown): [head: unknown, described: unknown][] {
  if (typeof value === 'string') return value === '' ? [] : pairsOf(JSON.parse(value))
  if (!Array.isArray(value)) return []
  return value.map((one: unknown) => {
    if (Array.isArray(one)) return one as [unknown, unknown]
    const object = (typeof one === 'string' ? JSON.parse(one) : one) as Record<string, unknown>
    const { name, spanId, attributeMap, refType } = object
    return [
      name ?? spanId,
      attributeMap ?? { 'opentracing.ref_type': textOf(refType).toLowerCase() },
    ]
  })
}

function isFollowing(links: unknown, parent: string, isTyped: boolean): boolean {
  return pairsOf(links).some(
    ([span, described]) =>
      span === parent &&
      entriesOf(described, isTyped).some(
        ([key, value]) => key === 'opentracing.ref_type' && value === 'follows_from',
      ),
  )
}
