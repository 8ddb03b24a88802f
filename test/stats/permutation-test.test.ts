import { describe, expect, test } from 'vitest'
import { permutationTest } from '../../src/stats/index.ts'

const BEFORE = Object.freeze([10, 11, 12, 13, 14, 15])
const AFTER = Object.freeze([20, 21, 22, 23])

/** 4 standard errors of a p from 9999 ways. */
const about = (p: number) => 4 * Math.sqrt((p * (1 - p)) / 9999) + 1e-4

describe('the statistic', () => {
  test.each([
    ['mean', 9],
    ['median', 9],
    [{ quantile: 0 }, 10],
    [{ quantile: 1 }, 8],
  ] as const)('is the difference of the measure, after − before: %j', (measure, difference) => {
    expect(permutationTest(BEFORE, AFTER, { measure, permutations: 9 }).statistic).toBe(difference)
    expect(permutationTest(AFTER, BEFORE, { measure, permutations: 9 }).statistic).toBe(-difference)
  })

  test('may be that of any function of an ascending sample', () => {
    const measure = (ascending: Float64Array) => (ascending.at(-1) ?? 0) - (ascending[0] ?? 0)
    const shuffled = [3, 1, 9, 5]
    expect(permutationTest([7, 4], shuffled, { measure, permutations: 9 })).toMatchObject({
      statistic: 5,
      direction: 'slower',
    })
  })
})

describe('p', () => {
  test('of 3 against 2 apart: 1 of 10 ways, also two-sided, since the other tail is nearer', () => {
    const p = (alternative: 'two-sided' | 'slower' | 'faster') =>
      permutationTest([1, 2, 3], [10, 11], { alternative }).p
    expect(Math.abs(p('slower') - 0.1)).toBeLessThan(about(0.1))
    expect(Math.abs(p('two-sided') - 0.1)).toBeLessThan(about(0.1))
    expect(p('faster')).toBe(1)
  })

  test('of 2 against 2 apart: 1 of 6 ways, 2 when two-sided', () => {
    const { p } = permutationTest([1, 2], [10, 11])
    expect(Math.abs(p - 1 / 3)).toBeLessThan(about(1 / 3))
    const faster = permutationTest([10, 11], [1, 2], { alternative: 'faster' })
    expect(Math.abs(faster.p - 1 / 6)).toBeLessThan(about(1 / 6))
  })

  test('is never below 1 / (permutations + 1)', () => {
    const far = AFTER.map((value) => value + 1000)
    const { p } = permutationTest([...BEFORE, ...BEFORE, ...BEFORE], [...far, ...far, ...far], {
      permutations: 499,
    })
    expect(p).toBe(1 / 500)
  })

  test('of equal samples, and of all values equal, is 1', () => {
    expect(permutationTest([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]).p).toBe(1)
    expect(permutationTest([0.1, 0.1, 0.1], [0.1, 0.1]).p).toBe(1)
  })

  test('of one value against one is 1: both ways are as far', () => {
    expect(permutationTest([1], [5]).p).toBe(1)
  })

  test('one seed gives one p, whatever the order of the values', () => {
    const there = permutationTest(BEFORE, [9, 16, 12, 18], { seed: 3 })
    const back = permutationTest([...BEFORE].reverse(), [18, 9, 16, 12], { seed: 3 })
    expect(back).toEqual(there)
    expect(permutationTest(BEFORE, [9, 16, 12, 18], { seed: 4 }).p).not.toBe(there.p)
  })

  test('does not change when all values move far away, such as to times since 1970', () => {
    const before = Array.from({ length: 10 }, (_, i) => 10 * i)
    const after = Array.from({ length: 8 }, (_, i) => 10 * i + 45)
    const far = (values: readonly number[]) => values.map((value) => value + 1.7e12)
    const { p } = permutationTest(before, after)
    expect(p).toBeLessThan(0.03)
    expect(permutationTest(far(before), far(after)).p).toBeCloseTo(p, 3)
  })
})

describe('the dealt samples', () => {
  test.each([
    [6, 4],
    [4, 6],
    [1, 7],
  ])('keep their sizes, %i and %i, and stand in ascending order', (n1, n2) => {
    const seen = new Set<number>()
    const measure = (ascending: Float64Array) => {
      seen.add(ascending.length)
      expect([...ascending]).toEqual([...ascending].sort((x, y) => x - y))
      return ascending[0] as number
    }
    const values = [5, 3, 8, 1, 9, 2, 7, 7, 4, 6]
    permutationTest(values.slice(0, n1), values.slice(n1, n1 + n2), { measure, permutations: 50 })
    expect([...seen].sort()).toEqual([n1, n2].sort())
  })

  test('deal every way equally often', () => {
    const ways = new Map<string, number>()
    const measure = (ascending: Float64Array) => {
      if (ascending.length === 2) ways.set(`${ascending}`, (ways.get(`${ascending}`) ?? 0) + 1)
      return 0
    }
    permutationTest([1, 2, 4], [8, 16], { measure, permutations: 10_000 })
    expect(ways.size).toBe(10)
    for (const count of ways.values()) expect(Math.abs(count - 1000)).toBeLessThan(4 * 30)
  })
})

describe('what is not a number', () => {
  test('is left out and counted', () => {
    expect(permutationTest([1, Number.NaN, 2], [Number.POSITIVE_INFINITY, 4])).toMatchObject({
      statistic: 2.5,
      beforeCount: 2,
      afterCount: 1,
      droppedBefore: 1,
      droppedAfter: 1,
      testable: false,
    })
  })

  test('an empty sample has no statistic and no p', () => {
    const nothing = { statistic: Number.NaN, p: Number.NaN, direction: 'none' }
    expect(permutationTest([], [1, 2])).toMatchObject(nothing)
    expect(permutationTest([1, 2], [])).toMatchObject(nothing)
  })

  test('a measure of NaN is no evidence: p is NaN, not the smallest', () => {
    const spread = (ascending: Float64Array) =>
      ascending.length < 2 ? Number.NaN : (ascending.at(-1) ?? 0) - (ascending[0] ?? 0)
    expect(permutationTest([1, 2, 3], [9], { measure: spread })).toMatchObject({
      statistic: Number.NaN,
      p: Number.NaN,
      direction: 'none',
    })
  })
})

describe('options', () => {
  test.each([
    [{ alternative: 'greater' }, `alternative is "greater". Give 'two-sided', 'slower', 'faster'.`],
    [{ measure: 'mode' }, `measure is "mode". Give 'mean', 'median' or { quantile: 0 to 1 }.`],
    [
      { measure: { quantile: 95 } },
      `measure is "{ quantile: 95 }". Give 'mean', 'median' or { quantile: 0 to 1 }.`,
    ],
    [{ permutations: 0 }, 'permutations is 0. Give an integer, 1 or more.'],
    [{ permutations: 99.5 }, 'permutations is 99.5. Give an integer, 1 or more.'],
    [{ seed: 0.5 }, 'seed is 0.5. Give an integer.'],
  ])('%j is refused', (options, message) => {
    expect(() => permutationTest([1, 2], [3], options as never)).toThrow(`Option ${message}`)
  })
})
