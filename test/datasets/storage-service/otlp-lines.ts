import { readFile } from 'node:fs/promises'

export interface RecordedSpan {
  readonly service: string
  readonly host: string
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly startNs: bigint
  readonly endNs: bigint
  readonly attributes: ReadonlyMap<string, unknown>
  readonly failed: boolean
}

interface Attribute {
  readonly key: string
  readonly value: Record<string, unknown>
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
}

interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly status: { readonly code?: number }
}

/** OTLP's code of a span that failed. */
const STATUS_ERROR = 2

/** The spans of a file of OTLP JSON lines, by trace. */
export async function readTraces(path: string): Promise<RecordedSpan[][]> {
  const traces = new Map<string, RecordedSpan[]>()
  for (const line of (await readFile(path, 'utf8')).trimEnd().split('\n')) {
    const request = JSON.parse(line) as ExportRequest
    for (const { resource, scopeSpans } of request.resourceSpans) {
      const about = plain(resource.attributes)
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        const trace = traces.get(span.traceId) ?? []
        trace.push(recorded(span, about))
        traces.set(span.traceId, trace)
      }
    }
  }
  return [...traces.values()]
}

function recorded(span: OtlpSpan, about: ReadonlyMap<string, unknown>): RecordedSpan {
  return {
    service: String(about.get('service.name')),
    host: String(about.get('host.name')),
    name: span.name,
    kind: span.kind,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    startNs: BigInt(span.startTimeUnixNano),
    endNs: BigInt(span.endTimeUnixNano),
    attributes: plain(span.attributes),
    failed: span.status.code === STATUS_ERROR,
  }
}

function plain(attributes: readonly Attribute[]): ReadonlyMap<string, unknown> {
  return new Map(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
