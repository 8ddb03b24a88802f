import { describe, expect, test } from 'vitest'
import { stirlingError } from '../../src/stats/distributions.ts'
import { gammaQ } from '../../src/stats/index.ts'
import { expectRelative } from './expect-relative.ts'

describe('the upper incomplete gamma function', () => {
  test.each([
    [3.841458820694124, 1],
    [5.991464547107979, 2],
    [18.307038053275146, 10],
    [124.34211340400407, 100],
  ])('χ² beyond %d with %d degrees of freedom has p 0.05', (x, df) => {
    expectRelative(gammaQ(df / 2, x / 2), 0.05, 1e-13)
  })

  test('of an integer a is a Poisson sum', () => {
    for (const x of [0.5, 2.9, 3, 4.1, 20]) {
      expectRelative(gammaQ(3, x), Math.exp(-x) * (1 + x + (x * x) / 2), 1e-13)
    }
  })

  test('of 1 is e^−x, to the last bit', () => {
    expect(gammaQ(1, 2)).toBe(Math.exp(-2))
  })

  test('is 1 at 0 and 0 at ∞', () => {
    expect([gammaQ(0.5, 0), gammaQ(7, Number.POSITIVE_INFINITY)]).toEqual([1, 0])
    expect(gammaQ(2, 2000)).toBe(0)
  })

  test('falls across the joint of its two formulas', () => {
    for (const a of [0.5, 2, 30, 5000]) {
      const joint = a + 1
      const [left, right] = [gammaQ(a, joint * (1 - 1e-12)), gammaQ(a, joint)]
      expect(left).toBeGreaterThanOrEqual(right - 1e-13)
      expectRelative(left, right, 1e-9)
    }
  })

  test.each([
    [0, 1, 'Option a is 0. Give a number above 0.'],
    [-1, 1, 'Option a is -1. Give a number above 0.'],
    [Number.NaN, 1, 'Option a is NaN. Give a number above 0.'],
    [Number.POSITIVE_INFINITY, 1, 'Option a is Infinity. Give a number above 0.'],
    [1, -1, 'Option x is -1. Give a number, 0 or more.'],
    [1, Number.NaN, 'Option x is NaN. Give a number, 0 or more.'],
  ])('gammaQ(%d, %d) is refused', (a, x, message) => {
    expect(() => gammaQ(a, x)).toThrow(message)
  })
})

describe('the error of Stirling’s formula', () => {
  test.each([1, 2, 5, 9, 10, 15, 20])('at %i gives back its factorial', (n) => {
    const factorial = Array.from({ length: n }, (_, i) => i + 1).reduce((x, y) => x * y)
    const stirling = 0.5 * Math.log(2 * Math.PI * n) + n * Math.log(n) - n
    expect(stirling + stirlingError(n)).toBeCloseTo(Math.log(factorial), 12)
  })

  test('at ½ is that of Γ(3/2) = √π / 2', () => {
    const stirling = 0.5 * Math.log(Math.PI) + 0.5 * Math.log(0.5) - 0.5
    expectRelative(stirlingError(0.5), Math.log(Math.sqrt(Math.PI) / 2) - stirling, 1e-14)
  })
})
