// Over every call that a scenario changes: the loops index with `!`.
import { type QuantileMap, quantileMap } from '../../stats/quantile-map.ts'
import type { ExecutionModel } from '../models/execution-models.ts'
import { orderClasses } from '../models/order-classes.ts'
import type { WaitPlan } from '../models/wait-plan.ts'
import type { LatencyChange } from '../recompute/latency-change.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import { type CallGroup, groupTitle } from './call-group.ts'
import type { CandidateContext } from './candidate-context.ts'
import { callRows, onePerRequest, spreadOrder } from './change-parts.ts'
import type { Candidate } from './scenario.ts'

/**
 * What if the calls of a group made their own calls in the order they do in the target: one after
 * the other, say, instead of all at once? Of calls with the same children as many take each order as
 * do there. None where nothing about the order is different.
 */
export function orderCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  const { paths, base, target, minimumPartition } = context
  if (target === null) return []
  const switched = switchedCalls(base, target, { paths: group.paths, least: minimumPartition })
  if (switched.length === 0) return []
  return [
    {
      kind: 'order',
      key: `order ${group.paths}`,
      title: `calls of ${groupTitle(paths, group)} in the order of after`,
      service: group.service,
      operation: group.operation,
      path: group.paths.length === 1 ? (group.paths[0] as number) : null,
      within: () => [],
      apply: (from, to) => ({
        changes:
          to === null
            ? []
            : switchedCalls(from, to, { paths: group.paths, least: minimumPartition }).flatMap(
                (each) => reordered(from, to, { ...each, group }),
              ),
        weight: null,
      }),
      evidence(from, to) {
        const kept = keysInSeveralOrders([from, to], group)
        return {
          ...{ measured: 'kinds', before: ordersOf(from, group, kept) },
          after: ordersOf(to, group, kept),
        }
      },
    },
  ]
}

interface Reordered {
  readonly group: CallGroup
  /** Rows of the calls. */
  readonly calls: Uint32Array
  /** Models that they have, and are to have. */
  readonly from: ExecutionModel
  readonly to: ExecutionModel
}

/**
 * The changes that give calls another order. What waits for something else than before takes the
 * same quantile of the time that goes by before it in the target; all else keeps its own time.
 */
function reordered(base: RequestModel, target: RequestModel, one: Reordered): LatencyChange[] {
  const { calls, from, to, group } = one
  const there = callRows(target.forest, group.paths).filter(
    (call) => target.models.modelOf(target.period)[call] === to.id,
  )
  const plan = usualPlan(target, there)
  if (plan === null) return []
  const changes: LatencyChange[] = [{ calls, orders: Array.from(calls, () => plan) }]
  to.nodes.forEach((_, node) => {
    if (sameNodes(from.predecessors[node], to.predecessors[node])) return
    const own = childrenOf(base, calls, node)
    const map = mapBetween(base.preprocessingUs, own, {
      timesUs: target.preprocessingUs,
      rows: childrenOf(target, there, node),
    })
    changes.push({
      calls: own,
      preprocessingUs: Float64Array.from(own, (call) => map(base.preprocessingUs[call]!)),
    })
  })
  if (!sameNodes(from.returnPredecessors, to.returnPredecessors)) {
    const map = mapBetween(base.replyUs, calls, { timesUs: target.replyUs, rows: there })
    changes.push({ calls, replyUs: Float64Array.from(calls, (call) => map(base.replyUs[call]!)) })
  }
  return changes
}

/** The plan of most of some calls. */
function usualPlan({ models, period }: RequestModel, calls: Uint32Array): WaitPlan | null {
  const { planOf, plans } = models.period(period)
  const counts = new Map<number, number>()
  for (const call of calls) counts.set(planOf[call]!, (counts.get(planOf[call]!) ?? 0) + 1)
  const [usual] = [...counts].sort((a, b) => b[1] - a[1])
  return usual === undefined ? null : plans[usual[0]]!
}

/** What some calls call as their `node`-th, ascending. */
function childrenOf({ models, period, forest }: RequestModel, calls: Uint32Array, node: number) {
  const { nodeCalls } = models.period(period)
  return calls.map((call) => nodeCalls[forest.childOffsets[call]! + node]!).sort()
}

function mapBetween(
  timesUs: Float64Array,
  rows: Uint32Array,
  to: { readonly timesUs: Float64Array; readonly rows: Uint32Array },
): QuantileMap {
  return quantileMap(
    Float64Array.from(rows, (row) => timesUs[row]!),
    Float64Array.from(to.rows, (row) => to.timesUs[row]!),
  )
}

function sameNodes(one: readonly number[] = [], other: readonly number[] = []): boolean {
  return one.length === other.length && one.every((node, i) => node === other[i])
}

/** The kinds of calls, by what they call, of which there are several orders. */
function keysInSeveralOrders(models: readonly RequestModel[], group: CallGroup): Set<number> {
  const orderOfKey = new Map<number, number>()
  const several = new Set<number>()
  for (const model of models) {
    const classOf = orderClassOf(model)
    for (const call of callRows(model.forest, group.paths)) {
      const key = keyOf(model, call)
      const known = orderOfKey.get(key)
      if (known !== undefined && known !== classOf(call)) several.add(key)
      orderOfKey.set(key, classOf(call))
    }
  }
  return several
}

function ordersOf(model: RequestModel, group: CallGroup, keys: ReadonlySet<number>): Float64Array {
  const calls = callRows(model.forest, group.paths).filter((call) => keys.has(keyOf(model, call)))
  return Float64Array.from(onePerRequest(model.forest, calls), orderClassOf(model))
}

function orderClassOf({ models, period }: RequestModel): (call: number) => number {
  const classes = orderClasses(models)
  const modelOf = models.modelOf(period)
  return (call) => classes[modelOf[call]!]!
}

function keyOf({ models, period }: RequestModel, call: number): number {
  return models.orders[models.period(period).orderOf[call]!]!.key
}

/** Calls that follow one model and are to follow another, of the other period. */
interface SwitchedCalls {
  /** Rows, ascending. */
  readonly calls: Uint32Array
  readonly from: ExecutionModel
  readonly to: ExecutionModel
}

/** Shares times counts may miss a whole number by rounding. */
const ROUNDING = 1e-9

/**
 * Which calls have to change their order such that, of those that make the same calls, as many follow
 * each order as in `target`. Calls that both periods have fewer than `least` of stay as they are.
 */
function switchedCalls(
  base: RequestModel,
  target: RequestModel,
  { paths, least }: { readonly paths: readonly number[]; readonly least: number },
): SwitchedCalls[] {
  const classes = orderClasses(base.models)
  const own = callsByModel(base, paths)
  const theirs = callsByModel(target, paths)
  const switched: SwitchedCalls[] = []
  for (const [key, ofModels] of own) {
    const wanted = theirs.get(key)
    if (wanted === undefined) continue
    const [count, countThere] = [sizeOf(ofModels), sizeOf(wanted)]
    if (count < least || countThere < least) continue
    // By class: how many calls too many it has, or, if negative, how many too few.
    const spare = new Map<number, number>()
    const add = (model: ExecutionModel, calls: number) => {
      const own = classes[model.id]!
      spare.set(own, (spare.get(own) ?? 0) + calls)
    }
    for (const [model, calls] of ofModels) add(model, calls.length)
    for (const [model, calls] of wanted) add(model, (-calls.length / countThere) * count)
    for (const [from, calls] of ofModels) {
      const left = spreadOrder(calls)
      for (const to of wanted.keys()) {
        const [many, few] = [spare.get(classes[from.id]!)!, spare.get(classes[to.id]!)!]
        const moved = Math.floor(Math.min(many, -few, left.length) + ROUNDING)
        if (moved <= 0) continue
        switched.push({ calls: Uint32Array.from(left.splice(0, moved)).sort(), from, to })
        add(from, -moved)
        add(to, moved)
      }
    }
  }
  return switched
}

/** By what calls call, then by their model, rows. */
function callsByModel({ models, period, forest }: RequestModel, paths: readonly number[]) {
  const { orderOf, modelOf } = models.period(period)
  const found = new Map<number, Map<ExecutionModel, number[]>>()
  for (const call of callRows(forest, paths)) {
    const { key, nodes, bits } = models.orders[orderOf[call]!]!
    if (nodes.length < 2 || bits === null) continue
    const model = models.models[modelOf[call]!]!
    const ofKey = found.get(key) ?? new Map<ExecutionModel, number[]>()
    if (ofKey.size === 0) found.set(key, ofKey)
    const calls = ofKey.get(model)
    if (calls === undefined) ofKey.set(model, [call])
    else calls.push(call)
  }
  return found
}

function sizeOf(ofModels: ReadonlyMap<ExecutionModel, readonly number[]>): number {
  let size = 0
  for (const calls of ofModels.values()) size += calls.length
  return size
}
