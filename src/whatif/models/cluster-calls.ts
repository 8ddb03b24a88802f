import type { CallOrder } from './call-orders.ts'
import { type ClusterOptions, clusterOrders, type OrderCluster } from './cluster-orders.ts'
import type { OrderTimes } from './order-times.ts'

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
