import { describe, expect, test } from 'vitest'
import { ksTwoSample, quantile, randomSource } from '../../src/stats/index.ts'
import { resampledQuantile } from '../../src/stats/resampled-quantile.ts'

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
    const fast = resampledQuantile(ascending, share, randomSource(1))
    const whole = () => {
      const resample = ascending.map(() => ascending[random.integer(n)] as number)
      return quantile(resample.sort(), share)
    }
    const { p } = ksTwoSample(
      Float64Array.from({ length: DRAWS }, fast),
      Float64Array.from({ length: DRAWS }, whole),
      { method: 'exact' },
    )
    expect(p).toBeGreaterThan(0.01)
  })

  test('of the smaller of two values is it in three draws of four', () => {
    const draw = resampledQuantile([1, 5], 0, randomSource(1))
    const found = Float64Array.from({ length: DRAWS }, draw)
    expect(new Set(found)).toEqual(new Set([1, 5]))
    const low = found.filter((value) => value === 1).length / DRAWS
    expect(Math.abs(low - 0.75)).toBeLessThan(4 * Math.sqrt(0.1875 / DRAWS))
  })

  test('of one value are that value', () => {
    expect(resampledQuantile([7], 0.5, randomSource(1))()).toBe(7)
  })
})
