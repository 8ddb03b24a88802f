// Distances between up to 2,000 orders of one operation: the loops index with `!`.
import { group as groupBy, sum } from 'd3-array'
import type { CallOrder } from './call-orders.ts'
import type { Precedence } from './precedence.ts'
import {
  type Group,
  type OrderTimes,
  pairsWhere,
  splitByWaiting,
  usuallyAwaited,
  type WeighedOrders,
} from './split-waiting.ts'

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
  /** The pairs that (nearly) all calls of its orders have, closed; `null` for very wide calls. */
  readonly precedence: Precedence | null
  /** Those of `members` that do not have all of these pairs: they keep their own order. */
  readonly violators: readonly number[]
  readonly calls: number
}

/** Beyond so many orders of one kind, or so many words to compare, leaders take the place of pairs. */
const MAX_ORDERS = 2000
const MAX_WORK = 2e8
const MAX_LEADERS = 256

/**
 * Groups the orders of one name and the same nodes by average linkage, every call counting. Beyond
 * 2,000 orders, each joins the nearest leader instead, the most frequent first. Groups in which only
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
  const precedences = members.flatMap((order) => orders[order]!.precedence ?? [])
  if (precedences.length < members.length) {
    return [{ members, precedence: null, violators: members, calls: sum(calls) }]
  }
  const nodes = orders[members[0]!]!.nodes.length
  const weighed: WeighedOrders = { members, precedences, calls, nodes }
  const similar = similarGroups(weighed, similarity)
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

function similarGroups(orders: WeighedOrders, cut: number): Group[] {
  const { precedences, calls } = orders
  const count = precedences.length
  const work = (count * count * precedences[0]!.bits.length) / 2
  const groupsOf = count > MAX_ORDERS || work > MAX_WORK ? aroundLeaders : averageLinkage
  return count === 1 ? [[0]] : sortedGroups(groupsOf(orders, cut), calls)
}

/**
 * Average linkage by chains of nearest neighbours: two that are nearest to each other are joined at
 * once, which gives the same groups as always joining the nearest two of all. O(m²).
 *
 * Source: Murtagh 1983, "A survey of recent advances in hierarchical clustering algorithms", The
 * Computer Journal 26(4):354-359.
 */
function averageLinkage({ precedences, calls }: WeighedOrders, cut: number): Group[] {
  const m = precedences.length
  const distance = new Float64Array(m * m)
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < i; j++) {
      distance[i * m + j] = precedences[i]!.distanceTo(precedences[j]!)
      distance[j * m + i] = distance[i * m + j]!
    }
  }
  const weight = Float64Array.from(calls)
  const groups = precedences.map((_, i) => [i])
  const open = new Set(groups.keys())
  const done: number[][] = []
  const chain: number[] = []
  while (open.size > 0) {
    if (chain.length === 0) chain.push(open.values().next().value as number)
    const last = chain[chain.length - 1]!
    const before = chain[chain.length - 2]
    let nearest = before ?? -1
    let least = before === undefined ? Number.POSITIVE_INFINITY : distance[last * m + before]!
    for (const other of open) {
      if (other === last || distance[last * m + other]! >= least) continue
      nearest = other
      least = distance[last * m + other]!
    }
    if (nearest < 0 || least > cut) {
      // Joins of others bring none nearer: it stays as it is, and so is no neighbour to the rest.
      done.push(groups[last]!)
      open.delete(last)
      chain.length = 0
      continue
    }
    if (nearest !== before) {
      chain.push(nearest)
      continue
    }
    chain.length -= 2
    const [a, b] = [last, nearest]
    const total = weight[a]! + weight[b]!
    for (const other of open) {
      const mean =
        (weight[a]! * distance[a * m + other]! + weight[b]! * distance[b * m + other]!) / total
      distance[a * m + other] = mean
      distance[other * m + a] = mean
    }
    groups[a]!.push(...groups[b]!)
    weight[a] = total
    open.delete(b)
  }
  return done
}

function aroundLeaders({ precedences, calls }: WeighedOrders, cut: number): Group[] {
  const byCalls = precedences.map((_, i) => i).sort((a, b) => calls[b]! - calls[a]! || a - b)
  const groups: number[][] = []
  for (const i of byCalls) {
    let nearest: number[] | undefined
    let least = Number.POSITIVE_INFINITY
    for (const group of groups) {
      const apart = precedences[i]!.distanceTo(precedences[group[0]!]!)
      if (apart >= least) continue
      nearest = group
      least = apart
    }
    if (nearest === undefined || (least > cut && groups.length < MAX_LEADERS)) groups.push([i])
    else nearest.push(i)
  }
  return groups
}

/** The group with most calls first; members in order. */
function sortedGroups(groups: readonly Group[], calls: readonly number[]): Group[] {
  const total = (group: Group) => sum(group, (i) => calls[i])
  return groups
    .map((group) => group.toSorted((a, b) => a - b))
    .sort((a, b) => total(b) - total(a) || a[0]! - b[0]!)
}

/**
 * The pairs in nearly all of a group's calls, and those that all but a few calls wait for, closed;
 * those in all calls, should these run in a circle.
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
  const order = common.order()
  if (order === null) return own.reduce((always, one) => always.and(one))
  common.close(order)
  return common
}

/** A cluster, and of what: an operation, and the children that its calls wait for. */
export interface KeyedCluster extends OrderCluster {
  readonly name: number
  readonly key: number
}

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
