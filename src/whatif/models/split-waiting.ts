// For each pair of up to 256 nodes: the loops index with `!`.
import type { OrderTimes } from './order-times.ts'
import {
  comesBefore,
  directPredecessors,
  type PrecedenceBits,
  precedenceOrder,
  wordsOf,
} from './precedence-bits.ts'

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
  readonly bitsOf: readonly PrecedenceBits[]
  readonly calls: readonly number[]
  readonly nodes: number
}

/** Numbers of places in `WeighedOrders.members`. */
type Group = readonly number[]

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
  const pair = waitingPair(orders, group, times)
  if (pair === null) return [group]
  const words = wordsOf(orders.nodes)
  const has = (i: number) => comesBefore(orders.bitsOf[i]!, words, pair.a, pair.b)
  return [
    ...splitByWaiting(orders, group.filter(has), times),
    ...splitByWaiting(
      orders,
      group.filter((i) => !has(i)),
      times,
    ),
  ]
}

interface Pair {
  readonly a: number
  readonly b: number
}

/** The pair that is most surely waited for by some calls and not by others. */
function waitingPair(orders: WeighedOrders, group: Group, times: OrderTimes): Pair | null {
  const { bitsOf, calls, nodes } = orders
  const total = sizeOf(orders, group)
  const least = leastOf(total)
  if (group.length < 2 || total < 2 * least) return null
  const words = wordsOf(nodes)
  const usual = inMost(orders, group)
  const pairs: (Pair & { readonly held: number })[] = []
  for (let b = 0; b < nodes; b++) {
    for (let a = 0; a < nodes; a++) {
      let held = 0
      for (const i of group) if (comesBefore(bitsOf[i]!, words, a, b)) held += calls[i]!
      if (held >= least && total - held >= least) pairs.push({ a, b, held })
    }
  }
  const even = (held: number) => Math.abs(held - total / 2)
  pairs.sort((one, other) => even(one.held) - even(other.held))
  let best: Pair | null = null
  let lowest = WAITS_BELOW
  for (const pair of pairs.slice(0, MAX_PAIRS)) {
    const spread = spreadOf(orders, { ...pair, group, usual }, times)
    if (spread >= lowest) continue
    lowest = spread
    best = pair
  }
  return best
}

/** By `OrderTimes.spread`, in those of a group that have the pair. */
function spreadOf(
  { members, bitsOf, nodes }: WeighedOrders,
  { a, b, group, usual }: Pair & { readonly group: Group; readonly usual: PrecedenceBits },
  times: OrderTimes,
): number {
  const words = wordsOf(nodes)
  const holders = group.filter((i) => comesBefore(bitsOf[i]!, words, a, b))
  return times.spread(
    holders.map((i) => members[i]!),
    { a, b, others: usual, nodes },
  )
}

/** The pairs of nearly all calls of a group: a few stray ones say nothing of what the rest waits for. */
function inMost(orders: WeighedOrders, group: Group): PrecedenceBits {
  const { bitsOf, calls, nodes } = orders
  const words = wordsOf(nodes)
  const enough = (1 - MIN_SHARE) * sizeOf(orders, group)
  const most = new Uint32Array(nodes * words)
  for (let b = 0; b < nodes; b++) {
    for (let a = 0; a < nodes; a++) {
      let held = 0
      for (const i of group) if (comesBefore(bitsOf[i]!, words, a, b)) held += calls[i]!
      if (held >= enough) most[b * words + (a >>> 5)]! |= 1 << (a & 31)
    }
  }
  return most
}

function sizeOf({ calls }: WeighedOrders, group: Group): number {
  return group.reduce((sum, i) => sum + calls[i]!, 0)
}

function leastOf(total: number): number {
  return Math.max(MIN_CALLS, MIN_SHARE * total)
}

/**
 * The pairs that all but a few calls of a group wait for: too few for a flow of their own, which is
 * no reason to forget the pair in the others. Not closed.
 */
export function usuallyAwaited(
  orders: WeighedOrders,
  group: Group,
  times: OrderTimes,
): PrecedenceBits {
  const { bitsOf, calls, nodes } = orders
  const words = wordsOf(nodes)
  const awaited = new Uint32Array(nodes * words)
  const total = sizeOf(orders, group)
  const least = leastOf(total)
  if (total < 2 * least) return awaited
  const usual = inMost(orders, group)
  let measured = 0
  for (let b = 0; b < nodes; b++) {
    for (let a = 0; a < nodes; a++) {
      let held = 0
      for (const i of group) if (comesBefore(bitsOf[i]!, words, a, b)) held += calls[i]!
      if (held === total || total - held >= least || measured++ >= MAX_PAIRS) continue
      if (spreadOf(orders, { a, b, group, usual }, times) >= WAITS_BELOW) continue
      awaited[b * words + (a >>> 5)]! |= 1 << (a & 31)
    }
  }
  return awaited
}

/**
 * Whether the calls of some orders wait for what those of another cluster do not wait for.
 *
 * @param own what comes before what in the calls of `members`
 * @param other in the calls of the other cluster
 */
export function waitsForMore(
  { own, other, nodes }: { own: PrecedenceBits; other: PrecedenceBits; nodes: number },
  { members, calls, times }: { members: readonly number[]; calls: number; times: OrderTimes },
): boolean {
  if (calls < MIN_CALLS) return false
  const words = wordsOf(nodes)
  const common = own.map((bits, w) => bits & other[w]!)
  const order = precedenceOrder(own, nodes)
  if (order === null) return false
  let measured = 0
  // What is waited for is waited for directly; chains of it vary with what lies between.
  return directPredecessors(own, order).some((before, b) =>
    before.some((a) => {
      if (comesBefore(other, words, a, b) || measured++ >= MAX_PAIRS) return false
      return times.spread(members, { a, b, others: common, nodes }) < WAITS_BELOW
    }),
  )
}
