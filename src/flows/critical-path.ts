// Runs once a span, node or edge: the loops index with `!`.
import { ascending } from 'd3-array'
import { getOrInsert } from '../core/entries.ts'
import { InternalError, requireStage } from '../core/errors.ts'
import { TIME } from '../core/quantity.ts'
import { ShapeGraph } from '../traces/shape-table.ts'
import { FlowSet } from './flow-set.ts'
import { isGivenUp } from './span-tree.ts'

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
  /** By shape. */
  readonly #plans = new Map<number, WalkPlan>()
  readonly #walk = new CriticalWalk()

  constructor(flows: FlowSet) {
    requireStage('new CriticalPathFinder(flows)', flows, FlowSet)
    this.#flows = flows
  }

  /**
   * Marks the edges on the critical path of a request with 1 in `onPath`, all others with 0;
   * edges are those of the request's shape, in its order. `latencyUs` are its latencies, if known.
   *
   * @returns latencies of which those on the path end when a caller that failed gave up what goes on
   */
  mark(
    request: number,
    onPath: Uint8Array,
    latencyUs: Float64Array = this.#flows.latencies(request),
  ): Float64Array {
    onPath.fill(0)
    const path = this.#follow(request, latencyUs)
    for (let at = 0; at < path.length; at++) onPath[path[at]!] = 1
    return this.#waited(request, path, latencyUs)
  }

  /** Returns the latencies of a request, as `mark` does. */
  waitedUs(request: number): Float64Array {
    return this.#waited(request, this.#follow(request), this.#flows.latencies(request))
  }

  #waited(request: number, path: Uint32Array, latencyUs: Float64Array): Float64Array {
    const { outcomes, shapeOf, quantity } = this.#flows
    const { nodes, from, to } = this.plan(shapeOf[request]!)
    const { timeUs } = this.#walk
    // Folded flows, and snapshots of them, know how roots ended alone.
    const spans = outcomes && outcomes.offsets[request + 1]! - outcomes.offsets[request]!
    if (2 * (spans ?? 0) !== nodes || quantity !== TIME) return latencyUs
    let [waitedUs, untilUs] = [latencyUs, Number.POSITIVE_INFINITY]
    for (let at = 0; at < path.length; at++) {
      const edge = path[at]!
      const [source, target] = [from[edge]!, to[edge]!]
      const endUs = Math.min(untilUs, timeUs[target]!)
      const isReply = (source & target & 1) === 1
      const over = { caller: target >>> 1, overUs: -latencyUs[edge]! }
      if (isReply && isGivenUp(this.#flows, request, over)) untilUs = endUs
      if (timeUs[source]! <= untilUs && endUs === timeUs[target]) continue
      if (waitedUs === latencyUs) waitedUs = latencyUs.slice()
      waitedUs[edge] = endUs - Math.min(untilUs, timeUs[source]!)
    }
    return waitedUs
  }

  /** Returns the edges on the critical path of a request, first to last. */
  edges(request: number): number[] {
    return Array.from(this.#follow(request)).reverse()
  }

  #follow(request: number, latencyUs = this.#flows.latencies(request)): Uint32Array {
    const { shapeOf, responseTimeUs } = this.#flows
    return this.#walk.follow(this.plan(shapeOf[request]!), latencyUs, responseTimeUs[request]!)
  }

  /** What is the same for all requests of a shape. */
  plan(shape: number): WalkPlan {
    return getOrInsert(this.#plans, shape, () => planShape(this.#flows, shape))
  }
}

/** What following the critical path needs to know of a structure. */
export interface WalkPlan {
  readonly nodes: number
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly leaves: readonly number[]
  /**
   * Edges such that all that lead to a node come before any that leave it; those into one node by
   * the labels they come from, so that ties do not hang on the order of recording.
   */
  readonly edgesByTarget: Uint32Array
  /** Of each node, how many edges lead to it. */
  readonly entries: Uint32Array
}

/** Plans walks over nodes in `order`, every edge leading forward, without edges `leftOut`. */
export function planWalk(
  { from, to }: { from: Uint32Array; to: Uint32Array },
  order: Uint32Array,
  { leftOut, bySource }: { leftOut?: Uint8Array; bySource: (a: number, b: number) => number },
): WalkPlan {
  const nodes = order.length
  const entries = new Uint32Array(nodes)
  if (nodes > scratch.length) scratch = new Uint32Array(2 * nodes)
  const leaves = leavesOf(from, nodes, leftOut)
  let count = 0
  for (let edge = 0; edge < from.length; edge++) {
    if (leftOut?.[edge] === 1) continue
    entries[to[edge]!]!++
    count++
  }
  // Sorted by counting: the edges into each node behind those into the nodes before it.
  const next = scratch
  let start = 0
  for (let at = 0; at < nodes; at++) {
    next[order[at]!] = start
    start += entries[order[at]!]!
  }
  const edgesByTarget = new Uint32Array(count)
  for (let edge = 0; edge < from.length; edge++) {
    if (leftOut?.[edge] !== 1) edgesByTarget[next[to[edge]!]!++] = edge
  }
  for (let node = 0; node < nodes; node++) {
    if (entries[node]! < 2) continue
    edgesByTarget
      .subarray(next[node]! - entries[node]!, next[node])
      .sort((a, b) => bySource(a, b) || a - b)
  }
  return { nodes, from, to, leaves, edgesByTarget, entries }
}

/** Serves for walk after walk: allocating would take longer than filling. */
let scratch = new Uint32Array(64)

function leavesOf(from: Uint32Array, nodes: number, leftOut: Uint8Array | undefined): number[] {
  scratch.fill(0, 0, nodes)
  for (let edge = 0; edge < from.length; edge++) {
    if (leftOut?.[edge] !== 1) scratch[from[edge]!] = 1
  }
  const leaves: number[] = []
  for (let node = 0; node < nodes; node++) if (scratch[node] === 0) leaves.push(node)
  return leaves
}

function planShape({ shapes, labels }: FlowSet, shape: number): WalkPlan {
  const graph = GRAPH.load(shapes, shape)
  if (!graph.acyclic) throw new InternalError(`shape ${shape} has a cycle`)
  const from = shapes.from(shape)
  const codes = shapes.labels(shape)
  const labelOf = (edge: number) => labels.text(codes[from[edge]!]!)
  return planWalk({ from, to: shapes.to(shape) }, graph.order.subarray(0, graph.nodes), {
    bySource: (a, b) => ascending(labelOf(a), labelOf(b)),
  })
}

/** Serves for shape after shape. */
const GRAPH = new ShapeGraph()

/** When the nodes of a flow happen, and what its reply waited for; serves request after request. */
export class CriticalWalk {
  timeUs = new Float64Array(64)
  /** The edge each node was waited on by, -1 for none. */
  waitedFor = new Int32Array(64)
  #path = new Uint32Array(64)

  /** Gives the critical path, last to first, until the next call; fills `waitedFor`. */
  follow(plan: WalkPlan, latencyUs: Float64Array, responseTimeUs: number): Uint32Array {
    this.#arrive(plan, latencyUs)
    let length = 0
    let node = this.#reply(plan, responseTimeUs)
    for (let edge = this.waitedFor[node]!; edge >= 0; edge = this.waitedFor[node]!) {
      this.#path[length++] = edge
      node = plan.from[edge]!
    }
    return this.#path.subarray(0, length)
  }

  #arrive({ nodes, from, to, edgesByTarget }: WalkPlan, latencyUs: Float64Array): void {
    if (nodes > this.timeUs.length) {
      this.timeUs = new Float64Array(nodes * 2)
      this.waitedFor = new Int32Array(nodes * 2)
      this.#path = new Uint32Array(nodes * 2)
    }
    const { timeUs, waitedFor } = this
    timeUs.fill(0, 0, nodes)
    waitedFor.fill(-1, 0, nodes)
    for (let at = 0; at < edgesByTarget.length; at++) {
      const edge = edgesByTarget[at]!
      const source = from[edge]!
      const target = to[edge]!
      const arrival = timeUs[source]! + latencyUs[edge]!
      const last = waitedFor[target]!
      const ahead = last < 0 ? Number.POSITIVE_INFINITY : arrival - timeUs[target]!
      if (ahead > SAME_MOMENT_US) waitedFor[target] = edge
      else if (ahead < -SAME_MOMENT_US) continue
      else {
        const later = timeUs[source]! - timeUs[from[last]!]!
        if (later > SAME_MOMENT_US) waitedFor[target] = edge
      }
      if (ahead > 0) timeUs[target] = arrival
    }
  }

  /** The leaf that happened when the request was over; of several the first, the root's reply. */
  #reply({ leaves }: WalkPlan, responseTimeUs: number): number {
    let reply = leaves[0]!
    let nearest = Number.POSITIVE_INFINITY
    for (const leaf of leaves) {
      const distance = Math.abs(this.timeUs[leaf]! - responseTimeUs)
      if (distance < nearest - SAME_MOMENT_US) {
        nearest = distance
        reply = leaf
      }
    }
    return reply
  }
}
