import { FlowdeltaError } from '../../core/errors.ts'
import { defineOptions, number, optionalCount, optionalText } from '../../core/options.ts'
import { beginning, counted, grouped } from '../../core/words.ts'
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
import { rowAdder } from './span-rows.ts'
import { nanos, requestsOf, type SqlDialect, type SqlSpans, sampleOf } from './sql-requests.ts'
import { readOrInstead, type StoreLocation, type StoreQuery, storeKind } from './store.ts'

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

/** Tables of spans that others write, the columns of a span as SQL over one; the first that fits is taken. */
const SPAN_TABLES = [
  // The Collector's exporter, attributes as Map or JSON; ClickStack and HyperDX have the same.
  {
    needs: ['TraceId', 'SpanId', 'ParentSpanId', 'Timestamp', 'SpanName', 'SpanAttributes'],
    traceId: 'TraceId',
    service: 'ServiceName',
    /** `DateTime64(9)` at which a span began. */
    time: 'Timestamp',
    /** Text of an attribute of a span, whose name is SQL as well; empty where it has none. */
    attribute: (name: string) => `SpanAttributes[${name}]`,
    /** Other columns to read. */
    parts: {
      spanId: 'SpanId',
      parentId: 'ParentSpanId',
      traceState: 'TraceState',
      operation: 'SpanName',
      kind: 'SpanKind',
      status: 'StatusCode',
      message: 'StatusMessage',
      resource: 'ResourceAttributes',
      attributes: 'SpanAttributes',
      events: 'arrayZip(`Events.Name`, `Events.Attributes`)',
      links: 'arrayZip(`Links.SpanId`, `Links.Attributes`, `Links.TraceId`)',
    },
  },
  {
    needs: ['id', 'trace_id', 'parent_span_id', 'start_time', 'duration', 'str_attributes.key'],
    traceId: 'trace_id',
    service: 'service_name',
    time: 'start_time',
    attribute: (name: string) => `arrayFirst(x -> x.1 = ${name}, ${typedLists('')}).2`,
    parts: {
      spanId: 'id',
      parentId: 'parent_span_id',
      traceState: 'trace_state',
      operation: 'name',
      kind: 'kind',
      status: 'status_code',
      message: 'status_message',
      resource: typedLists('resource_'),
      attributes: typedLists(''),
      events: nestedLists('events', 'events.name'),
      links: `arrayMap((link, trace) -> (link.1, link.2, trace), ${nestedLists('links', 'links.span_id')}, links.trace_id)`,
    },
  },
] as const
type SpanTable = (typeof SPAN_TABLES)[number]
const SPAN_PARTS = Object.keys(SPAN_TABLES[0].parts) as (keyof SpanTable['parts'])[]

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
 * of ClickStack (whose `SampleRate` is the weight of a request), or of Jaeger. Time, the least
 * duration, services and attributes are part of the query. What is read is counted beforehand, so
 * that an answer that is cut is an error. With `sample`, ClickHouse groups requests and draws a
 * weighted sample of whole traces, as DuckDB does; see `duckdbStore`.
 *
 * The password is that of the address, or `FLOWDELTA_CLICKHOUSE_PASSWORD` in the environment;
 * `FLOWDELTA_CLICKHOUSE_TOKEN` is a token instead.
 */
export const clickhouseStore = storeKind({
  parameters: CLICKHOUSE_OPTIONS,
  isFile: false,
  read: ({ timeout, tries, ...options }, whole, sink) =>
    readOrInstead(whole, sink, async (query, isInstead) => {
      const client = await connect(options, timeout)
      try {
        const server = clickHouse(client, options.name, query, tries)
        const table = await server.findTable(options.table)
        const sample = options.sample ?? (isInstead ? TRACES_INSTEAD : null)
        await readSpans(server, table, { query, sample, seed: options.seed }, sink)
      } finally {
        await client.close()
      }
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

/** A table of spans, as it is written in SQL. */
interface FoundTable {
  readonly name: string
  readonly isDistributed: boolean
  /** Columns that it has. */
  readonly has: ReadonlySet<string>
  /** Whether columns of it are JSON, whose attributes cannot be asked by name. */
  readonly isJson: boolean
}

const literal = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`
const DIALECT: SqlDialect = {
  hash: (...values) => `cityHash64(${values.join(', ')})`,
  sumOfHashes: (text) => `sum(cityHash64(${text}))`,
  quantilesUs: (column) =>
    `arrayMap(ns -> ns / 1e3, quantilesExactInclusive(0.5, 0.95, 0.99)(${column}))`,
  matches: (text, pattern) => `match(${text}, '${pattern}')`,
  number: (text) => `toFloat64OrNull(${text})`,
  literal,
}

function clickHouse(client: Client, name: string, { signal }: StoreQuery, tries: number) {
  /** Finds a table whose columns are known: the one that is named, else the first of its database. */
  const findTable = async (named: string | null) => {
    const found: FoundTable[] = []
    await query(
      "SELECT table, engine = 'Distributed', groupArray(c.name), countIf(c.type LIKE 'JSON%') FROM system.columns AS c " +
        'INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table ' +
        `WHERE c.database = currentDatabase() AND engine NOT LIKE '%View'${named === null ? '' : ` AND table = ${literal(named)}`} ` +
        "GROUP BY table, engine ORDER BY engine = 'Distributed' DESC, table = 'otel_traces' DESC, table",
      ([name, isDistributed, has, json]) => {
        found.push({
          name: `\`${textOf(name).replace(/[\\`]/g, '\\$&')}\``,
          isDistributed: Number(isDistributed) === 1,
          has: new Set(has as string[]),
          isJson: Number(json) > 0,
        })
      },
    )
    for (const columns of SPAN_TABLES) {
      const table = found.find(({ has }) => columns.needs.every((column) => has.has(column)))
      if (table !== undefined) return { ...table, columns }
    }
    const there = found.map(({ name }) => name).slice(0, 8)
    throw new FlowdeltaError(
      named === null || found.length === 0
        ? `${name} has no ${named === null ? 'table of spans' : `table ${named}`}; its database has ${there.join(', ') || 'nothing'}. Give another database in the address, or the parameter table.`
        : `${name} has a table ${named}, but its columns are unknown. Known are those of the OpenTelemetry Collector, ClickStack and Jaeger.`,
    )
  }
  const query = async (
    sql: string,
    onRow: (row: readonly unknown[]) => void,
    onBytes: (bytes: number) => void = () => {},
  ) => {
    let taken = 0
    const attempt = async () => {
      const answer = await client.query({
        query: sql,
        format: 'JSONCompactEachRow',
        ...(signal !== null && { abort_signal: signal }),
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
    await retried(attempt, { tries, signal, isPassing }).catch((error) => {
      if (error instanceof FlowdeltaError) throw error
      signal?.throwIfAborted()
      const { message } = error as Error
      const said = isServers(error)
        ? `answered with an error: ${message}`
        : `cannot be reached, or broke off (${codeOf(error) || (/\n/.test(message) ? beginning(message) : message)})`
      const times = isPassing(error) ? inARow(tries) : ''
      throw new FlowdeltaError(
        `${name} ${said.trim().replace(/\.$/, '')}.${times} Check the address, the user and the database.`,
      )
    })
  }
  return { name, findTable, query }
}

/** Codes of ClickHouse that may not come the next time: too many queries, timeouts, networks. */
const PASSING = new Set(['159', '202', '203', '209', '210', '279', '439'])

function codeOf(error: unknown): string {
  return textOf((error as { code?: unknown }).code)
}

function isServers(error: unknown): boolean {
  return (error as Error).name === 'ClickHouseError' || /^\d+$/.test(codeOf(error))
}

/** Reads the spans of all traces that are asked for, or of a sample, in the order in which they began. */
async function readSpans(
  server: ReturnType<typeof clickHouse>,
  {
    name,
    isDistributed,
    has,
    isJson,
    columns: { traceId, service, time, attribute, parts },
  }: FoundTable & { readonly columns: SpanTable },
  {
    query,
    sample,
    seed,
  }: { readonly query: StoreQuery; readonly sample: number | null; readonly seed: number },
  sink: ReadSink,
): Promise<void> {
  const duration = has.has('Duration') ? 'Duration' : 'duration'
  const bound = (op: string, ns: string) => `${time} ${op} fromUnixTimestamp64Nano(${ns})`
  const { fromUs, toUs } = query
  const spans: SqlSpans = {
    source: name,
    trace: traceId,
    parent: `toString(${parts.parentId})`,
    service: `toString(${service})`,
    operation: `toString(${parts.operation})`,
    status: `toString(${parts.status})`,
    startNs: `toUnixTimestamp64Nano(${time})`,
    durationNs: `toInt64(${duration})`,
    rate: has.has('SampleRate') ? 'greatest(toFloat64(SampleRate), 1)' : 'toFloat64(1)',
    attribute:
      isJson || sink.resourceAttributes === true ? null : (key) => [attribute(literal(key))],
    // Rounded outwards: exact times are compared once spans are read.
    during: [
      ...(fromUs === null ? [] : [bound('>=', nanos(Math.floor(fromUs)))]),
      ...(toUs === null ? [] : [bound('<', nanos(Math.ceil(toUs)))]),
    ].join(' AND '),
    isIn: isDistributed ? 'GLOBAL IN' : 'IN',
  }
  const { query: ask } = server
  let drawn = await requestsOf(DIALECT, spans, { query, ask })
  const weights = new Map<string, number>()
  let expected = 0
  if (sample === null) {
    await ask(`SELECT sum(r_spans) FROM (${drawn})`, ([count]) => {
      expected = Number(count)
    })
  } else {
    drawn = await sampleOf(DIALECT, `(${drawn})`, { sample, seed, quality: sink.quality }, ask)
    // Ordered, because the query is repeated from the point where an answer breaks off.
    const listed = `SELECT r_trace, r_spans, r_weight FROM (${drawn}) ORDER BY r_trace`
    await ask(listed, ([trace, own, weight]) => {
      weights.set(textOf(trace), Number(weight))
      expected += Number(own)
    })
  }
  const read = [
    traceId,
    service,
    `toString(${spans.startNs})`,
    `toString(${duration})`,
    has.has('SampleRate') ? 'SampleRate' : "''",
    // Text can be compared with earlier rows.
    ...SPAN_PARTS.map((part) =>
      part === 'resource' ? `toJSONString(${parts[part]})` : parts[part],
    ),
  ]
  const add = rowAdder(sink, server.name)
  let rows = 0
  await ask(
    `SELECT ${read.join(', ')} FROM ${name} WHERE ${traceId} ${spans.isIn} (SELECT r_trace FROM (${drawn})) ORDER BY ${time}, ${traceId}, ${parts.spanId}`,
    (row) => {
      const { sampleRate, ...span } = spanOf(row, sink)
      // A sample inherits the weight of the traces it was drawn from.
      const weight = sample === null ? 1 : (weights.get(span.traceId) ?? 0)
      add({ ...span, sampleRate: sample === null ? sampleRate : weight * Math.max(sampleRate, 1) })
      rows++
    },
    (bytes) => query.onProgress(bytes, rows / Math.max(expected, rows)),
  )
  if (rows === expected || (rows > expected && sample === null)) return
  if (rows > expected) {
    throw new FlowdeltaError(
      `${server.name} got further spans while the sample was read. Ask for a time that is over, with between.`,
    )
  }
  throw new FlowdeltaError(
    `${server.name} gave ${grouped(rows)} of ${counted(expected, 'span')}: its limits cut the answer (max_result_rows, perhaps), or it broke off. ` +
      'Ask for less with between or where, or as a user without such limits.',
  )
}

/** Parts of a span in a row, in this order. */
const ROW = ['traceId', 'service', 'startNs', 'duration', 'sampleRate', ...SPAN_PARTS] as const
type Row = Record<Exclude<(typeof ROW)[number], 'attributes' | 'events' | 'links'>, string> & {
  readonly attributes: unknown
  /** Names of events, and spans that links lead to, each with its attributes; of links, their traces. */
  readonly events: readonly (readonly [name: string, described: unknown])[]
  readonly links: readonly (readonly [spanId: string, described: unknown, traceId: string])[]
}

function spanOf(values: readonly unknown[], sink: ReadSink) {
  const row = Object.fromEntries(ROW.map((part, i) => [part, values[i]])) as unknown as Row
  const { duration, resource, attributes, events, links, startNs, ...own } = row
  return {
    ...own,
    startUs: sink.spans.clock.offsetOfNanos(startNs),
    durationUs: Number(duration) / 1e3,
    followsFrom: links.some(
      ([span, described]) =>
        span === row.parentId &&
        entriesOf(described).some(
          ([key, value]) => key === 'opentracing.ref_type' && value === 'follows_from',
        ),
    ),
    links: links.map(([spanId, , traceId]) => ({ traceId, spanId })),
    attributes: entriesOf(attributes),
    events: events.map(([name, described]) => [name, entriesOf(described)] as const),
    resourceKey: resource,
    resource: () => entriesOf(JSON.parse(resource)),
    sampleRate: Number(row.sampleRate || 0),
  }
}

/** Attributes of an object, nested or not, or of `[key, text, type]`s. */
function entriesOf(value: unknown, prefix = ''): AttributeEntry[] {
  if (Array.isArray(value)) {
    return (value as [string, string, string][]).map(([key, text, type]) => [
      key,
      (ATTRIBUTE_TYPES[type] ?? numberOrText)(text),
    ])
  }
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([key, one]): AttributeEntry[] => {
    if (isJsonObject(one)) return entriesOf(one, `${prefix}${key}.`)
    if (one === null) return []
    return [[prefix + key, typeof one === 'string' ? numberOrText(one) : attributeOf(one)]]
  })
}
