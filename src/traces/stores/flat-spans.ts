// Runs once a span and once an attribute: columns are indexed with `!`.
import { zip } from 'd3-array'
import { hexOf } from '../../core/base64.ts'
import { show, TraceFormatError } from '../../core/errors.ts'
import { defineOptions } from '../../core/options.ts'
import { beginning } from '../../core/words.ts'
import {
  ATTRIBUTE_TYPES,
  type AttributeEntry,
  attributeOf,
  isJsonObject,
  numberOrText,
  parsedJson,
} from '../readers/json-values.ts'
import { linksOf, readBeside } from '../readers/otlp.ts'
import { NAMES as ROLE_NAMES } from '../readers/span-formats.ts'
import { inNanos, plainName, type TimeUnit, unitBySize } from '../readers/span-times.ts'
import type { ReadSink } from '../readers/trace-reader.ts'
import type { SpanLink } from '../span-traces-builder.ts'
import {
  asText,
  type Column,
  damagedParquet,
  type FromBytes,
  openParquet,
  type ParquetFile,
} from './parquet-file.ts'
import { SAVED_KEY } from './saved-parquet.ts'
import { rowAdder } from './span-rows.ts'
import { storeKind } from './store.ts'

/** Names of columns besides those of roles, as `plainName` makes them; the best first. */
const { references: _, error: __, success: ___, ...USED } = ROLE_NAMES
const NAMES = {
  ...USED,
  sampleRate: ['samplerate'],
  followsFrom: ['followsfrom'],
  linkTraces: ['linkstraceid'],
  linkSpans: ['linksspanid'],
  types: ['spanattributetypes'],
  attributes: ['spanattributes', 'attributes'],
  eventNames: ['eventsname'],
  eventAttributes: ['eventsattributes'],
} as const

export type Part = keyof typeof NAMES
type Parts = { readonly [part in Part]?: Column }

/** Parts that no span goes without. */
const REQUIRED = ['trace', 'span', 'service', 'start'] as const

function partsOf({ columns }: ParquetFile): Parts {
  const named = new Map(columns.map((column) => [column.path.join('.'), column]))
  const found = Object.keys(NAMES).flatMap((part) => {
    const column = named.get(columnFor(part as Part, [...named.keys()]) ?? '')
    return column === undefined ? [] : [[part, column]]
  })
  return Object.fromEntries(found)
}

/** Returns the column that holds a part of spans, by its name. */
export function columnFor(part: Part, columns: readonly string[]): string | undefined {
  return (NAMES[part] as readonly string[])
    .map((name) => columns.find((column) => plainName(column).plain === name))
    .find((column) => column !== undefined)
}

/**
 * Reads spans in flat columns, one a row, in any order: as the OpenTelemetry Collector's exporter
 * for ClickHouse names them (`TraceId`, `SpanName`, `Duration`, `SpanAttributes`, …), or as OTLP
 * does (`trace_id`, `start_time_unix_nano`, …). Integer times are in the unit that their size says;
 * a duration without a unit is in that of the start. Attributes are maps, or JSON as text, and links
 * lists of ids (`Links.TraceId`, or `links` with `trace_id`), or JSON as text.
 */
export async function readFlatSpans(file: ParquetFile, sink: ReadSink): Promise<void> {
  const parts = partsOf(file)
  const add = rowAdder(sink, file.name)
  let values: Values = {}
  const text = (part: Part, row: number) => textOf(values[part]?.[row])
  const listed = (part: Part, row: number) => (values[part]?.[row] ?? []) as readonly unknown[]
  const entries = (part: Part, row: number) =>
    textsIn(values[part]?.[row], `${file.name}, column ${parts[part]?.path[0]}`)
  const linksAt = (row: number) => {
    if (values.linkTraces?.[row]) {
      return zip(listed('linkTraces', row), listed('linkSpans', row)).map(
        ([trace, span]): SpanLink => ({ traceId: textOf(trace), spanId: textOf(span) }),
      )
    }
    const json = text('links', row)
    return json === '' ? [] : linksOf(parsedJson(json))
  }
  const eventsAt = (row: number) =>
    listed('eventNames', row).map((name, event) => {
      const own = listed('eventAttributes', row)[event]
      return [textOf(name), typed(textsIn(own, file.name), '')] as const
    })
  for (const group of file.metadata.row_groups) {
    const read = Object.entries(parts).map(async ([part, column]) => {
      return [part, await file.read(group, column, IDS.has(part) ? asId : asText)]
    })
    values = Object.fromEntries(await Promise.all(read))
    const starts = nanosOf(values.start!, parts.start!, file.name)
    const durations = durationsOf(values, parts, starts, file.name)
    for (let row = 0; row < durations.length; row++) {
      const resource = entries('resource', row)
      const nanos = starts.nanos[row]!
      const seconds = nanos / SECOND
      add({
        traceId: text('trace', row),
        spanId: text('span', row),
        parentId: text('parent', row),
        service: text('service', row),
        operation: text('operation', row),
        host: text('host', row),
        version: text('version', row),
        kind: text('kind', row),
        status: text('status', row),
        message: text('message', row),
        traceState: text('tracestate', row),
        startUs: sink.spans.clock.offset(Number(seconds), Number(nanos - seconds * SECOND) / 1e3),
        durationUs: durations[row]!,
        followsFrom: values.followsFrom?.[row] === true,
        links: linksAt(row),
        attributes: typed(entries('attributes', row), text('types', row)),
        events: eventsAt(row),
        resourceKey: resource.length === 0 ? '' : JSON.stringify(resource),
        resource: () => typed(resource, ''),
        sampleRate: Number(values.sampleRate?.[row] ?? 0),
      })
    }
  }
}

/** Values of parts of spans, one a row. */
type Values = { readonly [part in Part]?: ArrayLike<unknown> }

/** Parts that are ids. */
const IDS: ReadonlySet<string> = new Set(['trace', 'span', 'parent', 'linkSpans', 'linkTraces'])

const SECOND = 1_000_000_000n

const HEX = /^[0-9a-f]+$/i

/** An id as text: bytes that are no hex digits are the id itself. */
const asId: FromBytes = (bytes) => {
  const text = asText(bytes) as string
  const isRaw = (bytes.length === 8 || bytes.length === 16) && !HEX.test(text)
  return isRaw ? hexOf(bytes) : text
}

function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return asId(value) as string
  return value === null || value === undefined ? '' : String(value)
}

/** Units of logical types. */
const UNITS: Readonly<Record<string, TimeUnit>> = {
  NANOS: 'ns',
  TIMESTAMP_MICROS: 'us',
  MICROS: 'us',
  TIMESTAMP_MILLIS: 'ms',
  MILLIS: 'ms',
}

/** Times in ns since 1970, and the unit that they are stored in. */
function nanosOf(values: ArrayLike<unknown>, column: Column, file: string) {
  const unit = unitOf(column) ?? unitBySize(Number(values[0] ?? 0))
  const each = inNanos(unit)
  const nanos = new BigInt64Array(values.length)
  for (let i = 0; i < nanos.length; i++) {
    nanos[i] = wholeTime(values[i], column.path[0]!, file) * each
  }
  return { nanos, unit }
}

/** Returns a time as it is stored, 0 for none; @throws TraceFormatError for one that is no integer */
export function wholeTime(value: unknown, column: string, file: string): bigint {
  try {
    return BigInt((value as number | bigint | null | undefined) ?? 0)
  } catch {
    throw new TraceFormatError(
      `Column ${column} has ${show(String(value))}, which is no integer time`,
      { file },
      'Store times as timestamps, or as integers in s, ms, µs or ns since 1970',
    )
  }
}

function unitOf({ element, path }: Column): TimeUnit | undefined {
  const { logical_type: type, converted_type: converted = '' } = element
  const unit = type !== undefined && 'unit' in type ? type.unit : converted
  return UNITS[unit] ?? plainName(path[0]!).unit
}

/** Returns the unit of a column of durations, where columns of starts are in `startUnit`. */
export function durationUnit(column: string, start: string, startUnit: TimeUnit): TimeUnit {
  // The collector's exporter counts durations in ns, whatever became of its timestamps.
  return plainName(column).unit ?? (start === 'Timestamp' ? 'ns' : startUnit)
}

/** Durations in µs. */
function durationsOf(
  values: Values,
  { start, end, duration }: Parts,
  starts: ReturnType<typeof nanosOf>,
  file: string,
): Float64Array {
  const micros = new Float64Array(starts.nanos.length).fill(Number.NaN)
  if (duration !== undefined) {
    const unit = durationUnit(duration.path[0]!, start!.path[0]!, starts.unit)
    const nanos = Number(inNanos(unit))
    return micros.map((_, i) => (Number(values.duration![i]) * nanos) / 1e3)
  }
  if (end === undefined) return micros
  const { nanos } = nanosOf(values.end!, end, file)
  return micros.map((_, i) => Number(nanos[i]! - starts.nanos[i]!) / 1e3)
}

type Texts = readonly (readonly [key: string, text: string])[]
const NONE: Texts = []

/** Attributes of a map, however its entries are wrapped, or of JSON. */
function textsIn(own: unknown, place: string): Texts {
  const list = isJsonObject(own) ? (own['key_value'] ?? []) : own
  if (Array.isArray(list)) {
    const pairs: readonly { readonly key: unknown; readonly value: unknown }[] = list
    return pairs.map(({ key, value }) => [String(key), textOf(value)])
  }
  const json = textOf(list)
  const parsed = json === '' ? null : parsedJson(json)
  if (parsed === null) return NONE
  if (!isJsonObject(parsed)) {
    const nextStep = 'Store attributes as a map, or as one JSON object'
    throw new TraceFormatError(`Attributes are ${beginning(json)}`, { file: place }, nextStep)
  }
  return Object.entries(parsed).map(([key, value]) => [key, String(attributeOf(value))])
}

/** Returns attributes with the types that the file says, else numbers if they look like numbers. */
function typed(entries: Texts, types: string): AttributeEntry[] {
  return entries.map(([key, text], i) => {
    const known = ATTRIBUTE_TYPES[types[i] ?? '']
    return [key, known === undefined ? numberOrText(text) : known(text)]
  })
}

/** Parquet files of spans in flat columns. */
export const parquetStore = storeKind({
  parameters: defineOptions({}),
  isFile: true,
  async read({ location }, { signal, onProgress }, sink) {
    const files = await openParquet(location)
    const whole = files.reduce((sum, { bytes }) => sum + bytes, 0)
    let bytes = 0
    try {
      for (const file of files) {
        signal?.throwIfAborted()
        await file.requireIntact()
        readBeside(parsedJson(file.said(SAVED_KEY) ?? ''), sink, file.name)
        requireFlatSpans(file)
        await readFlatSpans(file, sink)
        bytes += file.bytes
        onProgress(file.bytes, bytes / whole)
      }
    } catch (error) {
      // Values that contradict the file's own schema.
      const isOfData = [RangeError, SyntaxError, TypeError].some((kind) => error instanceof kind)
      throw isOfData ? damagedParquet(location, error) : error
    } finally {
      for (const file of files) await file.close()
    }
  },
})

function requireFlatSpans(file: ParquetFile): void {
  const parts = partsOf(file)
  if (REQUIRED.every((part) => parts[part] !== undefined)) return
  const columns = [...new Set(file.columns.map(({ path }) => path[0]))].slice(0, 12).join(', ')
  throw new TraceFormatError(
    `The Parquet file has no columns for trace id, span id, service and start; it has ${columns}`,
    { file: file.name },
    'Name them TraceId, SpanId, ParentSpanId, ServiceName, SpanName, Timestamp and Duration; ask for the traces in blocks of Tempo as tempo://host:3200',
  )
}
