import { group, sort, sum } from 'd3-array'
import { callTree, type FlowCall } from '../../../calls/call-tree.ts'
import { CriticalPathFinder } from '../../../calls/critical-path.ts'
import { Comparison } from '../../../comparison/comparison.ts'
import { OptionError } from '../../../core/errors.ts'
import {
  custom,
  defineOptions,
  type OptionsOf,
  optionalText,
  optionalWord,
  text,
} from '../../../core/options.ts'
import { formatDuration, hasWords, spoken, tooltipText } from '../../../core/words.ts'
import { buildFlows } from '../../../flows/build-flows.ts'
import { AFTER, BEFORE, type FlowSet } from '../../../flows/flow-set.ts'
import { type NodeRecord, NodeRecords } from '../../../flows/node-records.ts'
import { GRAVE_LEVELS, logsOfSpan } from '../../../traces/log-records.ts'
import { type PeriodName, periodOfName } from '../../../traces/period.ts'
import { SPAN_KINDS, SPAN_STATUSES } from '../../../traces/span-columns.ts'
import type { TraceSet } from '../../../traces/trace-set.ts'
import { type StretchUs, TIME_RANGE, toNanoseconds, uncovered } from '../../drawing/time-range.tsx'
import { STAGE_NAME } from '../define-widget.ts'

export const GANTT_OPTIONS = defineOptions({
  id: optionalText('Id of the trace; null for one of the first finding, else the first'),
  collapsed: custom<readonly number[] | null>({
    default: null,
    sentence:
      'Numbers of the calls whose own calls are folded away, in the order of rows; null for the deepest, so that about 60 rows are left',
    expected: 'a list of numbers of calls, or null',
    accepts: (calls) =>
      calls === null || (Array.isArray(calls) && calls.every((call) => Number.isInteger(call))),
  }),
  range: TIME_RANGE,
  search: text({ default: '', sentence: 'Text to look for in names, hosts and parameters' }),
  period: optionalWord(
    ['before', 'after'],
    'Period in which to look for the trace; null for before, then after',
  ),
  name: STAGE_NAME,
})

export type GanttOptions = OptionsOf<typeof GANTT_OPTIONS>

export type GanttCall = ReturnType<typeof requestCalls>[number]

export type GanttData = ReturnType<typeof ganttOf>

/** A trace that took no time is drawn on an axis of this length. */
const MIN_LENGTH_US = 1

export function ganttData(source: Comparison | TraceSet, options: GanttOptions): GanttData {
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
  return { ...ganttOf(flows, requests, calls), traceId, ...(!isComparison && { period: null }) }
}

/** Returns a trace, made of one or several requests, as a page draws it. */
export function ganttOf(
  flows: FlowSet,
  requests: readonly number[],
  calls = ganttCalls(flows, requests),
) {
  const first = requests[0] ?? 0
  const period: PeriodName = flows.period[first] === BEFORE ? 'before' : 'after'
  return {
    traceId: flows.ids[first] ?? '',
    lengthUs: calls.reduce((latest, { endUs }) => Math.max(latest, endUs), MIN_LENGTH_US),
    /** Callers before callees, in order of start among siblings. */
    calls: calls.map(({ facts, ...call }): GanttCall => ({ ...toNanoseconds(call), facts })),
    period: period as PeriodName | null,
    responseTimeUs: flows.responseTimeUs[first] ?? 0,
    usuallyCollapsed: foldedTo(calls, DEFAULT_ROWS),
  }
}

function flowsOf(source: Comparison | TraceSet): FlowSet {
  return source instanceof Comparison ? source.flows : buildFlows(source)
}

/**
 * Returns a trace's id by how it begins, as `06a7fd32…` in findings; without one, that of the first finding, else the
 * first trace's.
 *
 * @throws OptionError for how several ids begin
 */
export function fullId(
  source: Comparison | TraceSet,
  { id, period }: GanttOptions,
): string | undefined {
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
  for (const period of asked === null ? [BEFORE, AFTER] : [periodOfName(asked)]) {
    const found = [...flows.ids.keys()].filter(
      (request) => flows.ids[request] === traceId && flows.period[request] === period,
    )
    if (found.length > 0) return found
  }
  const some = flows.ids[0] === undefined ? '' : `, such as '${flows.ids[0]}'`
  throw new OptionError('id', traceId, `the id of a trace${some}`)
}

export function ganttCalls(flows: FlowSet, requests: readonly number[]): GanttCall[] {
  const finder = new CriticalPathFinder(flows)
  const beginUs = Math.min(...requests.map((request) => flows.startUs[request] as number))
  const calls: GanttCall[] = []
  for (const request of requests) {
    const first = calls.length
    for (const call of requestCalls(flows, request, { beginUs, finder })) {
      calls.push(call.parent < 0 ? call : { ...call, parent: call.parent + first })
    }
  }
  return calls
}

function requestCalls(
  flows: FlowSet,
  request: number,
  { beginUs, finder }: { readonly beginUs: number; readonly finder: CriticalPathFinder },
) {
  const shape = flows.shapeOf[request] as number
  const { calls, callOfEdge } = callTree(flows, shape)
  const offsetUs = (flows.startUs[request] as number) - beginUs
  const timeUs = finder.nodeTimes(request).map((us) => us + offsetUs)
  const spans = calls.map(({ start, end }): StretchUs => {
    const startUs = timeUs[start] as number
    if (end < 0) return [startUs, startUs + (flows.responseTimeUs[request] as number)]
    return [startUs, Math.max(startUs, timeUs[end] as number)]
  })
  const critical = calls.map((): StretchUs[] => [])
  for (const { edge, startUs, us } of finder.path(request)) {
    const stretch: StretchUs = [offsetUs + startUs, offsetUs + startUs + us]
    if (us > 0) critical[callOfEdge[edge] as number]?.push(stretch)
  }
  const spanOf = (call: number) => spans[call] as StretchUs
  const children = group(calls.keys(), (call) => calls[call]?.parent ?? -1)
  const childrenOf = (call: number) =>
    sort(
      children.get(call) ?? [],
      (child) => spanOf(child)[0],
      (child) => -spanOf(child)[1],
    )
  // Each call followed by those it makes.
  const order: number[] = []
  const pending = [0]
  for (let call = pending.pop(); call !== undefined; call = pending.pop()) {
    order.push(call)
    pending.push(...childrenOf(call).reverse())
  }
  const rowOf = new Map(order.map((call, row) => [call, row]))
  const within = new Uint32Array(calls.length)
  for (const call of order.toReversed()) {
    within[call] = sum(children.get(call) ?? [], (child) => 1 + (within[child] as number))
  }
  const recorded = factsOf(flows, request)
  return order.map((number) => {
    const call = calls[number] as FlowCall
    const { parent, depth, service, name, host } = call
    const [startUs, endUs] = spanOf(number)
    const callees = children.get(number) ?? []
    const { kind, ...facts } = recorded(call)
    return {
      /** Number of the call it is made by; -1 for the beginning of a request. */
      parent: rowOf.get(parent) ?? -1,
      depth,
      inner: within[number] as number,
      service,
      name,
      host,
      startUs,
      endUs,
      work: uncovered([startUs, endUs], callees.map(spanOf)),
      /** Whether its own time is that of the way to its callee and back: network and queues. */
      isOnTheWay: isOnTheWay(
        call,
        kind,
        callees.map((callee) => calls[callee] as FlowCall),
      ),
      /** When its own work was on the request's critical path. */
      critical: critical[number] as StretchUs[],
      ...facts,
    }
  })
}

/**
 * Whether a call is the caller's side of calls of other services or hosts: its remaining time is no work. Source:
 * Sambasivan 2013, §7.5, on Dapper, which subtracts the server's time from the client's.
 */
function isOnTheWay(caller: FlowCall, kind: string | null, callees: readonly FlowCall[]): boolean {
  const isCallee = ({ service, host, name }: FlowCall) =>
    (service !== caller.service || host !== caller.host) &&
    // Trace points of both sides have one name.
    (kind === 'client' || (kind === null && name === caller.name))
  return callees.length > 0 && callees.every(isCallee)
}

const MAX_FACTS = 40
const MAX_VALUE_LENGTH = 500

/** Returns the facts that traces record for a call, from its first and last node: failure, kind, status, parameters. */
function factsOf(flows: FlowSet, request: number) {
  const traces = flows.tracesOf(request)
  const records = new NodeRecords(flows)
  const short = <T>(value: T) =>
    typeof value === 'string' ? value.slice(0, MAX_VALUE_LENGTH) : value
  const shortened = (facts: NodeRecord) =>
    facts.slice(0, MAX_FACTS).map(([name, value]) => [short(name), short(value)] as const)
  return ({ start, end }: FlowCall) => {
    if (traces?.kind !== 'spans') {
      const nodes = end < 0 || end === start ? [start] : [start, end]
      const facts = nodes.flatMap((node) => records.of(request, node))
      return { kind: null, isError: false, facts: shortened(facts), logs: [] }
    }
    const row = records.spanRow(request, start)
    if (row === undefined) return { kind: '', isError: false, facts: [], logs: [] }
    const { spans, attributes } = traces
    const logged = traces.logs === undefined ? [] : logsOfSpan(traces.logs, row)
    const logs = logged.map(({ timeUs, level, source, text }) => ({
      afterUs: timeUs - (spans.startUs[row] as number),
      isGrave: GRAVE_LEVELS.has(level),
      said: spoken([level.toUpperCase(), source, text]).join(' '),
    }))
    const status = SPAN_STATUSES[spans.status[row] as number] ?? 'unset'
    const kind: string = SPAN_KINDS[spans.kind[row] as number] ?? 'internal'
    const facts: NodeRecord = [
      ['kind', kind],
      ...(status === 'unset' ? [] : [['status', status] as const]),
      ...logs.map(({ afterUs, said }) => [`logged ${formatDuration(afterUs)} in`, said] as const),
      ...attributes.entries(row),
    ]
    return { kind, isError: status === 'error', facts: shortened(facts), logs }
  }
}

/** Rows that a chart begins with at most, if folding can do it. */
export const DEFAULT_ROWS = 60

/** Returns the calls to fold so that about `rows` rows are left: unfolds level by level, the longest first. */
export function foldedTo(calls: readonly GanttCall[], rows: number): number[] {
  const children = group(calls, ({ parent }) => parent)
  const callAt = (call: number) => calls[call] as GanttCall
  const callers = sort(
    [...calls.keys()].filter((call) => children.has(call)),
    (call) => callAt(call).depth,
    (call) => callAt(call).startUs - callAt(call).endUs,
  )
  const folded: number[] = []
  const unfolded = new Set([-1])
  let left = children.get(-1)?.length ?? 0
  for (const call of callers) {
    const more = children.get(call)?.length ?? 0
    if (!unfolded.has(callAt(call).parent)) continue
    const isFolded = left + more > rows
    left += isFolded ? 0 : more
    if (isFolded) folded.push(call)
    else unfolded.add(call)
  }
  return sort(folded)
}

export function uncriticalCalls(calls: readonly GanttCall[]): number[] {
  return calls.flatMap(({ inner }, call) => {
    const within = calls.slice(call + 1, call + 1 + inner)
    return inner > 0 && within.every(({ critical }) => critical.length === 0) ? [call] : []
  })
}

export type GanttRow = ReturnType<typeof ganttRows>[number]

export function ganttRows(calls: readonly GanttCall[], collapsed: readonly number[]) {
  const folded = new Set(collapsed)
  let next = 0
  return calls.flatMap((call, number) => {
    if (number < next) return []
    const isFolded = call.inner > 0 && folded.has(number)
    next = number + 1 + (isFolded ? call.inner : 0)
    // Critical stretches of the call and of those folded into it.
    const critical = calls.slice(number, next).flatMap((each) => each.critical)
    return [{ number, call, name: nameOf(call, calls[call.parent]), isFolded, critical }]
  })
}

/** Names a call; its service only where that is not its caller's. */
export function nameOf({ service, name }: GanttCall, caller?: GanttCall): string {
  return tooltipText(service === caller?.service && name !== '' ? name : `${service} ${name}`)
}

export function callMatches({ service, name, host, facts }: GanttCall, search: string): boolean {
  return hasWords([service, name, host, ...facts.flat()].join(' '), search)
}
