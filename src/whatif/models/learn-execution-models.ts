// Over every call: the loops index with `!`.

import { group, rollup, sum } from 'd3-array'
import { indexCalls, requireSpans } from '../../calls/call-forest.ts'
import type { CallPaths } from '../../calls/call-paths.ts'
import { requireArgument } from '../../core/errors.ts'
import { readOptions } from '../../core/options.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import { type CallOrder, findCallOrders, wideOrder } from './call-orders.ts'
import { clusterCalls, type LearnedCluster } from './cluster-orders.ts'
import {
  EXECUTION_MODEL_OPTIONS,
  type ExecutionModel,
  type ExecutionModelOptions,
  ExecutionModels,
  type LearnedPeriod,
  type UnawaitedCalls,
} from './execution-models.ts'
import type { Precedence } from './precedence.ts'
import { OrderTimes, type TimedPeriod, waitAlike } from './split-waiting.ts'
import { type WaitGraph, type WaitPlan, waitGraph, waitPlan } from './wait-plan.ts'

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
 * Source: Ostrowski, Mann and Sandler 2011, §3.3; Mann et al., HotCloud 2011. The clustering is a
 * choice of ours: neither says which one they used. Sampled requests count by their weights.
 *
 * @param periods one period's traces, or before and after
 * @param options `slackUs` (default 1): how much a call may overlap the next and still count as over
 *   before it, µs. `similarity` (default 0.3): orders whose sets of pairs are further apart than this
 *   on average, by Jaccard's distance, are different flows; 0 keeps all apart. `share` (default 0.99):
 *   in which share of a cluster's calls a pair must hold, above 0.5. `service`, `operation`, `caller`:
 *   these calls are the requests, instead of those from outside.
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
  const given = [periods].flat() as readonly TraceSet[]
  requireArgument(
    'learnExecutionModels(periods)',
    periods,
    given.length === 1 || given.length === 2,
    'traces of one period or two',
  )
  const indexed = indexCalls(
    given.map((traces) => requireSpans(traces)),
    chosen,
  )
  const { orders, periods: observed } = findCallOrders(indexed, chosen.slackUs)
  const sofar: LearnedSoFar = { models: [], clusters: [], flows: 0 }
  const learned = indexed.forests.map((forest, period) =>
    learnPeriod({ ...observed[period]!, forest }, sofar, {
      paths: indexed.paths,
      orders,
      options: chosen,
      period: period as 0 | 1,
    }),
  )
  const { models } = sofar
  return new ExecutionModels({ paths: indexed.paths, models, orders, options: chosen }, learned)
}

/** Models of the periods before; the clusters are parallel to them. */
interface LearnedSoFar {
  readonly models: ExecutionModel[]
  readonly clusters: LearnedCluster[]
  flows: number
}

/** Learns the models of a period, and adds them to those so far. */
function learnPeriod(
  observed: TimedPeriod,
  sofar: LearnedSoFar,
  {
    paths,
    orders,
    options,
    period,
  }: Pick<ExecutionModels, 'paths' | 'orders' | 'options'> & { readonly period: 0 | 1 },
): LearnedPeriod {
  const { forest, orderOf, nodeCalls } = observed
  const callsOf = new Float64Array(orders.length)
  orderOf.forEach((order, call) => {
    callsOf[order]! += forest.weight[forest.request[call]!]!
  })
  const times = new OrderTimes(observed, orders.length)
  const clusters = clusterCalls(orders, callsOf, { ...options, times }).map(
    (cluster, i): LearnedCluster => ({ ...cluster, model: sofar.models.length + i, times }),
  )
  const callsOfName = rollup(
    clusters,
    (all) => sum(all, ({ calls }) => calls),
    ({ name }) => name,
  )
  const earlier = group(sofar.clusters.keys(), (model) => sofar.clusters[model]!.key)
  const modelOfOrder = new Uint32Array(orders.length)
  const planOfOrder = new Uint32Array(orders.length)
  const plans: WaitPlan[] = []
  const graphOf = (precedence: Precedence | null, order: number): WaitGraph => {
    if (precedence !== null) return waitGraph(precedence)
    // No two very wide calls share their order.
    const first = forest.childOffsets[orderOf.indexOf(order)]!
    const calls = nodeCalls.subarray(first, first + orders[order]!.nodes.length)
    const startUs = Float64Array.from(calls, (child) => forest.offsetUs[child]!)
    const endUs = startUs.map((us, at) => us + forest.latencyUs[calls[at]!]!)
    return wideOrder(startUs, endUs, options.slackUs)
  }
  const drafts = clusters.map((cluster) => {
    const { model: id, name, members, violators, precedence, calls } = cluster
    const graph = graphOf(precedence, members[0]!)
    const plan = plans.push(waitPlan(graph)) - 1
    for (const order of members) {
      modelOfOrder[order] = id
      planOfOrder[order] = plan
    }
    for (const order of violators) {
      planOfOrder[order] = plans.push(waitPlan(graphOf(orders[order]!.precedence, order))) - 1
    }
    const { nodes } = orders[members[0]!]!
    const same = sameFlow(cluster, earlier.get(cluster.key) ?? [], sofar, options)
    return {
      id,
      period,
      name,
      flow: same?.flow ?? sofar.flows++,
      ...paths.named(name),
      // Equal names are next to each other, by start.
      nodes: nodes.map((node, at) => ({
        ...paths.named(node),
        occurrence: at - nodes.indexOf(node),
      })),
      predecessors: graph.predecessors,
      returnPredecessors: graph.returnPredecessors,
      calls,
      ownCalls: sum(violators, (order) => callsOf[order]!),
      probability: calls / callsOfName.get(name)!,
    }
  })
  const modelOf = orderOf.map((order) => modelOfOrder[order]!)
  const planOf = orderOf.map((order) => planOfOrder[order]!)
  const unawaited = unawaitedCalls({ ...observed, modelOf }, paths, orders)
  sofar.clusters.push(...clusters)
  for (const draft of drafts) {
    sofar.models.push({ ...draft, asynchronous: unawaited.get(draft.id) ?? [] })
  }
  return { forest, plans, nodeCalls, orderOf, modelOf, planOf, clusters }
}

/** The nearest of some earlier models that is the same flow: neither waits for what the other does not. */
function sameFlow(
  cluster: LearnedCluster,
  candidates: readonly number[],
  { models, clusters }: LearnedSoFar,
  { similarity }: ExecutionModelOptions,
): ExecutionModel | undefined {
  const { precedence } = cluster
  const near = candidates
    .map((model) => {
      const other = clusters[model]!
      const isWide = precedence === null || other.precedence === null
      const apart = isWide ? 0 : precedence.distanceTo(other.precedence)
      const isSame = () =>
        isWide || waitAlike({ ...cluster, precedence }, { ...other, precedence: other.precedence })
      return { model: models[model]!, apart, isSame }
    })
    .filter(({ apart }) => apart <= similarity)
    .sort((one, other) => one.apart - other.apart)
  return near.find(({ isSame }) => isSame())?.model
}

/** By model: what its calls call without waiting, most first. */
function unawaitedCalls(
  { forest, orderOf, nodeCalls, modelOf }: TimedPeriod & { readonly modelOf: Uint32Array },
  paths: CallPaths,
  orders: readonly CallOrder[],
): Map<number, readonly UnawaitedCalls[]> {
  const { childOffsets, path } = forest
  const counts = new Map<number, Map<number, number>>()
  modelOf.forEach((model, call) => {
    const awaited = orders[orderOf[call]!]!.nodes.length
    for (let at = childOffsets[call]! + awaited; at < childOffsets[call + 1]!; at++) {
      const name = paths.name(path[nodeCalls[at]!]!)
      const own = counts.get(model) ?? new Map<number, number>()
      counts.set(model, own.set(name, (own.get(name) ?? 0) + forest.weight[forest.request[call]!]!))
    }
  })
  return new Map(
    Array.from(counts, ([model, own]) => [
      model,
      [...own]
        .sort((a, b) => b[1] - a[1] || a[0] - b[0])
        .map(([name, calls]) => ({ ...paths.named(name), calls })),
    ]),
  )
}
