import { describe, expect, test } from 'vitest'
import { chiSquareTest } from '../../src/stats/index.ts'
import { expectRelative } from './expect-relative.ts'

describe('the statistic', () => {
  test('of 30, 20, 10 against 20, 20, 20 is 16/3 with 2 degrees of freedom', () => {
    const found = chiSquareTest(Object.freeze([30, 20, 10]), Object.freeze([20, 20, 20]))
    expect(found).toMatchObject({
      df: 2,
      expectedMin: 15,
      beforeCount: 60,
      afterCount: 60,
      testable: true,
    })
    expectRelative(found.statistic, 16 / 3, 1e-14)
    expectRelative(found.p, Math.exp(-8 / 3), 1e-13)
  })

  test('has no continuity correction for two cells: 5, 5 against 9, 1', () => {
    expectRelative(chiSquareTest([5, 5], [9, 1]).statistic, 80 / 21, 1e-14)
  })

  test('of the same shares is 0 with p 1, whatever the sizes', () => {
    expect(chiSquareTest([10, 20, 30], [20, 40, 60])).toMatchObject({ statistic: 0, p: 1 })
  })

  test('swapping the periods keeps statistic and p and mirrors the residuals', () => {
    const there = chiSquareTest([12, 30, 8], [40, 22, 19])
    const back = chiSquareTest([40, 22, 19], [12, 30, 8])
    expectRelative(back.statistic, there.statistic, 1e-13)
    expectRelative(back.p, there.p, 1e-12)
    for (const [cell, residual] of there.residuals.entries()) {
      expectRelative(back.residuals[cell] as number, -residual, 1e-12)
    }
  })
})

describe('residuals', () => {
  test('of two cells are ± the root of the statistic, positive where after is more frequent', () => {
    const { residuals, statistic } = chiSquareTest([5, 5], [9, 1])
    expectRelative(residuals[0] as number, Math.sqrt(statistic), 1e-14)
    expectRelative(residuals[1] as number, -Math.sqrt(statistic), 1e-14)
  })

  test('weigh an excess by the cell’s own standard error', () => {
    // Row 60 of 120, column 50 of 120: 20 − 25 over √(25·½·(7/12)).
    const { residuals } = chiSquareTest([30, 20, 10], [20, 20, 20])
    expectRelative(residuals[0] as number, -5 / Math.sqrt(25 * 0.5 * (7 / 12)), 1e-14)
    expect(residuals[1]).toBe(0)
  })
})

describe('cells without any count', () => {
  test('are left out and have no residual', () => {
    const found = chiSquareTest([30, 0, 20, 0, 10], [20, 0, 20, 0, 20])
    const { residuals, ...rest } = chiSquareTest([30, 20, 10], [20, 20, 20])
    expect(found).toMatchObject(rest)
    const [first = 0, second = 0, third = 0] = residuals
    expect([...found.residuals]).toEqual([first, Number.NaN, second, Number.NaN, third])
  })

  test('leaving a single one, leave nothing to tell apart', () => {
    expect(chiSquareTest([7, 0], [3, 0])).toEqual({
      statistic: 0,
      df: 0,
      p: 1,
      expectedMin: 3,
      residuals: Float64Array.of(0, Number.NaN),
      beforeCount: 7,
      afterCount: 3,
      testable: false,
    })
  })
})

describe('a period without counts', () => {
  test.each([
    [
      [0, 0],
      [3, 4],
    ],
    [
      [3, 4],
      [0, 0],
    ],
    [
      [0, 0],
      [0, 0],
    ],
    [[], []],
  ])('has no statistic and no p: %j against %j', (before, after) => {
    const found = chiSquareTest(before, after)
    expect(found).toMatchObject({
      statistic: Number.NaN,
      p: Number.NaN,
      expectedMin: Number.NaN,
      testable: false,
    })
    expect([...found.residuals].every(Number.isNaN)).toBe(true)
  })
})

describe('testable', () => {
  test('asks that no expected count is below 1', () => {
    expect(chiSquareTest([100, 100, 100, 100, 1], [100, 100, 100, 100, 1]).testable).toBe(true)
    expect(chiSquareTest([100, 100, 100, 100, 1], [50, 50, 50, 50, 0]).testable).toBe(false)
  })

  test('asks that at most a fifth of the expected counts are below 5', () => {
    expect(chiSquareTest([9, 9, 9, 9, 4], [9, 9, 9, 9, 4]).testable).toBe(true)
    expect(chiSquareTest([9, 9, 9, 4], [9, 9, 9, 4]).testable).toBe(false)
  })
})

describe('what is refused', () => {
  test('different numbers of cells', () => {
    expect(() => chiSquareTest([1, 2], [1, 2, 3])).toThrow(
      'Option after.length is 3. Give as many cells as before, 2.',
    )
  })

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('a count of %d', (count) => {
    expect(() => chiSquareTest([1, count], [1, 2])).toThrow(
      `Option before[1] is ${count}. Give a count, 0 or more.`,
    )
    expect(() => chiSquareTest([1, 2], [count, 2])).toThrow(`Option after[0] is ${count}.`)
  })
})
