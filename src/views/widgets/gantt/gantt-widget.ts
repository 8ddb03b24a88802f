import { greatest } from 'd3-array'
import { Comparison } from '../../../compare/comparison.ts'
import { OptionError } from '../../../core/errors.ts'
import { counted, formatDuration, percent } from '../../../core/words.ts'
import { buildFlows } from '../../../flows/build-flows.ts'
import { AFTER, BEFORE, type FlowSet } from '../../../flows/flow-set.ts'
import type { TraceSet } from '../../../traces/trace-set.ts'
import { lengthUs as lengthOf, toNanoseconds } from '../../drawing/time-range.tsx'
import { defineWidget } from '../define-widget.ts'
import {
  DEFAULT_ROWS,
  foldedTo,
  GANTT_OPTIONS,
  type GanttData,
  type GanttOptions,
  ganttCalls,
} from './gantt-model.ts'
import { GANTT_STYLE, GanttView } from './gantt-view.tsx'

/** A trace that took no time is drawn on an axis of this length. */
const MIN_LENGTH_US = 1

/**
 * A trace as a Gantt chart: a row a call, thick where it works, hollow where
 * it is on the way to what it calls and back, thin where it waits, underlined on
 * the critical path. Of trace-point graphs, call and reply make a row, as does each other step.
 */
export const ganttWidget = defineWidget({
  name: 'gantt',
  title: 'Trace in time',
  description,
  options: GANTT_OPTIONS,
  data,
  initial: (source: Comparison | TraceSet, options: GanttOptions) => ({
    ...options,
    id: fullId(source, options) ?? null,
  }),
  view: GanttView,
  style: GANTT_STYLE,
})

function data(source: Comparison | TraceSet, options: GanttOptions): GanttData {
  const { collapsed, period } = options
  const isComparison = source instanceof Comparison
  if (period !== null && !isComparison) {
    throw new OptionError('period', period, 'null, as there is one period only')
  }
  const flows = flowsOf(source)
  const traceId = fullId(source, options) ?? ''
  const requests = requestsOf(flows, traceId, period)
  const calls = ganttCalls(flows, requests)
  const wrong = collapsed?.find((call) => call < 0 || call >= calls.length)
  if (wrong !== undefined) {
    throw new OptionError('collapsed', wrong, `numbers of calls, from 0 to ${calls.length - 1}`)
  }
  const first = requests[0] ?? 0
  const found = flows.period[first] === BEFORE ? 'before' : 'after'
  return {
    traceId,
    lengthUs: calls.reduce((latest, { endUs }) => Math.max(latest, endUs), MIN_LENGTH_US),
    calls: calls.map(({ facts, ...call }) => ({ ...toNanoseconds(call), facts })),
    period: isComparison ? found : null,
    responseTimeUs: flows.responseTimeUs[first] ?? 0,
    usuallyCollapsed: foldedTo(calls, DEFAULT_ROWS),
  }
}

function flowsOf(source: Comparison | TraceSet): FlowSet {
  return source instanceof Comparison ? source.flows : buildFlows(source)
}

/**
 * A trace's id by how it begins, as `06a7fd32…` in findings; without one, that of the first
 * finding, else the first trace's.
 *
 * @throws OptionError for how several ids begin
 */
function fullId(source: Comparison | TraceSet, { id, period }: GanttOptions): string | undefined {
  const { ids } = flowsOf(source)
  if (id === null) {
    const [first] = source instanceof Comparison ? source.findings.findings : []
    const { before = [], after = [] } = first?.exemplars ?? {}
    return (period === 'before' ? before : [...after, ...before])[0] ?? ids[0]
  }
  if (ids.includes(id)) return id
  const start = id.replace(/(…|\.\.\.)$/, '')
  const [first = id, second] = new Set(ids.filter((one) => one.startsWith(start)))
  if (second === undefined) return first
  throw new OptionError('id', id, `more of it: ids that begin so are '${first}', '${second}'`)
}

function requestsOf(flows: FlowSet, traceId: string, asked: GanttOptions['period']): number[] {
  for (const period of asked === null ? [BEFORE, AFTER] : [asked === 'before' ? BEFORE : AFTER]) {
    const found = [...flows.ids.keys()].filter(
      (request) => flows.ids[request] === traceId && flows.period[request] === period,
    )
    if (found.length > 0) return found
  }
  const some = flows.ids[0] === undefined ? '' : `, such as '${flows.ids[0]}'`
  throw new OptionError('id', traceId, `the id of a trace${some}`)
}

function description({ calls, responseTimeUs, traceId }: GanttData): string {
  const longest = greatest(calls, ({ critical }) => lengthOf(critical))
  const share = lengthOf(longest?.critical ?? []) / responseTimeUs
  const said = `Trace ${traceId} took ${formatDuration(responseTimeUs)} in ${counted(calls.length, 'call')}.`
  if (longest === undefined || !(share > 0)) return said
  const name = `${longest.service} ${longest.name}`.trimEnd()
  return `${said} The largest part of its critical path is ${name}, with ${percent(share)} of the time.`
}
