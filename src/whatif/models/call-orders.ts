// Over every call of both periods: the loops index with `!`.
import { cumsum, group as groupBy, least, sum } from 'd3-array'
import { type CallForest, callWeights, type IndexedCalls } from '../../calls/call-forest.ts'
import { getOrInsert } from '../../core/entries.ts'
import { InternalError } from '../../core/errors.ts'
import { memoized } from '../../core/remembered.ts'
import {
  closedPrecedence,
  Precedence,
  type Predecessors,
  topologicalOrder,
} from '../../flows/precedence.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample, worthOf } from '../../stats/weighted-sample.ts'
import { type GroupedRows, groupRows } from '../../traces/group-rows.ts'

/** A call waits for as many at most, those that take longest: pairs grow with their square. */
const MAX_NODES = 256

/**
 * Order of calls to an operation: the children they waited for, and the order of these, as far as one call shows it
 * (its maximal model). Thousands of calls share few of them.
 */
export interface CallOrder {
  /** Called operation: a name of `CallPaths`. */
  readonly name: number
  /** The same number for the same name and nodes, in all periods. */
  readonly key: number
  /** Names of the awaited children, ascending; several children of one name are numbered by start. */
  readonly nodes: readonly number[]
  /** Order of nodes, closed. */
  readonly precedence: Precedence
}

interface PeriodOrders {
  readonly orderOf: Uint32Array
  /**
   * The calls of every caller as `CallForest.childOffsets` has them: first those it waits for, in
   * the order of its nodes, then the others by start.
   */
  readonly nodeCalls: Uint32Array
}

/**
 * Finds out how every call ran: all orders that occur, each once, and which call has which. A call waits for a child
 * that is over by its reply, give or take `slackUs`, or the millisecond to which starts of one of the two were cut; of
 * more than 256, for those that take longest.
 */
export function findCallOrders(
  { paths, forests, resolutionUs }: IndexedCalls,
  slackUs: number,
): { readonly orders: readonly CallOrder[]; readonly periods: readonly PeriodOrders[] } {
  const orders: CallOrder[] = []
  const keys = new Map<string, number>()
  const known = new Map<string, number>()

  const addOrder = (name: number, nodes: readonly number[], precedence: Precedence) => {
    const listing = `${name}|${nodes.join()}`
    const key = getOrInsert(keys, listing, () => keys.size)
    // One or no node has no order.
    const text = nodes.length < 2 ? `${key}` : `${key}|${precedence.bits.join()}`
    return getOrInsert(known, text, () => orders.push({ name, key, nodes, precedence }) - 1)
  }
  const leafOrder = memoized((name: number) => addOrder(name, [], new Precedence(0)))

  /** Whether the reply of `caller` waits for `child`, by this call's own times. */
  const waits = (forest: CallForest, caller: number, child: number): boolean => {
    const { path, offsetUs, latencyUs, serverUs, clientSpan, detached } = forest
    if (detached[child] === 1) return false
    const callerUs = resolutionUs[paths.name(path[caller]!)]!
    const childUs = clientSpan[child]! < 0 ? resolutionUs[paths.name(path[child]!)]! : 0
    const allowedUs = Math.max(slackUs, callerUs, childUs)
    return offsetUs[child]! + latencyUs[child]! <= serverUs[caller]! + allowedUs
  }

  const periods = forests.map((forest): PeriodOrders => {
    const { childOffsets, children, path, offsetUs, latencyUs } = forest
    const nodeCalls = new Uint32Array(children.length)
    const orderOf = path.map((ownPath, call) => {
      const name = paths.name(ownPath)
      const first = childOffsets[call]!
      const own = children.subarray(first, childOffsets[call + 1])
      if (own.length === 0) return leafOrder(name)
      const waitedFor = own.filter((child) => waits(forest, call, child))
      const longest = waitedFor.toSorted((a, b) => latencyUs[b]! - latencyUs[a]! || a - b)
      const isAwaited = new Set(longest.subarray(0, MAX_NODES))
      const awaited = own.filter((child) => isAwaited.has(child))
      nodeCalls.set(
        own.filter((child) => !isAwaited.has(child)),
        first + awaited.length,
      )
      if (awaited.length === 0) return leafOrder(name)
      const names = Array.from(awaited, (child) => paths.name(path[child]!))
      // Sorting is stable: of several calls to one thing the first to start stays first.
      const listing = names.map((_, i) => i).sort((a, b) => names[a]! - names[b]!)
      const placeOf = new Uint32Array(listing.length)
      listing.forEach((i, place) => {
        placeOf[i] = place
        nodeCalls[first + place] = awaited[i]!
      })
      const nodes = listing.map((i) => names[i]!)
      const startUs = Float64Array.from(awaited, (child) => offsetUs[child]!)
      const endUs = startUs.map((us, i) => us + latencyUs[awaited[i]!]!)
      const observed = observedPrecedence(startUs, endUs, slackUs)
      return addOrder(name, nodes, observed.renumbered(placeOf))
    })
    return { orderOf, nodeCalls }
  })
  return { orders, periods }
}

/**
 * Returns the precedence of calls that are sorted by start, then end, closed under transitivity: one comes
 * before a later one if it is over by the latter's start, give or take `slackUs`. Only later ones in
 * this order can follow, so the slack makes no circles. O(n² + n³/32).
 */
export function observedPrecedence(
  startUs: ArrayLike<number>,
  endUs: ArrayLike<number>,
  slackUs: number,
): Precedence {
  const order = Uint32Array.from(startUs, (_, i) => i)
  return closedPrecedence(order, (a, b) => endUs[a]! <= startUs[b]! + slackUs).precedence
}

/**
 * Waits between nodes, ready to be computed: nodes with the same predecessors share one set of them, a synchronisation
 * point, so that k calls after k others cost 2k steps and not k².
 */
export interface WaitPlan {
  readonly nodes: number
  /** Nodes in an order in which each comes after its predecessors. */
  readonly order: Uint32Array
  /** The set that each node waits for, −1 for none. */
  readonly waitsFor: Int32Array
  /** The set that the reply waits for, −1 for none. */
  readonly replyWaitsFor: number
  /** The nodes of set `i` are entries `setOffsets[i]` to `setOffsets[i + 1]`. */
  readonly setOffsets: Uint32Array
  readonly setNodes: Uint32Array
}

/** Direct waits between nodes, and an order in which every node comes after those it waits for. */
interface WaitGraph {
  readonly order: ArrayLike<number>
  readonly predecessors: Predecessors
  readonly returnPredecessors: readonly number[]
}

/** Returns the graph of a precedence that is closed and free of circles; predecessors ascend. */
export function waitGraph(precedence: Precedence): WaitGraph {
  const has = (a: number, b: number) => precedence.has(a, b)
  const order = topologicalOrder(precedence.nodes, has)
  if (order === null)
    throw new InternalError('the calls of a model wait for each other in a circle')
  const predecessors = closedPrecedence(order, has).predecessors.map((before) =>
    before.toSorted((a, b) => a - b),
  )
  return { order, predecessors, returnPredecessors: precedence.last() }
}

/** Plans a graph. Lists that are the same object, or hold the same, become one set. */
export function waitPlan({ order, predecessors, returnPredecessors }: WaitGraph): WaitPlan {
  const sets: (readonly number[])[] = []
  const sameLists = new Map<readonly number[], number>()
  const sameContents = new Map<string, number>()
  const setOf = (nodes: readonly number[]): number => {
    if (nodes.length === 0) return -1
    return getOrInsert(sameLists, nodes, () =>
      getOrInsert(sameContents, nodes.join(), () => sets.push(nodes) - 1),
    )
  }
  const waitsFor = Int32Array.from(predecessors, setOf)
  const replyWaitsFor = setOf(returnPredecessors)
  const setOffsets = Uint32Array.from([0, ...cumsum(sets, ({ length }) => length)])
  const setNodes = Uint32Array.from(sets.flat())
  const nodes = order.length
  return { nodes, order: Uint32Array.from(order), waitsFor, replyWaitsFor, setOffsets, setNodes }
}

export function mostNodes(plans: readonly WaitPlan[]): number {
  return plans.reduce((most, { nodes }) => Math.max(most, nodes), 0)
}

/** Returns when the last node of a set is over; 0, the caller's start, of no set. */
export function setEnd(plan: WaitPlan, set: number, endUs: Float64Array): number {
  if (set < 0) return 0
  const end = plan.setOffsets[set + 1]!
  let last = Number.NEGATIVE_INFINITY
  for (let at = plan.setOffsets[set]!; at < end; at++) {
    const us = endUs[plan.setNodes[at]!]!
    if (us > last) last = us
  }
  return last
}

/** Own time of every call of a period, under its model. */
export interface OwnTimes {
  /** Time from the end of the last call it waits for, or its caller's start, to its start, in µs. */
  readonly preprocessingUs: Float64Array
  /** Time from the end of the last call it waits for, or its own start, to its reply, in µs. */
  readonly replyUs: Float64Array
}

export interface PeriodPlans {
  readonly planOf: Uint32Array
  readonly plans: readonly WaitPlan[]
  /** Calls of nodes, as in `PeriodOrders`. */
  readonly nodeCalls: Uint32Array
}

/**
 * Measures preprocessing and reply times. What overlaps within the slack gives a little less than 0.
 * Calls that nobody waits for start after the last one that their caller waited for by then.
 */
export function ownTimes(forest: CallForest, period: PeriodPlans, slackUs: number): OwnTimes {
  const { childOffsets, offsetUs, latencyUs, serverUs } = forest
  const { planOf, plans, nodeCalls } = period
  const preprocessingUs = new Float64Array(serverUs.length)
  const replyUs = new Float64Array(serverUs.length)
  const endUs = new Float64Array(mostNodes(plans))
  for (let call = 0; call < serverUs.length; call++) {
    const first = childOffsets[call]!
    const count = childOffsets[call + 1]! - first
    const plan = plans[planOf[call]!]!
    for (let node = 0; node < plan.nodes; node++) {
      const child = nodeCalls[first + node]!
      endUs[node] = offsetUs[child]! + latencyUs[child]!
    }
    for (let node = 0; node < count; node++) {
      const child = nodeCalls[first + node]!
      preprocessingUs[child] =
        offsetUs[child]! -
        (node < plan.nodes
          ? setEnd(plan, plan.waitsFor[node]!, endUs)
          : lastOverBy(endUs, plan.nodes, offsetUs[child]! + slackUs))
    }
    replyUs[call] = serverUs[call]! - setEnd(plan, plan.replyWaitsFor, endUs)
  }
  return { preprocessingUs, replyUs }
}

/** Returns the latest of the first `nodes` ends that is not after `byUs`; 0, the caller's start, if none is. */
function lastOverBy(endUs: Float64Array, nodes: number, byUs: number): number {
  let last = 0
  for (let node = 0; node < nodes; node++) {
    if (endUs[node]! <= byUs && endUs[node]! > last) last = endUs[node]!
  }
  return last
}

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

/** Two nodes: in `held` calls, `a` is over before `b` begins. */
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
