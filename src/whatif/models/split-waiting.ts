// For each pair of up to 256 nodes: the loops index with `!`.
import { sum } from 'd3-array'
import { type CallForest, callWeights } from '../../calls/call-forest.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample, worthOf } from '../../stats/weighted-sample.ts'
import { type GroupedRows, groupRows } from '../../traces/group-rows.ts'
import type { PeriodOrders } from './call-orders.ts'
import { Precedence } from './precedence.ts'

/** So many calls tell how much a time varies. */
const MAX_SAMPLED = 1000

/** The calls that follow each order, and when the calls that they wait for ran. */
export interface TimedPeriod extends PeriodOrders {
  readonly forest: CallForest
}

/** When the nodes of orders ran in some period: tells waiting from chance. */
export class OrderTimes {
  readonly #period: TimedPeriod
  readonly #calls: GroupedRows
  /** What a call is worth of those that it stands for: 1 unless requests are weighted. */
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
   * How much the time from the end of node `a` to the start of node `b` varies, as a share of how
   * much the time to the start of `b` varies from all else that it waits for: the ratio of their
   * interquartile ranges. Near 0 where `b` waits for `a`; near 1 and above where `a` was over by
   * chance.
   *
   * @param members orders that have the pair
   * @param others what else comes before what
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

/** Fewer calls than this do not show that calls wait for each other. */
const MIN_CALLS = 30
/** Nor do those of a smaller share of a cluster. */
const MIN_SHARE = 0.05
/** See `OrderTimes.spread`: below this, the second call of a pair waits for the first. */
const WAITS_BELOW = 0.5
/** Pairs that are measured, those that divide the calls most evenly. */
const MAX_PAIRS = 64

/** Orders of one name and the same nodes, and how many calls have each. */
export interface WeighedOrders {
  /** Numbers of orders; the arrays beside are parallel to it. */
  readonly members: readonly number[]
  readonly precedences: readonly Precedence[]
  readonly calls: readonly number[]
  readonly nodes: number
}

/** Numbers of places in `WeighedOrders.members`. */
export type Group = readonly number[]

/** Two nodes, of which `a` is over before `b` begins in `held` calls. */
interface HeldPair {
  readonly a: number
  readonly b: number
  readonly held: number
}

/** Returns the pairs of nodes that `keep` keeps, by how many calls of a group have them; not closed. */
export function pairsWhere(
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

/** Calls of a group, how many are enough to be a flow, and how surely they wait for a call. */
function measured(orders: WeighedOrders, group: Group, times: OrderTimes) {
  const { members, precedences, calls } = orders
  const total = sum(group, (i) => calls[i])
  const least = Math.max(MIN_CALLS / times.worth, MIN_SHARE * total)
  let others: Precedence | undefined
  const spread = ({ a, b }: HeldPair) => {
    // A few stray ones say nothing of what the rest waits for.
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
 * Divides a group of similar orders where some of its calls wait for a call that others do not wait
 * for: these are different flows, however alike their pairs are. That a call was over before another
 * began is waiting, and not chance, where the time between them varies much less than the time that
 * went by since all else that the latter waits for. At least 30 calls and 5 % must be on each side.
 *
 * Without this, work that is done one after the other in most calls and at once in the others would
 * be recomputed as done at once in all.
 */
export function splitByWaiting(orders: WeighedOrders, group: Group, times: OrderTimes): Group[] {
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
 * The pairs that all but a few calls of a group wait for: too few for a flow of their own, which is
 * no reason to forget the pair in the others. Not closed.
 */
export function usuallyAwaited(orders: WeighedOrders, group: Group, times: OrderTimes): Precedence {
  const { total, least, spread, isEnough } = measured(orders, group, times)
  if (!isEnough) return new Precedence(orders.nodes)
  let left = MAX_PAIRS
  return pairsWhere(orders, group, (pair) => {
    if (pair.held === total || total - pair.held >= least || left-- <= 0) return false
    return spread(pair) < WAITS_BELOW
  })
}

/** What comes before what in the calls of some orders, and when these ran. */
export interface TimedOrders {
  readonly precedence: Precedence
  readonly members: readonly number[]
  readonly calls: number
  readonly times: OrderTimes
}

/** Returns whether neither waits for what the other does not wait for. */
export function waitAlike(one: TimedOrders, other: TimedOrders): boolean {
  return !waitsForMore(one, other) && !waitsForMore(other, one)
}

function waitsForMore({ precedence, members, calls, times }: TimedOrders, other: TimedOrders) {
  if (calls * times.worth < MIN_CALLS) return false
  const order = precedence.order()
  if (order === null) return false
  const others = precedence.and(other.precedence)
  let left = MAX_PAIRS
  // What is waited for is waited for directly; chains of it vary with what lies between.
  return precedence.direct(order).some((before, b) =>
    before.some((a) => {
      if (other.precedence.has(a, b) || left-- <= 0) return false
      return times.spread(members, { a, b, others }) < WAITS_BELOW
    }),
  )
}
