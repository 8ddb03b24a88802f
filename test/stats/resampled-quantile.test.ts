import { describe, expect, test } from 'vitest'
import { resampledQuantiles } from '../../src/stats/bootstrap-interval.ts'
import { ksTwoSample, quantile, randomSource } from '../../src/stats/index.ts'

const DRAWS = 4000

describe('quantiles of resamples drawn by order statistics', () => {
  test.each([
    [2, 0.5],
    [3, 0.5],
    [7, 0.37],
    [10, 0],
    [10, 0.95],
    [10, 1],
    [41, 0.5],
    [60, 0.99],
  ])('of %i values at share %d are distributed as those of whole resamples', (n, share) => {
    const random = randomSource(n)
    const ascending = Float64Array.from({ length: n }, () => random.normal()).sort()
    const fast = resampledQuantiles(ascending, { share, resamples: DRAWS, seed: 1 })
    const whole = () => {
      const resample = ascending.map(() => ascending[random.integer(n)] as number)
      return quantile(resample.sort(), share)
    }
    const { p } = ksTwoSample(fast, Float64Array.from({ length: DRAWS }, whole), {
      method: 'exact',
    })
    expect(p).toBeGreaterThan(0.01)
  })

  test('of the smaller of two values is it in three draws of four', () => {
    const found = resampledQuantiles([1, 5], { share: 0, resamples: DRAWS, seed: 1 })
    expect(new Set(found)).toEqual(new Set([1, 5]))
    const low = found.filter((value) => value === 1).length / DRAWS
    expect(Math.abs(low - 0.75)).toBeLessThan(4 * Math.sqrt(0.1875 / DRAWS))
  })

  test('of one value are that value', () => {
    expect(resampledQuantiles([7], { share: 0.5, resamples: 2, seed: 1 })).toEqual(
      Float64Array.of(7, 7),
    )
  })

  test('lie at the same places of two samples of one size, after any number of other sizes', () => {
    const options = { share: 0.5, resamples: 100, seed: 3 }
    const there = resampledQuantiles([1, 2, 3, 4], options)
    for (let n = 5; n < 200; n++) resampledQuantiles(new Float64Array(n), options)
    const back = resampledQuantiles([10, 20, 30, 40], options)
    expect([...back]).toEqual([...there].map((value) => 10 * value))
  })
})
