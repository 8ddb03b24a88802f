import { describe, expect, test } from 'vitest'
import { leastSquares } from '../../src/stats/least-squares.ts'
import { randomSource } from '../../src/stats/random.ts'

describe('least squares', () => {
  test('finds the plane on which values lie', () => {
    const rows = [
      [0, 0],
      [1, 0],
      [0, 1],
      [3, 2],
    ]
    const predict = leastSquares(
      rows,
      rows.map(([a = 0, b = 0]) => 5 + 2 * a - 7 * b),
    )
    expect(predict([0, 0])).toBeCloseTo(5, 6)
    expect(predict([1, 0])).toBeCloseTo(5 + 2, 6)
    expect(predict([0, 1])).toBeCloseTo(5 - 7, 6)
  })

  // R: d <- data.frame(x=c(1,2,3,4,6), z=c(2,1,5,3,4), y=c(3,4,8,7,12)); coef(lm(y ~ x + z, d))
  test('agrees with R on values that lie on none', () => {
    const rows = [
      [1, 2],
      [2, 1],
      [3, 5],
      [4, 3],
      [6, 4],
    ]
    const predict = leastSquares(rows, [3, 4, 8, 7, 12])
    expect(predict([0, 0])).toBeCloseTo(1 / 9, 6)
    expect(predict([1, 0])).toBeCloseTo(1 / 9 + 13 / 9, 6)
    expect(predict([0, 1])).toBeCloseTo(1 / 9 + 31 / 45, 6)
  })

  test('gives a column that does not vary 0, and shares between two that say the same', () => {
    const random = randomSource(1)
    const rows = Array.from({ length: 20 }, () => random.next()).map((x) => [x, 3, x])
    const predict = leastSquares(
      rows,
      rows.map(([x = 0]) => 10 * x),
    )
    expect(predict([1, 3, 1])).toBeCloseTo(10, 5)
    expect(predict([1, 900, 1])).toBe(predict([1, 3, 1]))
    expect(predict([2, 3, 1]) - predict([1, 3, 1])).toBeCloseTo(5, 3)
  })

  test('of no columns is the mean', () => {
    expect(leastSquares([[], []], [2, 4])([])).toBe(3)
  })
})
