// Distances between up to 2,000 orders of one operation: the loops index with `!`.
import { group as groupBy, least, sum } from 'd3-array'
import { type CallForest, callWeights } from '../../calls/call-forest.ts'
import { closedPrecedence, Precedence, topologicalOrder } from '../../flows/precedence.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample, worthOf } from '../../stats/weighted-sample.ts'
import { type GroupedRows, groupRows } from '../../traces/group-rows.ts'
import { type CallOrder, type PeriodOrders, waitGraph } from './call-orders.ts'

interface ClusterOptions {
  /** Orders further apart on average than this (Jaccard's distance of their pairs) stay apart. */
  readonly similarity: number
  /** A cluster has the pairs that hold in at least this share of its calls. */
  readonly share: number
  /** When the calls ran; without it, groups are not divided. */
  readonly times?: OrderTimes
}

interface OrderCluster {
  readonly members: readonly number[]
  /** The pairs that (nearly) all calls of its orders have, closed. */
  readonly precedence: Precedence
  /** Orders among `members` that lack some of these pairs: they keep their own order. */
  readonly violators: readonly number[]
  readonly calls: number
}

/**
 * Groups the orders of one name and the same nodes, the most frequent first. Groups in which only
 * some calls wait for each other are divided again; see `splitByWaiting`.
 *
 * @param members numbers in `orders`
 * @param calls how many calls have each of `members`
 */
export function clusterOrders(
  orders: readonly CallOrder[],
  { members, calls }: { readonly members: readonly number[]; readonly calls: readonly number[] },
  options: ClusterOptions,
): OrderCluster[] {
  const { times, similarity } = options
  const precedences = members.map((order) => orders[order]!.precedence)
  const nodes = orders[members[0]!]!.nodes.length
  const weighed: WeighedOrders = { members, precedences, calls, nodes }
  const similar = sortedGroups(nearGroups(weighed, similarity), calls)
  const groups =
    times === undefined
      ? similar
      : sortedGroups(
          similar.flatMap((group) => splitByWaiting(weighed, group, times)),
          calls,
        )
  return groups.map((group) => {
    const precedence = commonPrecedence(weighed, group, options)
    const violators = group.filter((i) => !precedences[i]!.holds(precedence))
    return {
      members: group.map((i) => members[i]!),
      precedence,
      violators: violators.map((i) => members[i]!),
      calls: sum(group, (i) => calls[i]),
    }
  })
}

/** Most groups that are made, and most of a group's orders that others are compared with. */
const [MAX_GROUPS, MAX_COMPARED] = [256, 64]

/** Each order, the most frequent first, joins the group that it is nearest to on average, or founds one. */
function nearGroups({ precedences, calls }: WeighedOrders, cut: number): Group[] {
  const byCalls = precedences.map((_, i) => i).sort((a, b) => calls[b]! - calls[a]! || a - b)
  const groups: number[][] = []
  for (const i of byCalls) {
    const apart = (group: Group) => {
      const compared = group.slice(0, MAX_COMPARED)
      const all = sum(compared, (other) => calls[other])
      return (
        sum(compared, (other) => calls[other]! * precedences[i]!.distanceTo(precedences[other]!)) /
        all
      )
    }
    const nearest = least(groups, (one, other) => apart(one) - apart(other))
    const isFar = nearest === undefined || apart(nearest) > cut
    if (isFar && groups.length < MAX_GROUPS) groups.push([i])
    else nearest?.push(i)
  }
  return groups
}

/** Returns the group with most calls first; members in order. */
function sortedGroups(groups: readonly Group[], calls: readonly number[]): Group[] {
  const total = (group: Group) => sum(group, (i) => calls[i])
  return groups
    .map((group) => group.toSorted((a, b) => a - b))
    .sort((a, b) => total(b) - total(a) || a[0]! - b[0]!)
}

/**
 * Returns the pairs in nearly all of a group's calls, and those that all but a few calls wait for, closed; those in all
 * calls, should these run in a circle.
 */
function commonPrecedence(
  orders: WeighedOrders,
  group: Group,
  { share, times }: ClusterOptions,
): Precedence {
  const own = group.map((i) => orders.precedences[i]!)
  if (own.length === 1) return own[0]!
  const enough = share * sum(group, (i) => orders.calls[i])
  const awaited = times && usuallyAwaited(orders, group, times)
  const common = pairsWhere(
    orders,
    group,
    ({ a, b, held }) => held >= enough || awaited?.has(a, b) === true,
  )
  const has = (a: number, b: number) => common.has(a, b)
  const order = topologicalOrder(common.nodes, has)
  if (order === null) return own.reduce((always, one) => always.and(one))
  return closedPrecedence(order, has).precedence
}

/** Cluster with its key: an operation, and the children that its calls wait for. */
type KeyedCluster = OrderCluster & Pick<CallOrder, 'name' | 'key'>

/** A cluster that became the model of that number, and when its period's calls ran. */
export interface LearnedCluster extends KeyedCluster {
  readonly model: number
  readonly times: OrderTimes
}

/**
 * Clusters calls, each operation and each set of children by itself.
 *
 * @param callsOf how many calls have each of `orders`; orders of none take no part
 * @returns clusters by operation, then calls, most first
 */
export function clusterCalls(
  orders: readonly CallOrder[],
  callsOf: ArrayLike<number>,
  options: ClusterOptions,
): KeyedCluster[] {
  const present = Array.from(callsOf, (_, order) => order).filter((order) => callsOf[order]! > 0)
  const byKey = groupBy(present, (order) => orders[order]!.key)
  return Array.from(byKey)
    .flatMap(([key, members]) => {
      const { name } = orders[members[0]!]!
      const calls = members.map((order) => callsOf[order]!)
      const clusters = clusterOrders(orders, { members, calls }, options)
      return clusters.map((cluster) => ({ ...cluster, name, key }))
    })
    .sort((a, b) => a.name - b.name || b.calls - a.calls || a.members[0]! - b.members[0]!)
}

/** Most calls read to measure the variation of a time. */
const MAX_SAMPLED = 1000

/** The calls that follow each order, and when the calls that they wait for ran. */
export interface TimedPeriod extends PeriodOrders {
  readonly forest: CallForest
}

/** Times of the nodes of orders in a period: they distinguish waiting from chance. */
export class OrderTimes {
  readonly #period: TimedPeriod
  readonly #calls: GroupedRows
  /** Worth of a call, relative to the calls that it stands for: 1 unless requests are weighted. */
  readonly worth: number

  /**
   * @param orders how many orders there are
   * @param chosen 1 for calls that take part; all do when left out
   */
  constructor(period: TimedPeriod, orders: number, chosen?: Uint8Array) {
    this.#period = period
    this.#calls = groupRows(period.orderOf, orders, chosen)
    const { weight } = period.forest
    this.worth = worthOf(weight, weight) / sum(weight)
  }

  /**
   * Returns the ratio of two interquartile ranges: that of the time from the end of node `a` to the start of node `b`,
   * and that of the time from the end of everything else that `b` waits for to its start. Near 0 if `b` waits for `a`;
   * near 1 and above if `a` was over by chance.
   *
   * @param members orders that have the pair
   * @param others the other pairs, in which one node comes before the other
   */
  spread(
    members: readonly number[],
    { a, b, others }: { readonly a: number; readonly b: number; readonly others: Precedence },
  ): number {
    const calls = this.#sampled(members)
    const { forest, nodeCalls } = this.#period
    const { childOffsets, offsetUs, latencyUs } = forest
    const before = Array.from({ length: others.nodes }, (_, node) => node).filter(
      (node) => node !== a && others.has(node, b),
    )
    const waited = new Float64Array(calls.length)
    const without = new Float64Array(calls.length)
    calls.forEach((call, i) => {
      const first = childOffsets[call]!
      const endOf = (node: number) => {
        const child = nodeCalls[first + node]!
        return offsetUs[child]! + latencyUs[child]!
      }
      const startUs = offsetUs[nodeCalls[first + b]!]!
      waited[i] = startUs - endOf(a)
      let lastUs = 0
      for (const node of before) lastUs = Math.max(lastUs, endOf(node))
      without[i] = startUs - lastUs
    })
    const weights = callWeights(forest, calls)
    const range = interquartileRange(without, weights)
    return range > 0 ? interquartileRange(waited, weights) / range : Number.POSITIVE_INFINITY
  }

  /** Calls of these orders, evenly thinned out where they are very many. */
  #sampled(members: readonly number[]): number[] {
    const { offsets, rows } = this.#calls
    const all = members.flatMap((order) => [...rows.subarray(offsets[order], offsets[order + 1])])
    if (all.length <= MAX_SAMPLED) return all
    const step = all.length / MAX_SAMPLED
    return Array.from({ length: MAX_SAMPLED }, (_, i) => all[Math.floor(i * step)]!)
  }
}

function interquartileRange(all: Float64Array, counts?: Float64Array): number {
  const { values, weights } = ascendingSample(all, counts)
  return quantile(values, 0.75, weights) - quantile(values, 0.25, weights)
}

/** Fewest calls that show that calls wait for each other. */
const MIN_CALLS = 30
/** Nor do those of a smaller share of a cluster. */
const MIN_SHARE = 0.05
/** See `OrderTimes.spread`: below this, the second call of a pair waits for the first. */
const WAITS_BELOW = 0.5
/** Pairs that are measured, those that divide the calls most evenly. */
const MAX_PAIRS = 64

/** Orders of one name and the same nodes, and how many calls have each. */
interface WeighedOrders {
  /** Numbers of orders; the arrays below are parallel to it. */
  readonly members: readonly number[]
  readonly precedences: readonly Precedence[]
  readonly calls: readonly number[]
  readonly nodes: number
}

/** Numbers of places in `WeighedOrders.members`. */
type Group = readonly number[]

/** Two nodes, of which `a` is over before `b` begins in `held` calls. */
interface HeldPair {
  readonly a: number
  readonly b: number
  readonly held: number
}

/** Returns the pairs of nodes that `keep` keeps, by how many calls of a group have them; not closed. */
function pairsWhere(
  { precedences, calls, nodes }: WeighedOrders,
  group: Group,
  keep: (pair: HeldPair) => boolean,
): Precedence {
  const kept = new Precedence(nodes)
  for (let b = 0; b < nodes; b++) {
    for (let a = 0; a < nodes; a++) {
      let held = 0
      for (const i of group) if (precedences[i]!.has(a, b)) held += calls[i]!
      if (keep({ a, b, held })) kept.add(a, b)
    }
  }
  return kept
}

/** Measures of a group: its calls, the number that makes a flow, and the certainty that they wait for a call. */
function measured(orders: WeighedOrders, group: Group, times: OrderTimes) {
  const { members, precedences, calls } = orders
  const total = sum(group, (i) => calls[i])
  const least = Math.max(MIN_CALLS / times.worth, MIN_SHARE * total)
  let others: Precedence | undefined
  const spread = ({ a, b }: HeldPair) => {
    // A few stray orders do not show what the rest waits for.
    others ??= pairsWhere(orders, group, ({ held }) => held >= (1 - MIN_SHARE) * total)
    const holders = group.filter((i) => precedences[i]!.has(a, b))
    return times.spread(
      holders.map((i) => members[i]!),
      { a, b, others },
    )
  }
  return { total, least, spread, isEnough: total >= 2 * least }
}

/**
 * Divides a group of similar orders if some of its calls wait for a call that others do not wait for: these are
 * different flows, however similar their pairs are. If a call was over before another began, the other waited for it,
 * unless by chance. It is no chance if the time between them varies much less than the time since everything else that
 * the latter waits for. At least 30 calls and 5 % must be on each side.
 *
 * Without this, work that is sequential in most calls and parallel in the others would be recomputed as parallel in
 * all.
 */
function splitByWaiting(orders: WeighedOrders, group: Group, times: OrderTimes): Group[] {
  if (group.length < 2) return [group]
  const { total, least, spread, isEnough } = measured(orders, group, times)
  if (!isEnough) return [group]
  const pairs: HeldPair[] = []
  pairsWhere(orders, group, (pair) => {
    if (pair.held >= least && total - pair.held >= least) pairs.push(pair)
    return false
  })
  const unevenness = ({ held }: HeldPair) => Math.abs(held - total / 2)
  pairs.sort((one, other) => unevenness(one) - unevenness(other))
  let best: HeldPair | undefined
  let lowest = WAITS_BELOW
  for (const pair of pairs.slice(0, MAX_PAIRS)) {
    const own = spread(pair)
    if (own >= lowest) continue
    lowest = own
    best = pair
  }
  if (best === undefined) return [group]
  const { a, b } = best
  return [true, false].flatMap((has) => {
    const part = group.filter((i) => orders.precedences[i]!.has(a, b) === has)
    return splitByWaiting(orders, part, times)
  })
}

/**
 * Returns the pairs that all but a few calls of a group wait for: too few for a flow of their own, which is no reason
 * to forget the pair in the others. Not closed.
 */
function usuallyAwaited(orders: WeighedOrders, group: Group, times: OrderTimes): Precedence {
  const { total, least, spread, isEnough } = measured(orders, group, times)
  if (!isEnough) return new Precedence(orders.nodes)
  let left = MAX_PAIRS
  return pairsWhere(orders, group, (pair) => {
    if (pair.held === total || total - pair.held >= least || left-- <= 0) return false
    return spread(pair) < WAITS_BELOW
  })
}

/** Order of the nodes in the calls of some orders, and the times of these calls. */
type TimedOrders = Pick<LearnedCluster, 'precedence' | 'members' | 'calls' | 'times'>

/** Returns whether neither waits for a node that the other does not wait for. */
export function waitAlike(one: TimedOrders, other: TimedOrders): boolean {
  return !waitsForMore(one, other) && !waitsForMore(other, one)
}

function waitsForMore({ precedence, members, calls, times }: TimedOrders, other: TimedOrders) {
  if (calls * times.worth < MIN_CALLS) return false
  const others = precedence.and(other.precedence)
  let left = MAX_PAIRS
  // Only direct waits count: chains of waits vary with the steps in between.
  return waitGraph(precedence).predecessors.some((before, b) =>
    before.some((a) => {
      if (other.precedence.has(a, b) || left-- <= 0) return false
      return times.spread(members, { a, b, others }) < WAITS_BELOW
    }),
  )
}
