import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FlowdeltaError, OptionError, TraceFormatError } from '../../core/errors.ts'
import { count, defineOptions, type OptionsOf, text } from '../../core/options.ts'
import type { RequestGroup } from '../quality.ts'
import { inNanos, unitBySize } from '../readers/span-times.ts'
import type { ReadSink } from '../readers/trace-reader.ts'
import { SAMPLE_OPTIONS } from '../selection/sample-traces.ts'
import { columnFor, durationUnit, type Part, readFlatSpans, wholeTime } from './flat-spans.ts'
import { openParquet } from './parquet-file.ts'
import { leastDurationUs, spanTests } from './pushed-conditions.ts'
import { readOrInstead, requestGroup, type StoreQuery, storeKind } from './store.ts'

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
  async open({ name, location }, { sample, seed, table, memory, threads }) {
    return {
      name,
      read: (whole, sink) =>
        readOrInstead(whole, sink, async (query) => {
          const folder = await mkdtemp(join(tmpdir(), 'flowdelta-'))
          let engine: Engine | undefined
          try {
            engine = await openEngine({ memory, threads, folder, name }, query.signal)
            const spans = await spansIn(engine, { name, location, table }, { ...query, sink })
            const groups = await drawSample(engine, spans, { query, sample, seed })
            sink.quality.groups.push(...groups)
            query.onProgress(0, 0.5)
            const path = join(folder, 'sample.parquet')
            await engine.rows(
              `COPY (SELECT s.* ${spans.changed}, weight * ${spans.rate} AS "SampleRate"
               FROM ${spans.source} AS s JOIN drawn ON drawn.trace = ${spans.trace}
               ORDER BY arrivedNs, drawn.trace, ${spans.order})
             TO ${literal(path)} (FORMAT parquet, ROW_GROUP_SIZE 50000)`,
            )
            for (const file of await openParquet(path)) {
              await readFlatSpans({ ...file, name }, sink, null)
              query.onProgress(file.bytes, 1)
              await file.close()
            }
          } finally {
            engine?.close()
            await rm(folder, { recursive: true })
          }
        }),
    }
  },
})

/** The rows that a query gives; throws what DuckDB says as a `FlowdeltaError`. */
interface Engine {
  rows(sql: string): Promise<Record<string, unknown>[]>
  close(): void
}

type EngineLimits = Pick<OptionsOf<typeof DUCKDB_OPTIONS>, 'memory' | 'threads'>

async function openEngine(
  { memory, threads, folder, name }: EngineLimits & { readonly folder: string; name: string },
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

/** SQL for the columns of spans. */
interface Spans {
  /** Source after `FROM`. */
  readonly source: string
  /** Columns that are handed over in another form. */
  readonly changed: string
  readonly trace: string
  /** Order of a trace's spans, so that a sample is always the same. */
  readonly order: string
  /** Number of requests that a span already stands for. */
  readonly rate: string
  /**
   * One row a span: trace, isRoot, name (of its service and operation), isError, startNs, durationNs,
   * test0 and so on. Only traces that have a span in the time that is asked for.
   */
  readonly rows: string
  /** Number of conditions that `test0` and so on apply to a span. */
  readonly tests: number
}

const READERS: readonly (readonly [name: RegExp, reader: string, options: string])[] = [
  [/\.parquet$/i, 'read_parquet', ''],
  [/\.csv(\.gz)?$/i, 'read_csv', ''],
  [/\.(json|jsonl|ndjson)(\.gz)?$/i, 'read_json', ', map_inference_threshold = -1'],
]

async function spansIn(
  engine: Engine,
  { name, location, table }: { name: string; location: string; table: string },
  { fromUs, toUs, conditions, sink }: StoreQuery & { readonly sink: ReadSink },
): Promise<Spans> {
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
  const ofEach = rate === undefined ? '1' : `coalesce(nullif(s.${quoted(rate)}, 0), 1)`
  // If a column is compared as it is stored, parts of a file can be skipped.
  const [own, of] = times.of === undefined ? [times.ns, nanosOf] : [times.own, times.of]
  const during = [
    ...(fromUs === null ? [] : [`${own} >= ${of(Math.floor(fromUs) - 1)}`]),
    ...(toUs === null ? [] : [`${own} <= ${of(Math.ceil(toUs) + 1)}`]),
  ].join(' AND ')
  const isRoot = `regexp_matches(${id('parent')}, '^0*$')`
  const attributes = named('attributes') ?? ''
  const isReadable = READABLE.test(types.get(attributes) ?? '') && !sink.resourceAttributes
  const tests = await spanTests(conditions, {
    service: textIn('service'),
    operation: textIn('operation'),
    literal,
    isRoot,
    attribute: isReadable
      ? (key) => [attributeText(`s.${quoted(attributes)}`, types.get(attributes), key)]
      : null,
    async someRootHas(condition) {
      const where = [isRoot, `(${condition})`, ...(during === '' ? [] : [during])].join(' AND ')
      const found = await engine.rows(`SELECT 1 FROM ${source} AS s WHERE ${where} LIMIT 1`)
      return found.length > 0
    },
    number: (text) => `TRY_CAST(${text} AS DOUBLE)`,
    matches: (text, pattern) => `regexp_matches(${text}, '${pattern}')`,
  })
  const structs = columns.filter((column) =>
    (column === named('links') ? /^MAP/ : /^(STRUCT.*\)|JSON)$/).test(types.get(column) ?? ''),
  )
  return {
    source,
    trace,
    order: `${times.ns}, ${textIn('span')}`,
    rate: ofEach,
    changed: [
      rate === undefined ? '' : `EXCLUDE (${quoted(rate)})`,
      structs.length === 0
        ? ''
        : `REPLACE (${structs.map((one) => `CAST(to_json(s.${quoted(one)}) AS VARCHAR) AS ${quoted(one)}`).join(', ')})`,
    ].join(' '),
    rows: `SELECT ${trace} AS trace, ${textIn('service')} AS service,
        concat_ws(' ', ${textIn('service')}, ${textIn('operation')}) AS name,
        ${isRoot} AS isRoot,
        regexp_matches(${textIn('status')}, '(?i)^(status_code_)?error$|^2$') AS isError,
        ${times.ns} AS startNs, ${durationNs} AS durationNs,
        ${[`${ofEach} AS rate`, ...tests.map((test, i) => `${test} AS test${i}`)].join(', ')}
      FROM ${source} AS s${during === '' ? '' : ` WHERE ${trace} IN (SELECT ${trace} FROM ${source} AS s WHERE ${during})`}`,
    tests: tests.length,
  }
}

const nanosOf = (us: number) => `${BigInt(us) * 1000n}`
/** Moments in µs since 1970 as columns of times have them. */
const TIMESTAMPS: Readonly<Record<string, (us: number) => string>> = {
  TIMESTAMP_NS: (us) => `make_timestamp_ns(${nanosOf(us)})`,
  TIMESTAMP: (us) => `make_timestamp(${us})`,
  'TIMESTAMP WITH TIME ZONE': (us) => `to_timestamp(${us} / 1e6)`,
}
/** Types of columns whose attributes can be asked by name. */
const READABLE = /^(MAP\(VARCHAR, VARCHAR\)|STRUCT.*|JSON)$/

function attributeText(column: string, type = '', key: string): string {
  const text = type.startsWith('MAP')
    ? `map_extract(${column}, ${literal(key)})[1]`
    : `json_extract_string(to_json(${column}), ${literal(`$."${key}"`)})`
  return `coalesce(${text}, '')`
}

const literal = (value: string) => `'${value.replaceAll("'", "''")}'`
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Makes the table `drawn` of traces with their weights, and returns the groups they are of. */
async function drawSample(
  engine: Engine,
  { rows, tests }: Spans,
  { query, sample, seed }: { query: StoreQuery; sample: number; seed: number },
): Promise<RequestGroup[]> {
  const { fromUs, toUs, conditions } = query
  const leastUs = leastDurationUs(conditions)
  const having = [
    ...(fromUs === null ? [] : [`arrivedNs >= ${BigInt(Math.floor(fromUs)) * 1000n}`]),
    ...(toUs === null ? [] : [`arrivedNs < ${BigInt(Math.ceil(toUs)) * 1000n}`]),
    ...(leastUs === 0 ? [] : [`max(durationNs) >= ${Math.floor(leastUs * 1e3)}`]),
    ...Array.from({ length: tests }, (_, i) => `bool_or(test${i})`),
  ]
  await engine.rows(
    `CREATE TEMP TABLE requests AS
     SELECT trace, hash(count(*), sum(CAST(hash(name) AS HUGEINT)), bool_or(isRoot AND isError)) AS kind,
       count(*) AS spans, coalesce(min(name) FILTER (isRoot), '') AS root,
       coalesce(bool_or(isRoot AND isError), false) AS failed, max(rate) AS rate,
       coalesce(min(startNs) FILTER (isRoot), min(startNs)) AS arrivedNs,
       coalesce(max(durationNs) FILTER (isRoot), max(startNs + durationNs) - min(startNs)) AS tookNs
     FROM (${rows}) GROUP BY trace${having.length === 0 ? '' : ` HAVING ${having.join(' AND ')}`}`,
  )
  // A kind too rare for a request of the sample joins others of its root, or all.
  await engine.rows(
    `CREATE TEMP TABLE kinds AS
     WITH counted AS (
       SELECT kind, any_value(root) AS root, any_value(failed) AS failed, count(*) AS recorded,
         least(1, ${sample} / sum(count(*)) OVER ()) AS share
       FROM requests GROUP BY kind),
     placed AS (
       SELECT *, CASE WHEN recorded * share >= 1 THEN kind ELSE hash(root, failed) END AS place
       FROM counted)
     SELECT kind, share, CASE WHEN sum(recorded) OVER (PARTITION BY place) * share >= 1
       THEN place ELSE hash(failed) END AS "group"
     FROM placed`,
  )
  await engine.rows(
    `CREATE TEMP TABLE groups AS
     WITH counted AS (
       SELECT "group", count(DISTINCT kind) AS structures, count(*) AS recorded, sum(rate) AS requests,
         CASE WHEN count(DISTINCT root) = 1 THEN any_value(root) ELSE '(other roots)' END AS root,
         any_value(failed) AS failed, avg(spans) AS spans, avg(tookNs) / 1e3 AS meanUs,
         list_transform(quantile_cont(tookNs, [0.5, 0.95, 0.99]), lambda ns: ns / 1e3) AS quantiles,
         any_value(share) AS share
       FROM requests JOIN kinds USING (kind) GROUP BY "group"),
     placed AS (SELECT *, sum(recorded) OVER (ORDER BY "group") AS upTo FROM counted),
     offsetBy AS (SELECT (hash(${seed}) % 1000000) / 1e6 AS shift)
     SELECT *, least(recorded, greatest(1,
       floor(upTo * share + shift) - floor((upTo - recorded) * share + shift))) AS due
     FROM placed, offsetBy`,
  )
  await engine.rows(
    `CREATE TEMP TABLE drawn AS
     WITH ordered AS (
       SELECT trace, arrivedNs, "group", row_number() OVER (PARTITION BY "group" ORDER BY arrivedNs, trace) AS nth
       FROM requests JOIN kinds USING (kind)),
     cut AS (
       SELECT trace, arrivedNs, "group", recorded / due AS weight, floor((nth - 1) * due / recorded) AS stretch
       FROM ordered JOIN groups USING ("group"))
     SELECT trace, arrivedNs, weight FROM cut
     QUALIFY row_number() OVER (PARTITION BY "group", stretch ORDER BY hash(trace, ${seed}), trace) = 1`,
  )
  const found = await engine.rows(
    `SELECT root, failed, structures, spans, requests, due, meanUs, quantiles
     FROM groups ORDER BY requests DESC, root, "group"`,
  )
  await engine.rows('DROP TABLE requests')
  return found.map((row) => requestGroup(Object.values(row)))
}
