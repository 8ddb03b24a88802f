// Runs once a span or request: the loops index with `!`.
import { ShapeGraph } from '../traces/shape-table.ts'
import type { FlowSet } from './flow-set.ts'

export const NS = 1000

/** Whether flows were built from spans: span `k` of a shape then has nodes `2k` and `2k + 1`. */
export function areFromSpans({ shapes, labels, size }: FlowSet): boolean {
  return size > 0 && shapes.size > 0 && labels.get(shapes.labels(0)[0]!).phase === 'call'
}

/** Whether the caller of a span that ends later than it gave it up: it failed, and waited no longer. */
export function isGivenUp(
  { outcomes, options }: FlowSet,
  request: number,
  { caller, overUs }: { readonly caller: number; readonly overUs: number },
): boolean {
  return overUs > options.slackUs && outcomes?.failed(request, caller) === true
}

export interface SpanTree {
  readonly size: number
  readonly parent: Int32Array
  /** The spans that span `k` called are `firstChild[k]` to `firstChild[k + 1]`. */
  readonly firstChild: Uint32Array
  /** Nodes such that each but the root follows the one it is timed from. */
  readonly order: Uint32Array
  /** Edge by which each node is timed, -1 for the root. */
  readonly timedBy: Int32Array
  readonly from: Uint32Array
}

/** Takes spans back out of a shape: who called whom, and by which edges they are timed. */
export function spanTree({ shapes }: FlowSet, shape: number): SpanTree {
  const graph = GRAPH.load(shapes, shape)
  const from = shapes.from(shape)
  const to = shapes.to(shape)
  const size = graph.nodes / 2
  const timedBy = new Int32Array(graph.nodes).fill(-1)
  for (let edge = 0; edge < to.length; edge++) {
    if (timedBy[to[edge]!] === -1) timedBy[to[edge]!] = edge
  }
  const parent = new Int32Array(size).fill(-1)
  const order = graph.order.slice(0, graph.nodes)
  // A call follows its caller's call, or the reply of a sibling that was called before it.
  for (const node of order) {
    const edge = timedBy[node]!
    if (node & 1 || edge < 0) continue
    const source = from[edge]!
    parent[node >>> 1] = source & 1 ? parent[source >>> 1]! : source >>> 1
  }
  const firstChild = new Uint32Array(size + 1)
  for (let span = 1; span < size; span++) firstChild[parent[span]! + 1]!++
  firstChild[0] = 1
  for (let span = 0; span < size; span++) firstChild[span + 1]! += firstChild[span]!
  return { size, parent, firstChild, order, timedBy, from }
}

const GRAPH = new ShapeGraph()

/** Reads in ns when spans start (entry `2k`) and end (`2k + 1`), so that differences are exact. */
export function readTimesNs(tree: SpanTree, latencyUs: Float64Array, times: Float64Array): void {
  const { order, timedBy, from } = tree
  for (const node of order) {
    const edge = timedBy[node]!
    times[node] = edge < 0 ? 0 : times[from[edge]!]! + Math.round(latencyUs[edge]! * NS)
  }
}

/** The time between two moments that any of some spans covers, of times by `readTimesNs`. */
export function coveredNs(
  times: Float64Array,
  spans: readonly number[],
  start: number,
  end: number,
): number {
  const order = sortByStart(times, spans)
  let covered = 0
  let reached = start
  for (let i = 0; i < spans.length; i++) {
    const span = order[i]!
    const from = Math.max(reached, times[2 * span]!)
    const until = Math.min(end, times[2 * span + 1]!)
    if (until <= from) continue
    covered += until - from
    reached = until
  }
  return covered
}

/** Fewer spans are sorted by insertion, which calls nothing. */
const MANY = 16

/** The spans in the order of their starts; what it returns may change with the next call. */
function sortByStart(times: Float64Array, spans: readonly number[]): ArrayLike<number> {
  let sorted = 1
  while (sorted < spans.length && times[2 * spans[sorted - 1]!]! <= times[2 * spans[sorted]!]!)
    sorted++
  if (sorted >= spans.length) return spans
  if (spans.length > MANY) return spans.toSorted((a, b) => times[2 * a]! - times[2 * b]!)
  for (let i = 0; i < spans.length; i++) {
    const span = spans[i]!
    let at = i
    for (; at > 0 && times[2 * byStart[at - 1]!]! > times[2 * span]!; at--)
      byStart[at] = byStart[at - 1]!
    byStart[at] = span
  }
  return byStart
}

/** The last to end first, no later than at a time; of those that end together, the last to start. */
function sortByEnd(spans: Uint32Array, count: number, how: EndOrder): void {
  if (count > MANY) {
    spans.subarray(0, count).sort((a, b) => inEndOrder(a, b, how))
    return
  }
  for (let i = 1; i < count; i++) {
    const span = spans[i]!
    let at = i
    for (; at > 0 && inEndOrder(spans[at - 1]!, span, how) > 0; at--) spans[at] = spans[at - 1]!
    spans[at] = span
  }
}

interface EndOrder {
  readonly times: Float64Array
  readonly untilNs: number
}

/** Stands apart: a closure made for every caller of every request would take longer than the sorting. */
function inEndOrder(a: number, b: number, { times, untilNs }: EndOrder): number {
  const endOfA = Math.min(untilNs, times[2 * a + 1]!)
  const endOfB = Math.min(untilNs, times[2 * b + 1]!)
  return endOfB - endOfA || times[2 * b]! - times[2 * a]!
}

/** Siblings that overlap by less count as one after the other: times are often rounded to 1 µs. */
const SLACK_NS = 1000

/**
 * Marks the spans a request waited for: from the end of the root back, always the child that ended
 * last, then the one that ended last before it began. One that outlives its caller counts up to the
 * caller's end. Source: Zhang et al. 2022, "CRISP: critical path analysis of large-scale
 * microservice architectures", §3.
 */
export function markWaitedFor(
  { size, firstChild }: SpanTree,
  times: Float64Array,
  isWaitedFor: Uint8Array,
): void {
  isWaitedFor.fill(0, 0, size)
  if (size > pending.length) {
    pending = new Uint32Array(2 * size)
    untils = new Float64Array(2 * size)
    byEnd = new Uint32Array(2 * size)
  }
  pending[0] = 0
  untils[0] = times[1]!
  for (let left = 1; left > 0; ) {
    const span = pending[--left]!
    isWaitedFor[span] = 1
    let until = untils[left]!
    const first = firstChild[span]!
    const count = firstChild[span + 1]! - first
    if (count === 0) continue
    const callerNs = times[2 * span + 1]! - times[2 * span]!
    for (let i = 0; i < count; i++) byEnd[i] = first + i
    if (count > 1) sortByEnd(byEnd, count, { times, untilNs: until })
    let isLast = true
    for (let i = 0; i < count; i++) {
      const child = byEnd[i]!
      const start = times[2 * child]!
      const end = times[2 * child + 1]!
      const hasOtherClock = count === 1 && end - start <= callerNs
      const isTooLate = isLast ? start >= until && end > until : end > until + SLACK_NS
      if (isTooLate && !hasOtherClock) continue
      pending[left] = child
      untils[left++] = hasOtherClock ? end : Math.min(until, end)
      until = Math.min(until, start)
      isLast = false
    }
  }
}

/** Serve for walk after walk: allocating would take longer than walking. */
const byStart = new Uint32Array(MANY)
let [pending, untils, byEnd] = [new Uint32Array(64), new Float64Array(64), new Uint32Array(64)]
