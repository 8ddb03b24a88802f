// Runs once a span, node or edge: the loops index with `!`.

/** Arrivals closer than this count as the same moment (rounding of recorded latencies), in µs. */
const SAME_MOMENT_US = 1e-3

/** The parts of a structure needed to follow the critical path. */
export interface WalkPlan {
  readonly nodes: number
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly leaves: readonly number[]
  /**
   * Edges in an order in which all edges into a node come before any that leaves it. Edges into one node are ordered by
   * the labels they come from, so ties do not depend on the order of recording.
   */
  readonly edgesByTarget: Uint32Array
  /** Number of edges that lead to each node. */
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

/** Times of a flow's nodes, and the nodes that its reply waited for; serves request after request. */
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

  /** Returns the leaf that happened when the request was over; of several the first, the root's reply. */
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
