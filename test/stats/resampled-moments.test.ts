import { describe, expect, test } from 'vitest'
import { meanMoments, resampledMoments } from '../../src/stats/bootstrap-interval.ts'
import { moments, randomSource } from '../../src/stats/index.ts'
import { expectRelative } from './expect-relative.ts'

describe('mean and squared standard error', () => {
  test('of 1, 2, 3, 6 are 3 and 14/3 over 4', () => {
    expect(meanMoments([1, 2, 3, 6])).toEqual({ mean: 3, error2: 14 / 3 / 4 })
  })

  test('keep their digits far from 0', () => {
    const { mean, error2 } = meanMoments([1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 6])
    expect(mean).toBe(1e9 + 3)
    expectRelative(error2, 14 / 3 / 4, 1e-14)
  })

  test('of one value have no standard error', () => {
    expect(meanMoments([5])).toEqual({ mean: 5, error2: Number.NaN })
  })
})

describe('of resamples', () => {
  test('the means vary by the sample’s standard error, without bias', () => {
    const sample = [1, 2, 3, 6, 13]
    const draw = resampledMoments(sample, randomSource(2))
    const means = Float64Array.from({ length: 20_000 }, () => draw().mean)
    // The variance of a resampled mean is that of the sample with n, not n − 1, over n.
    const variance = (meanMoments(sample).error2 * 4) / 5
    expect(Math.abs(moments(means).mean - 5)).toBeLessThan(4 * Math.sqrt(variance / 20_000))
    expect(moments(means).variance / variance).toBeCloseTo(1, 1)
  })

  test('one value repeated has no standard error, not that of rounding', () => {
    const draw = resampledMoments([0.1, 0.4, 1.1], randomSource(1))
    const errors = Array.from({ length: 3000 }, () => draw().error2)
    const none = errors.filter((error2) => error2 === 0).length / 3000
    expect(Math.abs(none - 1 / 9)).toBeLessThan(4 * Math.sqrt(8 / 81 / 3000))
    expect(Math.min(...errors.filter((error2) => error2 > 0))).toBeGreaterThan(0.001)
  })
})
