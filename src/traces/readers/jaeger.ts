import { show } from '../../core/errors.ts'
import { counted } from '../../core/words.ts'
import type { SpanKind, SpanStatus } from '../span-traces.ts'
import { readJsonElements } from './json-elements.ts'
import {
  type AttributeEntry,
  attributeOf,
  eventEntries,
  firstTraceKey,
  isJsonObject,
  type JsonObject,
  numberOf,
  objectsIn,
  SERVER_ERROR,
  saidBy,
  textOf,
} from './json-values.ts'
import {
  otlpKind,
  otlpStatus,
  type Reporter,
  reporterOf,
  samplerProbability,
} from './otlp-values.ts'
import type { ReadSink, TraceReader } from './trace-reader.ts'

/** Process tags that name a host, the best first. */
const HOST_TAGS = ['hostname', 'host.name', 'k8s.node.name', 'ip']
/** Tags that are read into columns and not repeated among the parameters. */
const READ_TAGS = new Set(['span.kind', 'otel.status_code', 'internal.span.format'])
const EMPTY_ANSWER = /^[\s\uFEFF]*\{\s*"data"\s*:\s*(\[\s*\]|null)\s*(,\s*"(total|errors)"|\})/

/**
 * Jaeger's JSON: an API's answer, traces, or a download or inner form of its UI. The parent is the
 * first CHILD_OF reference within the trace, else the first FOLLOWS_FROM; the host is of
 * `HOST_TAGS`. Tags and logs become parameters (see `eventEntries`), `sampler.*` the sampling
 * probability, `service.version` the version; of a process, tags that say where it runs become
 * parameters, others with `resourceAttributes` only.
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
  if (Array.isArray(value)) return objectsIn(value).flatMap((inner) => tracesIn(inner, sink, file))
  const { data, errors } = value as JsonObject
  for (const error of objectsIn(errors)) {
    sink.quality.note(SERVER_ERROR, { file }, `the server says: ${saidBy(error)}`)
  }
  if (isJsonObject(data)) return [data]
  return data === undefined ? [value as JsonObject] : objectsIn(data)
}

function readTrace(
  { spans, traceID, processes: described }: JsonObject,
  sink: ReadSink,
  place: { file: string; line: number },
): void {
  const trace = textOf(traceID)
  if (!Array.isArray(spans)) {
    sink.quality.skip({
      code: 'unreadable-trace',
      effect: 'trace skipped',
      place: { ...place, trace: trace || undefined },
      message: 'This is not a Jaeger trace: it has no array "spans"',
      next: 'Give an answer of the Jaeger API, or load without `strict` to leave this out',
    })
    return
  }
  const processes = processesOf(described, sink)
  for (const span of objectsIn(spans)) readSpan(span, trace, processes, sink, place)
  const warned = objectsIn(spans).flatMap(({ warnings }) =>
    Array.isArray(warnings) && warnings.length > 0 ? [warnings[0] as unknown] : [],
  )
  if (warned.length === 0) return
  const message = `Jaeger warns about ${counted(warned.length, 'span')}, first: ${textOf(warned[0]) || show(warned[0])}`
  sink.quality.note('jaeger-warning', { ...place, trace: trace || undefined }, message)
}

const UNKNOWN_PROCESS: Reporter = { service: '', host: '', version: '', attributes: [] }

function processesOf(value: unknown, sink: ReadSink): ReadonlyMap<string, Reporter> {
  const entries = isJsonObject(value) ? Object.entries(value) : []
  return new Map(entries.map(([id, process]) => [id, processOf(process, sink)]))
}

function processOf(process: unknown, sink: ReadSink): Reporter {
  if (!isJsonObject(process)) return UNKNOWN_PROCESS
  const { serviceName } = process
  const tags = objectsIn(process['tags'])
  return reporterOf(entriesOf(tags), {
    service: textOf(serviceName),
    hostKeys: HOST_TAGS,
    keep: sink.resourceAttributes,
  })
}

function readSpan(
  span: JsonObject,
  ofTrace: string,
  processes: ReadonlyMap<string, Reporter>,
  sink: ReadSink,
  place: { file: string; line: number },
): void {
  const { traceID, spanID, operationName, startTime, duration, processID, process, logs } = span
  const tags = objectsIn(span['tags'])
  const reporter =
    processes.get(textOf(processID)) ?? (process ? processOf(process, sink) : UNKNOWN_PROCESS)
  const traceId = textOf(traceID) || ofTrace
  sink.spans.add(
    {
      traceId,
      spanId: textOf(spanID),
      operation: textOf(operationName),
      ...parentOf(span, traceId),
      ...reporter,
      kind: kindOf(tags),
      status: statusOf(tags),
      startUs: sink.spans.clock.offsetOfMicros(startTime),
      durationUs: numberOf(duration),
      attributes: attributesOf(tags, logs, reporter.attributes),
      probability: samplerProbability(tags),
    },
    place,
  )
}

function parentOf({ references, parentSpanID }: JsonObject, traceId: string) {
  const isOwn = ({ traceID }: JsonObject) => traceID === undefined || traceID === traceId
  const own = objectsIn(references).filter(isOwn)
  const [parent, followed] = ['CHILD_OF', 'FOLLOWS_FROM'].map((type) =>
    own.find(({ refType }) => refType === type),
  )
  const { spanID } = parent ?? followed ?? {}
  return {
    parentId: textOf(spanID ?? parentSpanID) || null,
    followsFrom: parent === undefined && followed !== undefined,
    links: objectsIn(references)
      .filter((reference) => !isOwn(reference))
      .map((link) => ({ traceId: textOf(link['traceID']), spanId: textOf(link['spanID']) })),
  }
}

function tagValue(tags: readonly JsonObject[], key: string): unknown {
  return tags.find(({ key: own }) => own === key)?.['value']
}

function kindOf(tags: readonly JsonObject[]): SpanKind {
  const value = tagValue(tags, 'span.kind')
  return typeof value === 'string' ? otlpKind(value) : 'internal'
}

function statusOf(tags: readonly JsonObject[]): SpanStatus {
  const error = tagValue(tags, 'error')
  if (error !== undefined && error !== false && error !== 'false') return 'error'
  return otlpStatus(tagValue(tags, 'otel.status_code'))
}

function attributesOf(
  tags: readonly JsonObject[],
  logs: unknown,
  ofProcess: readonly AttributeEntry[],
): AttributeEntry[] {
  // A plain `error: true` is the status; an error with a text is worth keeping.
  const isRead = (key: string, value: unknown) =>
    READ_TAGS.has(key) || (key === 'error' && /^(true|false)$/.test(`${attributeOf(value)}`))
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

/** Tags as typed values: some senders write numbers and truth values as text. */
function entriesOf(tags: readonly JsonObject[]): AttributeEntry[] {
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
