import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

// biome-ignore lint/suspicious/noExplicitAny: what a recording holds is known
export type Json = Record<string, any>

/** One trace of a recording, as OTLP. */
export interface RecordedTrace {
  readonly id: string
  readonly resourceSpans: readonly Json[]
  readonly services: ReadonlySet<string>
  /** Start of each span, µs since 1970. */
  readonly startsUs: readonly number[]
}

const FOLDER = fileURLToPath(
  new URL('../../../datasets/storage-service/delay-1ms/', import.meta.url),
)

/** The first traces of a recording, each with all of its spans. */
export function recordedTraces(period: 'before' | 'after', most: number): RecordedTrace[] {
  const lines = gunzipSync(readFileSync(`${FOLDER}${period}.jsonl.gz`))
    .toString()
    .trim()
    .split('\n')
  const traces = new Map<string, Json[]>()
  for (const line of lines) {
    for (const { resource, scopeSpans } of JSON.parse(line).resourceSpans as Json[]) {
      for (const { scope, spans } of scopeSpans as Json[]) {
        for (const span of spans as Json[]) {
          const known = traces.get(span['traceId'])
          if (known === undefined && traces.size === most) continue
          const one = { resource, scopeSpans: [{ scope, spans: [span] }] }
          if (known === undefined) traces.set(span['traceId'], [one])
          else known.push(one)
        }
      }
    }
  }
  return [...traces].map(([id, resourceSpans]) => ({
    id,
    resourceSpans,
    services: new Set(resourceSpans.map(serviceOf)),
    startsUs: spansOf(resourceSpans).map((span) =>
      Number(BigInt(span['startTimeUnixNano']) / 1000n),
    ),
  }))
}

export function serviceOf({ resource }: Json): string {
  return (resource.attributes as Json[]).find(({ key }) => key === 'service.name')?.['value']
    .stringValue
}

export function spansOf(resourceSpans: readonly Json[]): Json[] {
  return resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap((scope: Json) => scope['spans']),
  )
}

/** The same traces as the content of a file. */
export function fileOf(traces: readonly RecordedTrace[], name = 'file') {
  const bytes = traces.map(({ resourceSpans }) => JSON.stringify({ resourceSpans })).join('\n')
  return { name, bytes }
}

/** A stretch of time with all of some traces, as addresses take it. */
export function stretchOf(traces: readonly RecordedTrace[]): string {
  const starts = traces.flatMap(({ startsUs }) => startsUs)
  const [from, to] = [
    starts.reduce((a, b) => Math.min(a, b)),
    starts.reduce((a, b) => Math.max(a, b)),
  ]
  const iso = (us: number) => new Date(us / 1000).toISOString()
  return `${iso(Math.floor(from / 1e6) * 1e6)}..${iso(Math.ceil(to / 1e6) * 1e6 + 1e6)}`
}
