import { describe, expect, test } from 'vitest'
import { randomSource } from '../../src/stats/random.ts'
import { type CallOrder, Precedence } from '../../src/whatif/models/call-orders.ts'
import { clusterOrders } from '../../src/whatif/models/cluster-orders.ts'

const OPTIONS = { similarity: 0.3, share: 0.99 }

/** Different orders of `nodes` calls around a few common ones, and how many calls have each. */
function randomOrders(seed: number, { nodes, count }: { nodes: number; count: number }) {
  const random = randomSource(seed)
  const known = new Map<string, Precedence>()
  const common = Array.from({ length: 4 }, () =>
    Float64Array.from({ length: nodes }, () => 100 * random.next()).sort(),
  )
  for (let tries = 0; known.size < count && tries < 50 * count; tries++) {
    const startUs = common[random.integer(4)]?.slice() as Float64Array
    const endUs = startUs.map((us) => us + 30 * random.next())
    const found = Precedence.observed(startUs, endUs, 0)
    known.set(found.bits.join(), found)
  }
  const orders = [...known.values()].map(
    (precedence): CallOrder => ({
      name: 0,
      key: 0,
      nodes: Array.from({ length: nodes }, () => 0),
      precedence,
    }),
  )
  return { orders, calls: orders.map(() => 1 + random.integer(20)) }
}

/** Average linkage by its definition: join the nearest two of all until none are near. */
function joinedOneByOne({ orders, calls }: { orders: readonly CallOrder[]; calls: number[] }) {
  const groups = orders.map((_, i) => [i])
  const precedence = (i: number) => orders[i]?.precedence as Precedence
  const weight = (i: number) => calls[i] as number
  const apart = (one: number[], other: number[]) => {
    let sum = 0
    let total = 0
    for (const i of one) {
      for (const j of other) {
        sum += weight(i) * weight(j) * precedence(i).distanceTo(precedence(j))
        total += weight(i) * weight(j)
      }
    }
    return sum / total
  }
  for (;;) {
    let least = OPTIONS.similarity
    let pair: [number, number] | undefined
    groups.forEach((one, a) => {
      for (let b = 0; b < a; b++) {
        const distance = apart(one, groups[b] as number[])
        if (distance > least) continue
        least = distance
        pair = [b, a]
      }
    })
    if (pair === undefined) return groups.map((group) => group.toSorted((a, b) => a - b))
    const [kept, gone] = pair
    groups[kept]?.push(...(groups.splice(gone, 1)[0] as number[]))
  }
}

describe('clusters of orders', () => {
  // With 60 nodes, hardly any two distances are the same: equal ones may be joined in either order.
  test.each([1, 2, 3, 4])('are those of average linkage by its definition (seed %i)', (seed) => {
    const { orders, calls } = randomOrders(seed, { nodes: 60, count: 60 })
    const members = orders.map((_, i) => i)
    const clusters = clusterOrders(orders, { members, calls }, OPTIONS)
    const sorted = (groups: readonly (readonly number[])[]) => groups.map((g) => g.join()).sort()
    expect(sorted(clusters.map((cluster) => cluster.members))).toEqual(
      sorted(joinedOneByOne({ orders, calls })),
    )
    expect(clusters.length).toBeLessThan(orders.length)
  })

  test('have the pairs of nearly all calls; who lacks one is a violator', () => {
    const { orders, calls } = randomOrders(5, { nodes: 6, count: 80 })
    const members = orders.map((_, i) => i)
    for (const { precedence, members: own, violators } of clusterOrders(
      orders,
      { members, calls },
      OPTIONS,
    )) {
      const lacking = own.filter((i) => !orders[i]?.precedence?.holds(precedence as Precedence))
      expect(violators).toEqual(lacking)
    }
  })

  test('of more than 2,000 orders gather around the most frequent', () => {
    const { orders, calls } = randomOrders(6, { nodes: 12, count: 2100 })
    expect(orders.length).toBe(2100)
    const members = orders.map((_, i) => i)
    const clusters = clusterOrders(orders, { members, calls }, OPTIONS)
    const all = clusters.flatMap((cluster) => cluster.members)
    expect(all.toSorted((a, b) => a - b)).toEqual(members)
    expect(clusters.length).toBeLessThanOrEqual(256)
    expect(clusters.reduce((sum, cluster) => sum + cluster.calls, 0)).toBe(
      calls.reduce((sum, own) => sum + own, 0),
    )
  })

  test('without order are all alike, and unlike those with one', () => {
    const none = Precedence.observed([0, 0], [9, 9], 0)
    const one = Precedence.observed([0, 5], [4, 9], 0)
    expect(none.distanceTo(none)).toBe(0)
    expect(none.distanceTo(one)).toBe(1)
  })
})
