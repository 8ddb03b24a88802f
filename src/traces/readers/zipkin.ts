import { counted } from '../../core/words.ts'
import type { SpanKind } from '../span-traces.ts'
import { readJsonElements } from './json-elements.ts'
import {
  type AttributeEntry,
  eventEntries,
  firstTraceKey,
  isJsonObject,
  type JsonObject,
  numberOf,
  numberOrText,
  objectsIn,
  textOf,
} from './json-values.ts'
import { otlpStatus } from './otlp-values.ts'
import type { ReadSink, TraceReader } from './trace-reader.ts'

const KINDS: ReadonlyMap<unknown, SpanKind> = new Map([
  ['SERVER', 'server'],
  ['CLIENT', 'client'],
  ['PRODUCER', 'producer'],
  ['CONSUMER', 'consumer'],
])

/**
 * Zipkin's v2 JSON: an array of spans, or of traces, or lines. `SharedSpanIds` makes a server with
 * its client's id its child; the host is the local `ipv4`, else `ipv6`; tags and annotations become
 * parameters, and the service that a client calls, `peer.service`. A span without duration is kept
 * with 0 and noted: leaving it out would cut the trace.
 */
export const zipkinReader: TraceReader = {
  format: 'zipkin',
  recognizes: (head) => /^(traceId|localEndpoint)$/.test(firstTraceKey(head) ?? ''),
  async read(chunks, sink, file) {
    const unfinished = new Map<string, number>()
    await readJsonElements(chunks, {
      file,
      quality: sink.quality,
      lost: 'span skipped',
      cutAt: [''],
      onElement: ({ value, line }) => {
        for (const span of spansIn(value)) {
          const { duration, traceId } = span
          const trace = textOf(traceId)
          if (duration === undefined) unfinished.set(trace, (unfinished.get(trace) ?? 0) + 1)
          readSpan(span, sink, { file, line })
        }
      },
    })
    for (const [trace, count] of unfinished) {
      const message = `${counted(count, 'span')} without a duration (one way, or never finished), taken as 0 µs long`
      sink.quality.note('no-duration', { file, trace }, message)
    }
  },
}

function spansIn(value: unknown): readonly JsonObject[] {
  if (isJsonObject(value)) return [value]
  return Array.isArray(value) ? value.flatMap(spansIn) : []
}

function readSpan(span: JsonObject, sink: ReadSink, place: { file: string; line: number }): void {
  const { traceId, id, parentId, name, kind, timestamp, duration, localEndpoint, annotations } =
    span
  const { serviceName, ipv4, ipv6 }: JsonObject = isJsonObject(localEndpoint) ? localEndpoint : {}
  const tags = isJsonObject(span['tags']) ? Object.entries(span['tags']) : []
  const tag = (name: string) => tags.find(([key]) => key === name)?.[1]
  const error = tag('error')
  const { remoteEndpoint } = span
  const called = isJsonObject(remoteEndpoint) ? textOf(remoteEndpoint['serviceName']) : ''
  const isSaid = called !== '' && kind === 'CLIENT' && tag('peer.service') === undefined
  if (isSaid) tags.push(['peer.service', called])
  sink.spans.add(
    {
      traceId: textOf(traceId),
      spanId: textOf(id),
      parentId: textOf(parentId) || null,
      service: textOf(serviceName),
      operation: textOf(name),
      host: textOf(ipv4) || textOf(ipv6),
      kind: KINDS.get(kind) ?? 'internal',
      status:
        error === undefined || error === 'false' ? otlpStatus(tag('otel.status_code')) : 'error',
      startUs: sink.spans.clock.offsetOfMicros(timestamp),
      durationUs: duration === undefined ? 0 : numberOf(duration),
      followsFrom: duration === undefined,
      attributes: attributesOf(tags, annotations),
    },
    place,
  )
}

function attributesOf(tags: readonly [string, unknown][], annotations: unknown): AttributeEntry[] {
  const entries: AttributeEntry[] = []
  for (const [key, value] of tags) {
    const text = textOf(value)
    if (key !== 'error' || !/^(true|false|)$/.test(text)) entries.push([key, numberOrText(text)])
  }
  for (const { value } of objectsIn(annotations)) entries.push(...eventEntries(textOf(value), []))
  return entries
}
