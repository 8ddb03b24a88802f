import { describe, expect, test } from 'vitest'
import type { Precedence } from '../../src/flows/precedence.ts'
import { randomSource } from '../../src/stats/random.ts'
import {
  type CallOrder,
  clusterOrders,
  observedPrecedence,
} from '../../src/whatif/models/call-orders.ts'

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
    const found = observedPrecedence(startUs, endUs, 0)
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

/** Groups by their definition: the most frequent first, each joins the nearest group on average. */
function joinedInTurn({ orders, calls }: { orders: readonly CallOrder[]; calls: number[] }) {
  const weight = (i: number) => calls[i] as number
  const precedence = (i: number) => (orders[i] as CallOrder).precedence
  const groups: number[][] = []
  const byCalls = [...orders.keys()].sort((a, b) => weight(b) - weight(a) || a - b)
  for (const i of byCalls) {
    const apart = groups.map((group) => {
      const total = group.reduce((sum, j) => sum + weight(j), 0)
      const far = (j: number) => weight(j) * precedence(i).distanceTo(precedence(j))
      return group.reduce((sum, j) => sum + far(j), 0) / total
    })
    const nearest = Math.min(...apart)
    if (nearest <= OPTIONS.similarity) groups[apart.indexOf(nearest)]?.push(i)
    else groups.push([i])
  }
  return groups.map((group) => group.toSorted((a, b) => a - b))
}

describe('clusters of orders', () => {
  test.each([1, 2, 3, 4])('are those by their definition (seed %i)', (seed) => {
    const { orders, calls } = randomOrders(seed, { nodes: 60, count: 60 })
    const members = orders.map((_, i) => i)
    const clusters = clusterOrders(orders, { members, calls }, OPTIONS)
    const sorted = (groups: readonly (readonly number[])[]) => groups.map((g) => g.join()).sort()
    expect(sorted(clusters.map((cluster) => cluster.members))).toEqual(
      sorted(joinedInTurn({ orders, calls })),
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
      const lacking = own.filter((i) => !orders[i]?.precedence.holds(precedence))
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
    const none = observedPrecedence([0, 0], [9, 9], 0)
    const one = observedPrecedence([0, 5], [4, 9], 0)
    expect(none.distanceTo(none)).toBe(0)
    expect(none.distanceTo(one)).toBe(1)
  })
})
