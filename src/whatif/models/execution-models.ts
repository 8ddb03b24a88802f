// Over every call: the loops index with `!`.
import { group, rollup, rollups, sum } from 'd3-array'
import {
  type CallForest,
  callWeights,
  indexCalls,
  requireSpans,
  shownName,
} from '../../calls/call-forest.ts'
import type { CallName, CallPaths } from '../../calls/call-paths.ts'
import { InternalError, requireArgument } from '../../core/errors.ts'
import {
  custom,
  defineOptions,
  number,
  type OptionsOf,
  readOptions,
  text,
} from '../../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample, type WeightedSample } from '../../stats/weighted-sample.ts'
import { type GroupedRows, groupRows } from '../../traces/group-rows.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import {
  type CallOrder,
  clusterCalls,
  findCallOrders,
  type LearnedCluster,
  OrderTimes,
  type OwnTimes,
  ownTimes,
  type PeriodPlans,
  type TimedPeriod,
  type WaitPlan,
  waitAlike,
  waitGraph,
  waitPlan,
} from './call-orders.ts'

/** Calls that an execution model makes and nobody waits for. */
export interface UnawaitedCalls extends CallName {
  /** Number of these calls under all calls that follow the model. */
  readonly calls: number
}

/**
 * One flow of control of an operation: which calls it makes and waits for, and which of them only
 * begin when others are over.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.3.
 */
export interface ExecutionModel extends CallName {
  /** Place among all models. */
  readonly id: number
  readonly period: 0 | 1
  /** Called operation: a name of `CallPaths`. */
  readonly name: number
  /** Number of the flow: equal for models of the two periods with the same calls in a similar order. */
  readonly flow: number
  /** Calls that it makes, each the `occurrence`-th of its kind, from 0. */
  readonly nodes: readonly (CallName & { readonly occurrence: number })[]
  /** Nodes that each node waits for directly. */
  readonly predecessors: readonly (readonly number[])[]
  /** The nodes that the reply waits for directly. */
  readonly returnPredecessors: readonly number[]
  /** Calls that it does not wait for: detached, or over only after the reply. Most calls first. */
  readonly asynchronous: readonly UnawaitedCalls[]
  /** Number of calls that follow it, weighted by the requests that each stands for … */
  readonly calls: number
  /** … and how many of these break its order somewhere and are recomputed by their own. */
  readonly ownCalls: number
  /** Share among its period's calls of the operation. */
  readonly probability: number
}

export const EXECUTION_MODEL_OPTIONS = defineOptions({
  slackUs: number({
    default: 1,
    min: 0,
    unit: 'µs',
    sentence: 'Overlap with the next call up to which a call counts as over before it',
  }),
  service: text({
    default: '',
    flag: 'service <name>',
    sentence: 'Service whose calls are the requests, instead of those from outside',
  }),
  operation: text({
    default: '',
    flag: 'operation <name>',
    sentence: 'Operation whose calls are the requests',
  }),
  caller: text({
    default: '',
    flag: 'caller <service>',
    sentence: 'Service that makes these calls; others do not count as requests',
  }),
  similarity: custom<number>({
    default: 0.3,
    sentence:
      'Mean Jaccard distance above which orders of calls are different flows; 0 keeps all apart',
    accepts: (value) => typeof value === 'number' && value >= 0 && value < 1,
    expected: 'a distance from 0 up and below 1',
    flag: 'similarity <distance>',
    parse: Number,
  }),
  share: custom<number>({
    default: 0.99,
    sentence: "Share of a flow's calls that a pair of calls must be in order in",
    accepts: (value) => typeof value === 'number' && value > 0.5 && value <= 1,
    expected: 'a share above 0.5, at most 1',
  }),
})
export type ExecutionModelOptions = OptionsOf<typeof EXECUTION_MODEL_OPTIONS>

export interface LearnedPeriod extends PeriodPlans {
  readonly forest: CallForest
  /** Model of each call. */
  readonly modelOf: Uint32Array
  /** Number of each call's own order, among `ExecutionModels.orders`. */
  readonly orderOf: Uint32Array
  /** Clusters that its models were made of. */
  readonly clusters: readonly LearnedCluster[]
}

interface LearnedModels {
  readonly paths: CallPaths
  /** By period, then operation, then calls, most first. */
  readonly models: readonly ExecutionModel[]
  /** The orders that single calls showed, from which the models were made. */
  readonly orders: readonly CallOrder[]
  readonly options: ExecutionModelOptions
}

/** The execution models of one or two periods, learned apart. */
export class ExecutionModels extends columnarStage<LearnedModels>() {
  static readonly madeBy: string = 'models: what learnExecutionModels returns'
  readonly forests: readonly CallForest[]
  readonly #periods: readonly LearnedPeriod[]
  readonly #ownTimes: (OwnTimes | undefined)[] = []
  readonly #callsOf: (GroupedRows | undefined)[] = []
  readonly #flowOf: (Uint32Array | undefined)[] = []

  constructor(learned: LearnedModels, periods: readonly LearnedPeriod[]) {
    super(learned)
    this.forests = periods.map(({ forest }) => forest)
    this.#periods = periods
  }

  /**
   * Returns the number of each call's flow, by row of the period's forest: as `LearnedPeriod.modelOf`, but the same in
   * both periods, so that their proportions compare. Computed once.
   */
  flowOf(period: number): Uint32Array {
    this.#flowOf[period] ??= this.period(period).modelOf.map((model) => this.models[model]!.flow)
    return this.#flowOf[period]
  }

  /** Returns the preprocessing and reply time of each call under its model. Computed once. */
  ownTimes(period: number): OwnTimes {
    const learned = this.period(period)
    this.#ownTimes[period] ??= ownTimes(learned.forest, learned, this.options.slackUs)
    return this.#ownTimes[period]
  }

  /** Returns how the calls of a period wait for each other; for recomputation. */
  period(period: number): LearnedPeriod {
    const learned = this.#periods[period]
    if (learned === undefined) throw new InternalError(`no period ${period} was learned`)
    return learned
  }

  /** Returns the rows of the calls that follow a model. */
  callsOf({ id, period }: ExecutionModel): Uint32Array {
    this.#callsOf[period] ??= groupRows(this.period(period).modelOf, this.models.length)
    const { offsets, rows } = this.#callsOf[period]
    return rows.subarray(offsets[id], offsets[id + 1])
  }

  /** Returns the rows of the children of these calls at a node. */
  nodeCalls(model: ExecutionModel, node: number): Uint32Array {
    const { forest, nodeCalls } = this.period(model.period)
    return this.callsOf(model).map((call) => nodeCalls[forest.childOffsets[call]! + node]!)
  }

  /** Returns ascending times from the end of the last call waited for, by node, the reply's last, in µs. */
  preprocessing(model: ExecutionModel): WeightedSample[] {
    const { preprocessingUs, replyUs } = this.ownTimes(model.period)
    return [
      ...model.nodes.map((_, node) =>
        this.ascending(model, preprocessingUs, this.nodeCalls(model, node)),
      ),
      this.ascending(model, replyUs, this.callsOf(model)),
    ]
  }

  /** Returns ascending times of some calls of a model's period, with the number of calls that each stands for. */
  ascending({ period }: ExecutionModel, timesUs: Float64Array, calls: Uint32Array): WeightedSample {
    const { forest } = this.period(period)
    return ascendingSample(
      Float64Array.from(calls, (call) => timesUs[call]!),
      callWeights(forest, calls),
    )
  }

  /**
   * Returns one row per model: its operation, the number and order of calls it waits for, the number of calls that
   * follow it, and the number of calls that these make without waiting (`asynchronous`).
   */
  table(): StageTable {
    const { models, forests } = this
    const names =
      forests.length === 2 ? ['before', 'after'] : forests.map(({ traces }) => shownName(traces))
    return rowTable(models, {
      model: 'id',
      period: ({ period }) => names[period],
      ...own('service operation flow'),
      nodes: ({ nodes }) => nodes.length,
      edges: ({ predecessors, returnPredecessors }) =>
        sum([...predecessors, returnPredecessors], ({ length }) => length),
      asynchronous: ({ asynchronous }) => sum(asynchronous, ({ calls }) => calls),
      ...own('calls ownCalls probability'),
    })
  }

  /**
   * Returns one row per node of a model, and one for its reply: the nodes it waits for, and its delay after them
   * (`preprocessingUs`: the median; p10 and p90 in further columns).
   */
  nodeTable(): StageTable {
    const rows = this.models.flatMap((model) => {
      const { nodes, predecessors, returnPredecessors } = model
      const reply = { service: '', operation: 'reply', occurrence: 0 }
      const waits = [...predecessors, returnPredecessors]
      const samples = this.preprocessing(model)
      return [...nodes, reply].map((node, i) => ({
        ...node,
        model: model.id,
        i,
        sample: samples[i]!,
        waitsFor: waits[i] ?? [],
      }))
    })
    const at =
      (q: number) =>
      ({ sample: { values, weights } }: { readonly sample: WeightedSample }) =>
        quantile(values, q, weights)
    return rowTable(rows, {
      model: 'model',
      node: 'i',
      ...own('service operation occurrence'),
      waitsFor: ({ waitsFor }) => waitsFor.join(' '),
      preprocessingUs: at(0.5),
      p10Us: at(0.1),
      p90Us: at(0.9),
    })
  }
}

/**
 * Learns which of its calls each operation waits for, and in which order.
 *
 * Each call has a maximal model: everything its times say about the order of its children. Calls of one
 * operation with the same children are clustered, the most frequent order first; a cluster's model keeps the
 * pairs that hold in nearly all of its calls. A cluster is divided if some of its calls wait where others do
 * not: a call waits where the gap between the end of one child and the start of the next hardly varies.
 * A call that breaks its cluster's model keeps its own. Each period is learned alone: together, work
 * that was parallel and became sequential would look parallel in both.
 *
 * Of more than 256 calls, one waits for those that take longest.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.3; Mann et al., HotCloud 2011. The clustering is a
 * choice of ours: neither says which one they used. Sampled requests count by their weights.
 *
 * @param periods one period's traces, or before and after
 * @param options `slackUs` (default 1): how much a call may overlap the next and still count as over
 *   before it, µs. `similarity` (default 0.3): orders whose sets of pairs are further apart than this
 *   by Jaccard's distance, are different flows; 0 keeps all apart. `share` (default 0.99):
 *   in which share of a cluster's calls a pair must hold, above 0.5. `service`, `operation`, `caller`:
 *   these calls are the requests, instead of those from outside.
 * @throws FlowdeltaError for an unknown option, traces that are not of spans, or none; OptionError for one out of
 *   range.
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
  const drafts = clusters.map((cluster) => {
    const { model: id, name, members, violators, precedence, calls } = cluster
    const graph = waitGraph(precedence)
    const plan = plans.push(waitPlan(graph)) - 1
    for (const order of members) {
      modelOfOrder[order] = id
      planOfOrder[order] = plan
    }
    for (const order of violators) {
      planOfOrder[order] = plans.push(waitPlan(waitGraph(orders[order]!.precedence))) - 1
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

/**
 * Returns the nearest of some earlier models with the same flow: neither waits for a node that the other does not wait
 * for.
 */
function sameFlow(
  cluster: LearnedCluster,
  candidates: readonly number[],
  { models, clusters }: LearnedSoFar,
  { similarity }: ExecutionModelOptions,
): ExecutionModel | undefined {
  const near = candidates
    .map((model) => ({ model, apart: cluster.precedence.distanceTo(clusters[model]!.precedence) }))
    .filter(({ apart }) => apart <= similarity)
    .sort((one, other) => one.apart - other.apart)
  const same = near.find(({ model }) => waitAlike(cluster, clusters[model]!))
  return same && models[same.model]
}

/** Returns, by model, the calls that its calls make without waiting, most first. */
function unawaitedCalls(
  { forest, orderOf, nodeCalls, modelOf }: TimedPeriod & { readonly modelOf: Uint32Array },
  paths: CallPaths,
  orders: readonly CallOrder[],
): Map<number, readonly UnawaitedCalls[]> {
  const { childOffsets, path, parent, weight, request } = forest
  const unawaited: number[] = []
  orderOf.forEach((order, call) => {
    const first = childOffsets[call]! + orders[order]!.nodes.length
    for (let at = first; at < childOffsets[call + 1]!; at++) unawaited.push(nodeCalls[at]!)
  })
  return rollup(
    unawaited,
    (own) => {
      const calls = rollups(
        own,
        (same) => sum(same, (call) => weight[request[call]!]!),
        (call) => paths.name(path[call]!),
      )
      return calls
        .sort((a, b) => b[1] - a[1] || a[0] - b[0])
        .map(([name, calls]) => ({ ...paths.named(name), calls }))
    },
    (call) => modelOf[parent[call]!]!,
  )
}
