// Runs once a span and once an attribute: columns are indexed with `!`.
import { zip } from 'd3-array'
import type { RowGroup } from 'hyparquet'
import { show, TraceFormatError } from '../../core/errors.ts'
import { memoized } from '../../core/remembered.ts'
import { beginning } from '../../core/words.ts'
import type { EpochClock } from '../epoch-clock.ts'
import {
  ATTRIBUTE_TYPES,
  type AttributeEntry,
  attributeOf,
  isJsonObject,
  numberOrText,
  parsedJson,
} from '../readers/json-values.ts'
import { linksOf } from '../readers/otlp.ts'
import { NAMES as ROLE_NAMES } from '../readers/span-formats.ts'
import { inNanos, plainName, type TimeUnit, unitBySize } from '../readers/span-times.ts'
import type { ReadSink } from '../readers/trace-reader.ts'
import type { SpanLink } from '../span-traces-builder.ts'
import { asHex, asText, type Column, type FromBytes, type ParquetFile } from './parquet-file.ts'
import type { Wanted } from './pushed-conditions.ts'
import { rowAdder } from './span-rows.ts'

/** Names of columns besides those of roles, as `plainName` makes them; the best first. */
const NAMES = {
  ...ROLE_NAMES,
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

/** Whether a file has a span a row. */
export function isFlatSpans(file: ParquetFile): boolean {
  const parts = partsOf(file)
  return REQUIRED.every((part) => parts[part] !== undefined)
}

function partsOf({ columns }: ParquetFile): Parts {
  const named = new Map(columns.map((column) => [column.path.join('.'), column]))
  const found = Object.keys(NAMES).map((part) => {
    return [part, named.get(columnFor(part as Part, [...named.keys()]) ?? '')]
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
 *
 * @returns how many row groups were passed over, as none of their spans can be asked for
 */
export async function readFlatSpans(
  file: ParquetFile,
  sink: ReadSink,
  wanted: Wanted | null,
): Promise<number> {
  const parts = partsOf(file)
  const groups = file.metadata.row_groups
  const kept = wanted === null ? groups : await wantedGroups(file, parts, wanted)
  const add = rowAdder(sink, file.name)
  for (const rows of kept) await readGroup(file, parts, rows, { clock: sink.spans.clock, add })
  return groups.length - kept.length
}

/** Returns the row groups with spans of requests that can be asked for: spans may stand in any order. */
async function wantedGroups(
  file: ParquetFile,
  parts: Parts,
  wanted: Wanted,
): Promise<readonly RowGroup[]> {
  const seen = new Map<string, number>()
  const idsOf = new Map<RowGroup, readonly string[]>()
  for (const group of file.metadata.row_groups) {
    const column = (part: Part, from?: FromBytes) => file.read(group, parts[part]!, from)
    const { nanos } = nanosOf(await column('start'), parts.start!, file.name)
    const services = await column('service')
    const ids = Array.from(await column('trace', asId), textOf)
    idsOf.set(group, ids)
    ids.forEach((id, i) => {
      const us = Number(nanos[i]) / 1e3
      seen.set(id, (seen.get(id) ?? 0) | wanted.seen(us, us, [textOf(services[i])]))
    })
  }
  return file.metadata.row_groups.filter((group) =>
    idsOf.get(group)!.some((id) => seen.get(id) === wanted.all),
  )
}

const SECOND = 1_000_000_000n

async function readGroup(
  file: ParquetFile,
  parts: Parts,
  group: RowGroup,
  { clock, add }: { readonly clock: EpochClock; readonly add: ReturnType<typeof rowAdder> },
): Promise<void> {
  const column = async (part: Part, from?: FromBytes): Promise<ArrayLike<unknown> | undefined> =>
    parts[part] && file.read(group, parts[part], from)
  const texts = async (part: Part, from?: FromBytes) => {
    const values = await column(part, from)
    return (row: number) => (values === undefined ? '' : textOf(values[row]))
  }
  const starts = nanosOf((await column('start'))!, parts.start!, file.name)
  const durations = await durationsOf(column, parts, { starts, file: file.name })
  const [traceId, spanId, parentId] = await Promise.all([
    texts('trace', asId),
    texts('span', asId),
    texts('parent', asId),
  ])
  const [service, operation, host, version, kind] = await Promise.all(
    (['service', 'operation', 'host', 'version', 'kind'] as const).map((part) => texts(part)),
  )
  const [status, message, traceState, types, links] = await Promise.all(
    (['status', 'message', 'tracestate', 'types', 'links'] as const).map((part) => texts(part)),
  )
  const kindOf = memoized((said: string) => (/^\d+$/.test(said) ? Number(said) : said))
  const [follows, rates] = [await column('followsFrom'), await column('sampleRate')]
  const linkSpans = (await column('linkSpans', asId)) as ArrayLike<unknown[] | null> | undefined
  const linkTraces = (await column('linkTraces', asId)) as typeof linkSpans
  const linksAt = (row: number) => {
    const ids = linkTraces?.[row]
    if (ids) return zip(ids, linkSpans?.[row] ?? []).map(linkOf)
    const text = links!(row)
    return text === '' ? [] : linksOf(parsedJson(text))
  }
  const own = await entriesOf(file, group, parts.attributes)
  const ofResource = await entriesOf(file, group, parts.resource)
  const eventNames = (await column('eventNames')) as ArrayLike<readonly string[]> | undefined
  const ofEvents = await entriesOf(file, group, parts.eventAttributes)
  const eventsAt = (row: number) =>
    (eventNames?.[row] ?? []).map((name, event) => [name, typed(ofEvents(row, event), '')] as const)
  for (let row = 0; row < durations.length; row++) {
    const resource = ofResource(row)
    const nanos = starts.nanos[row]!
    const seconds = nanos / SECOND
    add({
      traceId: traceId(row),
      spanId: spanId(row),
      parentId: parentId(row),
      service: service!(row),
      operation: operation!(row),
      host: host!(row),
      version: version!(row),
      kind: kindOf(kind!(row)),
      status: status!(row),
      message: message!(row),
      traceState: traceState!(row),
      startUs: clock.offset(Number(seconds), Number(nanos - seconds * SECOND) / 1e3),
      durationUs: durations[row]!,
      followsFrom: follows?.[row] === true,
      links: linksAt(row),
      attributes: typed(own(row), types!(row)),
      events: eventsAt(row),
      resourceKey: resource.length === 0 ? '' : JSON.stringify(resource),
      resource: () => typed(resource, ''),
      sampleRate: Number(rates?.[row] ?? 0),
    })
  }
}

function linkOf([trace, span]: readonly unknown[]): SpanLink {
  return { traceId: textOf(trace), spanId: textOf(span) }
}

const HEX = /^[0-9a-f]+$/i

/** An id as text: bytes that are no hex digits are the id itself. */
const asId: FromBytes = (bytes) => {
  const text = asText(bytes) as string
  const isRaw = (bytes.length === 8 || bytes.length === 16) && !HEX.test(text)
  return isRaw ? asHex(bytes) : text
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
async function durationsOf(
  column: (part: Part) => Promise<ArrayLike<unknown> | undefined>,
  parts: Parts,
  { starts, file }: { readonly starts: ReturnType<typeof nanosOf>; readonly file: string },
): Promise<Float64Array> {
  const micros = new Float64Array(starts.nanos.length).fill(Number.NaN)
  const { duration } = parts
  if (duration !== undefined) {
    const values = (await column('duration'))!
    const unit = durationUnit(duration.path[0]!, parts.start!.path[0]!, starts.unit)
    const nanos = Number(inNanos(unit))
    for (let i = 0; i < micros.length; i++) micros[i] = (Number(values[i]) * nanos) / 1e3
  } else if (parts.end !== undefined) {
    const { nanos } = nanosOf((await column('end'))!, parts.end, file)
    for (let i = 0; i < micros.length; i++) micros[i] = Number(nanos[i]! - starts.nanos[i]!) / 1e3
  }
  return micros
}

type Texts = readonly (readonly [key: string, text: string])[]
type Entries = (row: number, event?: number) => Texts
const NONE: Texts = []

/** Attributes by row, and by event within it, from a map or from JSON. */
async function entriesOf(
  file: ParquetFile,
  group: RowGroup,
  column: Column | undefined,
): Promise<Entries> {
  if (column === undefined) return () => NONE
  const values = await file.read(group, column)
  return (row, event) => {
    const ofRow = values[row]
    const own = event === undefined ? ofRow : (ofRow as readonly unknown[] | undefined)?.[event]
    if (isJsonObject(own)) return pairsIn(own['key_value'])
    if (Array.isArray(own)) return pairsIn(own)
    return jsonEntries(textOf(own), `${file.name}, column ${column.path[0]}`)
  }
}

function pairsIn(list: unknown): Texts {
  const pairs = (list ?? []) as readonly { readonly key: unknown; readonly value: unknown }[]
  return pairs.map(({ key, value }) => [String(key), textOf(value)])
}

function jsonEntries(json: string, file: string): Texts {
  if (json === '') return NONE
  const parsed = parsedJson(json)
  if (parsed === null) return NONE
  if (!isJsonObject(parsed)) {
    const nextStep = 'Store attributes as a map, or as one JSON object'
    throw new TraceFormatError(`Attributes are ${beginning(json)}`, { file }, nextStep)
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
