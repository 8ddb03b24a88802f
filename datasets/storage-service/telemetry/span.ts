import { type Attributes, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { anchoredClock, type Clock } from './clock.ts'

let clock: Clock = anchoredClock(0n)

/** Sets the clock that spans of this process are timed with. */
export function useClock(replacement: Clock): void {
  clock = replacement
}

const tracer = () => trace.getTracer('storage-service')

/**
 * Runs `work` inside a span, a child of the span that is active; a failure is noted on the span and
 * thrown on.
 */
export function inSpan<T>(
  name: string,
  work: (span: Span) => Promise<T>,
  { kind = SpanKind.INTERNAL, attributes = {} }: { kind?: SpanKind; attributes?: Attributes } = {},
): Promise<T> {
  return tracer().startActiveSpan(name, { kind, attributes, startTime: clock() }, async (span) => {
    try {
      return await work(span)
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) })
      throw error
    } finally {
      span.end(clock())
    }
  })
}

/** Like `inSpan` for a step that does not wait for anything. */
export function inStep<T>(name: string, work: (span: Span) => T): T {
  const span = tracer().startSpan(name, { startTime: clock() })
  try {
    return work(span)
  } finally {
    span.end(clock())
  }
}

/** Notes a step that another thread timed by the monotonic clock. */
export function pastStep(
  name: string,
  { startNs, endNs, attributes }: { startNs: bigint; endNs: bigint; attributes: Attributes },
): void {
  tracer()
    .startSpan(name, { attributes, startTime: clock(startNs) })
    .end(clock(endNs))
}
