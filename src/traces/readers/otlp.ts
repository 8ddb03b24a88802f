import { type Place, TraceFormatError } from '../../core/errors.ts'
import { counted } from '../../core/words.ts'
import { areSavedLogs, DAMAGED_LOGS } from '../log-records.ts'
import { MISSING_TRACES } from '../quality.ts'
import { traceStateProbability } from '../sampling.ts'
import { durationBetween, type SpanLink } from '../span-traces-builder.ts'
import { peek } from '../trace-source.ts'
import { readJsonElements } from './json-elements.ts'
import {
  firstTraceKey,
  isJsonObject,
  type JsonObject,
  objectsIn,
  SERVER_ERROR,
  saidBy,
  textOf,
  withNanosAsText,
} from './json-values.ts'
import { isOtlpMessages, otlpMessages } from './otlp-protobuf.ts'
import { UsualSpans } from './otlp-usual-spans.ts'
import {
  otlpAttributes,
  otlpEvents,
  otlpId,
  otlpText,
  type Reporter,
  reporterOf,
  STATUS_DESCRIPTION,
} from './otlp-values.ts'
import { kindNamed, statusNamed } from './span-formats.ts'
import type { ReadSink, TraceReader } from './trace-reader.ts'

/** Keys of arrays inside the report of one resource. */
const IN_RESOURCE = ['scopeSpans', 'scope_spans', 'spans']

/**
 * OTLP JSON, whole, in arrays or lines, or its protobuf (see `isOtlpMessages`); hex or base64, numbers or names, camelCase
 * or snake_case. The host is `host.name`, else `k8s.node.name`: pods and containers are new at every start, and would
 * make every flow another one. Attributes and events become parameters; of resources, those that describe where a
 * service runs, or all with `resourceAttributes`. Versions (`service.version`) are counted, and the trace state gives
 * the sampling probability. A link that repeats the parent with `opentracing.ref_type` = `follows_from` means that
 * nobody waits. A root's first link to another trace can be joined; links of consumers name the messages they received.
 */
export const otlpReader: TraceReader = {
  format: 'otlp',
  recognizes: (head, bytes) =>
    /spans$|^batches$/i.test(firstTraceKey(head) ?? '') || isOtlpMessages(bytes),
  async read(chunks, sink, file) {
    let others = 0
    const readValue = (value: object, line: number | undefined, torn = false) => {
      for (const request of Array.isArray(value) ? objectsIn(value) : [value as JsonObject]) {
        readBeside(request['flowdelta'], sink, file)
        const resources = resourcesOf(request)
        const { error } = request
        if (resources === undefined && isJsonObject(error)) {
          sink.quality.note(SERVER_ERROR, { file, line }, `the server says: ${saidBy(error)}`)
        } else if (resources === undefined) others++
        else readResources(resources, sink, { file, line }, torn)
      }
    }
    const { head, chunks: all } = await peek(chunks, 64)
    if (!isOtlpMessages(head)) {
      await readJsonElements(all, {
        file,
        quality: sink.quality,
        lost: 'span skipped',
        cutAt: ['', 'resourceSpans', 'resource_spans', 'batches', ...IN_RESOURCE],
        prepare: withNanosAsText,
        readBytes: usualReader(sink, file),
        onElement: ({ value, line, cutAt }) =>
          readValue(value, line, IN_RESOURCE.includes(cutAt ?? '')),
      })
    } else {
      for await (const message of otlpMessages(all, file, sink.quality)) {
        readValue(message, undefined)
      }
    }
    if (others === 0) return
    const message = `${counted(others, 'record')} without spans (logs or metrics, perhaps), ignored`
    sink.quality.note('not-spans', { file }, message)
  },
}

/** Reads usual spans straight from bytes, into a sink that takes them so. */
function usualReader(sink: ReadSink, file: string) {
  const { spans } = sink
  if (spans.takesUsual !== true) return undefined
  let place: Place = { file }
  const reader = new UsualSpans((span) => {
    if (span.unusual === undefined) spans.addUsual?.(span)
    else readSpan(span.unusual, span.resource.reporter, sink, place)
  }, sink.resourceAttributes)
  return (bytes: Uint8Array, from: number, { line, inLine }: { line: number; inLine: boolean }) => {
    place = { file, line }
    return reader.read(bytes, from, inLine)
  }
}

/** Reads data that only flowdelta writes: missing traces, and logs. */
export function readBeside(own: unknown, { quality, spans }: ReadSink, file: string): void {
  if (!isJsonObject(own)) return
  for (const { message } of objectsIn(own['missing'])) {
    quality.note(MISSING_TRACES, { file }, textOf(message))
  }
  const { logs } = own
  if (areSavedLogs(logs)) spans.addLogs(logs)
  else if (logs !== undefined) {
    quality.note(DAMAGED_LOGS.code, { file }, DAMAGED_LOGS.message, DAMAGED_LOGS.effect)
  }
}

function resourcesOf(request: JsonObject): readonly JsonObject[] | undefined {
  const { resourceSpans, resource_spans, batches, trace, result } = request
  const list = resourceSpans ?? resource_spans ?? batches
  if (list !== undefined) return objectsIn(list)
  if (isJsonObject(trace)) return resourcesOf(trace)
  if (isJsonObject(result)) return resourcesOf(result)
  if (scopesOf(request) !== undefined) return [request]
  return Object.keys(request).length === 0 ? [] : undefined
}

function scopesOf(resource: JsonObject): unknown {
  const { scopeSpans, scope_spans } = resource
  const { instrumentationLibrarySpans, instrumentation_library_spans } = resource
  return scopeSpans ?? scope_spans ?? instrumentationLibrarySpans ?? instrumentation_library_spans
}

function readResources(
  resources: readonly JsonObject[],
  sink: ReadSink,
  place: Place,
  torn: boolean,
): void {
  for (const resourceSpans of resources) {
    const { resource } = resourceSpans
    if (torn && resource === undefined) {
      throw new TraceFormatError(
        'A very large element of resourceSpans has its resource behind its spans',
        place,
        'Write resource before scopeSpans, or split the file into requests under 16 MB',
      )
    }
    const described = isJsonObject(resource) ? resource['attributes'] : undefined
    const reporter = reporterOf(otlpAttributes(described), { keep: sink.resourceAttributes })
    for (const { spans } of objectsIn(scopesOf(resourceSpans))) {
      for (const span of objectsIn(spans)) readSpan(span, reporter, sink, place)
    }
  }
}

function readSpan(span: JsonObject, reporter: Reporter, sink: ReadSink, place: Place): void {
  const { clock } = sink.spans
  const { name, kind, status, links, events } = span
  const { traceId, spanId, parentSpanId, startTimeUnixNano, endTimeUnixNano, traceState } = span
  const { trace_id, span_id, parent_span_id, start_time_unix_nano, end_time_unix_nano } = span
  const startUs = clock.offsetOfNanos(startTimeUnixNano ?? start_time_unix_nano)
  const endUs = clock.offsetOfNanos(endTimeUnixNano ?? end_time_unix_nano)
  const parentId = otlpId(parentSpanId ?? parent_span_id, 8)
  const attributes = otlpAttributes(span['attributes'])
  const described = isJsonObject(status) ? textOf(status['message']) : ''
  if (described !== '') attributes.push([STATUS_DESCRIPTION, described])
  attributes.push(...otlpEvents(events), ...reporter.attributes)
  sink.spans.add(
    {
      traceId: otlpId(traceId ?? trace_id, 16),
      spanId: otlpId(spanId ?? span_id, 8),
      parentId: parentId === '' ? null : parentId,
      ...reporter,
      operation: textOf(name),
      kind: kindNamed(kind) ?? 'internal',
      status: statusNamed(status),
      startUs,
      durationUs: durationBetween(startUs, endUs),
      followsFrom: followsFrom(links, parentId),
      links: links === undefined ? undefined : linksOf(links),
      attributes,
      probability: traceStateProbability(traceState ?? span['trace_state']),
    },
    place,
  )
}

export function linksOf(links: unknown): SpanLink[] {
  return objectsIn(links).map(({ traceId, trace_id, spanId, span_id }) => ({
    traceId: otlpId(traceId ?? trace_id, 16),
    spanId: otlpId(spanId ?? span_id, 8),
  }))
}

function followsFrom(links: unknown, parentId: string): boolean {
  return objectsIn(links).some(
    ({ spanId, span_id, attributes }) =>
      otlpId(spanId ?? span_id, 8) === parentId &&
      otlpText(attributes, 'opentracing.ref_type') === 'follows_from',
  )
}
