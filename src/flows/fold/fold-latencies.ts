// Runs once a span, node or edge: the loops index with `!`.
import { InternalError } from '../../core/errors.ts'
import { CriticalWalk, planWalk, type WalkPlan } from '../critical-walk.ts'
import type { FoldStep } from './fold-lanes.ts'
import { type EdgeRows, edgeRows, type FoldedGraph, forwardOrder } from './folded-graph.ts'

/**
 * The latencies of a request after folding: one value an edge. Lanes are no independent samples and
 * overlap, so an edge into a folded step gets the time that the critical path spent going to that
 * step, over all lanes: how long the request waited for it. Edges that touch no lane keep theirs;
 * loops are `NaN`, as no edges of the acyclic graph.
 */
export class LatencyFolder {
  readonly #step: FoldStep
  readonly #plan: WalkPlan
  readonly #walk = new CriticalWalk()
  /** What the folded graph needs: its nodes in order, and its edges at each. */
  readonly #order: Uint32Array
  readonly #above: EdgeRows
  readonly #below: EdgeRows
  readonly #isStep: Uint8Array
  readonly #perNode: Uint32Array
  readonly #beforeJoins: readonly (Uint32Array | undefined)[]
  readonly #timeUs: Float64Array
  /** Time the critical path spent going to each node, and how often it went there. */
  readonly #spentUs: Float64Array
  readonly #visits: Uint32Array
  readonly #meanTimeUs: Float64Array
  readonly #meanWaitUs: Float64Array

  constructor(step: FoldStep, labelRank: Uint32Array) {
    this.#step = step
    this.#plan = planGraph(step.before, labelRank)
    const { labels, from, to, loops } = step.after
    const nodes = labels.length
    this.#below = edgeRows(from, nodes, loops)
    this.#above = edgeRows(to, nodes, loops)
    this.#order = requireOrder(step.after, this.#below)
    this.#isStep = new Uint8Array(nodes)
    this.#perNode = new Uint32Array(nodes)
    step.nodeOf.forEach((node, before) => {
      if (step.laneOf[before]! >= 0) this.#isStep[node] = 1
      this.#perNode[node]!++
    })
    this.#beforeJoins = stepsBeforeJoins(step.after, this.#above, this.#isStep)
    this.#timeUs = new Float64Array(nodes)
    this.#spentUs = new Float64Array(nodes)
    this.#visits = new Uint32Array(nodes)
    this.#meanTimeUs = new Float64Array(nodes)
    this.#meanWaitUs = new Float64Array(nodes)
  }

  fold(latencyUs: Float64Array, responseTimeUs: number): Float64Array {
    const path = this.#walk.follow(this.#plan, latencyUs, responseTimeUs)
    this.#average(latencyUs)
    const entryUs = this.#spend(path, latencyUs)
    this.#placeForward(entryUs)
    this.#placeBackward(!Number.isNaN(entryUs))
    return this.#latencies(latencyUs)
  }

  #average(latencyUs: Float64Array): void {
    const { nodeOf } = this.#step
    this.#meanTimeUs.fill(0)
    this.#meanWaitUs.fill(0)
    for (let before = 0; before < nodeOf.length; before++) {
      const node = nodeOf[before]!
      const share = 1 / this.#perNode[node]!
      const edge = this.#walk.waitedFor[before]!
      const waitUs = edge < 0 ? 0 : latencyUs[edge]!
      this.#meanTimeUs[node]! += this.#walk.timeUs[before]! * share
      this.#meanWaitUs[node]! += waitUs * share
    }
  }

  /** Adds up the critical path by node; gives when it entered the lanes, NaN if it never did. */
  #spend(path: Uint32Array, latencyUs: Float64Array): number {
    const { before, nodeOf, laneOf } = this.#step
    this.#spentUs.fill(0)
    this.#visits.fill(0)
    let entryUs = Number.NaN
    for (const edge of path) {
      const target = before.to[edge]!
      const node = nodeOf[target]!
      this.#spentUs[node]! += latencyUs[edge]!
      this.#visits[node]!++
      if (laneOf[target]! >= 0) entryUs = this.#walk.timeUs[before.from[edge]!]!
    }
    return entryUs
  }

  /** Times of steps: behind the step before, by what the path spent going there. */
  #placeForward(entryUs: number): void {
    const { from } = this.#step.after
    const { edges, offsets } = this.#above
    for (const node of this.#order) {
      if (this.#isStep[node] === 0) {
        this.#timeUs[node] = this.#meanTimeUs[node]!
        continue
      }
      let behindUs = Number.isNaN(entryUs) ? 0 : entryUs
      let notBeforeUs = Number.isNaN(entryUs) ? this.#meanTimeUs[node]! : 0
      const end = offsets[node + 1]!
      for (let entry = offsets[node]!; entry < end; entry++) {
        const source = from[edges[entry]!]!
        const sourceUs = this.#timeUs[source]!
        if (this.#isStep[source] === 1 || this.#isOnPath(source)) {
          behindUs = Math.max(behindUs, sourceUs)
        } else notBeforeUs = Math.max(notBeforeUs, sourceUs)
      }
      const before = this.#beforeJoins[node]
      if (before !== undefined && !Number.isNaN(entryUs)) {
        behindUs = Math.max(behindUs, entryUs + this.#spentOn(before))
      }
      this.#timeUs[node] = Math.max(behindUs + this.#spentUs[node]!, notBeforeUs)
    }
  }

  #spentOn(nodes: Uint32Array): number {
    let us = 0
    for (const node of nodes) us += this.#spentUs[node]!
    return us
  }

  #isOnPath(node: number): boolean {
    return this.#visits[node]! > 0
  }

  /** Steps are not later than what follows them; those off the path take the room there is. */
  #placeBackward(isEntered: boolean): void {
    const { to } = this.#step.after
    const { edges, offsets } = this.#below
    for (let at = this.#order.length - 1; at >= 0; at--) {
      const node = this.#order[at]!
      if (this.#isStep[node] === 0) continue
      let limitUs = Number.POSITIVE_INFINITY
      const end = offsets[node + 1]!
      for (let entry = offsets[node]!; entry < end; entry++) {
        const target = to[edges[entry]!]!
        limitUs = Math.min(limitUs, this.#timeUs[target]!)
      }
      const timeUs = this.#timeUs[node]!
      const isPlaced = this.#isOnPath(node) || !isEntered
      const wantedUs = isPlaced ? timeUs : timeUs + this.#meanWaitUs[node]!
      this.#timeUs[node] = Math.min(wantedUs, limitUs)
    }
  }

  #latencies(latencyUs: Float64Array): Float64Array {
    const { before, after, edgeOf, laneOf } = this.#step
    const folded = new Float64Array(after.from.length)
    for (let edge = 0; edge < edgeOf.length; edge++) {
      const inLane = Math.max(laneOf[before.from[edge]!]!, laneOf[before.to[edge]!]!)
      if (inLane < 0) folded[edgeOf[edge]!] = latencyUs[edge]!
    }
    for (let edge = 0; edge < folded.length; edge++) {
      const source = after.from[edge]!
      const target = after.to[edge]!
      if (after.loops[edge] === 1) folded[edge] = Number.NaN
      else if (this.#isStep[source] === 1 || this.#isStep[target] === 1) {
        const us = this.#timeUs[target]! - this.#timeUs[source]!
        folded[edge] = Math.max(0, us)
      }
    }
    return folded
  }
}

function requireOrder(graph: FoldedGraph, below: EdgeRows): Uint32Array {
  const order = forwardOrder(graph, below)
  if (order === undefined) throw new InternalError('a folded flow has a cycle')
  return order
}

function planGraph(graph: FoldedGraph, labelRank: Uint32Array): WalkPlan {
  const { from, labels, loops } = graph
  const rank = (edge: number) => labelRank[labels[from[edge]!]!]!
  return planWalk(graph, requireOrder(graph, edgeRows(from, labels.length, loops)), {
    leftOut: loops,
    bySource: (a, b) => rank(a) - rank(b),
  })
}

/** Longer lists, in all, are not made: the flow is too tangled. */
const MAX_ENTRIES = 2 ** 21

/** For each step where branches join, all steps of the lane that lead there, if not too many. */
function stepsBeforeJoins({ from, labels }: FoldedGraph, above: EdgeRows, isStep: Uint8Array) {
  const before: (Uint32Array | undefined)[] = new Array(labels.length)
  const seen = new Int32Array(labels.length).fill(-1)
  let entries = 0
  for (let node = 0; node < labels.length; node++) {
    if (isStep[node] === 0 || stepsAbove(node).length < 2) continue
    const found: number[] = []
    const pending = stepsAbove(node)
    for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
      if (seen[step] === node) continue
      seen[step] = node
      found.push(step)
      pending.push(...stepsAbove(step))
    }
    entries += found.length
    if (entries > MAX_ENTRIES) return before
    before[node] = Uint32Array.from(found)
  }
  return before

  function stepsAbove(node: number): number[] {
    const edges = above.edges.subarray(above.offsets[node], above.offsets[node + 1])
    return Array.from(edges, (edge) => from[edge]!).filter((step) => isStep[step] === 1)
  }
}
