import { FlowdeltaError } from '../../core/errors.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import type { TraceSet } from '../../traces/trace-set.ts'

/**
 * Traces that say who calls whom.
 *
 * @param which what they are called in the error
 * @throws FlowdeltaError for graphs of trace points, and where there are no traces
 */
export function requireSpans(traces: TraceSet, which: string): SpanTraces {
  if (traces.kind !== 'spans') {
    throw new FlowdeltaError(
      `The traces of ${which} (${traces.name}) are graphs of trace points, which do not say who calls whom. Give traces of spans.`,
    )
  }
  if (traces.size > 0) return traces
  throw new FlowdeltaError(
    `There are no traces in ${which} (${traces.name}). Load some; quality() says what was left out.`,
  )
}
