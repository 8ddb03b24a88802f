import { Comparison } from '../../../compare/comparison.ts'
import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, percent } from '../../../core/words.ts'
import { buildFlows } from '../../../flows/build-flows.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../../flows/flow-set.ts'
import type { TraceSet } from '../../../traces/trace-set.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import { lengthUs as lengthOf, type StretchUs } from '../../drawing/stretches.ts'
import { Widget } from '../widget.ts'
import { foldedTo, type GanttCall, type GanttData, ganttCalls, USUAL_ROWS } from './gantt-model.ts'
import { GanttPicture } from './gantt-picture.tsx'

/** What the Gantt chart of a trace begins with. */
export interface TraceExplorerOptions {
  /**
   * Numbers of the calls whose own calls are folded away, counted from 0 in the order of rows.
   * Default `null`: the deepest, so that about 60 rows are left.
   */
  readonly collapsed?: readonly number[] | null
  /** The part of the trace that is shown, in µs since it began. Default `null`: all of it. */
  readonly range?: StretchUs | null
  /** Text to look for in names, hosts and parameters. Default none. */
  readonly search?: string
  /** Where to look for the trace. Default `null`: before, then after. */
  readonly period?: 'before' | 'after' | null
  /** What comparison or traces are called in the line of code. Default `'comparison'` or `'traces'`. */
  readonly name?: string
}

/** A trace that took no time is drawn on an axis of this length. */
const SHORTEST_US = 1
const OPTIONS = ['collapsed', 'range', 'search', 'period', 'name']

/**
 * A trace as a Gantt chart: a row for every call, thick where it works, thin where it waits for what
 * it called, and underlined where it is on the critical path, which is that of
 * `CriticalPathFinder`. Calls fold away and can be searched; of each there are its times and all
 * that was recorded of it.
 *
 * Of trace-point graphs, points that call and reply make a row, as does each step between other
 * points. A span that begins before its caller is drawn as beginning with it, as in flows.
 *
 * @param source from `compare`, or the traces of one period
 * @param traceId id of a trace
 * @param options see {@link TraceExplorerOptions}
 * @throws OptionError for a trace that is not there or a value that an option cannot have,
 *   FlowdeltaError for an unknown option
 *
 * @example
 * exploreTrace(comparison, flows.ids[0]).title // 'Trace in time'
 */
export function exploreTrace(
  source: Comparison | TraceSet,
  traceId: string,
  options: TraceExplorerOptions = {},
): Widget {
  rejectUnknownOptions(options, OPTIONS)
  const isComparison = source instanceof Comparison
  const { collapsed = null, range = null, search = '', period = null } = options
  const { name = isComparison ? 'comparison' : 'traces' } = options
  if (period !== null && !(isComparison && (period === 'before' || period === 'after'))) {
    throw new OptionError('period', period, "'before' or 'after' with a comparison, or null")
  }
  if (typeof search !== 'string') throw new OptionError('search', search, 'a text')
  const flows = isComparison ? source.flows : buildFlows(source)
  const requests = requestsOf(flows, traceId, period)
  const calls = ganttCalls(flows, requests)
  const lengthUs = calls.reduce((latest, { endUs }) => Math.max(latest, endUs), SHORTEST_US)
  requireRange(range)
  requireCalls(collapsed, calls.length)
  const first = requests[0] as number
  const found = flows.period[first] === BEFORE ? 'before' : 'after'
  const data: GanttData = {
    ...{ traceId, lengthUs, name, periodAsked: period !== null },
    calls: calls.map(roundedCall),
    period: isComparison ? found : null,
    responseTimeUs: flows.responseTimeUs[first] as number,
    initial: { collapsed: collapsed ?? foldedTo(calls, USUAL_ROWS), range, search },
  }
  return new Widget({
    ...{ view: 'gantt', title: 'Trace in time', data },
    description: description(data),
    picture: () => renderSvg(GanttPicture({ data })),
  })
}

/** The requests of a trace in the first period that has it: one for each root. */
function requestsOf(flows: FlowSet, traceId: string, asked: 'before' | 'after' | null): number[] {
  const wanted: readonly Period[] =
    asked === null ? [BEFORE, AFTER] : asked === 'before' ? [BEFORE] : [AFTER]
  for (const period of wanted) {
    const found = [...flows.ids.keys()].filter(
      (request) => flows.ids[request] === traceId && flows.period[request] === period,
    )
    if (found.length > 0) return found
  }
  const some = flows.ids[0] === undefined ? '' : `, such as '${flows.ids[0]}'`
  throw new OptionError('traceId', traceId, `the id of a trace${some}`)
}

function requireRange(range: StretchUs | null): void {
  if (range === null) return
  const [fromUs, toUs] = range
  if (Number.isFinite(fromUs) && Number.isFinite(toUs) && fromUs < toUs) return
  throw new OptionError('range', `[${range}]`, 'two numbers of µs, the smaller first, or null')
}

function requireCalls(collapsed: readonly number[] | null, count: number): void {
  const wrong = collapsed?.find((call) => !(Number.isInteger(call) && call >= 0 && call < count))
  if (wrong === undefined) return
  throw new OptionError('collapsed', wrong, `numbers of calls, from 0 to ${count - 1}`)
}

/** Nanoseconds are as exact as any trace. */
function roundedCall(call: GanttCall): GanttCall {
  const rounded = (us: number) => Math.round(us * 1e3) / 1e3
  const stretch = ([fromUs, toUs]: StretchUs): StretchUs => [rounded(fromUs), rounded(toUs)]
  return {
    ...call,
    ...{ startUs: rounded(call.startUs), endUs: rounded(call.endUs) },
    ...{ work: call.work.map(stretch), critical: call.critical.map(stretch) },
  }
}

function description({ calls, responseTimeUs, traceId }: GanttData): string {
  const longest = calls.toSorted((a, b) => lengthOf(b.critical) - lengthOf(a.critical))[0]
  const share = longest === undefined ? 0 : lengthOf(longest.critical) / responseTimeUs
  const most =
    longest === undefined || !(share > 0)
      ? ''
      : ` The largest part of its critical path is ${longest.service} ${longest.name}`.trimEnd() +
        `, with ${percent(share)} of the time.`
  return `Trace ${traceId} took ${formatDuration(responseTimeUs)} in ${counted(calls.length, 'call')}.${most}`
}
