import { type SpanKind, type SpanStatus, VERSION_ATTRIBUTE } from '../span-traces.ts'
import { readJsonElements } from './json-elements.ts'
import {
  type AttributeEntry,
  attributeOf,
  eventEntries,
  type Fields,
  firstTraceKey,
  isJsonObject,
  type JsonObject,
  objectsIn,
  textOf,
} from './json-values.ts'
import { otlpKind, otlpStatus, resourceAttributes, samplerProbability } from './otlp-values.ts'
import type { ReadSink, TraceReader } from './trace-reader.ts'

type JaegerTrace = Fields<'traceID' | 'spans' | 'processes'>
type JaegerSpan = Fields<
  | 'traceID'
  | 'spanID'
  | 'parentSpanID'
  | 'operationName'
  | 'references'
  | 'startTime'
  | 'duration'
  | 'tags'
  | 'logs'
  | 'processID'
  | 'process'
  | 'warnings'
>
type JaegerReference = Fields<'refType' | 'traceID' | 'spanID'>
type JaegerTag = Fields<'key' | 'type' | 'value'>

/** Process tags that name a host, the best first. */
const HOST_TAGS = ['hostname', 'host.name', 'k8s.node.name', 'ip']
/** Tags that are read into columns and not repeated among the parameters. */
const READ_TAGS = new Set(['span.kind', 'otel.status_code', 'internal.span.format'])
const EMPTY_ANSWER = /^[\s\uFEFF]*\{\s*"data"\s*:\s*(\[\s*\]|null)\s*,\s*"(total|errors)"/

/**
 * Jaeger's JSON: an answer of its API (`{ data: [trace, …] }`), a bare trace, an array of traces, a
 * download from its UI (where each reference repeats the parent span, whole), or the UI's inner
 * form (`{ data: trace, id, state }`). Times are whole microseconds.
 *
 * The parent is the first CHILD_OF reference within the trace, else the first FOLLOWS_FROM. The
 * host is the process tag `hostname`, else `host.name`, `k8s.node.name`, or `ip`. Tags and logs
 * become low-level parameters (see `eventEntries`); the tags `sampler.type` and `sampler.param`
 * also say the sampling probability, the process tag `service.version` the version. Other process
 * tags are parameters only with `resourceAttributes`. Warnings are counted a trace.
 */
export const jaegerReader: TraceReader = {
  format: 'jaeger',
  recognizes: (head) =>
    /^(traceID|spanID|processes)$/.test(firstTraceKey(head) ?? '') || EMPTY_ANSWER.test(head),
  async read(chunks, sink, file) {
    await readJsonElements(chunks, {
      file,
      quality: sink.quality,
      lost: 'trace skipped',
      cutAt: ['', 'data'],
      onElement: ({ value, line }) => {
        for (const trace of tracesIn(value, sink, file)) readTrace(trace, sink, { file, line })
      },
    })
  },
}

function tracesIn(value: object, sink: ReadSink, file: string): readonly JsonObject[] {
  if (Array.isArray(value)) {
    return objectsIn(value).flatMap((inner) => tracesIn(inner, sink, file))
  }
  const { data, errors } = value as Fields<'data' | 'errors'>
  for (const error of objectsIn(errors)) {
    const { msg } = error
    const message = `Jaeger answered with an error: ${textOf(msg) || JSON.stringify(error)}`
    sink.quality.note('jaeger-error', { file }, message)
  }
  if (isJsonObject(data)) return [data]
  return data === undefined ? [value as JsonObject] : objectsIn(data)
}

function readTrace(
  trace: JaegerTrace,
  sink: ReadSink,
  place: { file: string; line: number },
): void {
  const { spans } = trace
  if (!Array.isArray(spans)) {
    sink.quality.skip({
      code: 'unreadable-trace',
      effect: 'trace skipped',
      place: { ...place, trace: textOf(trace.traceID) || undefined },
      message: 'This is not a Jaeger trace: it has no array "spans"',
      next: 'Give an answer of the Jaeger API, or load without `strict` to leave this out',
    })
    return
  }
  const processes = processesOf(trace.processes, sink)
  let warned = 0
  for (const span of objectsIn(spans) as readonly JaegerSpan[]) {
    readSpan(span, textOf(trace.traceID), processes, sink, place)
    if (Array.isArray(span.warnings) && span.warnings.length > 0) warned++
  }
  if (warned > 0) noteWarnings(trace, warned, sink, place)
}

interface Process {
  readonly service: string
  readonly host: string
  readonly version: string
  /** What is to be added to the attributes of its spans. */
  readonly attributes: readonly AttributeEntry[]
}

const UNKNOWN_PROCESS: Process = { service: '', host: '', version: '', attributes: [] }

function processesOf(value: unknown, sink: ReadSink): ReadonlyMap<string, Process> {
  const entries = isJsonObject(value) ? Object.entries(value) : []
  return new Map(entries.map(([id, process]) => [id, processOf(process, sink)]))
}

function processOf(process: unknown, sink: ReadSink): Process {
  if (!isJsonObject(process)) return UNKNOWN_PROCESS
  const { serviceName, tags } = process
  const named = HOST_TAGS.map((key) => textOf(tagValue(objectsIn(tags), key)))
  const host = named.find((name) => name !== '') ?? ''
  return {
    ...{ service: textOf(serviceName), host },
    version: textOf(tagValue(objectsIn(tags), VERSION_ATTRIBUTE)),
    attributes: sink.resourceAttributes
      ? resourceAttributes(entriesOf(objectsIn(tags)), [
          ...['service.name', 'host.name'],
          HOST_TAGS[named.indexOf(host)],
        ])
      : [],
  }
}

function readSpan(
  span: JaegerSpan,
  traceId: string,
  processes: ReadonlyMap<string, Process>,
  sink: ReadSink,
  place: { file: string; line: number },
): void {
  const tags = objectsIn(span.tags)
  const { process, processID, duration } = span
  const reporter =
    processes.get(textOf(processID)) ?? (process ? processOf(process, sink) : UNKNOWN_PROCESS)
  const ownTraceId = textOf(span.traceID) || traceId
  sink.spans.add(
    {
      traceId: ownTraceId,
      spanId: textOf(span.spanID),
      ...parentOf(span, ownTraceId),
      ...reporter,
      operation: textOf(span.operationName),
      kind: kindOf(tags),
      status: statusOf(tags),
      startUs: sink.spans.clock.offsetOfMicros(span.startTime),
      durationUs: duration === null || duration === '' ? Number.NaN : Number(duration),
      attributes: attributesOf(tags, span.logs, reporter.attributes),
      probability: samplerProbability(tags),
    },
    place,
  )
}

function parentOf(
  span: JaegerSpan,
  traceId: string,
): { parentId: string | null; followsFrom: boolean } {
  const references: readonly JaegerReference[] = objectsIn(span.references).filter(
    ({ traceID }) => traceID === undefined || traceID === traceId,
  )
  const reference =
    references.find(({ refType }) => refType === 'CHILD_OF') ??
    references.find(({ refType }) => refType === 'FOLLOWS_FROM')
  const parentId = textOf(reference?.spanID ?? span.parentSpanID)
  return {
    parentId: parentId === '' ? null : parentId,
    followsFrom: reference?.refType === 'FOLLOWS_FROM',
  }
}

function tagValue(tags: readonly JaegerTag[], key: string): unknown {
  return tags.find((tag) => tag.key === key)?.value
}

function kindOf(tags: readonly JaegerTag[]): SpanKind {
  const value = tagValue(tags, 'span.kind')
  return typeof value === 'string' ? otlpKind(value) : 'internal'
}

function statusOf(tags: readonly JaegerTag[]): SpanStatus {
  const error = tagValue(tags, 'error')
  if (error !== undefined && error !== false && error !== 'false') return 'error'
  return otlpStatus(tagValue(tags, 'otel.status_code'))
}

function attributesOf(
  tags: readonly JaegerTag[],
  logs: unknown,
  ofProcess: readonly AttributeEntry[],
): AttributeEntry[] {
  const entries = entriesOf(tags).filter(([key, value]) => !isRead(key, value))
  for (const { fields: logged } of objectsIn(logs)) {
    const fields = entriesOf(objectsIn(logged))
    const name =
      fields.find(([key]) => key === 'event') ?? fields.find(([key]) => key === 'message')
    const others = fields.filter((field) => field !== name)
    entries.push(...eventEntries(name === undefined ? '' : String(name[1]), others))
  }
  if (ofProcess.length > 0) entries.push(...ofProcess)
  return entries
}

/** A plain `error: true` is the status; an error with a text is worth keeping. */
function isRead(key: string, value: unknown): boolean {
  return READ_TAGS.has(key) || (key === 'error' && /^(true|false)$/.test(String(value)))
}

/** Tags as typed values: some senders write numbers and truth values as text. */
function entriesOf(tags: readonly JaegerTag[]): AttributeEntry[] {
  const entries: AttributeEntry[] = []
  for (const { key, type, value } of tags) {
    if (typeof key !== 'string' || value === undefined || value === null) continue
    const isNumber = type === 'int64' || type === 'float64'
    if (typeof value !== 'string' || type === 'string') entries.push([key, attributeOf(value)])
    else if (type === 'bool') entries.push([key, value === 'true'])
    else if (isNumber && value !== '' && isExact(value)) entries.push([key, Number(value)])
    else entries.push([key, value])
  }
  return entries
}

function isExact(digits: string): boolean {
  const value = Number(digits)
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
}

function noteWarnings(
  trace: JaegerTrace,
  count: number,
  sink: ReadSink,
  place: { file: string; line: number },
): void {
  const first = objectsIn(trace.spans)
    .flatMap(({ warnings }) => (Array.isArray(warnings) ? warnings : []))
    .at(0)
  sink.quality.note(
    'jaeger-warning',
    { ...place, trace: textOf(trace.traceID) || undefined },
    `Jaeger warns about ${count} span(s), first: ${String(first)}`,
  )
}
