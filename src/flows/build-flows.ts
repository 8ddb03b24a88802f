// Runs once a span, node or edge: the loops index with `!`.
import { FlowdeltaError, requireArgument, requireStage } from '../core/errors.ts'
import { readOptions } from '../core/options.ts'
import { TIME } from '../core/quantity.ts'
import type { GraphTraces } from '../traces/graph-traces.ts'
import { SelectableTraces } from '../traces/selection/selectable-traces.ts'
import { ShapeTable } from '../traces/shape-table.ts'
import type { SpanTraces } from '../traces/span-traces.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import { evenSample } from './even-sample.ts'
import { AFTER, BEFORE, FLOW_OPTIONS, type FlowOptions, FlowReport, FlowSet } from './flow-set.ts'
import { relabelShapes } from './label-parts.ts'
import { measureFlows } from './measure-flows.ts'
import { NodeLabels, parsePointLabel } from './node-labels.ts'
import { buildSpanFlows } from './span-flows.ts'

/**
 * Turns the traces of one period, or of two to be compared, into request-flow graphs: nodes are
 * trace points, edges carry the latency between them.
 *
 * A span gives a call node and a reply node. `concurrency` decides which siblings run one after the other. With
 * `'learned'` both periods are built by one rule, learned over them together. If they differ significantly, each keeps
 * its own rule, so work that was parallel and became sequential shows as a structural change.
 *
 * @param traces one trace set, or `[before, after]`; `before` may be several runs of the good period
 * @param given see {@link FLOW_OPTIONS}, {@link Concurrency} and, of corrected clocks, `flows.clocks`. With a
 *   `measure`, edges carry its amounts instead of time: see `measureFlows`
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
  const measured = options.measure === TIME.name ? timed : measureFlows(timed, options.measure)
  return options.sampling === 'even' ? evenSample(measured) : measured
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

/** Flows from trace-point graphs; the first `runs` recordings are of before. */
function buildGraphFlows(periods: readonly GraphTraces[], runs: number, options: FlowOptions) {
  const labels = new NodeLabels()
  const first = periods[0] && serves(periods[0], labels) ? periods[0] : undefined
  if (periods.length === 1 && first) return flowsOf(first, labels, options)
  const shapes = first ? new ShapeTable(first.shapes.columns()) : new ShapeTable()
  const size = periods.reduce((sum, { size }) => sum + size, 0)
  const edges = periods.reduce((sum, { latencyUs }) => sum + latencyUs.length, 0)
  const columns = {
    period: new Uint8Array(size),
    recordedIn: new Uint8Array(size),
    traceOf: new Uint32Array(size),
    startUs: new Float64Array(size),
    responseTimeUs: new Float64Array(size),
    shapeOf: new Uint32Array(size),
    latencyUs: new Float64Array(edges),
    latencyOffsets: new Uint32Array(size + 1),
  }
  let row = 0
  let edge = 0
  periods.forEach((traces, recording) => {
    const shapeCodes = traces === first ? undefined : internShapes(traces, labels, shapes)
    columns.startUs.set(traces.startUs, row)
    columns.responseTimeUs.set(traces.responseTimeUs, row)
    columns.latencyUs.set(traces.latencyUs, edge)
    columns.period.fill(recording < runs ? BEFORE : AFTER, row, row + traces.size)
    columns.recordedIn.fill(recording, row, row + traces.size)
    for (let trace = 0; trace < traces.size; trace++) {
      columns.traceOf[row + trace] = trace
      const shape = traces.shapeOf[trace]!
      columns.shapeOf[row + trace] = shapeCodes === undefined ? shape : shapeCodes[shape]!
      columns.latencyOffsets[row + trace + 1] = edge + traces.latencyOffsets[trace + 1]!
    }
    row += traces.size
    edge += traces.latencyUs.length
  })
  const ids = periods.flatMap((traces) => traces.ids)
  return new FlowSet({ periods, labels, shapes, ids, ...columns }, options, new FlowReport())
}

/** Whether a period alone has these labels and shapes, all in use. */
function serves({ labels: texts, shapes, shapeOf }: GraphTraces, labels: NodeLabels): boolean {
  const isSame = texts.every((text, code) => labels.code(parsePointLabel(text)) === code)
  return isSame && new Set(shapeOf).size === shapes.size
}

/** Flows of one period with its own columns: shapes and latencies are too large to have twice. */
function flowsOf(traces: GraphTraces, labels: NodeLabels, options: FlowOptions): FlowSet {
  const { ids, startUs, responseTimeUs, shapes, shapeOf, latencyUs, latencyOffsets } = traces
  const traceOf = Uint32Array.from(ids, (_, trace) => trace)
  const columns = { ids, startUs, responseTimeUs, shapes, shapeOf, latencyUs, latencyOffsets }
  const period = new Uint8Array(ids.length)
  return new FlowSet(
    { ...columns, periods: [traces], labels, period, traceOf },
    options,
    new FlowReport(),
  )
}

/** Adds the shapes of a period, but for graphs left out; gives the new number of each. */
function internShapes(traces: GraphTraces, labels: NodeLabels, into: ShapeTable): Uint32Array {
  const codes = Uint32Array.from(traces.labels, (text) => labels.code(parsePointLabel(text)))
  return relabelShapes(traces.shapes, { codes, used: new Set(traces.shapeOf), into })
}
