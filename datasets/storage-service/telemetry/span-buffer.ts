import { TraceFlags } from '@opentelemetry/api'
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base'

const SPANS_PER_LINE = 512

/**
 * Keeps ended spans in memory until they are asked for, so that writing them out never takes
 * processor time from the requests being timed.
 */
export class SpanBuffer implements SpanProcessor {
  #ended: ReadableSpan[] = []

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (span.spanContext().traceFlags & TraceFlags.SAMPLED) this.#ended.push(span)
  }

  /** Hands out and forgets all ended spans: OTLP JSON, one ExportTraceServiceRequest per line. */
  drain(): string[] {
    const spans = this.#ended
    this.#ended = []
    const lines: string[] = []
    for (let start = 0; start < spans.length; start += SPANS_PER_LINE) {
      lines.push(exportLine(spans.slice(start, start + SPANS_PER_LINE)))
    }
    return lines
  }

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {
    this.#ended = []
  }
}

function exportLine(spans: ReadableSpan[]): string {
  const bytes = JsonTraceSerializer.serializeRequest(spans)
  if (bytes === undefined) throw new Error(`The OTLP serializer refused ${spans.length} spans.`)
  return new TextDecoder().decode(bytes)
}
