// Runs once a span and once an attribute: columns are indexed with `!`.
import { getOrInsert } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'
import { Attributes, NUMBER, TEXT, TRUTH } from '../attributes.ts'
import { Dictionary } from '../dictionary.ts'
import { type GrowingColumn, growingFloat64, growingUint32 } from '../growing-columns.ts'
import { logsOfServices } from '../lay-logs.ts'
import {
  areSavedLogs,
  DAMAGED_LOGS,
  SAVED_KEY,
  type SavedLogs,
  withSavedLogs,
} from '../log-records.ts'
import { MISSING_TRACES, Quality, type QualityIssue } from '../quality.ts'
import { ATTRIBUTE_TYPES } from '../readers/json-values.ts'
import { SPAN_KINDS, SPAN_STATUSES, type SpanColumns, SpanTraces } from '../span-traces.ts'
import { CHECKSUM_KEY, checksumOf, saidWithoutLogs } from './checksum.ts'
import { damagedParquet, type ParquetFile } from './parquet-file.ts'
import type { Numbers, StoredColumn, StoredTexts } from './stored-column.ts'

interface Saved {
  readonly version: number
  readonly name: string
  readonly epochNs: string
  readonly logs?: SavedLogs
  readonly links?: readonly number[]
  /** Files of earlier versions do not say which traces are copied. */
  readonly quality: Omit<ConstructorParameters<typeof Quality>[0], 'copied'> & {
    readonly counts: Iterable<readonly [string, number]>
    readonly copied?: readonly string[]
  }
}

function textUnder(wanted: string, { metadata }: ParquetFile): string | undefined {
  return metadata.key_value_metadata?.find(({ key }) => key === wanted)?.value
}

/** Returns what was said of a file when flowdelta wrote it; `undefined` for any other. */
const saidOf = remembered((file: ParquetFile): Saved | undefined => {
  const { metadata, name } = file
  const said = textUnder(SAVED_KEY, file)
  const saved = said === undefined ? undefined : (JSON.parse(said) as Saved)
  if (saved?.version !== 1) return undefined
  const { logs, quality, ...own } = saved
  const isRight =
    logs === undefined ||
    (areSavedLogs(logs) && !(Number(logs.span.at(-1)) > Number(metadata.num_rows)))
  if (isRight) return saved
  const issue = { ...DAMAGED_LOGS, place: { file: name } }
  const counts = new Map([...quality.counts, [DAMAGED_LOGS.code, 1] as const])
  return { ...own, quality: { ...quality, issues: [...quality.issues, issue], counts } }
})

/** What flowdelta said of a file that it wrote: which traces were missing, and whether logs are damaged. */
export function issuesIn(file: ParquetFile): readonly QualityIssue[] {
  const told: readonly string[] = [MISSING_TRACES, DAMAGED_LOGS.code]
  return (saidOf(file)?.quality.issues ?? []).filter(({ code }) => told.includes(code))
}

/**
 * @throws TraceFormatError for a file that flowdelta wrote and that has other bytes now; files of
 *   earlier versions have no checksum
 */
export async function requireIntact(file: ParquetFile): Promise<void> {
  const [said, kept] = [SAVED_KEY, CHECKSUM_KEY].map((key) => textUnder(key, file))
  if (said === undefined || kept === undefined) return
  const [bytes, checksum] = kept.split(' ')
  const end = Math.min(Number(bytes), file.bytes)
  const own = await checksumOf(file.slice, end, saidWithoutLogs(JSON.parse(said)))
  if (own === checksum) return
  throw damagedParquet(file.name, new Error(`its checksum is ${own}, not ${checksum}`))
}

/** What was logged in the traces of a file that flowdelta wrote. */
export function logsIn(file: ParquetFile): SavedLogs | undefined {
  return saidOf(file)?.logs
}

/**
 * Returns the traces of a file that `SpanTraces.save` wrote, as they were: columns become columns,
 * and texts, which a row group has once each, become codes. `undefined` for any other file.
 */
export async function readSavedTraces(
  file: ParquetFile,
  name: string | null,
  onGroup: (share: number) => void,
): Promise<SpanTraces | undefined> {
  const said = saidOf(file)
  if (said === undefined) return undefined
  await requireIntact(file)
  const { quality, ...own } = said
  const rows = Number(file.metadata.num_rows)
  const ids: string[] = []
  const [services, operations] = [new Dictionary(), new Dictionary()]
  const [hosts, versionNames] = [new Dictionary(), new Dictionary()]
  // Spans of a trace stand together, though perhaps in two row groups.
  const traceCode = (id: string) => (id === ids.at(-1) ? ids.length : ids.push(id)) - 1
  const spans: SpanColumns = {
    parent: new Int32Array(rows),
    startUs: new Float64Array(rows),
    durationUs: new Float64Array(rows),
    service: new Uint32Array(rows),
    operation: new Uint32Array(rows),
    host: new Uint32Array(rows),
    version: new Uint32Array(rows),
    kind: new Uint8Array(rows),
    status: new Uint8Array(rows),
    followsFrom: new Uint8Array(rows),
  }
  const trace = new Uint32Array(rows)
  const spanOffsets = growingUint32()
  const weight = growingFloat64()
  const attributes = new SavedAttributes(rows, entriesIn(file))
  const epochNs = BigInt(own.epochNs)
  let read = 0
  const leaves = new Map(file.leaves.map((leaf) => [leaf.path.join('.'), leaf]))
  for (const group of file.metadata.row_groups) {
    const column = async <T>(of: string, use: (stored: StoredColumn) => T) => {
      const leaf = leaves.get(of)
      if (leaf === undefined) throw damagedParquet(file.name, new Error(`it has no column ${of}`))
      return await file.readStored(group, leaf, use)
    }
    const count = Number(group.num_rows)
    const ofRows = <T extends { readonly length: number }>(values: T) => {
      if (values.length === count) return values
      const said = `it has ${values.length} rows in a row group of ${count}`
      throw damagedParquet(file.name, new Error(said))
    }
    const numbers = <A extends { readonly length: number }>(of: string, kind: Numbers<A>) =>
      column(of, (stored) => ofRows(stored.numbers(kind)))
    const coded = (
      of: string,
      into: Uint32Array | Uint8Array,
      code: (text: string) => number,
    ): Promise<void> =>
      column(of, (stored) => {
        const { texts, codes } = stored.texts()
        ofRows(codes)
        decode(codes, Uint32Array.from(texts, code), into, read)
      })
    const [parents, rates, starts, durations] = await Promise.all([
      numbers('ParentRow', Int32Array),
      numbers('SampleRate', Float64Array),
      numbers('Timestamp', BigInt64Array),
      numbers('Duration', BigInt64Array),
      coded('TraceId', trace, traceCode),
      coded('ServiceName', spans.service, (text) => services.code(text)),
      coded('SpanName', spans.operation, (text) => operations.code(text)),
      coded('HostName', spans.host, (text) => hosts.code(text)),
      coded('ServiceVersion', spans.version, (text) => versionNames.code(text)),
      coded('SpanKind', spans.kind, placeIn(SPAN_KINDS)),
      coded('StatusCode', spans.status, placeIn(SPAN_STATUSES)),
      column('FollowsFrom', (stored) => spans.followsFrom.set(ofRows(stored.truths()), read)),
    ])
    spans.startUs.set(microsSince(epochNs, starts), read)
    spans.durationUs.set(microsSince(0n, durations), read)
    addRows({ trace: trace.subarray(read, read + count), parents, rates }, read, {
      parent: spans.parent,
      spanOffsets,
      weight,
    })
    const [keys, values, types] = await Promise.all([
      column('SpanAttributes.key_value.key', (stored) => stored.texts()),
      column('SpanAttributes.key_value.value', (stored) => stored.texts()),
      column('SpanAttributeTypes', (stored) => stored.texts()),
    ])
    if (!attributes.add(keys, values, types)) {
      const said = `it has ${keys.codes.length} keys and ${values.codes.length} values of attributes of other types`
      throw damagedParquet(file.name, new Error(said))
    }
    read += count
    onGroup(count / rows)
  }
  if (spanOffsets.length > ids.length) {
    throw damagedParquet(file.name, new Error('it has spans of one trace apart from each other'))
  }
  spanOffsets.push(read)
  const weights = weight.take()
  for (const service of own.logs?.loose?.sources ?? []) services.code(service)
  return new SpanTraces(
    name ?? own.name,
    {
      epochNs,
      ids,
      spanOffsets: spanOffsets.take(),
      spans,
      services,
      operations,
      hosts,
      versionNames,
      attributes: attributes.finish(),
      weight: weights.some((rate) => rate !== 0) ? weights : undefined,
      links: own.links && Uint32Array.from(own.links),
      ...(own.logs && logsOfRows(own.logs, { epochNs, services })),
    },
    new Quality({ copied: [], ...quality, counts: new Map(quality.counts) }),
  )
}

function decode(
  codes: Uint32Array,
  known: Uint32Array,
  into: Uint32Array | Uint8Array,
  from: number,
): void {
  for (let row = 0; row < codes.length; row++) into[from + row] = known[codes[row]!]!
}

/** Adds the rows of a group, of which the first is row `from` of the file. */
function addRows(
  { trace, parents, rates }: { trace: Uint32Array; parents: Int32Array; rates: Float64Array },
  from: number,
  into: {
    parent: Int32Array
    spanOffsets: GrowingColumn<Uint32Array>
    weight: GrowingColumn<Float64Array>
  },
): void {
  const { parent, spanOffsets, weight } = into
  // Traces stand one behind the other, so that the last one is known by how many there are.
  let last = spanOffsets.length - 1
  let first = last < 0 ? 0 : spanOffsets.values[last]!
  for (let row = 0; row < trace.length; row++) {
    if (trace[row] !== last) {
      last = trace[row]!
      first = from + row
      spanOffsets.push(first)
      weight.push(rates[row]!)
    }
    parent[from + row] = parents[row]! < 0 ? parents[row]! : parents[row]! + first
  }
}

const placeIn = (names: readonly string[]) => (text: string) => names.indexOf(text)

function logsOfRows(saved: SavedLogs, of: Parameters<typeof logsOfServices>[1]) {
  const records = withSavedLogs(undefined, saved)
  const epochUs = Number(of.epochNs) / 1e3
  const logs = {
    span: Uint32Array.from(saved.span, (place) => place - 1),
    timeUs: Float64Array.from(records.timeUs, (timeUs) => timeUs - epochUs),
    statement: Uint32Array.from(records.statement),
    statements: records.statements,
  }
  return { logs, serviceLogs: logsOfServices(records, of) }
}

/** µs from a moment to each time, both in ns; exact to the ns within a hundred days. */
function microsSince(fromNs: bigint, times: BigInt64Array): Float64Array {
  const halves = new Int32Array(times.buffer, times.byteOffset, times.length * 2)
  const from = new Int32Array(BigInt64Array.of(fromNs).buffer)
  const [low, high] = [from[0]! >>> 0, from[1]!]
  const micros = new Float64Array(times.length)
  for (let i = 0; i < micros.length; i++) {
    micros[i] = ((halves[2 * i + 1]! - high) * 2 ** 32 + ((halves[2 * i]! >>> 0) - low)) / 1e3
  }
  return micros
}

/** How many attributes there may be: a span without any counts as one. */
function entriesIn({ metadata }: ParquetFile): number {
  const counts = metadata.row_groups.flatMap(({ columns }) =>
    columns.map(({ meta_data }) =>
      meta_data?.path_in_schema.at(-1) === 'key' ? Number(meta_data.num_values) : 0,
    ),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Attributes of a saved file, span by span. */
class SavedAttributes {
  readonly #keys = new Dictionary()
  readonly #texts = new Dictionary()
  readonly #offsets: Uint32Array
  readonly #key: Uint32Array
  readonly #type: Uint8Array
  readonly #value: Float64Array
  #rows = 0
  #entries = 0

  /** @param most how many entries there may be */
  constructor(rows: number, most: number) {
    this.#offsets = new Uint32Array(rows + 1)
    this.#key = new Uint32Array(most)
    this.#type = new Uint8Array(most)
    this.#value = new Float64Array(most)
  }

  /** Adds those of a row group; false where there are not as many as `types` has letters. */
  add(keys: StoredTexts, values: StoredTexts, types: StoredTexts): boolean {
    const keyOf = Uint32Array.from(keys.texts, (text) => this.#keys.code(text))
    const lettersOf = [...types.texts]
    /** By the place of a value: its code as a text and what it is otherwise, once it is known. */
    const codeOf = new Int32Array(values.texts.length).fill(-1)
    const numberOf = new Map<number, number>()
    const number = (place: number, letter: string) =>
      getOrInsert(numberOf, place, () => Number(ATTRIBUTE_TYPES[letter]!(values.texts.text(place))))
    const code = (place: number) => {
      if (codeOf[place] === -1) codeOf[place] = this.#texts.code(values.texts.text(place))
      return codeOf[place]!
    }
    const [key, type, value] = [this.#key, this.#type, this.#value]
    const first = this.#entries
    let entry = first
    for (let row = 0; row < types.codes.length; row++) {
      const letters = lettersOf[types.codes[row]!]!
      for (let i = 0; i < letters.length; i++, entry++) {
        const place = values.codes[entry - first]!
        key[entry] = keyOf[keys.codes[entry - first]!]!
        const letter = letters[i]!
        type[entry] = letter === 's' ? TEXT : letter === 'n' ? NUMBER : TRUTH
        value[entry] = letter === 's' ? code(place) : number(place, letter)
      }
      this.#offsets[++this.#rows] = entry
    }
    this.#entries = entry
    return entry - first === keys.codes.length && entry - first === values.codes.length
  }

  finish(): Attributes {
    return new Attributes({
      offsets: this.#offsets,
      keys: this.#keys,
      texts: this.#texts,
      key: this.#key.slice(0, this.#entries),
      type: this.#type.slice(0, this.#entries),
      value: this.#value.slice(0, this.#entries),
    })
  }
}
