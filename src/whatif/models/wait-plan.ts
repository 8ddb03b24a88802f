// Run for every affected call of every what-if: the loops index with `!`.

import type { CallForest } from '../../calls/call-forest.ts'
import { getOrInsert } from '../../core/entries.ts'
import { InternalError } from '../../core/errors.ts'
import type { Precedence } from './precedence.ts'

/**
 * Who waits for whom, ready to be computed: nodes with the same predecessors share one set of them,
 * a synchronisation point, so that k calls after k others cost 2k steps and not k².
 */
export interface WaitPlan {
  readonly nodes: number
  /** Nodes such that each comes after its predecessors. */
  readonly order: Uint32Array
  /** The set that each node waits for, −1 for none. */
  readonly waitsFor: Int32Array
  /** The set that the reply waits for, −1 for none. */
  readonly replyWaitsFor: number
  /** The nodes of set `i` are entries `setOffsets[i]` to `setOffsets[i + 1]`. */
  readonly setOffsets: Uint32Array
  readonly setNodes: Uint32Array
}

/** Who waits directly for whom, and an order in which every node comes after those it waits for. */
export interface WaitGraph {
  readonly order: Uint32Array
  readonly predecessors: readonly (readonly number[])[]
  readonly returnPredecessors: readonly number[]
}

/** The graph of a precedence that is closed and free of circles. */
export function waitGraph(precedence: Precedence): WaitGraph {
  const order = precedence.order()
  if (order === null)
    throw new InternalError('the calls of a model wait for each other in a circle')
  return { order, predecessors: precedence.direct(order), returnPredecessors: precedence.last() }
}

/** Plans a graph. Lists that are the same object, or hold the same, become one set. */
export function waitPlan({ order, predecessors, returnPredecessors }: WaitGraph): WaitPlan {
  const sets: (readonly number[])[] = []
  const sameLists = new Map<readonly number[], number>()
  const sameContents = new Map<string, number>()
  const setOf = (nodes: readonly number[]): number => {
    if (nodes.length === 0) return -1
    return getOrInsert(sameLists, nodes, () =>
      getOrInsert(sameContents, nodes.join(), () => sets.push(nodes) - 1),
    )
  }
  const waitsFor = Int32Array.from(predecessors, setOf)
  const replyWaitsFor = setOf(returnPredecessors)
  const setOffsets = new Uint32Array(sets.length + 1)
  sets.forEach((nodes, set) => {
    setOffsets[set + 1] = setOffsets[set]! + nodes.length
  })
  const setNodes = Uint32Array.from(sets.flat())
  return { nodes: order.length, order, waitsFor, replyWaitsFor, setOffsets, setNodes }
}

export function mostNodes(plans: readonly WaitPlan[]): number {
  return plans.reduce((most, { nodes }) => Math.max(most, nodes), 0)
}

/** When the last node of a set is over; 0, the caller's start, of no set. */
export function setEnd(plan: WaitPlan, set: number, endUs: Float64Array): number {
  if (set < 0) return 0
  const end = plan.setOffsets[set + 1]!
  let last = Number.NEGATIVE_INFINITY
  for (let at = plan.setOffsets[set]!; at < end; at++) {
    const us = endUs[plan.setNodes[at]!]!
    if (us > last) last = us
  }
  return last
}

/** What every call of a period spends itself, under its model. */
export interface OwnTimes {
  /** From the end of the last call it waits for, or its caller's start, to its start, µs. */
  readonly preprocessingUs: Float64Array
  /** From the end of the last call it waits for, or its own start, to its reply, µs. */
  readonly replyUs: Float64Array
}

export interface PeriodPlans {
  readonly planOf: Uint32Array
  readonly plans: readonly WaitPlan[]
  /** As of `PeriodOrders`. */
  readonly nodeCalls: Uint32Array
}

/**
 * Measures preprocessing and reply times. What overlaps within the slack gives a little less than 0.
 * Calls that nobody waits for start after the last one that their caller waited for by then.
 */
export function ownTimes(forest: CallForest, period: PeriodPlans, slackUs: number): OwnTimes {
  const { childOffsets, offsetUs, latencyUs, serverUs } = forest
  const { planOf, plans, nodeCalls } = period
  const preprocessingUs = new Float64Array(serverUs.length)
  const replyUs = new Float64Array(serverUs.length)
  const endUs = new Float64Array(mostNodes(plans))
  for (let call = 0; call < serverUs.length; call++) {
    const first = childOffsets[call]!
    const count = childOffsets[call + 1]! - first
    const plan = plans[planOf[call]!]!
    for (let node = 0; node < plan.nodes; node++) {
      const child = nodeCalls[first + node]!
      endUs[node] = offsetUs[child]! + latencyUs[child]!
    }
    for (let node = 0; node < count; node++) {
      const child = nodeCalls[first + node]!
      preprocessingUs[child] =
        offsetUs[child]! -
        (node < plan.nodes
          ? setEnd(plan, plan.waitsFor[node]!, endUs)
          : lastOverBy(endUs, plan.nodes, offsetUs[child]! + slackUs))
    }
    replyUs[call] = serverUs[call]! - setEnd(plan, plan.replyWaitsFor, endUs)
  }
  return { preprocessingUs, replyUs }
}

/** The latest of the first `nodes` ends that is not after `byUs`; 0, the caller's start, if none is. */
function lastOverBy(endUs: Float64Array, nodes: number, byUs: number): number {
  let last = 0
  for (let node = 0; node < nodes; node++) {
    if (endUs[node]! <= byUs && endUs[node]! > last) last = endUs[node]!
  }
  return last
}
