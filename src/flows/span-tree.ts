// Runs once a span or request: the loops index with `!`.
import { ShapeGraph } from '../traces/shape-table.ts'
import type { FlowSet } from './flow-set.ts'

/** Nanoseconds in a microsecond. */
const NS = 1000

/** Whether flows were built from spans: span `k` of a shape then has nodes `2k` and `2k + 1`. */
export function areFromSpans({ shapes, labels, size }: FlowSet): boolean {
  return size > 0 && shapes.size > 0 && labels.get(shapes.labels(0)[0]!).phase === 'call'
}

/** The spans of one shape, callers first. */
export interface SpanTree {
  readonly size: number
  /** Caller of each span, -1 for the root. */
  readonly parent: Int32Array
  /** The spans that span `k` called are `firstChild[k]` to `firstChild[k + 1]`. */
  readonly firstChild: Uint32Array
  /** Nodes such that each but the root follows the one it is timed from. */
  readonly order: Uint32Array
  /** Edge by which each node is timed, -1 for the root. */
  readonly timedBy: Int32Array
  readonly from: Uint32Array
}

/**
 * Takes the spans back out of a shape that was built from them: who called whom, and by which edge
 * each start and end is timed.
 *
 * @param flows built from spans and not folded
 */
export function spanTree({ shapes }: FlowSet, shape: number): SpanTree {
  const graph = new ShapeGraph().load(shapes, shape)
  const from = shapes.from(shape).slice()
  const size = graph.nodes / 2
  const timedBy = new Int32Array(graph.nodes).fill(-1)
  shapes.to(shape).forEach((node, edge) => {
    if (timedBy[node] === -1) timedBy[node] = edge
  })
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

/**
 * Reads when the spans of a request started and ended, in whole nanoseconds since its start, so
 * that differences are exact.
 *
 * @param times filled with one entry a node: `2k` the start of span `k`, `2k + 1` its end
 */
export function readTimesNs(tree: SpanTree, latencyUs: Float64Array, times: Float64Array): void {
  const { order, timedBy, from } = tree
  for (const node of order) {
    const edge = timedBy[node]!
    times[node] = edge < 0 ? 0 : times[from[edge]!]! + Math.round(latencyUs[edge]! * NS)
  }
}
