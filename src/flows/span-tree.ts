// Runs once a span or request: the loops index with `!`.
import { memoized, remembered } from '../core/remembered.ts'
import { neighborsOf, ShapeGraph } from '../traces/shape-table.ts'
import type { FlowSet } from './flow-set.ts'
import { callName, operationOf } from './node-labels.ts'

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

export const [UNAWAITED, RECEIVED] = [1, 2]

export interface SpanTree {
  readonly size: number
  readonly parent: Int32Array
  /** The spans that span `k` called are `firstChild[k]` to `firstChild[k + 1]`. */
  readonly firstChild: Uint32Array
  /** Nodes in an order in which each except the root follows the one it is timed from. */
  readonly order: Uint32Array
  /** Edge by which each node is timed, -1 for the root. */
  readonly timedBy: Int32Array
  readonly from: Uint32Array
  readonly to: Uint32Array
  /**
   * `UNAWAITED` if neither a sibling nor the reply waits for the span, `RECEIVED` for a receiver of a message; else 0.
   */
  readonly detached: Uint8Array
  /** Largest overlap of a span with another, in ns, at which it still counts as over before it. */
  readonly slackNs: Float64Array
}

/** Takes spans back out of a shape, once: who called whom, and by which edges they are timed. */
export function spanTree(flows: FlowSet, shape: number): SpanTree {
  return trees(flows)(shape)
}

const trees = remembered((flows: FlowSet) => memoized((shape: number) => readTree(flows, shape)))

function readTree(flows: FlowSet, shape: number): SpanTree {
  const { shapes, labels } = flows
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
  // Runs from the last node back, so that the successors of a span are known before the span itself.
  const detached = new Uint8Array(size)
  const [codes, receivers] = [shapes.labels(shape), messageReceivers(flows)]
  for (let at = graph.nodes - 1; at > 0; at--) {
    const node = order[at]!
    if ((node & 1) === 0 || node === 1) continue
    const isWaitedBy = (next: number) => (next & 1) === 1 || detached[next >>> 1] === 0
    detached[node >>> 1] = receivers.has(callName(operationOf(labels.get(codes[node - 1]!))))
      ? RECEIVED
      : neighborsOf(graph.below, node).some(isWaitedBy)
        ? 0
        : UNAWAITED
  }
  const { options, resolution } = flows
  const slackNs = Float64Array.from({ length: size }, (_, span) => {
    const { service } = labels.get(codes[2 * span]!)
    return NS * Math.max(options.slackUs, resolution?.get(service)?.overlapUs ?? 0)
  })
  return { size, parent, firstChild, order, timedBy, from, to, detached, slackNs }
}

const GRAPH = new ShapeGraph()

/** Operations that receive messages, by `callName`. */
export const messageReceivers = remembered(({ messages, labels }: FlowSet) =>
  namesOf(labels, messages?.receiver),
)

/** Operations that send messages, by `callName`. */
export const messageSenders = remembered(({ messages, labels }: FlowSet) =>
  namesOf(labels, messages?.sender),
)

function namesOf(labels: FlowSet['labels'], codes: Iterable<number> = []): ReadonlySet<string> {
  const distinct = new Set(codes)
  return new Set(Array.from(distinct, (code) => callName(operationOf(labels.get(code)))))
}
