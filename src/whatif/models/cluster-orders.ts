// Distances between up to 2,000 orders of one operation: the loops index with `!`.
import type { CallOrder } from './call-orders.ts'
import type { OrderTimes } from './order-times.ts'
import {
  closePrecedence,
  comesBefore,
  holdsAll,
  type PrecedenceBits,
  precedenceDistance,
  precedenceOrder,
  wordsOf,
} from './precedence-bits.ts'
import { splitByWaiting, usuallyAwaited, type WeighedOrders } from './split-waiting.ts'

interface ClusterOptions {
  /** Orders further apart on average than this (Jaccard's distance of their pairs) stay apart. */
  readonly similarity: number
  /** A cluster has the pairs that hold in at least this share of its calls. */
  readonly share: number
}

/** Orders that are taken for the same flow of control. */
interface OrderCluster {
  /** Numbers of its orders. */
  readonly members: readonly number[]
  /** The pairs that (nearly) all calls of its orders have, closed; `null` for very wide calls. */
  readonly bits: PrecedenceBits | null
  /** Those of `members` that do not have all of these pairs: they keep their own order. */
  readonly violators: readonly number[]
  /** Calls of all members. */
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
 * @param times when the calls ran; without them, groups are not divided
 */
export function clusterOrders(
  orders: readonly CallOrder[],
  { members, calls }: { readonly members: readonly number[]; readonly calls: readonly number[] },
  { similarity, share, times }: ClusterOptions & { readonly times?: OrderTimes },
): OrderCluster[] {
  const n = orders[members[0]!]!.nodes.length
  const bitsOf = members.map((order) => orders[order]!.bits)
  const sum = (group: readonly number[]) => group.reduce((total, i) => total + calls[i]!, 0)
  if (bitsOf.some((bits) => bits === null)) {
    const all = members.map((_, i) => i)
    return [{ members, bits: null, violators: members, calls: sum(all) }]
  }
  const known = bitsOf as PrecedenceBits[]
  const similar = groupsOf(known, calls, similarity)
  const weighed = { members, bitsOf: known, calls, nodes: n }
  const groups =
    times === undefined
      ? similar
      : sortedGroups(
          similar.flatMap((group) =>
            splitByWaiting(weighed, group, times).map((part) => [...part]),
          ),
          calls,
        )
  return groups.map((group) => {
    const bits = commonPrecedence(weighed, { group, share, times })
    const violators = group.filter((i) => !holdsAll(known[i]!, bits))
    return {
      members: group.map((i) => members[i]!),
      bits,
      violators: violators.map((i) => members[i]!),
      calls: sum(group),
    }
  })
}

function groupsOf(
  bitsOf: readonly PrecedenceBits[],
  calls: readonly number[],
  cut: number,
): number[][] {
  const count = bitsOf.length
  if (count === 1) return [[0]]
  const work = (count * count * bitsOf[0]!.length) / 2
  return count > MAX_ORDERS || work > MAX_WORK
    ? aroundLeaders(bitsOf, calls, cut)
    : averageLinkage(bitsOf, calls, cut)
}

/**
 * Average linkage by chains of nearest neighbours: two that are nearest to each other are joined at
 * once, which gives the same groups as always joining the nearest two of all. O(m²).
 *
 * Source: Murtagh 1983, "A survey of recent advances in hierarchical clustering algorithms", The
 * Computer Journal 26(4):354-359.
 */
function averageLinkage(
  bitsOf: readonly PrecedenceBits[],
  calls: readonly number[],
  cut: number,
): number[][] {
  const m = bitsOf.length
  const distance = new Float64Array(m * m)
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < i; j++) {
      distance[i * m + j] = precedenceDistance(bitsOf[i]!, bitsOf[j]!)
      distance[j * m + i] = distance[i * m + j]!
    }
  }
  const weight = Float64Array.from(calls)
  const groups = bitsOf.map((_, i) => [i])
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
  return sortedGroups(done, calls)
}

function aroundLeaders(
  bitsOf: readonly PrecedenceBits[],
  calls: readonly number[],
  cut: number,
): number[][] {
  const byCalls = bitsOf.map((_, i) => i).sort((a, b) => calls[b]! - calls[a]! || a - b)
  const groups: number[][] = []
  for (const i of byCalls) {
    let nearest: number[] | undefined
    let least = Number.POSITIVE_INFINITY
    for (const group of groups) {
      const apart = precedenceDistance(bitsOf[i]!, bitsOf[group[0]!]!)
      if (apart >= least) continue
      nearest = group
      least = apart
    }
    if (nearest === undefined || (least > cut && groups.length < MAX_LEADERS)) groups.push([i])
    else nearest.push(i)
  }
  return sortedGroups(groups, calls)
}

/** The group with most calls first; members in order. */
function sortedGroups(groups: number[][], calls: readonly number[]): number[][] {
  const total = (group: number[]) => group.reduce((sum, i) => sum + calls[i]!, 0)
  for (const group of groups) group.sort((a, b) => a - b)
  return groups.sort((a, b) => total(b) - total(a) || a[0]! - b[0]!)
}

interface CommonOptions {
  readonly group: readonly number[]
  readonly share: number
  readonly times: OrderTimes | undefined
}

/**
 * The pairs in nearly all of a group's calls, and those that all but a few calls wait for, closed;
 * those in all calls, should these run in a circle.
 */
function commonPrecedence(
  orders: WeighedOrders,
  { group, share, times }: CommonOptions,
): PrecedenceBits {
  const { bitsOf, calls, nodes: n } = orders
  const first = bitsOf[group[0]!]!
  if (group.length === 1) return first
  const words = wordsOf(n)
  const total = group.reduce((sum, i) => sum + calls[i]!, 0)
  const common =
    times === undefined ? new Uint32Array(first.length) : usuallyAwaited(orders, group, times)
  for (let b = 0; b < n; b++) {
    for (let a = 0; a < n; a++) {
      let held = 0
      for (const i of group) if (comesBefore(bitsOf[i]!, words, a, b)) held += calls[i]!
      if (held >= share * total) common[b * words + (a >>> 5)]! |= 1 << (a & 31)
    }
  }
  const order = precedenceOrder(common, n)
  if (order !== null) {
    closePrecedence(common, order)
    return common
  }
  const always = first.slice()
  for (const i of group) for (let w = 0; w < always.length; w++) always[w]! &= bitsOf[i]![w]!
  return always
}

/** A cluster, and of what: an operation, and the children that its calls wait for. */
export interface KeyedCluster extends OrderCluster {
  readonly name: number
  readonly key: number
}

/**
 * Clusters calls, each operation and each set of children by itself.
 *
 * @param callsOf how many calls have each of `orders`; orders of none take no part
 * @param options as of `clusterOrders`
 * @returns clusters by operation, then calls, most first
 */
export function clusterCalls(
  orders: readonly CallOrder[],
  callsOf: Uint32Array,
  options: ClusterOptions & { readonly times?: OrderTimes },
): KeyedCluster[] {
  const byKey = new Map<number, number[]>()
  callsOf.forEach((calls, order) => {
    if (calls === 0) return
    const { key } = orders[order] as CallOrder
    const members = byKey.get(key)
    if (members === undefined) byKey.set(key, [order])
    else members.push(order)
  })
  const clusters: KeyedCluster[] = []
  for (const [key, members] of byKey) {
    const { name } = orders[members[0] as number] as CallOrder
    const calls = members.map((order) => callsOf[order] as number)
    for (const cluster of clusterOrders(orders, { members, calls }, options)) {
      clusters.push({ ...cluster, name, key })
    }
  }
  return clusters.sort(
    (a, b) => a.name - b.name || b.calls - a.calls || (a.members[0] ?? 0) - (b.members[0] ?? 0),
  )
}
