// Over every call that a scenario changes: the loops index with `!`.
import { group, group as groupBy, rollup, sum } from 'd3-array'
import { remembered } from '../../core/remembered.ts'
import type { ExecutionModel, ExecutionModels } from '../models/execution-models.ts'
import { waitAlike } from '../models/split-waiting.ts'
import type { WaitPlan } from '../models/wait-plan.ts'
import type { LatencyChange, RequestModel } from '../recompute/request-model.ts'
import { type CallGroup, groupTitle } from './call-group.ts'
import { type CandidateContext, candidate } from './candidate-context.ts'
import {
  callRows,
  countCalls,
  samplePerRequest,
  spreadOrder,
  takeCalls,
  timesAs,
  timesAt,
} from './change-parts.ts'
import type { Candidate, EvidenceSample } from './scenario.ts'

/**
 * What if the calls of a group made their own calls in the order they do in the target: one after
 * the other, say, instead of all at once? Of calls with the same children as many take each order as
 * do there. None where nothing about the order is different.
 */
export function orderCandidates(context: CandidateContext, group: CallGroup): Candidate[] {
  const { paths, base, target, minimumPartition: least } = context
  if (target === null || switchedCalls(base, target, { group, least }).length === 0) return []
  return [
    candidate({
      kind: 'order',
      group,
      key: `order ${group.paths}`,
      title: `calls of ${groupTitle(paths, group)} in the order of after`,
      changes: (from, to) =>
        to === null
          ? []
          : switchedCalls(from, to, { group, least }).flatMap((each) =>
              reordered(from, to, { ...each, group }),
            ),
      evidence(from, to) {
        const kept = keysInSeveralOrders([from, to], group)
        return {
          measured: 'kinds',
          before: ordersOf(from, group, kept),
          after: ordersOf(to, group, kept),
        }
      },
    }),
  ]
}

interface SwitchedCalls {
  readonly calls: Uint32Array
  readonly from: ExecutionModel
  readonly to: ExecutionModel
}

/**
 * The changes that give calls another order. What waits for something else than before takes the
 * same quantile of the time that goes by before it in the target; all else keeps its own time.
 */
function reordered(
  base: RequestModel,
  target: RequestModel,
  { calls, from, to, group }: SwitchedCalls & { readonly group: CallGroup },
): LatencyChange[] {
  const { modelOf } = target.models.period(target.period)
  const there = callRows(target.forest, group.paths).filter((call) => modelOf[call] === to.id)
  const plan = usualPlan(target, there)
  if (plan === null) return []
  const timesLikeThere = (
    name: 'preprocessingUs' | 'replyUs',
    own: Uint32Array,
    of: Uint32Array,
  ) => ({
    calls: own,
    [name]: timesAs(
      timesAt(base, own, (call) => base[name][call]!),
      timesAt(target, of, (call) => target[name][call]!),
    ),
  })
  const changed = to.nodes
    .map((_, node) => node)
    .filter((node) => !haveSameNodes(from.predecessors[node], to.predecessors[node]))
  return [
    { calls, orders: Array.from(calls, () => plan) },
    ...changed.map((node) =>
      timesLikeThere(
        'preprocessingUs',
        childrenOf(base, calls, node),
        childrenOf(target, there, node),
      ),
    ),
    ...(haveSameNodes(from.returnPredecessors, to.returnPredecessors)
      ? []
      : [timesLikeThere('replyUs', calls, there)]),
  ]
}

function usualPlan({ models, period, forest }: RequestModel, calls: Uint32Array): WaitPlan | null {
  const { planOf, plans } = models.period(period)
  const counts = rollup(
    calls,
    (same) => countCalls(forest, same),
    (call) => planOf[call]!,
  )
  const [usual] = [...counts].sort((a, b) => b[1] - a[1])
  return usual === undefined ? null : plans[usual[0]]!
}

/** What some calls call as their `node`-th, ascending. */
function childrenOf({ models, period, forest }: RequestModel, calls: Uint32Array, node: number) {
  const { nodeCalls } = models.period(period)
  return calls.map((call) => nodeCalls[forest.childOffsets[call]! + node]!).sort()
}

function haveSameNodes(one: readonly number[] = [], other: readonly number[] = []): boolean {
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
      if ((orderOfKey.get(key) ?? classOf(call)) !== classOf(call)) several.add(key)
      orderOfKey.set(key, classOf(call))
    }
  }
  return several
}

function ordersOf(
  model: RequestModel,
  group: CallGroup,
  keys: ReadonlySet<number>,
): EvidenceSample {
  const calls = callRows(model.forest, group.paths).filter((call) => keys.has(keyOf(model, call)))
  return samplePerRequest(model.forest, calls, orderClassOf(model))
}

function orderClassOf({ models, period }: RequestModel): (call: number) => number {
  const classes = orderClasses(models)
  const { modelOf } = models.period(period)
  return (call) => classes[modelOf[call]!]!
}

function keyOf({ models, period }: RequestModel, call: number): number {
  return models.orders[models.period(period).orderOf[call]!]!.key
}

/**
 * Which calls have to change their order such that, of those that make the same calls, as many follow
 * each order as in `target`, by what they stand for. Calls that both periods have fewer than `least` of stay as they are.
 */
function switchedCalls(
  base: RequestModel,
  target: RequestModel,
  { group, least }: { readonly group: CallGroup; readonly least: number },
): SwitchedCalls[] {
  const classes = orderClasses(base.models)
  const theirs = callsByModel(target, group)
  const { forest } = base
  const switched: SwitchedCalls[] = []
  for (const [key, ofModels] of callsByModel(base, group)) {
    const wanted = theirs.get(key) ?? new Map<ExecutionModel, number[]>()
    const [count, countThere] = [ofModels, wanted].map((each) => sum(each.values(), lengthOf)) as [
      number,
      number,
    ]
    if (countThere === 0 || count < least || countThere < least) continue
    const scale =
      sum(ofModels.values(), (calls) => countCalls(forest, calls)) /
      sum(wanted.values(), (calls) => countCalls(target.forest, calls))
    // By class: how many calls too many it has, or, if negative, how many too few.
    const spare = new Map<number, number>()
    const add = (model: ExecutionModel, calls: number) => {
      const own = classes[model.id]!
      spare.set(own, (spare.get(own) ?? 0) + calls)
    }
    for (const [model, calls] of ofModels) add(model, countCalls(forest, calls))
    for (const [model, calls] of wanted) add(model, -countCalls(target.forest, calls) * scale)
    for (const [from, calls] of ofModels) {
      const left = spreadOrder(calls)
      for (const to of wanted.keys()) {
        const [many, few] = [spare.get(classes[from.id]!)!, spare.get(classes[to.id]!)!]
        const moved = takeCalls(forest, left, Math.min(many, -few))
        if (moved.length === 0) continue
        switched.push({ calls: moved, from, to })
        add(from, -countCalls(forest, moved))
        add(to, countCalls(forest, moved))
      }
    }
  }
  return switched
}

const lengthOf = ({ length }: ArrayLike<unknown>) => length

/** By what calls call, then by their model, rows. */
function callsByModel({ models, period, forest }: RequestModel, { paths }: CallGroup) {
  const { orderOf, modelOf } = models.period(period)
  const orderOfCall = (call: number) => models.orders[orderOf[call]!]!
  const ordered = callRows(forest, paths).filter((call) => {
    const { nodes, precedence } = orderOfCall(call)
    return nodes.length > 1 && precedence !== null
  })
  const keyOfCall = (call: number) => orderOfCall(call).key
  return groupBy(ordered, keyOfCall, (call) => models.models[modelOf[call]!]!)
}

/**
 * By model, the number of the order that its calls make theirs in: the same for models, of either
 * period, of which none waits for what another does not wait for. Models may differ by what was over
 * by chance, more often so where it became faster; that is no other order.
 */
export const orderClasses = remembered((models: ExecutionModels): Uint32Array => {
  const classes = Uint32Array.from(models.models, ({ id }) => id)
  const observed = models.forests.flatMap((_, period) =>
    models
      .period(period)
      .clusters.flatMap(({ precedence, ...cluster }) =>
        precedence === null || precedence.nodes < 2 ? [] : [{ ...cluster, precedence }],
      ),
  )
  for (const alike of group(observed, ({ key }) => key).values()) {
    // The models of most calls stand for their classes.
    const leaders: typeof observed = []
    alike.sort((a, b) => b.calls - a.calls || a.model - b.model)
    for (const one of alike) {
      const leader = leaders.find((other) => waitAlike(one, other))
      if (leader === undefined) leaders.push(one)
      classes[one.model] = (leader ?? one).model
    }
  }
  return classes
})
