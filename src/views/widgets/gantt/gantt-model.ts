import {
  type CallTree,
  callTree,
  type FlowCall,
} from '../../../explain/calling-contexts/call-tree.ts'
import { nodeTimes } from '../../../explain/calling-contexts/find-calling-contexts.ts'
import { CriticalPathFinder } from '../../../flows/critical-path.ts'
import type { FlowSet } from '../../../flows/flow-set.ts'
import { NodeRecords } from '../../../flows/node-records.ts'
import type { AttributeValue } from '../../../traces/attributes.ts'
import { SPAN_KINDS, SPAN_STATUSES, type SpanTraces } from '../../../traces/span-traces.ts'
import { type StretchUs, uncovered } from '../../drawing/stretches.ts'

/** What was recorded of a call beside its name and time. */
interface CallFacts {
  readonly isError: boolean
  /** Kind, status and parameters as they were recorded, names first. */
  readonly facts: readonly (readonly [name: string, value: AttributeValue])[]
}

/** More parameters of one call are not carried along. */
const MAX_FACTS = 40
const MAX_VALUE_LENGTH = 500
const NONE: CallFacts = { isError: false, facts: [] }

interface Request {
  readonly request: number
  readonly tree: CallTree
}

/** What the traces say of each call of a request. */
function callFacts(flows: FlowSet, { request, tree }: Request): CallFacts[] {
  const traces = flows.tracesOf(request)
  const records = new NodeRecords(flows)
  if (traces?.kind !== 'spans') {
    return tree.calls.map(({ start, end }) => {
      const nodes = end < 0 || end === start ? [start] : [start, end]
      return {
        isError: false,
        facts: shortFacts(nodes.flatMap((node) => records.of(request, node))),
      }
    })
  }
  return tree.calls.map(({ start }) => {
    const row = records.spanRow(request, start)
    return row === undefined ? NONE : spanFacts(traces, row)
  })
}

function spanFacts({ spans, attributes }: SpanTraces, row: number): CallFacts {
  const status = SPAN_STATUSES[spans.status[row] as number] ?? 'unset'
  const facts: [string, AttributeValue][] = [
    ['kind', SPAN_KINDS[spans.kind[row] as number] ?? 'internal'],
    ...(status === 'unset' ? [] : [['status', status] as [string, AttributeValue]]),
    ...attributes.entries(row),
  ]
  return { isError: status === 'error', facts: shortFacts(facts) }
}

function shortFacts(facts: readonly (readonly [string, AttributeValue])[]): CallFacts['facts'] {
  return facts
    .slice(0, MAX_FACTS)
    .map(([name, value]) => [
      name.slice(0, MAX_VALUE_LENGTH),
      typeof value === 'string' ? value.slice(0, MAX_VALUE_LENGTH) : value,
    ])
}

/** A call of a trace in time. */
export interface GanttCall extends CallFacts {
  /** Number of the call it is made by; -1 for the beginning of a request. */
  readonly parent: number
  readonly depth: number
  /** Empty for trace points. */
  readonly service: string
  readonly name: string
  readonly host: string
  readonly startUs: number
  readonly endUs: number
  /** When nothing that it called was under way. */
  readonly work: readonly StretchUs[]
  /** When its own work was on the request's critical path. */
  readonly critical: readonly StretchUs[]
}

/** What the Gantt chart carries into a page. */
export interface GanttData {
  readonly traceId: string
  readonly period: 'before' | 'after' | null
  /** Callers before what they call, in order of start among siblings. */
  readonly calls: readonly GanttCall[]
  /** Time from the beginning of the trace to the end of its last call. */
  readonly lengthUs: number
  /** Response time of the trace's first request. */
  readonly responseTimeUs: number
  /** Calls that are folded where no option says otherwise. */
  readonly usuallyCollapsed: readonly number[]
}

/** Rows that a chart begins with at most, if folding can do it. */
export const DEFAULT_ROWS = 60

/** The calls of some requests of one trace, in the order of rows. */
export function ganttCalls(flows: FlowSet, requests: readonly number[]): GanttCall[] {
  const finder = new CriticalPathFinder(flows)
  const beginUs = Math.min(...requests.map((request) => flows.startUs[request] as number))
  const calls: GanttCall[] = []
  for (const request of requests) {
    const first = calls.length
    for (const call of requestCalls(flows, { request, beginUs, finder })) {
      calls.push(call.parent < 0 ? call : { ...call, parent: call.parent + first })
    }
  }
  return calls
}

interface Pass {
  readonly request: number
  readonly beginUs: number
  readonly finder: CriticalPathFinder
}

function requestCalls(flows: FlowSet, { request, beginUs, finder }: Pass): GanttCall[] {
  const shape = flows.shapeOf[request] as number
  const tree = callTree(flows, shape)
  const offsetUs = (flows.startUs[request] as number) - beginUs
  const timeUs = nodeTimes(flows, request).map((us) => us + offsetUs)
  const spans = tree.calls.map(({ start, end }): StretchUs => {
    const startUs = timeUs[start] as number
    if (end < 0) return [startUs, startUs + (flows.responseTimeUs[request] as number)]
    return [startUs, Math.max(startUs, timeUs[end] as number)]
  })
  const critical = criticalStretches(flows, {
    ...{ shape, tree, timeUs },
    path: finder.edges(request),
  })
  const facts = callFacts(flows, { request, tree })
  const children = tree.calls.map((): number[] => [])
  tree.calls.forEach(({ parent }, call) => {
    children[parent]?.push(call)
  })
  const order = rowOrder(children, spans)
  const rowOf = new Map(order.map((call, row) => [call, row]))
  return order.map((call) => {
    const { parent, depth, service, name, host } = tree.calls[call] as FlowCall
    const [startUs, endUs] = spans[call] as StretchUs
    const inner = (children[call] as number[]).map((child) => spans[child] as StretchUs)
    return {
      ...{ parent: rowOf.get(parent) ?? -1, depth, service, name, host, startUs, endUs },
      work: uncovered([startUs, endUs], inner),
      critical: critical[call] as StretchUs[],
      ...(facts[call] as CallFacts),
    }
  })
}

/** Calls from the first, each followed by those it makes, the earliest first. */
function rowOrder(children: readonly (readonly number[])[], spans: readonly StretchUs[]): number[] {
  const order: number[] = []
  const pending = [0]
  for (let call = pending.pop(); call !== undefined; call = pending.pop()) {
    order.push(call)
    const inner = (children[call] as readonly number[]).toSorted((a, b) => {
      const [first, second] = [spans[a] as StretchUs, spans[b] as StretchUs]
      return first[0] - second[0] || second[1] - first[1] || a - b
    })
    pending.push(...inner.reverse())
  }
  return order
}

/** The stretches of the critical path, by the call whose own work they are. */
function criticalStretches(
  flows: FlowSet,
  {
    shape,
    tree,
    timeUs,
    path,
  }: { shape: number; tree: CallTree; timeUs: Float64Array; path: readonly number[] },
): StretchUs[][] {
  const [from, to] = [flows.shapes.from(shape), flows.shapes.to(shape)]
  const stretches = tree.calls.map((): StretchUs[] => [])
  for (const edge of path) {
    const startUs = timeUs[from[edge] as number] as number
    const endUs = timeUs[to[edge] as number] as number
    if (endUs > startUs) stretches[tree.callOfEdge[edge] as number]?.push([startUs, endUs])
  }
  return stretches
}

/** How many calls there are in each call, itself included. */
export function subtreeSizes(calls: readonly Pick<GanttCall, 'parent'>[]): Uint32Array {
  const sizes = new Uint32Array(calls.length).fill(1)
  for (let call = calls.length - 1; call >= 0; call--) {
    const parent = (calls[call] as GanttCall).parent
    if (parent >= 0) sizes[parent] = (sizes[parent] as number) + (sizes[call] as number)
  }
  return sizes
}

/**
 * What to fold so that at most about `rows` rows are left: from the requests on, level by level and
 * the longest first, calls are unfolded as long as there is room for what they call.
 */
export function foldedTo(calls: readonly GanttCall[], rows: number): number[] {
  const inner = calls.map(() => 0)
  for (const { parent } of calls) if (parent >= 0) inner[parent] = (inner[parent] as number) + 1
  const lengthUs = ({ startUs, endUs }: GanttCall) => endUs - startUs
  const byDepth = [...calls.entries()]
    .filter(([call]) => (inner[call] as number) > 0)
    .sort(([, a], [, b]) => a.depth - b.depth || lengthUs(b) - lengthUs(a))
  const folded: number[] = []
  const unfolded = new Set<number>()
  let left = calls.filter(({ parent }) => parent < 0).length
  for (const [number, { parent }] of byDepth) {
    if (parent >= 0 && !unfolded.has(parent)) continue
    const more = inner[number] as number
    if (left + more > rows) folded.push(number)
    else {
      unfolded.add(number)
      left += more
    }
  }
  return folded.sort((a, b) => a - b)
}

/** Calls that make others, none of which is on the critical path. */
export function uncriticalCalls(calls: readonly GanttCall[]): number[] {
  const isCritical = calls.map(({ critical }) => critical.length > 0)
  for (let call = calls.length - 1; call >= 0; call--) {
    const { parent } = calls[call] as GanttCall
    if (parent >= 0 && isCritical[call]) isCritical[parent] = true
  }
  const below = new Set<number>()
  calls.forEach(({ parent }, call) => {
    if (isCritical[call]) below.add(parent)
  })
  const sizes = subtreeSizes(calls)
  return [...calls.keys()].filter((call) => (sizes[call] as number) > 1 && !below.has(call))
}

/** Rows that are left: calls none of whose callers is folded. */
export function visibleCalls(calls: readonly GanttCall[], collapsed: readonly number[]): number[] {
  const folded = new Set(collapsed)
  const sizes = subtreeSizes(calls)
  const rows: number[] = []
  for (let call = 0; call < calls.length; ) {
    rows.push(call)
    call += folded.has(call) ? (sizes[call] as number) : 1
  }
  return rows
}
