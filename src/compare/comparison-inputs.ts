import { FlowdeltaError, requireStage, show } from '../core/errors.ts'
import { counted } from '../core/words.ts'
import { buildFlows } from '../flows/build-flows.ts'
import { type FlowOptions, FlowSet } from '../flows/flow-set.ts'
import { foldFlows } from '../flows/fold/fold-flows.ts'
import { recordedFlows } from '../flows/fold/folded-flows.ts'
import { relabelFlows } from '../flows/label-parts.ts'
import { requestsBetween, type Selection } from '../flows/select-requests.ts'
import { type Condition, parseConditions } from '../traces/selection/condition.ts'
import { mostLinked } from '../traces/selection/sample-traces.ts'
import { SelectableTraces } from '../traces/selection/selectable-traces.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import type { ComparisonOptions, FORM_OPTIONS } from './comparison-options.ts'
import { findHostClasses } from './hosts/host-classes.ts'
import type { Segment } from './segments/segments.ts'
import { withCommonNames } from './steps/common-names.ts'
import { withoutIdleWaits } from './steps/idle-waits.ts'
import { withoutLayers } from './steps/layers.ts'
import { renameIn } from './steps/rename-in.ts'
import { renamedOperations, renamedServices } from './steps/renames.ts'

/** Selection of requests for `comparison.where`. */
export type RequestSelection =
  | string
  | Pick<Segment, 'requests'>
  | { readonly segment?: Segment }
  | ((request: number) => boolean)

/** Returns the rows of the selected requests, by period; rejects selections that no request meets. */
export function selectedRows(selection: RequestSelection, flows: FlowSet): Selection {
  if (typeof selection === 'function') return nonEmpty(requestsBetween(flows, { where: selection }))
  if (typeof selection === 'string') {
    const isInside = matchingRequests(parseConditions(selection), flows)
    const rows = requestsBetween(flows, { where: isInside })
    const isEmpty = rows.before.length + rows.after.length === 0
    // If no request matches, this throws an error that lists the values present.
    if (isEmpty) recordedFlows(flows).periods[0]?.where(selection)
    return nonEmpty(rows)
  }
  const segment = 'segment' in selection ? selection.segment : selection
  const requests = segment !== undefined && 'requests' in segment ? segment.requests : undefined
  if (!Array.isArray(requests)) {
    throw new FlowdeltaError(
      `comparison.where got ${show(selection)}, which has no segment. Give a finding that says 'only where', a segment, conditions as text, or a function of a request's row.`,
    )
  }
  const inside = new Set<number>(requests)
  return nonEmpty(requestsBetween(flows, { where: (request) => inside.has(request) }))
}

function matchingRequests(conditions: readonly Condition[], flows: FlowSet) {
  const { periods, recordedIn, traceOf } = recordedFlows(flows)
  for (const one of conditions) {
    // A name that only one period recorded is known, too.
    if (!periods.some((traces) => traces.knows(one))) periods[0]?.requireKnown([one])
  }
  const marks = periods.map((traces) => traces.matching(conditions))
  return (request: number) =>
    marks[recordedIn[request] as number]?.[traceOf[request] as number] === 1
}

export function traceKey({ period, ids }: FlowSet, request: number): string {
  return `${period[request]} ${ids[request]}`
}

function nonEmpty(rows: Selection): Selection {
  const missing = rows.before.length === 0 ? 'before' : rows.after.length === 0 ? 'after' : null
  if (missing === null) return rows
  throw new FlowdeltaError(
    `comparison.where leaves no request ${missing}. Choose requests of both periods.`,
  )
}

const MAX_RUNS = 100

/** Rejects no runs, too many runs, repeated runs, and values that are no traces. */
export function requirePeriods(runs: readonly unknown[], after: unknown): void {
  requireRuns(runs)
  requireStage('compare(before, after) for after', after, SelectableTraces)
}

function requireRuns(runs: readonly unknown[]): void {
  if (runs.length === 0 || runs.length > MAX_RUNS) {
    throw new FlowdeltaError(
      `compare(before, after) got ${counted(runs.length, 'run')} for before. Give 1 to ${MAX_RUNS}.`,
    )
  }
  runs.forEach((run, i) => {
    requireStage('compare(before, after) for before', run, SelectableTraces)
    if (runs.indexOf(run) < i) {
      throw new FlowdeltaError(
        `compare(before, after) got the same traces for runs ${runs.indexOf(run) + 1} and ${i + 1} ` +
          'of before: they would seem never to differ. Give each run once.',
      )
    }
  })
}

type Periods = readonly [runs: readonly TraceSet[], after: TraceSet]

/** Largest share of all traces up to which linked traces are drawn together. */
const MAX_LINKED = 0.001

/**
 * Draws about `sample` requests of each recording that has more, with weights so that they stand for
 * all. Returns the periods as they are where that is impossible: counts are raw, only some recordings
 * have weights, or too many traces are linked to each other to be drawn together.
 */
export function sampledPeriods(
  periods: Periods,
  { sample, counts }: Pick<ComparisonOptions, 'sample' | 'counts'>,
): Periods {
  const recordings = periods.flat() as readonly TraceSet[]
  if (sample === 'all' || recordings.every(({ size }) => size <= sample)) return periods
  const spans = recordings.filter((traces) => traces.kind === 'spans')
  const weights = new Set(spans.map(({ weight }) => weight !== undefined))
  const areWeighed = counts === 'weighted' || (counts === 'auto' && weights.size === 1)
  const isLinked = spans.some((traces) => mostLinked(traces) > MAX_LINKED)
  if (spans.length < recordings.length || !areWeighed || isLinked) return periods
  const sampled = spans.map((traces) =>
    traces.quality().isOfSample ? traces : traces.sample(sample),
  )
  return [sampled.slice(0, -1), sampled.at(-1) as TraceSet]
}

/** Builds flows of both periods, with the same names for the same services and operations. */
export function flowsOfOneName(given: Periods, options: Partial<FlowOptions>): FlowSet {
  const busy = withoutIdleWaits(given)
  const named = withCommonNames(busy.periods)
  const { periods, layers } = withoutLayers(named.periods)
  const { waits } = busy
  const all = [...named.renames]
  let [before, after] = periods
  let flows = buildFlows([before, after], options)
  for (const find of [renamedServices, renamedOperations]) {
    const found = find(flows)
    if (found.length === 0) continue
    all.push(...found)
    before = before.map((traces) => renameIn(traces, found))
    after = renameIn(after, found)
    flows = buildFlows([before, after], options)
  }
  if (all.length + layers.length + waits.length === 0) return flows
  return new FlowSet({ ...flows, renames: all, layers, waits }, flows.options, flows.report)
}

type FormOptions = Pick<ComparisonOptions, keyof typeof FORM_OPTIONS | 'omitHosts'>

/** Flows with classes of hosts in place of hosts, if so chosen. */
export function withHostClasses(
  flows: FlowSet,
  { hostClasses, omitHosts }: Pick<FormOptions, 'hostClasses' | 'omitHosts'>,
): FlowSet {
  if (!hostClasses || omitHosts) return flows
  const classes = findHostClasses(flows)
  return relabelFlows(flows, [(node) => classes.inClass(node)])
}

/** Returns flows with repetitions folded, if the options say so. */
export function foldedBy(
  flows: FlowSet,
  { fold, omitHosts, sizeAttribute, sizeUnit }: FormOptions,
): FlowSet {
  if (fold === 'none') return flows
  return foldFlows(flows, { log2: fold === 'log2', omitHosts, sizeAttribute, sizeUnit })
}
