// Runs once a span, node or edge: the loops index with `!`.
import { FlowdeltaError, type Place } from '../core/errors.ts'
import { counted, type Microseconds } from '../core/words.ts'
import {
  AttributesBuilder,
  type AttributeValue,
  type KnownAttribute,
  VERSION_ATTRIBUTE,
} from './attributes.ts'
import { Dictionary, type KnownText } from './dictionary.ts'
import { EpochClock } from './epoch-clock.ts'
import { pairsOfRows } from './group-rows.ts'
import { gatherColumns, growingColumns, growingUint32 } from './growing-columns.ts'
import {
  type LogRecords,
  type SavedLogs,
  type ServiceLogs,
  type SpanLogs,
  withSavedLogs,
} from './log-records.ts'
import { noteClockSkew, noteNamelessServices } from './note-doubts.ts'
import type { ParameterTables } from './parameter-tables.ts'
import type { QualityLog } from './quality.ts'
import type { UsualSpan } from './readers/otlp-usual-spans.ts'
import { INSTANCE_KEYS } from './readers/otlp-values.ts'
import { resolveParents, SpanIds } from './resolve-parents.ts'
import { attributeProbability, lesserProbability, SamplingWeights } from './sampling.ts'
import {
  PRODUCER,
  SPAN_KINDS,
  SPAN_STATUSES,
  type SpanColumns,
  type SpanKind,
  type SpanStatus,
} from './span-columns.ts'
import { SpanTraces } from './span-traces.ts'

export interface SpanLink {
  readonly traceId: string
  readonly spanId: string
}

/** One span as a reader hands it over. Times come from the builder's `clock`. */
interface SpanRecord {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | null
  readonly service: string
  readonly operation: string
  readonly host: string
  readonly kind: SpanKind
  readonly status: SpanStatus
  readonly startUs: number
  readonly durationUs: number
  readonly followsFrom: boolean
  readonly links?: readonly SpanLink[] | undefined
  readonly attributes?: Iterable<readonly [key: string, value: AttributeValue]>
  /** Probability with which its sampler recorded it, above 0 to 1, if it says so. */
  readonly probability?: number | undefined
  /** Version of its service, where its resource or process says so; else the attribute counts. */
  readonly version?: string | undefined
}

/** Longest duration in µs of which a number can hold sums and nanoseconds. */
const MAX_DURATION_US = 1e294

/** Collects spans in any order into columns, grouped by trace, from the earliest start on. */
export class SpanTracesBuilder {
  readonly clock = new EpochClock()
  readonly #quality: QualityLog
  readonly #parameters: ParameterTables | undefined
  readonly #traces = new Dictionary()
  readonly #services = new Dictionary()
  readonly #operations = new Dictionary()
  readonly #hosts = new Dictionary()
  readonly #versions = new Dictionary()
  readonly #otherIds = new Dictionary()
  readonly #ids = new SpanIds(this.#otherIds)
  readonly #parentIds = new SpanIds(this.#otherIds)
  readonly #trace = growingUint32()
  readonly #spans = growingColumns({
    startUs: 'f64',
    durationUs: 'f64',
    service: 'u32',
    operation: 'u32',
    host: 'u32',
    version: 'u32',
    kind: 'u8',
    status: 'u8',
    followsFrom: 'u8',
  })
  readonly #attributes = new AttributesBuilder()
  readonly #sampling = new SamplingWeights()
  readonly #savedLogs: SavedLogs[] = []
  readonly #joinsLinks: boolean
  /** Trace that each trace beginning with a link is part of, by their codes. */
  readonly #joinedTo = new Map<number, number>()
  #linkedRoots = 0
  readonly #consumerLinks: (SpanLink & { readonly row: number })[] = []

  /** @param options.joinLinks whether a root linked to a span of another trace is detached work of that span */
  constructor(
    quality: QualityLog,
    parameters?: ParameterTables,
    { joinLinks = false }: { readonly joinLinks?: boolean } = {},
  ) {
    this.#quality = quality
    this.#joinsLinks = joinLinks
    this.#parameters = parameters
  }

  get size(): number {
    return this.#trace.length
  }

  add(span: SpanRecord, place: Place): void {
    const problem = this.#problemOf(span)
    if (problem !== undefined) {
      this.#quality.skip({
        code: 'unusable-span',
        effect: 'span skipped',
        place: { ...place, trace: span.traceId },
        message: problem,
        next: 'Correct the span, or load without `strict` to leave it out',
      })
      return
    }
    const row = this.size
    const spans = this.#spans
    const trace = this.#traces.code(span.traceId)
    this.#trace.push(trace)
    this.#ids.push(span.spanId)
    const { links = [] } = span
    const link = links.find(({ traceId }) => traceId !== '' && traceId !== span.traceId)
    const joined =
      link !== undefined && span.parentId === null && this.#joins(trace, link) ? link : undefined
    if (span.kind === 'consumer') for (const one of links) this.#consumerLinks.push({ row, ...one })
    this.#parentIds.push(joined?.spanId ?? span.parentId)
    spans.service.push(this.#services.code(span.service))
    spans.operation.push(this.#operations.code(span.operation))
    spans.host.push(this.#hosts.code(span.host))
    spans.kind.push(SPAN_KINDS.indexOf(span.kind))
    spans.status.push(SPAN_STATUSES.indexOf(span.status))
    spans.followsFrom.push(span.followsFrom || joined !== undefined ? 1 : 0)
    spans.startUs.push(span.startUs)
    spans.durationUs.push(span.durationUs)
    let version = span.version ?? ''
    let { probability, attributes: recorded = [] } = span
    if (this.#parameters !== undefined) {
      const own = [...recorded]
      const owner = { kind: 'span', id: span.spanId, trace: span.traceId } as const
      recorded = [...own, ...this.#parameters.of(owner, own)]
    }
    for (const [key, value] of recorded) {
      const said = attributeProbability(key, value)
      probability = lesserProbability(probability, said)
      if (said !== undefined) continue
      this.#attributes.add(row, key, value)
      if (version === '' && key === VERSION_ATTRIBUTE) version = String(value)
    }
    spans.version.push(this.#versions.code(version))
    if (probability !== undefined) {
      const isRoot = this.#parentIds.isNone(row)
      this.#sampling.note(this.#trace.values[row]!, probability, isRoot)
    }
  }

  /** Whether `addUsual` may be used: tables of parameters need texts, which it does not have. */
  get takesUsual(): boolean {
    return this.#parameters === undefined
  }

  /** Does what `add` does, in a fraction of the time. */
  addUsual(span: UsualSpan): void {
    const { clock } = this
    const { resource } = span
    const row = this.size
    const spans = this.#spans
    const trace = this.#traces.code(span.traceId)
    this.#trace.push(trace)
    this.#ids.pushHex(span.idHigh, span.idLow)
    this.#parentIds.pushHex(span.parentHigh, span.parentLow)
    spans.service.push(this.#services.codeOf(resource.service))
    spans.operation.push(this.#operations.codeOf(span.name))
    spans.host.push(this.#hosts.codeOf(resource.host))
    spans.kind.push(span.kind)
    spans.status.push(span.status)
    spans.followsFrom.push(0)
    const startUs = clock.offset(span.startSeconds, span.startNanos / 1e3)
    const endUs = clock.offset(span.endSeconds, span.endNanos / 1e3)
    spans.startUs.push(startUs)
    spans.durationUs.push(durationBetween(startUs, endUs))
    const version = this.#addAttributes(row, span, span.attributes, resource.version)
    const ofResource = this.#addAttributes(row, span, resource.attributes, version)
    spans.version.push(this.#versions.codeOf(ofResource))
    if (span.probability !== undefined) {
      this.#sampling.note(trace, span.probability, this.#parentIds.isNone(row))
    }
  }

  /** Adds attributes; gives the version of the span, which they may say where none is known. */
  #addAttributes(
    row: number,
    span: UsualSpan,
    attributes: readonly KnownAttribute[],
    known: KnownText,
  ): KnownText {
    let version = known
    for (let i = 0; i < attributes.length; i++) {
      const attribute = attributes[i]!
      if (attribute.probability !== undefined) {
        span.probability = lesserProbability(span.probability, attribute.probability)
        continue
      }
      this.#attributes.addKnown(row, attribute)
      if (version.text === '' && attribute.version !== undefined) version = attribute.version
    }
    return version
  }

  /** Adds logs from a file of saved traces. */
  addLogs(saved: SavedLogs): void {
    this.#savedLogs.push(saved)
    for (const service of saved.loose?.sources ?? []) this.#services.code(service)
  }

  /** @param read log records, if logs were read */
  finish(name: string, read?: LogRecords): SpanTraces {
    if (read !== undefined && this.#savedLogs.length > 0) {
      throw new FlowdeltaError(
        'These traces were saved with the log records that had been loaded with them, which would count twice. Load them without `logs`.',
      )
    }
    const isLoaded = (traceId: string) => this.#traces.find(traceId) !== undefined
    const records = this.#savedLogs.reduce<LogRecords | undefined>(
      (all, saved) => withSavedLogs(all, saved, isLoaded),
      read,
    )
    if (this.#linkedRoots > 0 && !this.#joinsLinks) {
      const message = `${counted(this.#linkedRoots, 'request')} with a link to another at the beginning; \`joinLinks\` reads both as one`
      this.#quality.note('linked-request', {}, message)
    }
    const { order, position, parent, traces, spanOffsets } = resolveParents(
      {
        trace: this.#joinedTraces(),
        traceCount: this.#traces.size,
        traceId: (trace) => this.#traces.value(trace),
        ids: this.#ids,
        parentIds: this.#parentIds,
        kind: this.#spans.kind.values,
        service: this.#spans.service.values,
        host: this.#spans.host.values,
        startUs: this.#spans.startUs.values,
      },
      this.#quality,
    )
    const links = this.#findLinks(position)
    const ids = Array.from(traces, (trace) => this.#traces.value(trace))
    const spans: SpanColumns = { parent, ...gatherColumns(this.#spans, order) }
    const { startUs } = spans
    const epochShiftUs = startUs.reduce((earliest, start) => Math.min(earliest, start), Infinity)
    const shiftNs = Number.isFinite(epochShiftUs) ? Math.round(epochShiftUs * 1e3) : 0
    const { epochNs } = this.clock
    const arrived = { ids, spanOffsets, spans, services: this.#services, hosts: this.#hosts }
    noteClockSkew({ ...arrived, epochNs }, this.#quality)
    noteNamelessServices(arrived, this.#quality)
    const grouped = {
      ...arrived,
      epochNs: epochNs + BigInt(shiftNs),
      spans: { ...spans, startUs: startUs.map((start) => Math.round(start * 1e3 - shiftNs) / 1e3) },
    }
    const spanId = (row: number) => this.#ids.text(order[row]!)
    const ofServices = records && logsOfServices(records, grouped)
    const attributes = this.#attributes.finish(order.length, position)
    const instancesOf = (row: number) =>
      INSTANCE_KEYS.map((key) => String(attributes.get(row, `resource.${key}`) ?? ''))
    return new SpanTraces(
      name,
      {
        ...grouped,
        logs:
          records &&
          ofServices &&
          attachLogs(records, { ...grouped, spanId, instancesOf, ofServices }, this.#quality),
        serviceLogs: ofServices,
        operations: this.#operations,
        versionNames: this.#versions,
        links,
        attributes,
        weight: this.#sampling.finish(traces),
      },
      this.#quality.finish(traces.length),
    )
  }

  /** Returns the rows of consumers, and of producers that they are linked to, in turn. */
  #findLinks(position: Int32Array): Uint32Array | undefined {
    const producers = new Map<string, number>()
    for (let row = 0; this.#consumerLinks.length > 0 && row < position.length; row++) {
      if (this.#spans.kind.values[row] !== PRODUCER) continue
      const traceId = this.#traces.value(this.#trace.values[row]!)
      producers.set(`${traceId} ${this.#ids.text(row)}`, position[row]!)
    }
    const linked = new SpanIds(this.#otherIds)
    const found = this.#consumerLinks.flatMap(({ row, traceId, spanId }, i) => {
      linked.push(spanId)
      return [position[row]!, producers.get(`${traceId} ${linked.text(i)}`) ?? -1]
    })
    return pairsOfRows(found)
  }

  /** Whether a root of a trace becomes part of the trace that it is linked to. */
  #joins(trace: number, { traceId }: SpanLink): boolean {
    this.#linkedRoots++
    if (!this.#joinsLinks) return false
    const other = this.#traces.code(traceId)
    const isKnown = this.#joinedTo.get(trace) === other
    // A circle of links is not followed to its end.
    if (!isKnown && (this.#joinedTo.has(trace) || this.#joined(trace) === this.#joined(other))) {
      return false
    }
    this.#joinedTo.set(trace, other)
    return true
  }

  #joinedTraces(): Uint32Array {
    const traces = this.#trace.finish()
    return this.#joinedTo.size === 0 ? traces : traces.map((trace) => this.#joined(trace))
  }

  #joined(trace: number): number {
    let last = trace
    for (let to = this.#joinedTo.get(last); to !== undefined; to = this.#joinedTo.get(last))
      last = to
    return last
  }

  #problemOf(span: SpanRecord): string | undefined {
    if (span.traceId === '') return 'A span has no trace id'
    if (span.spanId === '') return `Span ${span.operation} has no span id`
    if (!Number.isFinite(span.startUs)) return `Span ${span.spanId} has no usable start time`
    if (!(Math.abs(span.durationUs) <= MAX_DURATION_US))
      return `Span ${span.spanId} has no usable duration`
    return span.durationUs < 0
      ? `Span ${span.spanId} ends ${-span.durationUs} µs before it starts`
      : undefined
  }
}

/** Returns the time between two moments, in whole nanoseconds. */
export function durationBetween(startUs: Microseconds, endUs: Microseconds): Microseconds {
  return Math.round((endUs - startUs) * 1e3) / 1e3
}

/** Lays records that name no trace to the service that their fields, else the file, name. Others are left out. */
function logsOfServices(
  { loose: { timeUs, statement, source }, statements, sources }: LogRecords,
  { epochNs, services }: { readonly epochNs: bigint; readonly services: Dictionary },
): ServiceLogs {
  const codeOf = sources.values.map((lines) => {
    const { own, ofFile } = serviceNamed(lines, services)
    return own ?? ofFile ?? -1
  })
  const kept = source.flatMap((each, record) => (codeOf[each]! < 0 ? [] : record))
  return {
    timeUs: Float64Array.from(kept, (record) => timeUs[record]! - Number(epochNs) / 1e3),
    service: Uint32Array.from(kept, (record) => codeOf[source[record]!]!),
    statement: Uint32Array.from(kept, (record) => statement[record]!),
    services,
    statements,
  }
}

/** Returns the services that fields and the file name: by name, or with an instance behind it (`cart-7d9f-x2x4p`). */
function serviceNamed(lines: string, services: Dictionary) {
  const known = services.values
    .filter((service) => service !== '')
    .sort((a, b) => b.length - a.length)
  const serviceIn = (names: readonly string[]) => {
    const found =
      known.find((service) => names.includes(service)) ??
      known.find((service) =>
        ['-', '.', '_'].some((sign) => names.some((name) => name.startsWith(service + sign))),
      )
    return found === undefined ? undefined : services.code(found)
  }
  const names = lines.split('\n')
  return { names, own: serviceIn(names.slice(0, -1)), ofFile: serviceIn(names.slice(-1)) }
}

interface LoggedSpans {
  readonly epochNs: bigint
  readonly ids: readonly string[]
  readonly spanOffsets: Uint32Array
  readonly spans: Pick<SpanColumns, 'startUs' | 'durationUs' | 'service' | 'host'>
  readonly services: Dictionary
  readonly hosts: Dictionary
  readonly spanId: (row: number) => string
  /** Names of the pod or other instance that a span was recorded in. */
  readonly instancesOf: (row: number) => readonly string[]
  readonly ofServices: ServiceLogs
}

/** Lays records to the span that they name, else to the shortest one under way where they were written. */
function attachLogs(
  { traceIds, spanIds, timeUs, statement, source, statements, sources }: LogRecords,
  logged: LoggedSpans,
  quality: QualityLog,
): SpanLogs {
  const { epochNs, ids, spanOffsets, spanId, ofServices } = logged
  const traceOf = new Map(ids.map((id, trace) => [id, trace]))
  const rowsOf = new Map<number, Map<string, number>>()
  const nearnessOf = new Map<number, (row: number) => number>()
  const epochUs = Number(epochNs) / 1e3
  const found: number[] = []
  const rowOf = new Uint32Array(traceIds.length)
  traceIds.forEach((id, record) => {
    const trace = traceOf.get(id)
    if (trace === undefined) {
      const message = `A log record names trace ${id}, which is not in the files`
      quality.note('log-without-trace', {}, message, 'log record skipped')
      return
    }
    const [first, end] = [spanOffsets[trace]!, spanOffsets[trace + 1]!]
    let rows = rowsOf.get(trace)
    if (rows === undefined) {
      rows = new Map()
      // If a client and a server share an id, the server, which comes later, wrote the record.
      for (let row = first; row < end; row++) rows.set(spanId(row), row)
      rowsOf.set(trace, rows)
    }
    const named = rows.get(
      spanIds[record]!.replace(HEX_ID, (digits) => digits.toLowerCase().padStart(16, '0')),
    )
    const of = source[record]!
    const nearness = nearnessOf.get(of) ?? nearnessTo(sources.value(of), logged)
    nearnessOf.set(of, nearness)
    const atUs = timeUs[record]! - epochUs
    const placed = named === undefined ? spanAt(logged.spans, [first, end], { atUs, nearness }) : -1
    if (named === undefined && (spanIds[record] !== '' || nearness(placed) === 0)) {
      const message = `A log record names ${spanIds[record] === '' ? 'no span' : `span ${spanIds[record]}, which is not there`}; it goes to the shortest span running where it was written`
      quality.note('log-without-span', { trace: id }, message)
    }
    rowOf[record] = named ?? placed
    found.push(record)
  })
  if (found.length === 0 && ofServices.timeUs.length === 0) {
    quality.note('unused-logs', {}, 'No log record names a trace that was loaded')
  }
  found.sort((a, b) => rowOf[a]! - rowOf[b]! || timeUs[a]! - timeUs[b]!)
  return {
    span: Uint32Array.from(found, (record) => rowOf[record]!),
    timeUs: Float64Array.from(found, (record) => timeUs[record]! - epochUs),
    statement: Uint32Array.from(found, (record) => statement[record]!),
    statements,
  }
}

/** Ids that `SpanIds` keeps as numbers. */
const HEX_ID = /^[0-9a-f]{1,16}$/i

/** Returns a score of the evidence that a span was recorded where a record was written; 0 for none. */
function nearnessTo(
  lines: string,
  { spans: { service, host }, services, hosts, instancesOf }: LoggedSpans,
): (row: number) => number {
  const { names, own, ofFile } = serviceNamed(lines, services)
  const places = new Set(names.slice(0, -1).filter((name) => name !== ''))
  return (row) => {
    const isThere =
      places.size > 0 &&
      (places.has(hosts.value(host[row]!)) || instancesOf(row).some((name) => places.has(name)))
    return 4 * Number(service[row] === own) + 2 * Number(isThere) + Number(service[row] === ofFile)
  }
}

/** Returns the shortest of the nearest spans at a moment; without evidence of a place, the first span. */
function spanAt(
  { startUs, durationUs }: LoggedSpans['spans'],
  [first, end]: readonly [number, number],
  { atUs, nearness }: { readonly atUs: number; readonly nearness: (row: number) => number },
): number {
  let best = first
  let least: readonly number[] = [0, Number.POSITIVE_INFINITY, 0]
  for (let row = first; row < end; row++) {
    const near = nearness(row)
    const offUs = Math.max(startUs[row]! - atUs, atUs - startUs[row]! - durationUs[row]!, 0)
    const rank = [
      -near,
      near === 0 && offUs > 0 ? Number.POSITIVE_INFINITY : offUs,
      durationUs[row]!,
    ]
    const differing = rank.findIndex((part, i) => part !== least[i])
    if (differing >= 0 && rank[differing]! < least[differing]!) {
      best = row
      least = rank
    }
  }
  return best
}
