// Over every call that a scenario changes: the loops index with `!`.
import { type QuantileMap, quantileMap } from '../../stats/quantile-map.ts'
import type { ExecutionModel } from '../models/execution-model.ts'
import { orderClasses } from '../models/order-classes.ts'
import type { WaitPlan } from '../models/wait-plan.ts'
import type { LatencyChange } from '../recompute/latency-change.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import type { CallGroup } from './call-group.ts'
import { callRows } from './call-rows.ts'
import type { CandidateContext } from './candidate-context.ts'
import { groupTitle } from './group-title.ts'
import { onePerRequest } from './one-per-request.ts'
import type { Candidate } from './scenario.ts'
import { switchedCalls } from './switched-calls.ts'

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
