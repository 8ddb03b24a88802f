// Runs once a span and once an attribute: columns are indexed with `!`.
import { remembered } from '../../core/remembered.ts'
import { Attributes, NUMBER, TEXT, TRUTH } from '../attributes.ts'
import { Dictionary } from '../dictionary.ts'
import { finishColumns, growingColumns, growingFloat64, growingUint32 } from '../growing-columns.ts'
import {
  areSavedLogs,
  DAMAGED_LOGS,
  logsOfServices,
  SAVED_KEY,
  type SavedLogs,
  withSavedLogs,
} from '../log-records.ts'
import { MISSING_TRACES, Quality, type QualityIssue } from '../quality.ts'
import { ATTRIBUTE_TYPES } from '../readers/json-values.ts'
import { SPAN_KINDS, SPAN_STATUSES, type SpanColumns, SpanTraces } from '../span-traces.ts'
import { asText, type FromBytes, type ParquetFile } from './parquet-file.ts'

interface Saved {
  readonly version: number
  readonly name: string
  readonly epochNs: string
  readonly logs?: SavedLogs
  /** Files of earlier versions do not say which traces are copied. */
  readonly quality: Omit<ConstructorParameters<typeof Quality>[0], 'copied'> & {
    readonly counts: Iterable<readonly [string, number]>
    readonly copied?: readonly string[]
  }
}

/** Returns what was said of a file when flowdelta wrote it; `undefined` for any other. */
const saidOf = remembered(({ metadata, name }: ParquetFile): Saved | undefined => {
  const said = metadata.key_value_metadata?.find(({ key }) => key === SAVED_KEY)?.value
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
  const { quality, ...own } = said
  const [ids, services, operations] = [new Dictionary(), new Dictionary(), new Dictionary()]
  const [hosts, versionNames] = [new Dictionary(), new Dictionary()]
  const spans = growingColumns({
    parent: 'i32' as const,
    startUs: 'f64' as const,
    durationUs: 'f64' as const,
    service: 'u32' as const,
    operation: 'u32' as const,
    host: 'u32' as const,
    version: 'u32' as const,
    kind: 'u8' as const,
    status: 'u8' as const,
    followsFrom: 'u8',
  })
  const spanOffsets = growingUint32()
  const weight = growingFloat64()
  const attributes = new SavedAttributes()
  const epochNs = BigInt(own.epochNs)
  let read = 0
  let lastTrace = -1
  const keyCode: FromBytes = (bytes) => attributes.keys.code(asText(bytes) as string)
  const leaves = new Map(file.leaves.map((leaf) => [leaf.path.join('.'), leaf]))
  for (const group of file.metadata.row_groups) {
    const column = async <T = number>(of: string, from?: FromBytes) =>
      (await file.read(group, leaves.get(of)!, from)) as ArrayLike<T>
    const flat = async (of: string, from: FromBytes) =>
      (await file.readFlat(group, leaves.get(of)!, from)) as ArrayLike<number>
    const codes = (of: string, into: Dictionary) =>
      column(of, (bytes) => into.code(asText(bytes) as string))
    const indexes = (of: string, names: readonly string[]) =>
      column(of, (bytes) => names.indexOf(asText(bytes) as string))
    const trace = await codes('TraceId', ids)
    const starts = (await column('Timestamp')) as unknown as BigInt64Array
    spans.startUs.append(microsSince(epochNs, starts))
    spans.durationUs.append(microsSince(0n, (await column('Duration')) as unknown as BigInt64Array))
    const parents = await column('ParentRow')
    const rates = await column('SampleRate')
    for (let row = 0; row < trace.length; row++) {
      if (trace[row] !== lastTrace) {
        lastTrace = trace[row]!
        spanOffsets.push(read + row)
        weight.push(rates[row]!)
      }
      const parent = parents[row]!
      spans.parent.push(parent < 0 ? parent : parent + spanOffsets.values[lastTrace]!)
    }
    spans.service.append(await codes('ServiceName', services))
    spans.operation.append(await codes('SpanName', operations))
    spans.host.append(await codes('HostName', hosts))
    spans.version.append(await codes('ServiceVersion', versionNames))
    spans.kind.append(await indexes('SpanKind', SPAN_KINDS))
    spans.status.append(await indexes('StatusCode', SPAN_STATUSES))
    spans.followsFrom.append(await column('FollowsFrom'))
    attributes.add(
      await flat('SpanAttributes.key_value.key', keyCode),
      await flat('SpanAttributes.key_value.value', attributes.write),
      await column<string>('SpanAttributeTypes'),
    )
    read += trace.length
    onGroup(Number(group.num_rows) / Number(file.metadata.num_rows))
  }
  spanOffsets.push(read)
  const weights = weight.take()
  const columns = finishColumns(spans) as SpanColumns
  for (const service of own.logs?.loose?.sources ?? []) services.code(service)
  return new SpanTraces(
    name ?? own.name,
    {
      epochNs,
      ids: ids.values,
      spanOffsets: spanOffsets.take(),
      spans: columns,
      services,
      operations,
      hosts,
      versionNames,
      attributes: attributes.finish(),
      weight: weights.some((rate) => rate !== 0) ? weights : undefined,
      ...(own.logs && logsOfRows(own.logs, { epochNs, services })),
    },
    new Quality({ copied: [], ...quality, counts: new Map(quality.counts) }),
  )
}

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

/** Attributes of a saved file, span by span. */
class SavedAttributes {
  readonly keys = new Dictionary()
  /** Values as they are written, also those of numbers; once for each row group that has them. */
  readonly #written: string[] = []
  /** Codes of those that are texts. */
  readonly #codes: number[] = []
  readonly #texts = new Dictionary()
  readonly #offsets = growingUint32()
  readonly #columns = growingColumns({ key: 'u32', type: 'u8', value: 'f64' })

  /** Keeps a value; `add` takes its number. */
  readonly write: FromBytes = (bytes) => this.#written.push(asText(bytes) as string) - 1

  add(keys: ArrayLike<number>, values: ArrayLike<number>, types: ArrayLike<string>): void {
    const { key, type, value } = this.#columns
    let at = 0
    for (let row = 0; row < types.length; row++) {
      this.#offsets.push(key.length)
      const letters = types[row]!
      for (let i = 0; i < letters.length; i++, at++) {
        key.push(keys[at]!)
        const isText = letters[i] === 's'
        type.push(isText ? TEXT : letters[i] === 'n' ? NUMBER : TRUTH)
        value.push(isText ? this.#code(values[at]!) : this.#number(values[at]!, letters[i]!))
      }
      // A span without attributes has one `null`.
      if (letters === '') at++
    }
  }

  #code(written: number): number {
    const code = this.#codes[written] ?? this.#texts.code(this.#written[written]!)
    this.#codes[written] = code
    return code
  }

  #number(written: number, letter: string): number {
    return Number(ATTRIBUTE_TYPES[letter]!(this.#written[written]!))
  }

  finish(): Attributes {
    this.#offsets.push(this.#columns.key.length)
    const offsets = this.#offsets.take()
    return new Attributes({
      offsets,
      keys: this.keys,
      texts: this.#texts,
      ...finishColumns(this.#columns),
    })
  }
}
