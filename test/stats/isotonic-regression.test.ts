import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isotonicRegression } from '../../src/stats/isotonic-regression.ts'

describe('isotonicRegression', () => {
  test('gives what isoreg of R gives', () => {
    // isoreg(c(1, 0, 4, 3, 3, 5, 4, 2, 0))$yf
    const fitted = isotonicRegression([1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 0, 4, 3, 3, 5, 4, 2, 0])
    expect([...fitted]).toEqual([0.5, 0.5, 3, 3, 3, 3, 3, 3, 3])
    // isoreg(c(2, 9, 4, 7, 5), c(1.5, 8, 4, 2.5, 6))$yf is 1.5, 4, 4.25, 4.25, 8 by place.
    const unordered = isotonicRegression([2, 9, 4, 7, 5], [1.5, 8, 4, 2.5, 6])
    expect([...unordered]).toEqual([1.5, 8, 4, 4.25, 4.25])
  })

  test('equal places share one value', () => {
    expect([...isotonicRegression([1, 1, 2], [0, 4, 3])]).toEqual([2, 2, 3])
    expect([...isotonicRegression([1, 2, 2], [3, 0, 4])]).toEqual([7 / 3, 7 / 3, 7 / 3])
  })

  test('never falls, keeps the mean, and is its own fit', () => {
    const points = fc.array(
      fc.tuple(fc.integer({ max: 20, min: 0 }), fc.integer({ max: 99, min: 0 })),
      {
        minLength: 1,
        maxLength: 60,
      },
    )
    fc.assert(
      fc.property(points, (all) => {
        const x = all.map(([place]) => place)
        const y = all.map(([, value]) => value)
        const fitted = [...isotonicRegression(x, y)]
        const byPlace = x.map((place, i) => [place, fitted[i] as number] as const)
        byPlace.sort(([a], [b]) => a - b)
        const falls = byPlace.some(([, value], i) => value < (byPlace[i - 1]?.[1] ?? value) - 1e-9)
        const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
        expect(falls).toBe(false)
        expect(sum(fitted)).toBeCloseTo(sum(y), 6)
        const again = isotonicRegression(x, fitted)
        for (const [i, value] of fitted.entries()) expect(again[i]).toBeCloseTo(value, 9)
      }),
    )
  })

  test('says which value it cannot use', () => {
    expect(() => isotonicRegression([1], [])).toThrow('Option y is 0. Give 1 values, one a place.')
    expect(() => isotonicRegression([1, 2], [0, Number.NaN])).toThrow('Option y[1] is NaN.')
  })
})
