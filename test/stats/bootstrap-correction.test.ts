import { describe, expect, test } from 'vitest'
import { accelerationOfMeans, correctedShares } from '../../src/stats/bootstrap-interval.ts'
import { expectRelative } from './expect-relative.ts'

const TAILS = [0.025, 0.975] as const
const percents = Float64Array.from({ length: 1000 }, (_, i) => i)

describe('the shares at which BCa reads the differences', () => {
  test('are the tails when there is neither bias nor skewness', () => {
    const [low, high] = correctedShares(percents, {
      estimate: 499.5,
      tails: TAILS,
      acceleration: 0,
    })
    expectRelative(low, 0.025, 1e-13)
    expectRelative(high, 0.975, 1e-13)
  })

  test('rise with twice the bias', () => {
    // Φ(2·Φ⁻¹(0.6) ± 1.96), scipy 1.17.1.
    const [low, high] = correctedShares(percents, {
      estimate: 599.5,
      tails: TAILS,
      acceleration: 0,
    })
    expect(low).toBeCloseTo(0.0730744, 6)
    expect(high).toBeCloseTo(0.993181, 6)
  })

  test('count differences equal to the estimate half: a constant has no bias', () => {
    const [low] = correctedShares(new Float64Array(99).fill(3), {
      estimate: 3,
      tails: TAILS,
      acceleration: 0,
    })
    expectRelative(low, 0.025, 1e-13)
  })

  test('rise with the skewness: Φ(z / (1 − a·z)) at z = ±1.96', () => {
    const [low, high] = correctedShares(percents, {
      estimate: 499.5,
      tails: TAILS,
      acceleration: 0.1,
    })
    expect(low).toBeCloseTo(0.0506305, 6)
    expect(high).toBeCloseTo(0.9926106, 6)
  })

  test('are the tails when the estimate lies outside all differences', () => {
    expect(correctedShares(percents, { estimate: -1, tails: TAILS, acceleration: 0.1 })).toEqual(
      TAILS,
    )
  })

  test('stop at the last difference where bias and skewness would turn them around', () => {
    const options = { estimate: 998.5, tails: TAILS, acceleration: 0.3 }
    const [low, high] = correctedShares(percents, options)
    expect(high).toBe(1)
    expect(low).toBeGreaterThan(0.9)
    const mirrored = correctedShares(percents, {
      estimate: 0.5,
      tails: TAILS,
      acceleration: -0.3,
    })
    expect(mirrored[0]).toBe(0)
  })
})

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
