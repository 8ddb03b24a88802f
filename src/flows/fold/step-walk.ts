import { InternalError } from '../../core/errors.ts'
import { edgeRows, type FoldedGraph, forwardOrder } from './folded-graph.ts'

/** Moments closer than this are one: recorded latencies are rounded. In µs. */
const SAME_MOMENT_US = 1e-3

/**
 * When the nodes of one request's flow happen, and what its reply waited for. One object serves
 * for request after request of a shape. The rule is `CriticalPathFinder`'s.
 */
export class StepWalk {
  readonly timeUs: Float64Array
  /** The edge each node was waited on by, -1 for none. */
  readonly waitedFor: Int32Array
  /** The edges of the critical path, last to first; the first `length` count. */
  readonly path: Uint32Array
  length = 0
  readonly order: Uint32Array
  readonly #graph: FoldedGraph
  /** Edges by the node they lead to; into joins by the labels they come from. */
  readonly #into: { readonly offsets: Uint32Array; readonly edges: Uint32Array }
  readonly #leaves: number[] = []

  /** @param labelRank the order of labels, by label code */
  constructor(graph: FoldedGraph, labelRank: Uint32Array) {
    const { from, to, labels, loops } = graph
    const nodes = labels.length
    this.#graph = graph
    this.#into = edgeRows(to, nodes, loops)
    const below = edgeRows(from, nodes, loops)
    const order = forwardOrder(graph, below)
    if (order === undefined) throw new InternalError('a flow to collapse has a cycle')
    this.order = order
    const rank = (edge: number) => labelRank[labels[from[edge] as number] as number] as number
    for (let node = 0; node < nodes; node++) {
      const { offsets, edges } = this.#into
      const into = edges.subarray(offsets[node], offsets[node + 1])
      if (into.length > 1) into.sort((a, b) => rank(a) - rank(b) || a - b)
      if (below.offsets[node] === below.offsets[node + 1]) this.#leaves.push(node)
    }
    this.timeUs = new Float64Array(nodes)
    this.waitedFor = new Int32Array(nodes)
    this.path = new Uint32Array(nodes)
  }

  /** Walks one request: fills `timeUs`, `waitedFor` and `path`. */
  follow(latencyUs: Float64Array, responseTimeUs: number): void {
    for (const node of this.order) this.#arrive(node, latencyUs)
    this.length = 0
    let node = this.#reply(responseTimeUs)
    for (let edge = this.waitedFor[node] as number; edge >= 0; ) {
      this.path[this.length++] = edge
      node = this.#graph.from[edge] as number
      edge = this.waitedFor[node] as number
    }
  }

  #arrive(node: number, latencyUs: Float64Array): void {
    const { timeUs } = this
    const { from } = this.#graph
    const { offsets, edges } = this.#into
    const end = offsets[node + 1] as number
    let time = 0
    let last = -1
    for (let entry = offsets[node] as number; entry < end; entry++) {
      const edge = edges[entry] as number
      const source = from[edge] as number
      const arrival = (timeUs[source] as number) + (latencyUs[edge] as number)
      const ahead = arrival - time
      if (last < 0 || ahead > SAME_MOMENT_US) last = edge
      else if (ahead < -SAME_MOMENT_US) continue
      else {
        const later = (timeUs[source] as number) - (timeUs[from[last] as number] as number)
        if (later > SAME_MOMENT_US) last = edge
      }
      if (ahead > 0 || last === edge) time = Math.max(time, arrival)
    }
    timeUs[node] = time
    this.waitedFor[node] = last
  }

  /** Of the nodes that nothing follows, the one that happened when the request was over. */
  #reply(responseTimeUs: number): number {
    let reply = this.#leaves[0] as number
    let nearest = Number.POSITIVE_INFINITY
    for (const leaf of this.#leaves) {
      const distance = Math.abs((this.timeUs[leaf] as number) - responseTimeUs)
      if (distance < nearest - SAME_MOMENT_US) {
        nearest = distance
        reply = leaf
      }
    }
    return reply
  }
}
