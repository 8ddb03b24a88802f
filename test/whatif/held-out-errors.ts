// Over every call: the loops index with `!`.
import { group, least } from 'd3-array'
import type { CallForest } from '../../src/calls/call-forest.ts'
import { getOrInsert } from '../../src/core/entries.ts'
import type { Precedence } from '../../src/flows/precedence.ts'
import { leastSquares } from '../../src/stats/least-squares.ts'
import { quantile } from '../../src/stats/quantile.ts'
import { randomSource } from '../../src/stats/random.ts'
import { groupRows } from '../../src/traces/group-rows.ts'
import {
  clusterCalls,
  OrderTimes,
  setEnd,
  waitGraph,
  waitPlan,
} from '../../src/whatif/models/call-orders.ts'
import type { ExecutionModels } from '../../src/whatif/models/execution-models.ts'

/** Errors of predictions: medians of |predicted / recorded − 1|. */
interface HeldOutErrors {
  /** Calls that were predicted: those that wait for children. */
  readonly calls: number
  /** Calls that were not, as none with the same children was among those learned from. */
  readonly unlike: number
  /** Error of the nearest execution model with its usual preprocessing times. */
  readonly model: number
  /** Error of linear regression on the latencies of children. */
  readonly regression: number
  /** Error of the sum of latencies along the call's critical path. */
  readonly criticalPath: number
}

interface Tally {
  readonly model: number[]
  readonly regression: number[]
  readonly criticalPath: number[]
  unlike: number
}

/**
 * Learns from each random half of a period's requests how long every call of the other half takes in its server, given
 * the latencies of its children. Compares execution models with linear regression per operation and the sum along the
 * critical path, on the same calls (Mann et al. 2011).
 */
export function heldOutErrors(models: ExecutionModels): HeldOutErrors {
  const tally: Tally = { model: [], regression: [], criticalPath: [], unlike: 0 }
  models.forests.forEach((forest, period) => {
    const half = halfOf(forest, 1)
    for (const training of [half, half.map((chosen) => 1 - chosen)]) {
      predictPeriod(models, period, { training, tally })
    }
  })
  const median = (errors: readonly number[]) => quantile(Float64Array.from(errors).sort(), 0.5)
  return {
    calls: tally.model.length,
    unlike: tally.unlike,
    model: median(tally.model),
    regression: median(tally.regression),
    criticalPath: median(tally.criticalPath),
  }
}

/** Returns 1 for the calls of a random half of requests. */
function halfOf({ request, requestTrace }: CallForest, seed: number): Uint8Array {
  const random = randomSource(seed)
  const order = random.shuffle(Array.from(requestTrace.keys()))
  const chosen = new Set(order.slice(0, order.length >> 1))
  return Uint8Array.from(request, (one) => (chosen.has(one) ? 1 : 0))
}

function predictPeriod(
  models: ExecutionModels,
  period: number,
  { training, tally }: { readonly training: Uint8Array; readonly tally: Tally },
): void {
  const { forest, orderOf } = models.period(period)
  const orderOfCall = (call: number) => models.orders[orderOf[call]!]!
  const callers = [...orderOf.keys()].filter((call) => orderOfCall(call).nodes.length > 0)
  const heldOut = learnHeldOut(models, period, training)
  for (const calls of group(callers, (call) => orderOfCall(call).name).values()) {
    const learned = calls.filter((call) => training[call] === 1)
    if (learned.length === 0) continue
    const regression = regressionOf(models, period, { calls, learned })
    for (const call of calls) {
      const recordedUs = forest.serverUs[call]!
      if (training[call] === 1 || recordedUs === 0) continue
      const predictedUs = heldOut(call)
      if (predictedUs === null) {
        tally.unlike++
        continue
      }
      const error = (us: number) => Math.abs(us / recordedUs - 1)
      tally.model.push(error(predictedUs))
      tally.regression.push(error(regression(call)))
      tally.criticalPath.push(error(criticalPathSum(models, period, call)))
    }
  }
}

/** Most columns for a regression; further children count with the last. */
const MAX_COLUMNS = 100

/**
 * Fits a linear regression of the server time of one operation's calls on the latencies of their children: a column for
 * each operation and occurrence, 0 where it was not called.
 *
 * @param calls all that are to be predicted, and `learned`, those to learn from
 */
function regressionOf(
  models: ExecutionModels,
  period: number,
  { calls, learned }: { readonly calls: readonly number[]; readonly learned: readonly number[] },
): (call: number) => number {
  const { forest, nodeCalls, orderOf } = models.period(period)
  const columnOf = new Map<string, number>()
  const columnsOf = new Map<number, readonly number[]>()
  for (const call of calls) {
    const order = orderOf[call]!
    if (columnsOf.has(order)) continue
    const { nodes } = models.orders[order]!
    const columns = nodes.map((node, i) => {
      const child = `${node} ${i - nodes.indexOf(node)}`
      return getOrInsert(columnOf, child, () => Math.min(columnOf.size, MAX_COLUMNS - 1))
    })
    columnsOf.set(order, columns)
  }
  const width = Math.min(columnOf.size, MAX_COLUMNS)
  const row = (call: number) => {
    const latencyUs = new Float64Array(width)
    columnsOf.get(orderOf[call]!)!.forEach((column, node) => {
      latencyUs[column]! += forest.latencyUs[nodeCalls[forest.childOffsets[call]! + node]!]!
    })
    return latencyUs
  }
  const predict = leastSquares(
    learned.map(row),
    learned.map((call) => forest.serverUs[call]!),
  )
  return (call) => predict(row(call))
}

/**
 * Returns the latencies of the children on a call's own critical path, added up: of the one that its reply waited for
 * last, of the one that this one waited for last, and so on.
 */
function criticalPathSum(models: ExecutionModels, period: number, call: number): number {
  const { forest, nodeCalls, orderOf } = models.period(period)
  const { nodes } = models.orders[orderOf[call]!]!
  const first = forest.childOffsets[call]!
  const endUs = (child: number) => forest.offsetUs[child]! + forest.latencyUs[child]!
  const children = nodeCalls.slice(first, first + nodes.length)
  let sumUs = 0
  let byUs = Number.POSITIVE_INFINITY
  for (const child of children.sort((a, b) => endUs(b) - endUs(a))) {
    if (endUs(child) > byUs) continue
    sumUs += forest.latencyUs[child]!
    byUs = forest.offsetUs[child]! + models.options.slackUs
  }
  return sumUs
}

/**
 * Learns to predict how long calls take from how long their children take.
 *
 * @param training 1 for the calls to learn from
 * @returns the server time that a call would have; `null` if none like it, with the same children,
 *   was learned from
 */
function learnHeldOut(
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

  /** Plans a cluster, with the median own times of its calls: by node, the reply's last. */
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
