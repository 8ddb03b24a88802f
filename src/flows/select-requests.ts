// Runs once a span, node or edge: the loops index with `!`.
import { OptionError, rejectUnknownOptions, requireFields, requireStage } from '../core/errors.ts'
import { entriesWithin } from '../traces/group-rows.ts'
import { gather } from '../traces/growing-columns.ts'
import { selectLogs } from './flow-logs.ts'
import { AFTER, BEFORE, type FlowColumns, FlowSet, type Period } from './flow-set.ts'
import { FoldedFlows } from './fold/folded-flows.ts'
import { selectMessages } from './messages.ts'

export interface Selection {
  readonly before: ArrayLike<number>
  readonly after: ArrayLike<number>
}

/**
 * Returns the same flows, cut to some of their requests and divided anew into two periods: a time
 * range of each, the first thousand against the last, or random halves of one period.
 *
 * Nothing is learned again: the order of sibling spans stays as it was built. Folded flows stay
 * folded, and their `unfolded` has the same requests.
 *
 * @param selection rows of `flows`, a row in at most one of the periods
 *
 * @example
 * selectRequests(flows, { before: [0, 1, 2], after: [5, 6, 7] }).size // 6
 */
export function selectRequests(flows: FoldedFlows, selection: Selection): FoldedFlows
export function selectRequests(flows: FlowSet, selection: Selection): FlowSet
export function selectRequests(flows: FlowSet, selection: Selection): FlowSet {
  requireStage('selectRequests(flows, selection)', flows, FlowSet)
  requireFields('selectRequests(flows, selection)', selection, 'before', 'after')
  const columns = selectedColumns(flows, selection)
  return flows instanceof FoldedFlows
    ? flows.ofRequests(columns, (recorded) => selectRequests(recorded, selection))
    : new FlowSet(columns, flows.options, flows.report)
}

/** Columns of some requests of flows. */
export function selectedColumns(flows: FlowSet, { before, after }: Selection): FlowColumns {
  const rows = Uint32Array.from([...Array.from(before), ...Array.from(after)])
  const { spanRows, spanOffsets } = flows
  const latencies = entriesWithin(flows.latencyOffsets, rows)
  const spans = spanOffsets && entriesWithin(spanOffsets, rows)
  return {
    periods: flows.periods,
    epochsUs: flows.epochsUs,
    labels: flows.labels,
    shapes: flows.shapes,
    ids: Array.from(rows, (row) => flows.ids[row]!),
    period: Uint8Array.from(rows, (_, i) => (i < before.length ? BEFORE : AFTER)),
    traceOf: gather(flows.traceOf, rows),
    recordedIn: gather(flows.recordedIn, rows),
    startUs: gather(flows.startUs, rows),
    responseTimeUs: gather(flows.responseTimeUs, rows),
    shapeOf: gather(flows.shapeOf, rows),
    clocks: flows.clocks,
    resolution: flows.resolution,
    renames: flows.renames,
    latencyUs: gather(flows.latencyUs, latencies.entries),
    latencyOffsets: latencies.offsets,
    spanRows: spanRows && spans && gather(spanRows, spans.entries),
    spanOffsets: spans?.offsets,
    outcomes: flows.outcomes?.select(rows),
    serviceLogs: flows.serviceLogs,
    logs: flows.logs && selectLogs(flows.logs, rows),
    messages: flows.messages && selectMessages(flows.messages, rows),
    weight: flows.weight && gather(flows.weight, rows),
  }
}

/** Range of time in µs since the start of a period, from the first number (inclusive) to the second (exclusive). */
export type RangeUs = readonly [fromUs: number, toUs: number]

/** Requests to find with {@link requestsBetween}. */
export interface RequestRanges {
  /** When requests of the before period arrived. Default `null`: at any time. */
  readonly beforeUs?: RangeUs | null
  /** When requests of the after period arrived. Default `null`: at any time. */
  readonly afterUs?: RangeUs | null
  /** Whether a request counts, by row. Default: all do. */
  readonly where?: (request: number) => boolean
}

/**
 * Returns the rows of the requests that arrived within a range of time, in each period, for
 * `selectRequests`. A range begins with its first number and ends just before its second, so that
 * neighboring ranges share no request. A request whose arrival is not a number is in no range.
 *
 * @param flows a stage of `buildFlows`
 * @param ranges see {@link RequestRanges}
 * @throws OptionError for a range that is not two numbers, the smaller first; FlowdeltaError for
 *   an unknown option
 *
 * @example
 * const firstSecond = requestsBetween(flows, { beforeUs: [0, 1e6], afterUs: [0, 1e6] })
 * categorize(selectRequests(flows, firstSecond)).table()
 */
export function requestsBetween(flows: FlowSet, ranges: RequestRanges = {}): Selection {
  requireStage('requestsBetween(flows)', flows, FlowSet)
  rejectUnknownOptions(ranges, ['beforeUs', 'afterUs', 'where'])
  const { beforeUs = null, afterUs = null, where = () => true } = ranges
  requireRange('beforeUs', beforeUs)
  requireRange('afterUs', afterUs)
  const before: number[] = []
  const after: number[] = []
  for (let request = 0; request < flows.size; request++) {
    const period = flows.period[request] as Period
    const range = period === BEFORE ? beforeUs : afterUs
    const startUs = flows.startUs[request]!
    if (range !== null && !(startUs >= range[0] && startUs < range[1])) continue
    if (!where(request)) continue
    if (period === AFTER) after.push(request)
    else before.push(request)
  }
  return { before, after }
}

function requireRange(option: string, range: RangeUs | null): void {
  if (range === null) return
  const [fromUs, toUs] = Array.isArray(range) ? range : []
  if (Array.isArray(range) && range.length === 2 && Number(fromUs) < Number(toUs)) return
  throw new OptionError(option, range, 'two numbers in µs, the smaller first, or null')
}
