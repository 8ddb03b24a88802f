// Over every call: the loops index with `!`.
import type { CallForest } from '../calls/call-forest.ts'
import { setEnd, type WaitPlan } from './wait-plan.ts'

/** What every call of a period spends itself, under its model. */
export interface OwnTimes {
  /** From the end of the last call it waits for, or its caller's start, to its start, µs. */
  readonly preprocessingUs: Float64Array
  /** From the end of the last call it waits for, or its own start, to its reply, µs. */
  readonly replyUs: Float64Array
}

/** How a period's calls wait for each other. */
export interface PeriodPlans {
  /** By call. */
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
  let endUs = new Float64Array(64)
  for (let call = 0; call < serverUs.length; call++) {
    const first = childOffsets[call]!
    const count = childOffsets[call + 1]! - first
    const plan = plans[planOf[call]!]!
    if (count > endUs.length) endUs = new Float64Array(2 * count)
    for (let node = 0; node < plan.nodes; node++) {
      const child = nodeCalls[first + node]!
      endUs[node] = offsetUs[child]! + latencyUs[child]!
    }
    for (let node = 0; node < count; node++) {
      const child = nodeCalls[first + node]!
      const begunUs =
        node >= plan.nodes
          ? lastOverBy(endUs, plan.nodes, offsetUs[child]! + slackUs)
          : plan.waitsFor[node]! < 0
            ? 0
            : setEnd(plan, plan.waitsFor[node]!, endUs)
      preprocessingUs[child] = offsetUs[child]! - begunUs
    }
    const lastUs = plan.replyWaitsFor < 0 ? 0 : setEnd(plan, plan.replyWaitsFor, endUs)
    replyUs[call] = serverUs[call]! - lastUs
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
