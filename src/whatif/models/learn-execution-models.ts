// Over every call: the loops index with `!`.
import { readOptions } from '../../core/options.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import type { CallPaths } from '../calls/call-paths.ts'
import { type CallForest, indexCalls, requireSpans } from '../calls/index-calls.ts'
import { type CallOrder, findCallOrders, type PeriodOrders, wideOrder } from './call-orders.ts'
import { clusterCalls, type KeyedCluster } from './cluster-orders.ts'
import {
  EXECUTION_MODEL_OPTIONS,
  type ExecutionModel,
  type ExecutionModelOptions,
  ExecutionModels,
  graphOfBits,
  type LearnedPeriod,
  type ModelGraph,
  modelNodes,
  type UnawaitedCalls,
} from './execution-models.ts'
import { OrderTimes } from './order-times.ts'
import { type PrecedenceBits, precedenceDistance } from './precedence-bits.ts'
import { waitsForMore } from './split-waiting.ts'
import { type WaitPlan, waitPlan } from './wait-plan.ts'

/**
 * Learns which of its calls each operation waits for, and in which order.
 *
 * Each call has a maximal model: everything its times say about the order of its children. Calls of one
 * operation with the same children are clustered by average linkage; a cluster's model keeps the pairs
 * that hold in nearly all of its calls. A cluster is divided if some of its calls wait where others do
 * not: a call waits where the gap between the end of one child and the start of the next hardly varies.
 * A call that breaks its cluster's model keeps its own. Each period is learned alone: together, work
 * that was parallel and became sequential would look parallel in both.
 *
 * Calls that wait for more than 256 others are not clustered; each keeps its own order.
 *
 * @param periods one period's traces, or before and after
 * @param options see {@link EXECUTION_MODEL_OPTIONS}
 * @throws FlowdeltaError for an unknown option, traces without spans, or no traces; OptionError for a
 *   value that an option does not take
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.3; Mann et al., HotCloud 2011. The clustering is a
 * choice of ours: neither says which one they used.
 *
 * @param periods one period's traces, or before and after
 * @param options `slackUs` (default 1): how much a call may overlap the next and still count as over
 *   before it, µs. `similarity` (default 0.3): orders whose sets of pairs are further apart than this
 *   on average, by Jaccard's distance, are different flows; 0 keeps all apart. `share` (default 0.99):
 *   in which share of a cluster's calls a pair must hold, above 0.5.
 * @throws FlowdeltaError for an unknown option, traces that are not of spans, or none; OptionError for one out of range.
 *
 * @example
 * const { nodes, probability } = learnExecutionModels([before, after]).models[0]
 * nodes.map(({ operation }) => operation).join() // 'cache lookup,SN WRITE,MDS SETATTR'
 * probability.toFixed(2) // '0.53'
 */
export function learnExecutionModels(
  periods: TraceSet | readonly [before: TraceSet, after: TraceSet],
  options: Partial<ExecutionModelOptions> = {},
): ExecutionModels {
  const chosen = readOptions(EXECUTION_MODEL_OPTIONS, options)
  const given: readonly TraceSet[] = 'kind' in periods ? [periods] : periods
  const indexed = indexCalls(given.map((traces) => requireSpans(traces, traces.name)))
  const { orders, periods: ordersOf } = findCallOrders(indexed, chosen.slackUs)
  const learner = new Learner(indexed.paths, orders, chosen)
  const learned = indexed.forests.map((forest, period) =>
    learner.learn(forest, ordersOf[period] as PeriodOrders, period as 0 | 1),
  )
  return new ExecutionModels(
    indexed.paths,
    { models: learner.models, orders, periods: learned },
    chosen,
  )
}

/** A cluster, and when its period's calls ran. */
interface TimedCluster extends KeyedCluster {
  readonly times: OrderTimes
}

/** Learns the models of one period after the other, numbered through. */
class Learner {
  readonly models: ExecutionModel[] = []
  /** By model. */
  readonly #clusters: TimedCluster[] = []
  readonly #paths: CallPaths
  readonly #orders: readonly CallOrder[]
  readonly #options: ExecutionModelOptions
  #flows = 0

  constructor(paths: CallPaths, orders: readonly CallOrder[], options: ExecutionModelOptions) {
    this.#paths = paths
    this.#orders = orders
    this.#options = options
  }

  learn(forest: CallForest, observed: PeriodOrders, period: 0 | 1): LearnedPeriod {
    const callsOf = new Uint32Array(this.#orders.length)
    for (const order of observed.orderOf) callsOf[order] = (callsOf[order] as number) + 1
    const times = new OrderTimes({ forest, ...observed }, this.#orders.length)
    const clusters = clusterCalls(this.#orders, callsOf, { ...this.#options, times })
    const callsOfName = new Map<number, number>()
    for (const { name, calls } of clusters) {
      callsOfName.set(name, (callsOfName.get(name) ?? 0) + calls)
    }
    const modelOfOrder = new Uint32Array(this.#orders.length)
    const planOfOrder = new Uint32Array(this.#orders.length)
    const plans: WaitPlan[] = []
    const earlier = this.#modelsByKey()
    const first = this.models.length
    const drafts: Omit<ExecutionModel, 'asynchronous'>[] = []
    for (const cluster of clusters) {
      const { name, members, violators, bits, calls } = cluster
      const example = this.#orders[members[0] as number] as CallOrder
      const graph = this.#graph(bits, example, { forest, observed, order: members[0] as number })
      const model = first + drafts.length
      const plan = plans.push(planOfGraph(graph)) - 1
      for (const order of members) {
        modelOfOrder[order] = model
        planOfOrder[order] = plan
      }
      for (const order of violators) {
        const own = this.#orders[order] as CallOrder
        planOfOrder[order] =
          plans.push(planOfGraph(this.#graph(own.bits, own, { forest, observed, order }))) - 1
      }
      const { predecessors, returnPredecessors } = graph
      drafts.push({
        ...{ id: model, period, name, flow: this.#flow(cluster, earlier, times) },
        ...this.#paths.named(name),
        nodes: modelNodes(this.#paths, example),
        ...{ predecessors, returnPredecessors, calls },
        ownCalls: violators.reduce((sum, order) => sum + (callsOf[order] as number), 0),
        probability: calls / (callsOfName.get(name) as number),
      })
      this.#clusters.push({ ...cluster, times })
    }
    const { orderOf, nodeCalls } = observed
    const modelOf = orderOf.map((order) => modelOfOrder[order] as number)
    const unawaited = unawaitedCalls({
      ...{ paths: this.#paths, orders: this.#orders, forest, orderOf, nodeCalls, modelOf },
    })
    for (const draft of drafts) {
      this.models.push({ ...draft, asynchronous: unawaited.get(draft.id) ?? [] })
    }
    const planOf = orderOf.map((order) => planOfOrder[order] as number)
    return { forest, plans, nodeCalls, orderOf, modelOf, planOf }
  }

  #graph(
    bits: PrecedenceBits | null,
    { nodes }: CallOrder,
    observed: { forest: CallForest; observed: PeriodOrders; order: number },
  ): ModelGraph {
    if (bits !== null) return graphOfBits(bits, nodes.length)
    return wideGraph(observed, nodes.length, this.#options.slackUs)
  }

  /** The flow of the nearest model of the earlier period that is the same flow; else a new one. */
  #flow(
    cluster: KeyedCluster,
    earlier: ReadonlyMap<number, readonly number[]>,
    times: OrderTimes,
  ): number {
    const near = (earlier.get(cluster.key) ?? [])
      .map((model) => ({ model, apart: this.#apart(cluster, model) }))
      .filter(({ apart }) => apart <= this.#options.similarity)
      .sort((one, other) => one.apart - other.apart)
    const same = near.find(({ model }) => this.#isSameFlow({ ...cluster, times }, model))
    return same === undefined ? this.#flows++ : (this.models[same.model] as ExecutionModel).flow
  }

  #apart({ bits }: KeyedCluster, model: number): number {
    const other = this.#clusters[model]?.bits ?? null
    return bits === null || other === null ? 0 : precedenceDistance(bits, other)
  }

  /** Whether neither waits for what the other does not wait for. */
  #isSameFlow(cluster: TimedCluster, model: number): boolean {
    const earlier = this.#clusters[model] as TimedCluster
    if (cluster.bits === null || earlier.bits === null) return true
    const nodes = (this.#orders[cluster.members[0] as number] as CallOrder).nodes.length
    return (
      !waitsForMore({ own: cluster.bits, other: earlier.bits, nodes }, cluster) &&
      !waitsForMore({ own: earlier.bits, other: cluster.bits, nodes }, earlier)
    )
  }

  /** The models so far by key. */
  #modelsByKey(): Map<number, number[]> {
    const byKey = new Map<number, number[]>()
    this.#clusters.forEach(({ key }, model) => {
      const known = byKey.get(key)
      if (known === undefined) byKey.set(key, [model])
      else known.push(model)
    })
    return byKey
  }
}

function planOfGraph({ order, predecessors, returnPredecessors }: ModelGraph): WaitPlan {
  return waitPlan(order, predecessors, returnPredecessors)
}

/** The order of the one call that has it: no two very wide calls share theirs. */
function wideGraph(
  { forest, observed, order }: { forest: CallForest; observed: PeriodOrders; order: number },
  nodes: number,
  slackUs: number,
): ModelGraph {
  const first = forest.childOffsets[observed.orderOf.indexOf(order)] as number
  const calls = observed.nodeCalls.subarray(first, first + nodes)
  const startUs = Float64Array.from(calls, (call) => forest.offsetUs[call] as number)
  const endUs = startUs.map((us, i) => us + (forest.latencyUs[calls[i] as number] as number))
  return wideOrder(startUs, endUs, slackUs)
}

/** What the calls of one period made without waiting. */
interface UnawaitedIn {
  readonly paths: CallPaths
  readonly orders: readonly CallOrder[]
  readonly forest: CallForest
  readonly orderOf: Uint32Array
  readonly nodeCalls: Uint32Array
  /** By call. */
  readonly modelOf: Uint32Array
}

/** By model: what its calls call without waiting, most first. */
function unawaitedCalls(period: UnawaitedIn): Map<number, readonly UnawaitedCalls[]> {
  const { paths, orders, forest, orderOf, nodeCalls, modelOf } = period
  const counts = new Map<number, Map<number, number>>()
  for (let call = 0; call < modelOf.length; call++) {
    const end = forest.childOffsets[call + 1]!
    const awaited = orders[orderOf[call]!]!.nodes.length
    for (let at = forest.childOffsets[call]! + awaited; at < end; at++) {
      const name = paths.name(forest.path[nodeCalls[at]!]!)
      const own = counts.get(modelOf[call]!) ?? new Map<number, number>()
      counts.set(modelOf[call]!, own.set(name, (own.get(name) ?? 0) + 1))
    }
  }
  return new Map(
    Array.from(counts, ([model, own]) => [
      model,
      [...own]
        .sort((a, b) => b[1] - a[1] || a[0] - b[0])
        .map(([name, calls]) => ({
          ...paths.named(name),
          calls,
        })),
    ]),
  )
}
