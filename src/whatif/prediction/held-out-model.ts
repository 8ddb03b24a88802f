// Over every call: the loops index with `!`.
import { quantile } from '../../stats/quantile.ts'
import { clusterCalls, type KeyedCluster } from '../models/cluster-orders.ts'
import { type ExecutionModels, graphOfBits } from '../models/execution-models.ts'
import { OrderTimes } from '../models/order-times.ts'
import { holdsAll, precedenceDistance } from '../models/precedence-bits.ts'
import { setEnd, type WaitPlan, waitPlan } from '../models/wait-plan.ts'

/** A flow of control with the times that calls usually spend themselves. */
interface TimedModel {
  readonly plan: WaitPlan
  /** By node, µs. */
  readonly preprocessingUs: Float64Array
  readonly replyUs: number
}

/**
 * Predicts how long calls take from how long their children take, having learned from other calls.
 */
export class HeldOutModel {
  readonly #models: ExecutionModels
  readonly #period: number
  readonly #clusters = new Map<number, KeyedCluster[]>()
  readonly #timed = new Map<KeyedCluster, TimedModel>()

  /** @param training 1 for the calls to learn from */
  constructor(models: ExecutionModels, period: number, training: Uint8Array) {
    this.#models = models
    this.#period = period
    const { orderOf } = models.period(period)
    const callsOf = new Uint32Array(models.orders.length)
    const clusterOf = new Map<number, KeyedCluster>()
    for (let call = 0; call < training.length; call++) {
      if (training[call] === 1) callsOf[orderOf[call]!]!++
    }
    const times = new OrderTimes(
      { ...models.period(period), chosen: training },
      models.orders.length,
    )
    const options = { ...models.options, times }
    for (const cluster of clusterCalls(models.orders, callsOf, options)) {
      if (cluster.bits === null) continue
      for (const order of cluster.members) clusterOf.set(order, cluster)
      const known = this.#clusters.get(cluster.key)
      if (known === undefined) this.#clusters.set(cluster.key, [cluster])
      else known.push(cluster)
    }
    const callsOfCluster = new Map<KeyedCluster, number[]>()
    for (let call = 0; call < training.length; call++) {
      const cluster = clusterOf.get(orderOf[call]!)
      if (training[call] === 0 || cluster === undefined) continue
      const calls = callsOfCluster.get(cluster)
      if (calls === undefined) callsOfCluster.set(cluster, [call])
      else calls.push(call)
    }
    for (const [cluster, calls] of callsOfCluster)
      this.#timed.set(cluster, this.#time(cluster, calls))
  }

  /** The server time that a call would have; `null` if none like it, with the same children, was seen. */
  predict(call: number): number | null {
    const { forest, nodeCalls, orderOf } = this.#models.period(this.#period)
    const order = this.#models.orders[orderOf[call]!]!
    const nearest = this.#nearest(order.key, order.bits)
    if (nearest === undefined) return null
    const { plan, preprocessingUs, replyUs } = this.#timed.get(nearest)!
    const first = forest.childOffsets[call]!
    const endUs = new Float64Array(plan.nodes)
    for (const node of plan.order) {
      const set = plan.waitsFor[node]!
      const begunUs = (set < 0 ? 0 : setEnd(plan, set, endUs)) + preprocessingUs[node]!
      endUs[node] = begunUs + forest.latencyUs[nodeCalls[first + node]!]!
    }
    return (plan.replyWaitsFor < 0 ? 0 : setEnd(plan, plan.replyWaitsFor, endUs)) + replyUs
  }

  /** The nearest cluster that the call does not contradict; the nearest of all if it does all. */
  #nearest(key: number, bits: Uint32Array | null): KeyedCluster | undefined {
    if (bits === null) return undefined
    let nearest: KeyedCluster | undefined
    let least = Number.POSITIVE_INFINITY
    for (const cluster of this.#clusters.get(key) ?? []) {
      const contradicted = holdsAll(bits, cluster.bits!) ? 0 : 1
      const apart = precedenceDistance(bits, cluster.bits!) + contradicted
      if (apart >= least) continue
      nearest = cluster
      least = apart
    }
    return nearest
  }

  /** Medians of what the cluster's calls spent themselves. */
  #time({ bits }: KeyedCluster, calls: readonly number[]): TimedModel {
    const { forest, nodeCalls } = this.#models.period(this.#period)
    const first = forest.childOffsets
    const nodes = this.#models.orders[this.#models.period(this.#period).orderOf[calls[0]!]!]!.nodes
    const graph = graphOfBits(bits!, nodes.length)
    const plan = waitPlan(graph.order, graph.predecessors, graph.returnPredecessors)
    const samples = Array.from({ length: plan.nodes + 1 }, () => new Float64Array(calls.length))
    const endUs = new Float64Array(plan.nodes)
    calls.forEach((call, i) => {
      const children = nodeCalls.subarray(first[call]!, first[call]! + plan.nodes)
      children.forEach((child, node) => {
        endUs[node] = forest.offsetUs[child]! + forest.latencyUs[child]!
      })
      const after = (set: number) => (set < 0 ? 0 : setEnd(plan, set, endUs))
      children.forEach((child, node) => {
        samples[node]![i] = forest.offsetUs[child]! - after(plan.waitsFor[node]!)
      })
      samples[plan.nodes]![i] = forest.serverUs[call]! - after(plan.replyWaitsFor)
    })
    const usual = Float64Array.from(samples, (sample) => quantile(sample.sort(), 0.5))
    return { plan, preprocessingUs: usual.subarray(0, plan.nodes), replyUs: usual[plan.nodes]! }
  }
}
