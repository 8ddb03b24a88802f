import { describe, expect, test } from 'vitest'
import { accelerationOfMeans } from '../../src/stats/bootstrap-interval.ts'
import { expectRelative } from './expect-relative.ts'

describe('the acceleration of a difference of means', () => {
  test('is a sixth of the skewness of the influence values', () => {
    // Influences of after (−1, −1, 2)/3: cubes 6/27, squares 6/9.
    expectRelative(accelerationOfMeans([5, 5], [0, 0, 3]), 6 / 27 / (6 * (6 / 9) ** 1.5), 1e-14)
  })

  test('changes its sign with the periods, and is 0 for the same shape in both', () => {
    const [one, other] = [
      [0, 0, 3],
      [1, 2, 9, 4],
    ]
    expectRelative(
      accelerationOfMeans(one ?? [], other ?? []),
      -accelerationOfMeans(other ?? [], one ?? []),
      1e-14,
    )
    expect(accelerationOfMeans([0, 0, 3], [7, 7, 10])).toBe(0)
  })

  test('is 0 when all values of each sample are equal', () => {
    expect(accelerationOfMeans([5, 5], [3, 3, 3])).toBe(0)
  })
})
