import { FlowdeltaError, requireArgument, requireStage } from '../core/errors.ts'
import { readOptions } from '../core/options.ts'
import { TIME } from '../core/quantity.ts'
import type { GraphTraces } from '../traces/graph-traces.ts'
import { SelectableTraces } from '../traces/selection/selectable-traces.ts'
import type { SpanTraces } from '../traces/span-traces.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import { FLOW_OPTIONS, type FlowOptions, type FlowSet } from './flow-set.ts'
import { buildGraphFlows } from './graph-flows.ts'
import { measureFlows } from './measure-flows.ts'
import { buildSpanFlows } from './span-flows.ts'

/**
 * Turns the traces of one period, or of two to be compared, into request-flow graphs: nodes are
 * trace points, edges carry the latency between them.
 *
 * A span gives a call node and a reply node. Which siblings run one after the other is decided by
 * `concurrency`; with `'learned'` both periods are built by one rule, learned over them together,
 * except where they differ significantly: there each keeps its own, so that work which was
 * parallel and became sequential shows as a structural change.
 *
 * @param traces one trace set, or `[before, after]`; `before` may be several runs of the good period
 * @param given see {@link FLOW_OPTIONS}, {@link Concurrency} and, of corrected clocks, `flows.clocks`.
 *   With a `measure`, edges carry what it says instead of time: see `measureFlows`
 * @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take,
 *   FlowdeltaError when one period has spans and the other trace-point graphs
 *
 * Source: Sambasivan 2013, §2.3; flowdelta's own rule for span trees.
 *
 * @example
 * const flows = buildFlows([before, after], { concurrency: 'learned' })
 * flows.table().print()
 */
export function buildFlows(
  traces: TraceSet | readonly [before: TraceSet | readonly TraceSet[], after: TraceSet],
  given: Partial<FlowOptions> = {},
): FlowSet {
  const options = readOptions(FLOW_OPTIONS, given)
  const [before, ...after] = [traces].flat(1) as readonly (TraceSet | readonly TraceSet[])[]
  const recordings = [before, ...after].flat() as readonly TraceSet[]
  for (const one of recordings.length === 0 ? [traces] : recordings) {
    requireStage('buildFlows([before, after])', one, SelectableTraces)
  }
  requireArgument('buildFlows([before, after])', traces, after.length <= 1, 'two periods at most')
  const runs = recordings.length - after.length
  const timed = timedFlows(recordings, runs, options)
  return options.measure === TIME.name ? timed : measureFlows(timed, options.measure)
}

function timedFlows(recordings: readonly TraceSet[], runs: number, options: FlowOptions): FlowSet {
  if (recordings.every((one): one is SpanTraces => one.kind === 'spans')) {
    return buildSpanFlows(recordings, runs, options)
  }
  if (recordings.every((one): one is GraphTraces => one.kind === 'graphs')) {
    return buildGraphFlows(recordings, runs, options)
  }
  const [first] = recordings
  const other = recordings.find(({ kind }) => kind !== first?.kind)
  throw new FlowdeltaError(
    `Period ${first?.name} holds ${first?.kind}, period ${other?.name} holds ` +
      `${other?.kind}: these cannot be compared. Load both periods from the same kind of file.`,
  )
}
