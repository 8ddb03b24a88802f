import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FlowdeltaError, OptionError, TraceFormatError } from '../../core/errors.ts'
import { count, defineOptions, text } from '../../core/options.ts'
import { inNanos, unitBySize } from '../readers/span-times.ts'
import type { ReadSink } from '../readers/trace-reader.ts'
import { SAMPLE_OPTIONS } from '../selection/sample-traces.ts'
import { columnFor, durationUnit, type Part, readFlatSpans, wholeTime } from './flat-spans.ts'
import { openParquet } from './parquet-file.ts'
import { type AskSql, nanos, requestsOf, type SqlDialect, sampleOf } from './sql-requests.ts'
import { readOrInstead, type StoreQuery, storeKind } from './store.ts'

/** Parameters of the addresses of DuckDB: `duckdb:spans.parquet?sample=20000`. */
export const DUCKDB_OPTIONS = defineOptions({
  sample: SAMPLE_OPTIONS.size,
  seed: SAMPLE_OPTIONS.seed,
  table: text({ default: 'otel_traces', sentence: 'Table of a database', flag: null }),
  memory: text({ default: '1GB', sentence: 'Memory limit of the engine', flag: null }),
  threads: count({ default: 2, sentence: 'Threads of the engine' }),
})

/**
 * Spans in flat columns in files of any size (Parquet, CSV, JSON with a span a line or element, a database of DuckDB),
 * read by DuckDB in this process. Of each period it hands over a sample of whole traces at one rate: requests are
 * grouped by how many spans of each service and operation they have and by how they ended; each group in order of
 * arrival is cut into as many stretches as it is due requests of the sample, and of each stretch one is drawn. The
 * weights of a group's requests add up to its exact number where all of it was recorded at one rate. `quality().groups`
 * has the groups, with exact numbers and quantiles.
 */
export const duckdbStore = storeKind({
  parameters: DUCKDB_OPTIONS,
  isFile: true,
  read: ({ name, location, sample, seed, table, memory, threads }, whole, sink) =>
    readOrInstead(whole, sink, async (query) => {
      const folder = await mkdtemp(join(tmpdir(), 'flowdelta-'))
      let engine: Engine | undefined
      try {
        engine = await openEngine({ memory, threads, folder, name }, query.signal)
        const spans = await spansIn(engine, { name, location, table }, { ...query, sink })
        const ask: AskSql = async (sql, onRow) => {
          for (const row of await (engine as Engine).rows(sql)) onRow(Object.values(row))
        }
        const requests = await requestsOf(DIALECT, spans, { query, ask })
        await engine.rows(`CREATE TEMP TABLE requests AS ${requests}`)
        const how = { sample, seed, quality: sink.quality }
        const drawn = await sampleOf(DIALECT, 'requests', how, ask)
        await engine.rows(`CREATE TEMP TABLE drawn AS ${drawn}`)
        await engine.rows('DROP TABLE requests')
        query.onProgress(0, 0.5)
        const path = join(folder, 'sample.parquet')
        await engine.rows(
          `COPY (SELECT s.* ${spans.changed}, r_weight * ${spans.rate} AS "SampleRate"
               FROM ${spans.source} JOIN drawn ON r_trace = ${spans.trace}
               ORDER BY r_arrivedNs, r_trace, ${spans.order})
             TO ${literal(path)} (FORMAT parquet, ROW_GROUP_SIZE 50000)`,
        )
        for (const file of await openParquet(path)) {
          await readFlatSpans({ ...file, name }, sink)
          query.onProgress(file.bytes, 1)
          await file.close()
        }
      } finally {
        engine?.close()
        await rm(folder, { recursive: true })
      }
    }),
})

/** The rows that a query gives; throws what DuckDB says as a `FlowdeltaError`. */
interface Engine {
  rows(sql: string): Promise<Record<string, unknown>[]>
  close(): void
}

async function openEngine(
  {
    memory,
    threads,
    folder,
    name,
  }: { memory: string; threads: number; folder: string; name: string },
  signal: AbortSignal | null,
): Promise<Engine> {
  const { DuckDBInstance } = await import('@duckdb/node-api').catch(() => {
    throw new FlowdeltaError(
      'Addresses that begin with duckdb: need the package @duckdb/node-api. Install it: npm install @duckdb/node-api.',
    )
  })
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: memory,
    threads: String(threads),
    temp_directory: folder,
    preserve_insertion_order: 'false',
  }).catch(() => {
    throw new OptionError('memory', memory, "an amount such as '1GB'")
  })
  const connection = await instance.connect()
  signal?.addEventListener('abort', () => connection.interrupt(), { once: true })
  return {
    async rows(sql) {
      const read = await connection.runAndReadAll(sql).catch((error: Error) => {
        signal?.throwIfAborted()
        const [said = ''] = error.message.split('\n')
        const isAbsent = /No files found|database does not exist/.test(said)
        throw new FlowdeltaError(
          isAbsent
            ? `${name} is not there. Check the path; * in it stands for any files.`
            : `${name}: DuckDB says: ${said}`,
        )
      })
      return read.getRowObjectsJS()
    },
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

const literal = (value: string) => `'${value.replaceAll("'", "''")}'`
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

const DIALECT: SqlDialect = {
  hash: (...values) => `hash(${values.join(', ')})`,
  sumOfHashes: (text) => `sum(CAST(hash(${text}) AS HUGEINT))`,
  quantilesUs: (column) =>
    `list_transform(quantile_cont(${column}, [0.5, 0.95, 0.99]), lambda ns: ns / 1e3)`,
  matches: (text, pattern) => `regexp_matches(${text}, '${pattern}')`,
  number: (text) => `TRY_CAST(${text} AS DOUBLE)`,
  literal,
}

const READERS: readonly (readonly [name: RegExp, reader: string, options: string])[] = [
  [/\.parquet$/i, 'read_parquet', ''],
  [/\.csv(\.gz)?$/i, 'read_csv', ''],
  [/\.(json|jsonl|ndjson)(\.gz)?$/i, 'read_json', ', map_inference_threshold = -1'],
]

/** Returns the spans of a file as SQL. */
async function spansIn(
  engine: Engine,
  { name, location, table }: { name: string; location: string; table: string },
  { fromUs, toUs, sink }: StoreQuery & { readonly sink: ReadSink },
) {
  const [, reader, options] = READERS.find(([suffix]) => suffix.test(location)) ?? []
  if (reader === undefined) {
    await engine.rows(`ATTACH ${literal(location)} AS stored (READ_ONLY)`)
  }
  const source =
    reader === undefined ? `stored.${quoted(table)}` : `${reader}(${literal(location)}${options})`
  const described = await engine.rows(`DESCRIBE SELECT * FROM ${source}`)
  const types = new Map(
    described.map(({ column_name, column_type }) => [String(column_name), String(column_type)]),
  )
  const columns = [...types.keys()]
  const named = (part: Part) => columnFor(part, columns)
  const required = (part: Part) => {
    const column = named(part)
    if (column !== undefined) return column
    throw new TraceFormatError(
      `There is no column of the ${part} of spans; there are ${columns.slice(0, 12).join(', ')}`,
      { file: name },
      'Name them TraceId, SpanId, ParentSpanId, ServiceName, SpanName, Timestamp and Duration',
    )
  }
  const textIn = (part: Part) => {
    const column = named(part)
    return column === undefined ? "''" : `coalesce(CAST(s.${quoted(column)} AS VARCHAR), '')`
  }
  const id = (part: Part) =>
    types.get(required(part)) === 'BLOB' ? `hex(s.${quoted(required(part))})` : textIn(part)
  const timeOf = async (column: string) => {
    const type = types.get(column) ?? ''
    const own = `s.${quoted(column)}`
    if (type.startsWith('TIMESTAMP')) {
      return { ns: `epoch_ns(${own})`, unit: 'us' as const, own, of: TIMESTAMPS[type] }
    }
    const [first] = await engine.rows(`SELECT ${quoted(column)} AS time FROM ${source} LIMIT 1`)
    const unit = unitBySize(Number(wholeTime(first?.['time'], column, name)))
    const nanos = inNanos(unit)
    const of = type === 'BIGINT' ? (us: number) => `${(BigInt(us) * 1000n) / nanos}` : undefined
    return { ns: `CAST(${own} AS BIGINT) * ${nanos}`, unit, own, of }
  }
  // JSON may have numbers of 64 bits in quotes.
  const numberIn = (column: string) =>
    types.get(column) === 'VARCHAR' ? `CAST(s.${quoted(column)} AS DOUBLE)` : `s.${quoted(column)}`
  const [trace, start, duration] = [id('trace'), required('start'), named('duration')]
  const times = await timeOf(start)
  const durationNs =
    duration === undefined
      ? `${(await timeOf(required('end'))).ns} - ${times.ns}`
      : `${numberIn(duration)} * ${inNanos(durationUnit(duration, start, times.unit))}`
  const rate = named('sampleRate')
  // If a column is compared as it is stored, parts of a file can be skipped.
  const [own, of] = times.of === undefined ? [times.ns, nanos] : [times.own, times.of]
  const during = [
    ...(fromUs === null ? [] : [`${own} >= ${of(Math.floor(fromUs) - 1)}`]),
    ...(toUs === null ? [] : [`${own} <= ${of(Math.ceil(toUs) + 1)}`]),
  ].join(' AND ')
  const attributes = named('attributes') ?? ''
  const isReadable = READABLE.test(types.get(attributes) ?? '') && !sink.resourceAttributes
  const structs = columns.filter((column) =>
    (column === named('links') ? /^MAP/ : /^(STRUCT.*\)|JSON)$/).test(types.get(column) ?? ''),
  )
  const attributeText = (key: string) =>
    types.get(attributes)?.startsWith('MAP')
      ? `map_extract(s.${quoted(attributes)}, ${literal(key)})[1]`
      : `json_extract_string(to_json(s.${quoted(attributes)}), ${literal(`$."${key}"`)})`
  return {
    source: `${source} AS s`,
    during,
    trace,
    parent: id('parent'),
    service: textIn('service'),
    operation: textIn('operation'),
    status: textIn('status'),
    startNs: times.ns,
    durationNs,
    rate: rate === undefined ? '1' : `coalesce(nullif(s.${quoted(rate)}, 0), 1)`,
    attribute: isReadable ? (key: string) => [`coalesce(${attributeText(key)}, '')`] : null,
    /** Order of a trace's spans, so that a sample is always the same. */
    order: `${times.ns}, ${textIn('span')}`,
    /** Columns that are handed over in another form. */
    changed: [
      rate === undefined ? '' : `EXCLUDE (${quoted(rate)})`,
      structs.length === 0
        ? ''
        : `REPLACE (${structs.map((one) => `CAST(to_json(s.${quoted(one)}) AS VARCHAR) AS ${quoted(one)}`).join(', ')})`,
    ].join(' '),
  }
}

/** Moments in µs since 1970 as columns of times have them. */
const TIMESTAMPS: Readonly<Record<string, (us: number) => string>> = {
  TIMESTAMP_NS: (us) => `make_timestamp_ns(${nanos(us)})`,
  TIMESTAMP: (us) => `make_timestamp(${us})`,
  'TIMESTAMP WITH TIME ZONE': (us) => `to_timestamp(${us} / 1e6)`,
}
/** Types of columns whose attributes can be asked by name. */
const READABLE = /^(MAP\(VARCHAR, VARCHAR\)|STRUCT.*|JSON)$/
