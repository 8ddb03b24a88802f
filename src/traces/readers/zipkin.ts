import type { SpanKind } from '../span-traces.ts'
import { readJsonElements } from './json-elements.ts'
import {
  type AttributeEntry,
  eventEntries,
  type Fields,
  firstTraceKey,
  isJsonObject,
  numberOrText,
  objectsIn,
  textOf,
} from './json-values.ts'
import type { ReadSink, TraceReader } from './trace-reader.ts'

type ZipkinSpan = Fields<
  | 'traceId'
  | 'id'
  | 'parentId'
  | 'name'
  | 'kind'
  | 'timestamp'
  | 'duration'
  | 'localEndpoint'
  | 'tags'
  | 'annotations'
>
type ZipkinEndpoint = Fields<'serviceName' | 'ipv4' | 'ipv6'>

const KINDS: ReadonlyMap<unknown, SpanKind> = new Map([
  ['SERVER', 'server'],
  ['CLIENT', 'client'],
  ['PRODUCER', 'producer'],
  ['CONSUMER', 'consumer'],
])

/**
 * Zipkin's v2 JSON: an array of spans, an array of traces (arrays of spans), or either a line.
 *
 * Client and server may share one span id; `SharedSpanIds` makes the server a child of the client.
 * The host is the local endpoint's `ipv4`, else its `ipv6`. Tags, which are all text, become
 * numbers where they are written as numbers are; annotations become events (see `eventEntries`).
 *
 * A span without a duration is one way, or was never finished. Leaving it out would cut the trace
 * in two, so it is kept with a duration of 0, its parent does not wait for it, and it is noted.
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
          if (span.duration === undefined) countOne(unfinished, textOf(span.traceId))
          readSpan(span, sink, { file, line })
        }
      },
    })
    for (const [trace, count] of unfinished) noteUnfinished(trace, count, sink, file)
  },
}

function spansIn(value: unknown): readonly ZipkinSpan[] {
  if (isJsonObject(value)) return [value]
  return Array.isArray(value) ? value.flatMap(spansIn) : []
}

function readSpan(span: ZipkinSpan, sink: ReadSink, place: { file: string; line: number }): void {
  const { duration, localEndpoint } = span
  const endpoint: ZipkinEndpoint = isJsonObject(localEndpoint) ? localEndpoint : {}
  const tags = isJsonObject(span.tags) ? Object.entries(span.tags) : []
  const parentId = textOf(span.parentId)
  const error = tags.find(([key]) => key === 'error')?.[1]
  sink.spans.add(
    {
      traceId: textOf(span.traceId),
      spanId: textOf(span.id),
      parentId: parentId === '' ? null : parentId,
      service: textOf(endpoint.serviceName),
      operation: textOf(span.name),
      host: textOf(endpoint.ipv4) || textOf(endpoint.ipv6),
      kind: KINDS.get(span.kind) ?? 'internal',
      status: error === undefined || error === 'false' ? 'unset' : 'error',
      startUs: sink.spans.clock.offsetOfMicros(span.timestamp),
      durationUs: duration === undefined ? 0 : Number(duration ?? Number.NaN),
      followsFrom: duration === undefined,
      attributes: attributesOf(tags, span.annotations),
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
  for (const { value } of objectsIn(annotations)) {
    entries.push(...eventEntries(textOf(value), []))
  }
  return entries
}

function countOne(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function noteUnfinished(trace: string, count: number, sink: ReadSink, file: string): void {
  sink.quality.note(
    'no-duration',
    { file, trace },
    `${count} span(s) have no duration (one way, or never finished); they count as 0 µs long`,
  )
}
