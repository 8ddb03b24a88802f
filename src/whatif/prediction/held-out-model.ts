// Over every call: the loops index with `!`.
import { group, least } from 'd3-array'
import { quantile } from '../../stats/quantile.ts'
import { groupRows } from '../calls/index-calls.ts'
import { clusterCalls } from '../models/cluster-orders.ts'
import type { ExecutionModels } from '../models/execution-models.ts'
import { OrderTimes } from '../models/order-times.ts'
import type { Precedence } from '../models/precedence.ts'
import { setEnd, waitGraph, waitPlan } from '../models/wait-plan.ts'

/**
 * Learns to predict how long calls take from how long their children take.
 *
 * @param training 1 for the calls to learn from
 * @returns the server time that a call would have; `null` if none like it, with the same children,
 *   was learned from
 */
export function learnHeldOut(
  models: ExecutionModels,
  period: number,
  training: Uint8Array,
): (call: number) => number | null {
  const { orders, options } = models
  const learned = models.period(period)
  const { forest, orderOf, nodeCalls } = learned
  const { childOffsets, offsetUs, latencyUs, serverUs } = forest
  const { offsets, rows } = groupRows(orderOf, orders.length, training)
  const callsOf = Uint32Array.from(orders, (_, order) => offsets[order + 1]! - offsets[order]!)
  const times = new OrderTimes(learned, orders.length, training)

  /** Plans a cluster, with medians of what its calls spent themselves: by node, the reply's last. */
  const timed = (precedence: Precedence, members: readonly number[]) => {
    const plan = waitPlan(waitGraph(precedence))
    const calls = members.flatMap((order) => [...rows.subarray(offsets[order], offsets[order + 1])])
    const samples = Array.from({ length: plan.nodes + 1 }, () => new Float64Array(calls.length))
    calls.forEach((call, i) => {
      const first = childOffsets[call]!
      const children = nodeCalls.subarray(first, first + plan.nodes)
      const endUs = Float64Array.from(children, (child) => offsetUs[child]! + latencyUs[child]!)
      children.forEach((child, node) => {
        samples[node]![i] = offsetUs[child]! - setEnd(plan, plan.waitsFor[node]!, endUs)
      })
      samples[plan.nodes]![i] = serverUs[call]! - setEnd(plan, plan.replyWaitsFor, endUs)
    })
    const ownUs = samples.map((sample) => quantile(sample.sort(), 0.5))
    return { precedence, plan, ownUs }
  }
  const clusters = clusterCalls(orders, callsOf, { ...options, times }).flatMap(
    ({ key, precedence, members }) =>
      precedence === null ? [] : [{ key, ...timed(precedence, members) }],
  )
  const clustersOf = group(clusters, ({ key }) => key)

  return (call) => {
    const { key, precedence } = orders[orderOf[call]!]!
    if (precedence === null) return null
    // The nearest that the call does not contradict; the nearest of all if it contradicts all.
    const nearest = least(
      clustersOf.get(key) ?? [],
      (one) => precedence.distanceTo(one.precedence) + (precedence.holds(one.precedence) ? 0 : 1),
    )
    if (nearest === undefined) return null
    const { plan, ownUs } = nearest
    const endUs = new Float64Array(plan.nodes)
    for (const node of plan.order) {
      const begunUs = setEnd(plan, plan.waitsFor[node]!, endUs) + ownUs[node]!
      endUs[node] = begunUs + latencyUs[nodeCalls[childOffsets[call]! + node]!]!
    }
    return setEnd(plan, plan.replyWaitsFor, endUs) + ownUs[plan.nodes]!
  }
}
