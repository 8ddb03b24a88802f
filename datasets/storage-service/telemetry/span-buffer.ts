import { type Context, TraceFlags } from '@opentelemetry/api'
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { ReadableSpan, Span, SpanProcessor } from '@opentelemetry/sdk-trace-base'
import { type Period, periodOf } from '../volumes/period.ts'

const SPANS_PER_LINE = 512

/**
 * Keeps ended spans in memory until they are asked for, so that writing them out never takes
 * processor time from the requests being timed.
 */
export class SpanBuffer implements SpanProcessor {
  readonly #periods = new WeakMap<ReadableSpan, Period>()
  #ended: Record<Period, ReadableSpan[]> = { before: [], after: [] }

  onStart(span: Span, parent: Context): void {
    this.#periods.set(span, periodOf(parent))
  }

  onEnd(span: ReadableSpan): void {
    const period = this.#periods.get(span)
    if (period === undefined) throw new Error(`The span ${span.name} ended without a beginning.`)
    if (span.spanContext().traceFlags & TraceFlags.SAMPLED) this.#ended[period].push(span)
  }

  /** Hands out and forgets the ended spans of a period: OTLP JSON, one ExportTraceServiceRequest per line. */
  drain(period: Period): string[] {
    const spans = this.#ended[period]
    this.#ended[period] = []
    const lines: string[] = []
    for (let start = 0; start < spans.length; start += SPANS_PER_LINE) {
      lines.push(exportLine(spans.slice(start, start + SPANS_PER_LINE)))
    }
    return lines
  }

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {
    this.#ended = { before: [], after: [] }
  }
}

function exportLine(spans: ReadableSpan[]): string {
  const bytes = JsonTraceSerializer.serializeRequest(spans)
  if (bytes === undefined) throw new Error(`The OTLP serializer refused ${spans.length} spans.`)
  return new TextDecoder().decode(bytes)
}
