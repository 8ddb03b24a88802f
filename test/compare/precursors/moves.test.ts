import { sum } from 'd3-array'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { transport, type Way } from '../../../src/compare/precursors/transport.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { randomPeriods } from '../../comparison/random-periods.ts'
import { around, chains, makeGraphs } from '../../make-traces.ts'

const FORMS = {
  hit: ['GET', 'HIT', 'DONE'],
  miss: ['GET', 'MISS', 'DISK', 'DONE'],
  batch: ['GET', 'LIST', 'SORT', 'SPLIT', 'SEND', 'JOIN', 'DONE'],
  other: ['PUT', 'LOG', 'DONE'],
}
type Form = keyof typeof FORMS

function period(requests: Partial<Record<Form, readonly [count: number, meanUs: number]>>) {
  return makeGraphs(
    (Object.keys(FORMS) as Form[]).flatMap((form) => {
      const [count, meanUs] = requests[form] ?? [0, 0]
      return chains(FORMS[form], around(meanUs, count))
    }),
  )
}

describe('streams of requests between categories', () => {
  test('say how many moved, and what that added', () => {
    const { moves } = compare(
      period({ hit: [800, 100], miss: [200, 900], other: [500, 40] }),
      period({ hit: [500, 100], miss: [500, 1000], other: [500, 40] }),
    )
    expect(
      moves.streams.map(({ kind, requests, addedUs }) => [kind, requests, Math.round(addedUs) + 0]),
    ).toEqual([
      ['moves', 300, 300 * 900],
      ['stays', 200, 200 * 100],
      ['stays', 500, 0],
      ['stays', 500, 0],
    ])
  })

  test('take what chance hides from those that surely lost requests', () => {
    const { moves } = compare(
      period({ hit: [1000, 100], miss: [100, 900], batch: [60, 9000] }),
      period({ hit: [703, 100], miss: [405, 900], batch: [52, 9000] }),
    )
    const [moved, ...others] = moves.streams.filter(({ kind }) => kind === 'moves')
    expect([moved?.requests, moved?.addedUs]).toEqual([305, expect.closeTo(305 * 800, 3)])
    expect(others).toEqual([])
    expect(moves.streams.find(({ kind }) => kind === 'chance')?.addedUs).toBeCloseTo(
      8 * (100 - 9000),
      3,
    )
  })

  test('have the load that grew apart, and the mix of kinds', () => {
    const { moves } = compare(
      period({ hit: [400, 100], other: [400, 40] }),
      period({ hit: [1200, 100], other: [400, 40] }),
    )
    expect(moves.streams.map(({ kind }) => kind).sort()).toEqual(['mix', 'stays', 'stays'])
    expect(moves.totalUs).toBeCloseTo(1200 * 100 + 400 * 40 - 1600 * 70, 3)
  })

  test('are bounded by intervals that hold what they add', () => {
    const { moves } = compare(
      period({ hit: [800, 100], miss: [200, 900] }),
      period({ hit: [500, 100], miss: [500, 900] }),
    )
    const [row] = moves.table().objects()
    expect(row).toMatchObject({ kind: 'moves', requests: 300, addedUs: expect.closeTo(240_000, 3) })
    expect(row.lowUs).toBeGreaterThan(200_000)
    expect(row.highUs).toBeLessThan(285_000)
    expect(row.share).toBeCloseTo(1, 6)
  })

  test('add up to the change of all response times, and take no more than was gained', () => {
    fc.assert(
      fc.property(randomPeriods, fc.boolean(), ({ before, after, smPThreshold }, isAuto) => {
        fc.pre(before.length > 0 && after.length > 0)
        const findingsThreshold = isAuto ? 'auto' : smPThreshold
        const comparison = compare(makeGraphs(before), makeGraphs(after), { findingsThreshold })
        const { moves, evidence } = comparison
        expect(sum(moves.streams, ({ addedUs }) => addedUs)).toBeCloseTo(moves.totalUs, 3)
        for (const { kind, to, requests } of moves.streams) {
          expect(requests).not.toBeLessThanOrEqual(0)
          if (kind !== 'moves' || to === null) continue
          expect(requests).toBeLessThanOrEqual(
            (evidence.precursors.structural.changes[to] as number) + 1e-6,
          )
        }
      }),
      { numRuns: 60 },
    )
  })
})

describe('streams between thousands of rare categories', () => {
  const KINDS = 3000
  /** 6,000 requests, some forms far more often than others; some of the most frequent one take the second. */
  const many = (seed: number, moved: number) => {
    const random = randomSource(seed)
    return makeGraphs(
      Array.from({ length: 6000 }, () => {
        const drawn = Math.floor(KINDS * random.next() ** 3)
        const form = drawn < 20 ? (random.next() < moved ? 20 : 0) : drawn
        const labels = ['root', `a${form % 60}`, `b${Math.floor(form / 60)}`, 'done']
        const edges = labels.slice(1).map((_, to) => [to, to + 1] as const)
        return { labels, edges, latencyUs: edges.map(() => 100 * random.logNormal(0, 0.3)) }
      }),
    )
  }
  const streamsOf = (seed: number, moved: number) =>
    compare(many(seed, 0), many(seed + 100, moved)).moves.streams.filter(({ kind }) =>
      ['moves', 'comes', 'goes'].includes(kind),
    )

  test.each([1, 2])('are none where counts differ by chance (seed %i)', (seed) => {
    expect(streamsOf(seed, 0)).toEqual([])
  })

  test('are told from the one that lost requests to the one that gained them', () => {
    const all = streamsOf(1, 0.3)
    const [from, to] = [new Set(all.map((one) => one.from)), new Set(all.map((one) => one.to))]
    expect(Math.min(from.size, to.size)).toBe(1)
    expect(sum(all, ({ requests }) => requests)).toBeGreaterThan(200)
  })
})

describe('a transport', () => {
  const price = fc.integer({ min: -9, max: 9 })
  const place = fc
    .array(fc.tuple(fc.integer({ min: 1, max: 2 }), price), { maxLength: 2 })
    .map((pieces) => pieces.sort((a, b) => a[1] - b[1]))
  const costs = fc.array(fc.option(fc.integer({ min: 0, max: 9 })), { minLength: 4, maxLength: 4 })

  const priceOf = (pieces: readonly (readonly [number, number])[], amount: number) => {
    let left = amount
    let total = 0
    for (const [most, each] of pieces) {
      total += Math.min(most, left) * each
      left -= Math.min(most, left)
    }
    return left > 0 ? Number.POSITIVE_INFINITY : total
  }

  test('costs as little as the best of all that are possible', () => {
    fc.assert(
      fc.property(fc.tuple(place, place), fc.tuple(place, place), costs, (supply, demand, cost) => {
        const ways = cost.flatMap((each, i): Way[] =>
          each === null ? [] : [{ from: i >> 1, to: i & 1, cost: each }],
        )
        const total = (flows: ArrayLike<number>) => {
          const through = (side: 'from' | 'to', at: number) =>
            sum(ways, (way, i) => (way[side] === at ? (flows[i] as number) : 0))
          return (
            sum(ways, (way, i) => way.cost * (flows[i] as number)) +
            sum(supply, (pieces, at) => priceOf(pieces, through('from', at))) +
            sum(demand, (pieces, at) => priceOf(pieces, through('to', at)))
          )
        }
        let best = 0
        const amounts = Array.from({ length: ways.length }, () => 0)
        for (let code = 0; code < 5 ** ways.length; code++) {
          amounts.forEach((_, i) => {
            amounts[i] = Math.floor(code / 5 ** i) % 5
          })
          best = Math.min(best, total(amounts))
        }
        expect(total(transport({ supply, demand }, ways))).toBeCloseTo(best, 9)
      }),
      { numRuns: 300 },
    )
  })

  test('takes the first of ways that cost as much', () => {
    const supply = [[[2, -5]], [[2, -5]]] as const
    const ways = [0, 1].map((from) => ({ from, to: 0, cost: 1 }))
    expect(Array.from(transport({ supply, demand: [[[3, -5]]] }, ways))).toEqual([2, 1])
  })
})
