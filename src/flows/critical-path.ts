// Runs once a span, node or edge: the loops index with `!`.
import { InternalError } from '../core/errors.ts'
import { ShapeGraph } from '../traces/shape-table.ts'
import type { FlowSet } from './flow-set.ts'

/** Arrivals closer than this count as the same moment (rounding of recorded latencies), in µs. */
const SAME_MOMENT_US = 1e-3

/**
 * Finds critical paths: from the reply back, always to the predecessor that was waited for.
 *
 * A node happens when its last predecessor and the latency behind it are over. Where several
 * arrive at the same moment, the latest predecessor is the one that was waited for; of several
 * equally late, the first by label. The latencies on the path add up to the response time.
 *
 * One finder serves many requests: what depends on structure alone is worked out once a shape.
 *
 * Source: Sambasivan 2013, §2.3.
 */
export class CriticalPathFinder {
  readonly #flows: FlowSet
  readonly #plans: (ShapePlan | undefined)[] = []
  #timeUs = new Float64Array(64)
  /** The edge each node was waited on by, -1 for none. */
  #waitedFor = new Int32Array(64)

  constructor(flows: FlowSet) {
    this.#flows = flows
  }

  /**
   * Marks the edges on the critical path of a request with 1 in `onPath`, all others with 0;
   * edges are those of the request's shape, in its order.
   */
  mark(request: number, onPath: Uint8Array): void {
    const plan = this.#plan(this.#flows.shapeOf[request]!)
    const latencyUs = this.#flows.latencies(request)
    this.#arrivals(plan, latencyUs)
    onPath.fill(0)
    let node = this.#replyNode(plan, this.#flows.responseTimeUs[request]!)
    for (let edge = this.#waitedFor[node]!; edge >= 0; ) {
      onPath[edge] = 1
      node = plan.from[edge]!
      edge = this.#waitedFor[node]!
    }
  }

  /** Returns the edges on the critical path of a request, first to last. */
  edges(request: number): number[] {
    const plan = this.#plan(this.#flows.shapeOf[request]!)
    this.#arrivals(plan, this.#flows.latencies(request))
    const path: number[] = []
    let node = this.#replyNode(plan, this.#flows.responseTimeUs[request]!)
    for (let edge = this.#waitedFor[node]!; edge >= 0; ) {
      path.push(edge)
      node = plan.from[edge]!
      edge = this.#waitedFor[node]!
    }
    return path.reverse()
  }

  #arrivals(plan: ShapePlan, latencyUs: Float64Array): void {
    const { edgesByTarget, from, to } = plan
    if (plan.nodes > this.#timeUs.length) {
      this.#timeUs = new Float64Array(plan.nodes * 2)
      this.#waitedFor = new Int32Array(plan.nodes * 2)
    }
    const timeUs = this.#timeUs
    const waitedFor = this.#waitedFor
    timeUs.fill(Number.NEGATIVE_INFINITY, 0, plan.nodes)
    waitedFor.fill(-1, 0, plan.nodes)
    for (const node of plan.roots) timeUs[node] = 0
    for (const edge of edgesByTarget) {
      const source = from[edge]!
      const target = to[edge]!
      const arrival = timeUs[source]! + latencyUs[edge]!
      const ahead = arrival - timeUs[target]!
      const last = waitedFor[target]!
      if (ahead > SAME_MOMENT_US || last < 0) waitedFor[target] = edge
      else if (ahead < -SAME_MOMENT_US) continue
      else {
        const later = timeUs[source]! - timeUs[from[last]!]!
        if (later > SAME_MOMENT_US) waitedFor[target] = edge
      }
      if (ahead > 0) timeUs[target] = arrival
    }
  }

  /**
   * Of the nodes that nothing follows, the one that happened when the request was over; of several
   * at that moment the first, which in flows from spans is the root's reply.
   */
  #replyNode({ leaves }: ShapePlan, responseTimeUs: number): number {
    let reply = leaves[0]!
    let nearest = Number.POSITIVE_INFINITY
    for (const leaf of leaves) {
      const distance = Math.abs(this.#timeUs[leaf]! - responseTimeUs)
      if (distance < nearest - SAME_MOMENT_US) {
        nearest = distance
        reply = leaf
      }
    }
    return reply
  }

  #plan(shape: number): ShapePlan {
    const known = this.#plans[shape]
    if (known !== undefined) return known
    const plan = planShape(this.#flows, shape)
    this.#plans[shape] = plan
    return plan
  }
}

/** What the search needs to know of a shape. */
interface ShapePlan {
  readonly nodes: number
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly roots: readonly number[]
  readonly leaves: readonly number[]
  /**
   * Edges such that all that lead to a node come before any that leave it; those into one node by
   * the labels they come from, so that ties do not hang on the order of recording.
   */
  readonly edgesByTarget: Uint32Array
}

function planShape({ shapes, labels }: FlowSet, shape: number): ShapePlan {
  const graph = new ShapeGraph().load(shapes, shape)
  const { nodes, above, below } = graph
  const from = shapes.from(shape).slice()
  const to = shapes.to(shape).slice()
  if (!graph.acyclic) throw new InternalError(`shape ${shape} has a cycle`)
  const rank = new Uint32Array(nodes)
  graph.order.subarray(0, nodes).forEach((node, at) => {
    rank[node] = at
  })
  const codes = shapes.labels(shape)
  const labelOf = (edge: number) => labels.text(codes[from[edge]!]!)
  const edgesByTarget = Uint32Array.from(from, (_, edge) => edge).sort(
    (a, b) => rank[to[a]!]! - rank[to[b]!]! || compareText(labelOf(a), labelOf(b)) || a - b,
  )
  const numbers = Array.from({ length: nodes }, (_, node) => node)
  return {
    ...{ nodes, from, to, edgesByTarget },
    roots: numbers.filter((node) => above.offsets[node] === above.offsets[node + 1]),
    leaves: numbers.filter((node) => below.offsets[node] === below.offsets[node + 1]),
  }
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
