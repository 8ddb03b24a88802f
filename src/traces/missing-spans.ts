import { remembered } from '../core/remembered.ts'
import { NO_PARENT, PARENT_MISSING } from './span-columns.ts'
import type { SpanTraces } from './span-traces.ts'
import type { TraceSet } from './trace-set.ts'

/** Counts traces with missing spans; trace-point graphs have none that could be seen. */
export function missingSpans(traces: TraceSet) {
  const found = { orphaned: 0, rootless: 0 }
  if (traces.kind !== 'spans') return found
  for (let trace = 0; trace < traces.size; trace++) {
    const { roots, missing } = countTops(traces, trace)
    if (missing === 0) continue
    if (roots === 0) found.rootless++
    else found.orphaned++
  }
  return found
}

/** Spans that parts of traces begin with, whose callers are lost though the trace has a root. */
export const partTops = remembered((traces: TraceSet): ReadonlySet<number> => {
  const tops = new Set<number>()
  if (traces.kind !== 'spans') return tops
  const { spans, spanOffsets } = traces
  for (let trace = 0; trace < traces.size; trace++) {
    const { roots, missing } = countTops(traces, trace)
    if (roots === 0 || missing === 0) continue
    const end = spanOffsets[trace + 1] as number
    for (let span = spanOffsets[trace] as number; span < end; span++) {
      if (spans.parent[span] === PARENT_MISSING) tops.add(span)
    }
  }
  return tops
})

function countTops({ spans, spanOffsets }: SpanTraces, trace: number) {
  let roots = 0
  let missing = 0
  const end = spanOffsets[trace + 1] as number
  for (let span = spanOffsets[trace] as number; span < end; span++) {
    if (spans.parent[span] === NO_PARENT) roots++
    else if (spans.parent[span] === PARENT_MISSING) missing++
  }
  return { roots, missing }
}
