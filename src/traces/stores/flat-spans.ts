// Runs once a span and once an attribute: columns are indexed with `!`.
import { zip } from 'd3-array'
import type { RowGroup } from 'hyparquet'
import { show, TraceFormatError } from '../../core/errors.ts'
import { beginning } from '../../core/words.ts'
import {
  ATTRIBUTE_TYPES,
  type AttributeEntry,
  attributeOf,
  isJsonObject,
  numberOrText,
  parsedJson,
} from '../readers/json-values.ts'
import { linksOf } from '../readers/otlp.ts'
import type { ReadSink } from '../readers/trace-reader.ts'
import { asHex, asText, type FromBytes, type Leaf, type ParquetFile } from './parquet-file.ts'
import { rowAdder } from './span-rows.ts'
import type { Wanted } from './wanted-spans.ts'

/** What columns may be called, small and without `_`, the best first. */
const NAMES = {
  traceId: ['traceid'],
  spanId: ['spanid'],
  parentId: ['parentspanid', 'parentid'],
  service: ['servicename', 'service'],
  operation: ['spanname', 'operationname', 'name', 'operation'],
  start: ['timestamp', 'starttimeunixnano', 'starttime', 'start'],
  end: ['endtimeunixnano', 'endtime', 'end'],
  duration: ['duration', 'durationnano', 'durationns', 'durationus', 'durationms'],
  kind: ['spankind', 'kind'],
  status: ['statuscode', 'status'],
  message: ['statusmessage'],
  traceState: ['tracestate'],
  host: ['hostname', 'host'],
  version: ['serviceversion'],
  sampleRate: ['samplerate'],
  followsFrom: ['followsfrom'],
  links: ['links'],
  linkTraces: ['links.traceid'],
  linkSpans: ['links.spanid'],
  types: ['spanattributetypes'],
  attributes: ['spanattributes', 'attributes'],
  resource: ['resourceattributes'],
  eventNames: ['events.name'],
  eventAttributes: ['events.attributes'],
} as const

export type Part = keyof typeof NAMES
/** Leaves of each part that a file has: of a map, keys and values. */
type Parts = { readonly [part in Part]?: readonly Leaf[] }

/** Whether a file has a span a row. */
export function isFlatSpans(file: ParquetFile): boolean {
  const parts = partsOf(file)
  return ['traceId', 'spanId', 'service', 'start'].every(
    (part) => parts[part as Part] !== undefined,
  )
}

function partsOf({ leaves }: ParquetFile): Parts {
  const named = (name: string) =>
    leaves.filter(({ path }) => {
      const plain = path.filter((each) => !/^(list|element|key_value|key|value)$/.test(each))
      return plain.join('.').toLowerCase().replaceAll('_', '') === name
    })
  return Object.fromEntries(
    Object.entries(NAMES).flatMap(([part, names]) => {
      const found = names.map(named).find((those) => those.length > 0)
      return found === undefined ? [] : [[part, found]]
    }),
  )
}

/** Returns the column that holds a part of spans, by its name. */
export function columnFor(part: Part, columns: readonly string[]): string | undefined {
  const plain = (column: string) => column.toLowerCase().replaceAll('_', '')
  return (NAMES[part] as readonly string[])
    .map((name) => columns.find((column) => plain(column) === name))
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
  for (const group of kept) await readGroup(file, parts, group, add)
  return groups.length - kept.length
}

/** Row groups with spans of requests that can be asked for: spans may stand in any order. */
async function wantedGroups(
  file: ParquetFile,
  parts: Parts,
  wanted: Wanted,
): Promise<readonly RowGroup[]> {
  const seen = new Map<string, number>()
  const idsOf = new Map<RowGroup, readonly string[]>()
  for (const group of file.metadata.row_groups) {
    const column = (part: Part, from?: FromBytes) => file.read(group, parts[part]![0]!, from)
    const starts = nanosOf(await column('start'), parts.start![0]!, file.name)
    const services = await column('service')
    const ids = Array.from(await column('traceId', asId), textOf)
    idsOf.set(group, ids)
    ids.forEach((id, i) => {
      const us = Number(starts[i]) / 1e3
      seen.set(id, (seen.get(id) ?? 0) | wanted.seen(us, us, [textOf(services[i])]))
    })
  }
  return file.metadata.row_groups.filter((group) =>
    idsOf.get(group)!.some((id) => seen.get(id) === wanted.all),
  )
}

/** Parts that are texts. */
const TEXTS = [
  ...(['traceId', 'spanId', 'parentId', 'service', 'operation', 'host', 'version'] as const),
  ...(['kind', 'status', 'message', 'traceState', 'types'] as const),
]

async function readGroup(
  file: ParquetFile,
  parts: Parts,
  group: RowGroup,
  add: ReturnType<typeof rowAdder>,
): Promise<void> {
  const column = async (part: Part, from?: FromBytes): Promise<ArrayLike<unknown> | undefined> =>
    parts[part] && file.read(group, parts[part][0]!, from)
  const texts = await Promise.all(
    TEXTS.map(async (part) => [part, await column(part, part.endsWith('Id') ? asId : asText)]),
  )
  const follows = await column('followsFrom')
  const starts = nanosOf((await column('start'))!, parts.start![0]!, file.name)
  const durations = await durationsOf(column, parts, { starts, file: file.name })
  const rates = await column('sampleRate')
  const links = await column('links')
  const linkSpans = (await column('linkSpans', asId)) as ArrayLike<unknown[] | null> | undefined
  const linkTraces = (await column('linkTraces', asId)) as typeof linkSpans

  const own = await entriesOf(file, group, parts.attributes)
  const ofResource = await entriesOf(file, group, parts.resource)
  const eventNames = (await column('eventNames')) as ArrayLike<readonly string[]> | undefined
  const ofEvents = await entriesOf(file, group, parts.eventAttributes)
  for (let row = 0; row < starts.length; row++) {
    const resource = ofResource(row) as AttributeEntry[]
    const said = Object.fromEntries(
      texts.map(([part, values]) => [part, textOf((values as ArrayLike<unknown>)?.[row])]),
    ) as Record<(typeof TEXTS)[number], string>
    add({
      ...said,
      kind: /^\d+$/.test(said.kind) ? Number(said.kind) : said.kind,
      startNs: String(starts[row]),
      durationUs: durations[row]!,
      followsFrom: follows?.[row] === true,
      links: linkTraces
        ? zip(linkTraces[row] ?? [], linkSpans?.[row] ?? []).map(([trace, span]) => {
            return { traceId: textOf(trace), spanId: textOf(span) }
          })
        : linksOf(parsedJson(textOf(links?.[row]))),
      attributes: typed(own(row) as AttributeEntry[], said.types),
      events: (eventNames?.[row] ?? []).map(
        (name, event) => [name, typed(ofEvents(row, event), '')] as const,
      ),
      resourceKey: JSON.stringify(resource),
      resource: () => typed(resource, ''),
      sampleRate: Number(rates?.[row] ?? 0),
    })
  }
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

/** Units of logical types and of names, in ns. */
const UNITS: Readonly<Record<string, bigint>> = {
  NANOS: 1n,
  TIMESTAMP_MICROS: 1000n,
  MICROS: 1000n,
  us: 1000n,
  TIMESTAMP_MILLIS: 1_000_000n,
  MILLIS: 1_000_000n,
  ms: 1_000_000n,
}
/** A time since 1970 that is larger is in ns, else in µs, else in ms: each is after 1973. */
const SMALLEST: readonly (readonly [above: bigint, unit: bigint])[] = [
  [100_000_000_000_000_000n, 1n],
  [100_000_000_000_000n, 1000n],
  [100_000_000_000n, 1_000_000n],
]

/** Times in ns since 1970. */
function nanosOf(values: ArrayLike<unknown>, leaf: Leaf, file: string): bigint[] {
  const times = Array.from(values, (value) => wholeTime(value, leaf.path[0]!, file))
  const unit = unitOf(leaf) ?? unitBySize(times[0])
  return unit === 1n ? times : times.map((time) => time * unit)
}

/** A time as it is stored, 0 for none; @throws TraceFormatError for one that is no integer */
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

/** The unit of an integer time since 1970, in ns. */
export function unitBySize(time = 0n): bigint {
  return SMALLEST.find(([above]) => time > above)?.[1] ?? 1_000_000_000n
}

function unitOf({ element, path }: Leaf): bigint | undefined {
  const { logical_type: type, converted_type: converted = '' } = element
  const unit = type !== undefined && 'unit' in type ? type.unit : converted
  return UNITS[unit] ?? namedUnit(path[0]!)
}

function namedUnit(column: string): bigint | undefined {
  const named = /_?(us|ms|ns|nano)$/i.exec(column)?.[1]
  return named === undefined ? undefined : (UNITS[named.toLowerCase()] ?? 1n)
}

/** The unit of a column of durations, in ns, where columns of starts are in `startUnit`. */
export function durationUnit(column: string, start: string, startUnit: bigint): bigint {
  // The collector's exporter counts durations in ns, whatever became of its timestamps.
  return namedUnit(column) ?? (start === 'Timestamp' ? 1n : startUnit)
}

/** Durations in µs. */
async function durationsOf(
  column: (part: Part) => Promise<ArrayLike<unknown> | undefined>,
  parts: Parts,
  { starts, file }: { readonly starts: readonly bigint[]; readonly file: string },
): Promise<readonly number[]> {
  const [duration] = parts.duration ?? []
  if (duration === undefined) {
    const ends = parts.end && nanosOf((await column('end'))!, parts.end[0]!, file)
    return starts.map((start, row) =>
      ends === undefined ? Number.NaN : Number(ends[row]! - start) / 1e3,
    )
  }
  const start = parts.start![0]!
  const [first] = Array.from((await column('start'))!)
  const startUnit = unitOf(start) ?? unitBySize(BigInt((first as number | bigint | undefined) ?? 0))
  const unit = Number(durationUnit(duration.path[0]!, start.path[0]!, startUnit))
  return Array.from((await column('duration'))!, (value) => (Number(value) * unit) / 1e3)
}

type Entries = (row: number, event?: number) => readonly (readonly [key: string, text: string])[]

/** Attributes by row, and by event within it, from a map's keys and values or from JSON. */
async function entriesOf(
  file: ParquetFile,
  group: RowGroup,
  leaves: readonly Leaf[] | undefined,
): Promise<Entries> {
  const [first, second] = leaves ?? []
  if (first === undefined) return () => []
  const keys = await file.read(group, first)
  const at = (column: ArrayLike<unknown>, row: number, event?: number) => {
    const own = column[row] as readonly unknown[] | null
    return ((event === undefined ? own : own?.[event]) ?? []) as readonly unknown[]
  }
  if (second === undefined) {
    return (row) => jsonEntries(textOf(keys[row]), `${file.name}, column ${first.path[0]}`)
  }
  const values = await file.read(group, second)
  return (row, event) => {
    const texts = at(values, row, event)
    return at(keys, row, event).map((key, i) => [String(key), textOf(texts[i])])
  }
}

function jsonEntries(json: string, file: string): [string, string][] {
  if (json === '') return []
  const parsed = parsedJson(json)
  if (parsed === null) return []
  if (!isJsonObject(parsed)) {
    const nextStep = 'Store attributes as a map, or as one JSON object'
    throw new TraceFormatError(`Attributes are ${beginning(json)}`, { file }, nextStep)
  }
  return Object.entries(parsed).map(([key, value]) => [key, String(attributeOf(value))])
}

/** Attributes as what they were: as the file's own column says, else numbers where they look so. */
function typed(entries: readonly AttributeEntry[], types: string): AttributeEntry[] {
  return entries.map(([key, value], i) => {
    const text = String(value)
    const known = ATTRIBUTE_TYPES[types[i] ?? '']
    return [key, known === undefined ? numberOrText(text) : known(text)]
  })
}
