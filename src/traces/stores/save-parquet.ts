// Runs once a span and once an attribute: columns are indexed with `!`.
import { createReadStream } from 'node:fs'
import type { Encoding } from 'hyparquet'
import type { ColumnSource, SchemaElement } from 'hyparquet-writer'
import { savedSpanId } from '../log-records.ts'
import { SPAN_KINDS, SPAN_STATUSES, type SpanTraceColumns } from '../span-columns.ts'
import { parentIdOf, replaceFile, type Savable, savedBeside, sendersOf } from './save-otlp.ts'
import { CHECKSUM_KEY, checksumOf, SAVED_KEY } from './saved-parquet.ts'

/** Spans of one row group: with larger groups, a reader's buffers outlive its first garbage collections. */
const SPANS_PER_GROUP = 2000

type Unnamed = Partial<SchemaElement>
/** Column, which gets its name when it is written, and the elements within it. */
type Elements = readonly [Unnamed, ...SchemaElement[]]

const TEXT: Unnamed = { type: 'BYTE_ARRAY', converted_type: 'UTF8' }
const MAP: Elements = [
  { num_children: 1, logical_type: { type: 'MAP' }, converted_type: 'MAP' },
  { name: 'key_value', num_children: 2, repetition_type: 'REPEATED' },
  { ...TEXT, name: 'key', repetition_type: 'REQUIRED' },
  { ...TEXT, name: 'value', repetition_type: 'REQUIRED' },
]
/** Columns with the names of the collector's exporter for ClickHouse, then columns that it does not have. */
const COLUMNS: Readonly<Record<string, Elements>> = {
  Timestamp: [
    { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'NANOS' } },
  ],
  TraceId: [TEXT],
  SpanId: [TEXT],
  ParentSpanId: [TEXT],
  SpanName: [TEXT],
  SpanKind: [TEXT],
  ServiceName: [TEXT],
  Duration: [{ type: 'INT64' }],
  StatusCode: [TEXT],
  SpanAttributes: MAP,
  HostName: [TEXT],
  ServiceVersion: [TEXT],
  FollowsFrom: [{ type: 'BOOLEAN' }],
  SampleRate: [{ type: 'DOUBLE' }],
  SpanAttributeTypes: [TEXT],
}

const LIST: Elements = [
  { num_children: 1, logical_type: { type: 'LIST' }, converted_type: 'LIST' },
  { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
  { ...TEXT, name: 'element', repetition_type: 'REQUIRED' },
]
/** Links of consumers, for other programs, and for files that are read together. */
const LINKS: typeof COLUMNS = { 'Links.TraceId': LIST, 'Links.SpanId': LIST }

/** Encodings of columns that a dictionary would make slower to read. */
const ENCODINGS: Readonly<Record<string, Encoding>> = {
  Timestamp: 'PLAIN',
  Duration: 'PLAIN',
  SampleRate: 'PLAIN',
  SpanId: 'PLAIN',
  TraceId: 'RLE_DICTIONARY',
}

/** Writes traces as a Parquet file, a span a row; see `SpanTraces.save`. */
export function saveParquet(path: string, saved: Savable): Promise<void> {
  return replaceFile(path, (partial) => writeParquet(partial, saved))
}

async function writeParquet(path: string, { quality, traces }: Savable): Promise<void> {
  const { ParquetWriter, fileWriter } = await import('hyparquet-writer')
  const { links, ids } = traces
  const columns = { ...COLUMNS, ...(links && LINKS) }
  const schema = Object.entries(columns).flatMap(([column, [own, ...within]]) => [
    { repetition_type: 'REQUIRED' as const, ...own, name: column },
    ...within,
  ])
  const out = fileWriter(path)
  const beside = JSON.stringify(savedBeside(traces, quality, 0, ids.length))
  const kvMetadata = [{ key: SAVED_KEY, value: beside }]
  const writer = new ParquetWriter({
    writer: out,
    schema: [{ name: 'spans', num_children: Object.keys(columns).length }, ...schema],
    kvMetadata,
    createdBy: 'flowdelta',
  })
  const { length } = traces.spans.parent
  const traceOf = new Uint32Array(length)
  traces.ids.forEach((_, i) => {
    traceOf.fill(i, traces.spanOffsets[i], traces.spanOffsets[i + 1])
  })
  for (let from = 0; from < length; from += SPANS_PER_GROUP) {
    const to = Math.min(from + SPANS_PER_GROUP, length)
    const columnData = columnsOf(traces, traceOf, from, to)
    writer.write({ columnData, rowGroupSize: SPANS_PER_GROUP })
  }
  // Writes the remaining data, so that the file can be read up to here.
  out.finish()
  const written = createReadStream(path)
  const checksum = await checksumOf(written)
  kvMetadata.push({ key: CHECKSUM_KEY, value: `${written.bytesRead} ${checksum}` })
  await writer.finish()
}

function columnsOf(
  { epochNs, ids, spans, attributes, weight, links, ...names }: SpanTraceColumns,
  traceOf: Uint32Array,
  from: number,
  to: number,
): ColumnSource[] {
  const rows = Array.from({ length: to - from }, (_, i) => from + i)
  const each = <T>(value: (row: number) => T) => rows.map(value)
  const entries = each((row) => [...attributes.entries(row)])
  const nanos = (us: number) => BigInt(Math.round(us * 1e3))
  const spanId = (row: number) => savedSpanId(row + 1)
  const data: Readonly<Record<string, unknown[]>> = {
    Timestamp: each((row) => epochNs + nanos(spans.startUs[row]!)),
    TraceId: each((row) => ids[traceOf[row]!]),
    SpanId: each(spanId),
    ParentSpanId: each((row) => parentIdOf(spans.parent[row]!)),
    SpanName: each((row) => names.operations.value(spans.operation[row]!)),
    SpanKind: each((row) => SPAN_KINDS[spans.kind[row]!]),
    ServiceName: each((row) => names.services.value(spans.service[row]!)),
    Duration: each((row) => nanos(spans.durationUs[row]!)),
    StatusCode: each((row) => SPAN_STATUSES[spans.status[row]!]),
    SpanAttributes: entries.map((own) =>
      own.map(([key, value]) => ({ key, value: String(value) })),
    ),
    HostName: each((row) => names.hosts.value(spans.host[row]!)),
    ServiceVersion: each((row) => names.versionNames.value(spans.version[row]!)),
    FollowsFrom: each((row) => spans.followsFrom[row] === 1),
    SampleRate: each((row) => weight?.[traceOf[row]!] || 0),
    SpanAttributeTypes: entries.map((own) => own.map(([, value]) => (typeof value)[0]).join('')),
    ...(links && {
      'Links.TraceId': each((row) => sendersOf(links, row).map((sender) => ids[traceOf[sender]!])),
      'Links.SpanId': each((row) => sendersOf(links, row).map(spanId)),
    }),
  }
  return Object.entries(data).map(([name, data]) => {
    const encoding = ENCODINGS[name]
    return { name, data, ...(encoding && { encoding }) }
  })
}
