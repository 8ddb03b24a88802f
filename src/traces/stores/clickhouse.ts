import { FlowdeltaError } from '../../core/errors.ts'
import { defineOptions, number, optionalCount, optionalText } from '../../core/options.ts'
import { beginning, counted, grouped } from '../../core/words.ts'
import type { QualityLog } from '../quality.ts'
import {
  ATTRIBUTE_TYPES,
  type AttributeEntry,
  attributeOf,
  isJsonObject,
  numberOrText,
  textOf,
} from '../readers/json-values.ts'
import type { ReadSink } from '../readers/trace-reader.ts'
import { SAMPLE_OPTIONS } from '../selection/sample-traces.ts'
import { HTTP_PARAMETERS, inARow, requireUrl, retried } from './http.ts'
import { leastDurationUs, rootService, spanTests } from './pushed-conditions.ts'
import { rowAdder } from './span-rows.ts'
import { requestsOf, rootTest, type SqlDialect, sampleOf } from './sql-sample.ts'
import { readOrInstead, type StoreLocation, type StoreQuery, storeKind } from './store.ts'

/** Columns of a span, each as SQL over one table. */
interface SpanTable {
  readonly needs: readonly string[]
  /** Whether attributes have their types; else they are texts that may be numbers. */
  readonly isTyped: boolean
  readonly traceId: string
  readonly service: string
  /** `DateTime64(9)` at which a span began. */
  readonly time: string
  /** Duration, in ns. */
  readonly duration: string
  /** Texts of an attribute of a span, whose name is SQL as well; empty where it has none. */
  readonly attribute: (name: string) => readonly string[]
  /** Other condition that holds from `{from:Int64}` on, for a table that is ordered by it. */
  readonly alsoFrom?: string
  /** Expressions to read, in the order of `SPAN_PARTS`; a missing part is empty. */
  readonly parts: { readonly [part in SpanPart]?: string }
}

/** Parts of a span to read, besides the id of its trace, service, time and duration. */
const SPAN_PARTS = [
  'spanId',
  'parentId',
  'traceState',
  'name',
  'kind',
  'status',
  'message',
  'resource',
  'attributes',
  'events',
  'links',
  'sampleRate',
] as const
type SpanPart = (typeof SPAN_PARTS)[number]

/** Jaeger keeps attributes by type: `[key, text, type]` of all of them. */
const typedLists = (prefix: string) =>
  `arrayConcat(${JAEGER_TYPES.map(
    ([name, letter]) =>
      `arrayMap((k, v) -> (k, toString(v), '${letter}'), ${prefix}${name}_attributes.key, ${prefix}${name}_attributes.value)`,
  ).join(', ')})`
const JAEGER_TYPES = [
  ['bool', 'b'],
  ['double', 'n'],
  ['int', 'n'],
  ['str', 's'],
  ['complex', 's'],
] as const
/** The same of events or links, each of which has lists of pairs. */
const nestedLists = (parent: string, head: string) =>
  `arrayMap((head, ${JAEGER_TYPES.map(([name]) => name).join(', ')}) -> (head, arrayConcat(${JAEGER_TYPES.map(
    ([name, letter]) => `arrayMap(x -> (x.1, toString(x.2), '${letter}'), ${name})`,
  ).join(
    ', ',
  )})), ${head}, ${JAEGER_TYPES.map(([name]) => `${parent}.${name}_attributes`).join(', ')})`

/** Tables of spans that others write, the first that fits is taken. */
const SPAN_TABLES: Readonly<Record<string, SpanTable>> = {
  // The Collector's exporter, attributes as Map or JSON; ClickStack and HyperDX have the same.
  collector: {
    needs: ['TraceId', 'SpanId', 'ParentSpanId', 'Timestamp', 'SpanName', 'SpanAttributes'],
    isTyped: false,
    traceId: 'TraceId',
    service: 'ServiceName',
    time: 'Timestamp',
    duration: 'Duration',
    attribute: (name) => [`SpanAttributes[${name}]`],
    parts: {
      spanId: 'SpanId',
      parentId: 'ParentSpanId',
      traceState: 'TraceState',
      name: 'SpanName',
      kind: 'SpanKind',
      status: 'StatusCode',
      message: 'StatusMessage',
      resource: 'ResourceAttributes',
      attributes: 'SpanAttributes',
      events: 'arrayZip(`Events.Name`, `Events.Attributes`)',
      links: 'arrayZip(`Links.SpanId`, `Links.Attributes`, `Links.TraceId`)',
      sampleRate: 'SampleRate',
    },
  },
  jaeger: {
    needs: ['id', 'trace_id', 'parent_span_id', 'start_time', 'duration', 'str_attributes.key'],
    isTyped: true,
    traceId: 'trace_id',
    service: 'service_name',
    time: 'start_time',
    duration: 'duration',
    attribute: (name) => [`arrayFirst(x -> x.1 = ${name}, ${typedLists('')}).2`],
    parts: {
      spanId: 'id',
      parentId: 'parent_span_id',
      traceState: 'trace_state',
      name: 'name',
      kind: 'kind',
      status: 'status_code',
      message: 'status_message',
      resource: typedLists('resource_'),
      attributes: typedLists(''),
      events: nestedLists('events', 'events.name'),
      links: `arrayMap((link, trace) -> (link.1, link.2, trace), ${nestedLists('links', 'links.span_id')}, links.trace_id)`,
    },
  },
  signoz: {
    needs: [
      'trace_id',
      'span_id',
      'parent_span_id',
      'timestamp',
      'duration_nano',
      'attributes_string',
    ],
    isTyped: true,
    traceId: 'trace_id',
    service: '`resource_string_service$$name`',
    time: 'timestamp',
    duration: 'duration_nano',
    attribute: (name) => [
      `attributes_string[${name}]`,
      `if(mapContains(attributes_number, ${name}), toString(attributes_number[${name}]), '')`,
      `if(mapContains(attributes_bool, ${name}), toString(attributes_bool[${name}]), '')`,
    ],
    alsoFrom: 'ts_bucket_start >= toUInt64(greatest({from:Int64}, 0) / 1e9) - 1800',
    parts: {
      spanId: 'span_id',
      parentId: 'parent_span_id',
      traceState: 'trace_state',
      name: 'name',
      kind: 'kind_string',
      status: 'status_code_string',
      message: 'status_message',
      resource: 'resources_string',
      attributes:
        '[toJSONString(attributes_string), toJSONString(attributes_number), toJSONString(attributes_bool)]',
      events: 'events',
      links: 'links',
    },
  },
}

/** Parameters of the addresses of ClickHouse: `clickhouse://user@host:8123/database?table=otel_traces`. */
export const CLICKHOUSE_OPTIONS = defineOptions({
  table: optionalText(
    'Table of spans; null for the one with known columns, a Distributed one if there is any',
  ),
  timeout: number({
    default: 300,
    min: 0.001,
    unit: 's',
    sentence: 'Silence after which an answer is requested again',
  }),
  tries: HTTP_PARAMETERS.tries,
  sample: optionalCount(
    'Maximum number of traces of a period, sampled by ClickHouse; null for all',
    'traces',
  ),
  seed: SAMPLE_OPTIONS.seed,
})

/** Number of traces that are read if conditions leave none, to name the values present. */
const TRACES_INSTEAD = 2000

type Client = import('@clickhouse/client').ClickHouseClient

/**
 * ClickHouse with the tables of the OpenTelemetry Collector's exporter (attributes as Map or JSON),
 * of ClickStack (whose `SampleRate` is the weight of a request), of SigNoz, or of Jaeger. Time, the
 * least duration, services and attributes are part of the query. What is read is counted beforehand,
 * so that an answer that is cut is an error. With `sample`, ClickHouse groups requests and draws a
 * weighted sample of whole traces, as DuckDB does; see `duckdbStore`.
 *
 * The password is that of the address, or `FLOWDELTA_CLICKHOUSE_PASSWORD` in the environment;
 * `FLOWDELTA_CLICKHOUSE_TOKEN` is a token instead.
 */
export const clickhouseStore = storeKind({
  parameters: CLICKHOUSE_OPTIONS,
  isFile: false,
  open: async (location, options) => ({
    name: location.name,
    read: (whole, sink) =>
      readOrInstead(whole, sink, async (query, isInstead) => {
        const client = await connect(location, options.timeout)
        try {
          const { name } = location
          const server = new ClickHouse(client, {
            name,
            signal: query.signal,
            tries: options.tries,
          })
          const { table, columns } = await server.findTable(options.table)
          const sample = options.sample ?? (isInstead ? TRACES_INSTEAD : null)
          const { resourceAttributes = false } = sink
          const asked = await conditionOf(server, { table, columns, resourceAttributes }, query)
          const drawn =
            sample === null
              ? undefined
              : await drawSample(
                  server,
                  { table, columns },
                  { asked, query },
                  { sample, seed: options.seed, quality: sink.quality },
                )
          await server.readSpans(table, columns, { query, asked, drawn }, sink)
        } finally {
          await client.close()
        }
      }),
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
    request_timeout: timeout * 1e3,
    application: 'flowdelta',
    log: { level: ClickHouseLogLevel.OFF },
  })
}

type Parameters = Record<string, string | number | readonly string[]>

/** A table of spans, as it is written in SQL. */
interface FoundTable {
  readonly name: string
  readonly isDistributed: boolean
  /** Columns that it has. */
  readonly has: ReadonlySet<string>
  /** Whether columns of it are JSON, whose attributes cannot be asked by name. */
  readonly isJson: boolean
}

/** The `WHERE` of a query, with the values that it names. */
interface Asked {
  readonly where: string
  readonly parameters: Parameters
}

/** Requests of a sample: how many each stands for, and their spans. */
interface Drawn {
  readonly weights: ReadonlyMap<string, number>
  readonly spans: number
  /** Ids of their traces, as a query. */
  readonly ids: string
}

const DIALECT: SqlDialect = {
  hash: (...values) => `cityHash64(${values.join(', ')})`,
  sumOfHashes: (text) => `sum(cityHash64(${text}))`,
  quantilesUs: (column) =>
    `arrayMap(ns -> ns / 1e3, quantilesExactInclusive(0.5, 0.95, 0.99)(${column}))`,
  matches: (text, pattern) => `match(${text}, '${pattern}')`,
  number: (text) => `toFloat64OrNull(${text})`,
}

const parentOf = ({ parentId }: SpanTable['parts']) => `toString(${parentId})`

function inOperator({ isDistributed }: FoundTable): string {
  return isDistributed ? 'GLOBAL IN' : 'IN'
}

class ClickHouse {
  readonly #client: Client
  readonly #name: string
  readonly #signal: AbortSignal | null
  readonly #tries: number

  constructor(
    client: Client,
    { name, signal, tries }: { name: string; signal: AbortSignal | null; tries: number },
  ) {
    this.#client = client
    this.#name = name
    this.#signal = signal
    this.#tries = tries
  }

  /** Finds a table whose columns are known: the one that is named, else the first of its database. */
  async findTable(
    named: string | null,
  ): Promise<{ readonly table: FoundTable; readonly columns: SpanTable }> {
    const found: FoundTable[] = []
    await this.query(
      "SELECT table, engine = 'Distributed', groupArray(c.name), countIf(c.type LIKE 'JSON%') FROM system.columns AS c " +
        'INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table ' +
        `WHERE c.database = currentDatabase() AND engine NOT LIKE '%View'${named === null ? '' : ' AND table = {table:String}'} ` +
        "GROUP BY table, engine ORDER BY engine = 'Distributed' DESC, table = 'otel_traces' DESC, table",
      { table: named ?? '' },
      ([name, isDistributed, has, json]) => {
        found.push({
          name: `\`${textOf(name).replace(/[\\`]/g, '\\$&')}\``,
          isDistributed: Number(isDistributed) === 1,
          has: new Set(has as string[]),
          isJson: Number(json) > 0,
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
        : `${this.#name} has a table ${named}, but its columns are unknown. Known are those of the OpenTelemetry Collector, ClickStack, SigNoz and Jaeger.`,
    )
  }

  /** Reads the spans of all traces that are asked for, in the order in which they began. */
  async readSpans(
    table: FoundTable,
    columns: SpanTable,
    { query, asked, drawn }: { query: StoreQuery; asked: Asked; drawn: Drawn | undefined },
    sink: ReadSink,
  ): Promise<void> {
    const { traceId, service, time, duration, parts } = columns
    const { parameters } = asked
    const isIn = inOperator(table)
    const where = drawn === undefined ? asked.where : ` WHERE ${traceId} ${isIn} (${drawn.ids})`
    let expected = drawn?.spans ?? 0
    if (drawn === undefined) {
      await this.query(`SELECT count() FROM ${table.name}${where}`, parameters, ([count]) => {
        expected = Number(count)
      })
    }
    const isThere = (sql: string | undefined) =>
      sql !== undefined && (sql !== 'SampleRate' || table.has.has(sql))
    const read = [
      traceId,
      service,
      `toString(toUnixTimestamp64Nano(${time}))`,
      `toString(${duration})`,
      ...SPAN_PARTS.map((part) => {
        const sql = isThere(parts[part]) ? (parts[part] as string) : "''"
        // Text can be compared with earlier rows.
        return part === 'resource' ? `toJSONString(${sql})` : sql
      }),
    ]
    const weightOf = (trace: string) =>
      drawn === undefined ? null : (drawn.weights.get(trace) ?? 0)
    const add = spanAdder(columns.isTyped, weightOf, sink, this.#name)
    let rows = 0
    await this.query(
      `SELECT ${read.join(', ')} FROM ${table.name}${where} ORDER BY ${time}, ${traceId}, ${parts.spanId}`,
      parameters,
      (row) => {
        add(row)
        rows++
      },
      (bytes) => query.onProgress(bytes, rows / Math.max(expected, rows)),
    )
    if (rows === expected || (rows > expected && drawn === undefined)) return
    if (rows > expected) {
      throw new FlowdeltaError(
        `${this.#name} got further spans while the sample was read. Ask for a time that is over, with between.`,
      )
    }
    throw new FlowdeltaError(
      `${this.#name} gave ${grouped(rows)} of ${counted(expected, 'span')}: its limits cut the answer (max_result_rows, perhaps), or it broke off. ` +
        'Ask for less with between or where, or as a user without such limits.',
    )
  }

  async query(
    sql: string,
    parameters: Parameters,
    onRow: (row: readonly unknown[]) => void,
    onBytes: (bytes: number) => void = () => {},
  ): Promise<void> {
    let taken = 0
    const attempt = async () => {
      const answer = await this.#client.query({
        query: sql,
        query_params: parameters,
        format: 'JSONCompactEachRow',
        ...(this.#signal !== null && { abort_signal: this.#signal }),
      })
      // Skips rows taken from an answer that broke off.
      let at = 0
      for await (const rows of answer.stream()) {
        for (const row of rows) {
          const values = row.json() as readonly unknown[]
          if (at++ < taken) continue
          onRow(values)
          taken++
        }
        onBytes(rows.reduce((sum, { text }) => sum + text.length, 0))
      }
    }
    const isPassing = (error: unknown) =>
      !(error instanceof FlowdeltaError) && (!isServers(error) || PASSING.has(codeOf(error)))
    const retries = { tries: this.#tries, signal: this.#signal, isPassing }
    await retried(attempt, retries).catch((error) => {
      if (error instanceof FlowdeltaError) throw error
      this.#signal?.throwIfAborted()
      const { message } = error as Error
      const said = isServers(error)
        ? `answered with an error: ${message}`
        : `cannot be reached, or broke off (${codeOf(error) || (/\n/.test(message) ? beginning(message) : message)})`
      const times = isPassing(error) ? inARow(this.#tries) : ''
      throw new FlowdeltaError(
        `${this.#name} ${said.trim().replace(/\.$/, '')}.${times} Check the address, the user and the database.`,
      )
    })
  }
}

/** Returns the `WHERE` of a query, with its conditions. */
async function conditionOf(
  server: ClickHouse,
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
  const isRoot = rootTest(DIALECT, parentOf(parts))
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
      ...DIALECT,
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

/** Has requests grouped and a sample of them drawn. */
async function drawSample(
  server: ClickHouse,
  { table, columns }: { readonly table: FoundTable; readonly columns: SpanTable },
  { asked, query }: { readonly asked: Asked; readonly query: StoreQuery },
  how: { readonly sample: number; readonly seed: number; readonly quality: QualityLog },
): Promise<Drawn> {
  const { traceId, service, time, duration, parts } = columns
  const { parameters } = asked
  const requests = requestsOf(
    DIALECT,
    {
      trace: `toString(${traceId})`,
      parent: parentOf(parts),
      service: `toString(${service})`,
      operation: `toString(${parts.name})`,
      status: `toString(${parts.status})`,
      startNs: `toUnixTimestamp64Nano(${time})`,
      durationNs: `toInt64(${duration})`,
      rate: table.has.has('SampleRate') ? 'greatest(toFloat64(SampleRate), 1)' : 'toFloat64(1)',
    },
    { from: `${table.name}${asked.where}`, tests: [], ...query },
  )
  const drawn = await sampleOf(DIALECT, `(${requests})`, how, (sql, onRow) =>
    server.query(sql, parameters, onRow),
  )
  const weights = new Map<string, number>()
  let spans = 0
  // Ordered, because the query is repeated from the point where an answer breaks off.
  const listed = `SELECT r_trace, r_spans, r_weight FROM (${drawn}) ORDER BY r_trace`
  await server.query(listed, parameters, ([trace, own, weight]) => {
    weights.set(textOf(trace), Number(weight))
    spans += Number(own)
  })
  return { weights, spans, ids: `SELECT r_trace FROM (${drawn})` }
}

/** Codes of ClickHouse that may not come the next time: too many queries, timeouts, networks. */
const PASSING = new Set(['159', '202', '203', '209', '210', '279', '439'])

function codeOf(error: unknown): string {
  return textOf((error as { code?: unknown }).code)
}

function isServers(error: unknown): boolean {
  return (error as Error).name === 'ClickHouseError' || /^\d+$/.test(codeOf(error))
}

/** Fields of a span in a row, in this order. */
const ROW = ['traceId', 'service', 'startNs', 'duration', ...SPAN_PARTS] as const
type Row = Record<Exclude<(typeof ROW)[number], 'attributes' | 'events' | 'links'>, string> &
  Record<'attributes' | 'events' | 'links', unknown>

function spanAdder(
  isTyped: boolean,
  weightOf: (trace: string) => number | null,
  sink: ReadSink,
  file: string,
) {
  const add = rowAdder(sink, file)
  return (values: readonly unknown[]): void => {
    const row = Object.fromEntries(ROW.map((part, i) => [part, values[i]])) as Row
    const { duration, name, resource, attributes, events, links, startNs, ...own } = row
    const [weight, rate] = [weightOf(row.traceId), Number(row.sampleRate || 0)]
    add({
      ...own,
      operation: name,
      startUs: sink.spans.clock.offsetOfNanos(startNs),
      durationUs: Number(duration) / 1e3,
      followsFrom: isFollowing(links, row.parentId, isTyped),
      links: pairsOf(links).map(([spanId, , traceId]) => {
        return { traceId: textOf(traceId), spanId: textOf(spanId) }
      }),
      attributes: entriesOf(attributes, isTyped),
      events: pairsOf(events).map(([head, own]) => [textOf(head), entriesOf(own, false)] as const),
      resourceKey: resource,
      resource: () => entriesOf(JSON.parse(resource), isTyped),
      // A sample inherits the weight of the traces it was drawn from.
      sampleRate: weight === null ? rate : weight * Math.max(rate, 1),
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

/** Names of events, or spans that links lead to, each with its attributes; of links, their traces. */
function pairsOf(value: unknown): [head: unknown, described: unknown, trace?: unknown][] {
  if (typeof value === 'string') return value === '' ? [] : pairsOf(JSON.parse(value))
  if (!Array.isArray(value)) return []
  return value.map((one: unknown) => {
    if (Array.isArray(one)) return one as [unknown, unknown, unknown?]
    const object = (typeof one === 'string' ? JSON.parse(one) : one) as Record<string, unknown>
    const { name, spanId, traceId, attributeMap, refType } = object
    return [
      name ?? spanId,
      attributeMap ?? { 'opentracing.ref_type': textOf(refType).toLowerCase() },
      traceId,
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
