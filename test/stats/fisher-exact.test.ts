import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fisherExact, stratifiedFisherP } from '../../src/stats/index.ts'
import { expectRelative } from './expect-relative.ts'
import { rOracle } from './oracles/read.ts'

const table = fc
  .tuple(fc.nat(12), fc.nat(12), fc.nat(12), fc.nat(12))
  .map(([hit1, missed1, hit2, missed2]) => {
    return [hit1, hit1 + missed1 + 1, hit2, hit2 + missed2 + 1] as const
  })

describe('p', () => {
  test('of Fisher’s tea: 3 of 4 against 1 of 4', () => {
    const { p, pMore, pFewer } = fisherExact(3, 4, 1, 4)
    expectRelative(p, 34 / 70, 1e-14)
    expectRelative(pFewer, 17 / 70, 1e-14)
    expectRelative(pMore, 69 / 70, 1e-14)
  })

  test('one-sided is not half of the two-sided where the other tail is empty', () => {
    // 0 of 10 against 2 of 2 among 2 of 12: all in the second group 1 of 66 ways, the rarest.
    const { p, pMore, pFewer } = fisherExact(0, 10, 2, 2)
    expectRelative(p, 1 / 66, 1e-14)
    expectRelative(pMore, 1 / 66, 1e-14)
    expect(pFewer).toBe(1)
  })

  test('of one trial against one is 1', () => {
    expect(fisherExact(1, 1, 0, 1)).toMatchObject({ p: 1, pMore: 1, pFewer: 0.5 })
  })

  test('of all or nothing in both groups is 1', () => {
    for (const [s1, s2] of [
      [0, 0],
      [5, 9],
    ] as const) {
      expect(fisherExact(s1, 5, s2, 9)).toMatchObject({
        p: 1,
        pMore: 1,
        pFewer: 1,
      })
    }
  })

  test('is what summing hypergeometric probabilities by binomials gives', () => {
    fc.assert(
      fc.property(table, ([s1, n1, s2, n2]) => {
        const { p, pMore, pFewer } = fisherExact(s1, n1, s2, n2)
        const ways = (k: number) => binomial(n2, k) * binomial(n1, s1 + s2 - k)
        const tables = Array.from({ length: n2 + 1 }, (_, k) => k)
        const total = binomial(n1 + n2, s1 + s2)
        const share = (holds: (k: number) => boolean) =>
          tables.filter(holds).reduce((sum, k) => sum + ways(k), 0) / total
        const given = ways(s2)
        const isEqual = (k: number) => Math.abs(ways(k) - given) <= 1e-9 * given
        expectRelative(
          p,
          share((k) => ways(k) < given || isEqual(k)),
          1e-12,
        )
        expectRelative(
          pMore,
          share((k) => k >= s2),
          1e-12,
        )
        expectRelative(
          pFewer,
          share((k) => k <= s2),
          1e-12,
        )
      }),
    )
  })

  test('keeps its digits with 100,000 trials, and is 0 only where it underflows', () => {
    // scipy.stats.fisher_exact 1.17.1.
    expectRelative(fisherExact(500, 100_000, 620, 100_000).p, 0.00035849780237728196, 1e-9)
    expect(fisherExact(0, 1_000_000, 500_000, 1_000_000).p).toBe(0)
    expect(fisherExact(500_000, 1_000_000, 500_000, 1_000_000).p).toBe(1)
  })
})

describe('swapping the groups', () => {
  test('keeps p and swaps the one-sided p', () => {
    fc.assert(
      fc.property(table, ([s1, n1, s2, n2]) => {
        const there = fisherExact(s1, n1, s2, n2)
        const back = fisherExact(s2, n2, s1, n1)
        expectRelative(back.p, there.p, 1e-12)
        expectRelative(back.pMore, there.pFewer, 1e-12)
      }),
    )
  })
})

describe('an empty group', () => {
  test.each([
    [0, 0, 3, 9],
    [3, 9, 0, 0],
    [0, 0, 0, 0],
  ])('%i of %i against %i of %i: every field is NaN', (s1, n1, s2, n2) => {
    expect(new Set(Object.values(fisherExact(s1, n1, s2, n2)))).toEqual(new Set([Number.NaN]))
  })
})

describe('what is refused', () => {
  test.each([
    [6, 5, 0, 5, 'Option successes1 is 6. Give an integer from 0 to n1 (5).'],
    [1, 5, -1, 5, 'Option successes2 is -1. Give an integer from 0 to n2 (5).'],
    [0.5, 5, 1, 5, 'Option successes1 is 0.5. Give an integer from 0 to n1 (5).'],
    [1, 5, 0, Number.NaN, 'Option n2 is NaN. Give an integer number of trials, 0 or more.'],
    [1, 5.5, 0, 3, 'Option n1 is 5.5. Give an integer number of trials, 0 or more.'],
  ])('%d of %d against %d of %d', (s1, n1, s2, n2, message) => {
    expect(() => fisherExact(s1, n1, s2, n2)).toThrow(message)
  })
})

function binomial(n: number, k: number): number {
  if (k < 0 || k > n) return 0
  let value = 1
  for (let i = 1; i <= k; i++) value = (value * (n - k + i)) / i
  return Math.round(value)
}

describe('of several tables', () => {
  test.each(rOracle().mantelHaenszelExact)('p is that of mantelhaen.test of R, $p', (expected) => {
    expectRelative(stratifiedFisherP(expected.tables), expected.p, 1e-9)
  })

  test('one table has p of Fisher, and tables with an empty group say nothing', () => {
    fc.assert(
      fc.property(table, (one) => {
        expectRelative(stratifiedFisherP([one, [0, 0, 3, 9]]), fisherExact(...one).p, 1e-12)
      }),
    )
    expect(stratifiedFisherP([[0, 0, 3, 9]])).toBeNaN()
  })
})
