import { requireNumbers } from '../core/errors.ts'
import { requireWeights } from './weighted-sample.ts'

// Not simple-statistics': that takes twice as long (measured) and loses digits of epoch times' variance.
// Called on samples of up to a million values: the loops index with `!`.

export interface Moments {
  readonly count: number
  readonly mean: number
  /** Variance with n − 1 in the denominator; NaN for fewer than two values. */
  readonly variance: number
  /** The square root of `variance`. */
  readonly sd: number
  readonly min: number
  readonly max: number
}

/**
 * Returns count, mean, sample variance, standard deviation, smallest and largest value of a sample.
 *
 * For an empty sample all but the count are NaN; for one value, variance and sd are. A NaN in the sample makes
 * everything but the count NaN; nothing is dropped.
 *
 * With `weights`, each value counts as often as its weight says: mean, variance and standard deviation are those of a
 * sample with that many copies; `count` is still the number of values.
 *
 * Two passes, each corrected by the sum of residuals, so that a large common offset (epoch times) does not eat the
 * variance.
 *
 * Source: Chan, Golub and LeVeque 1983, "Algorithms for computing the sample variance: analysis
 * and recommendations", The American Statistician 37(3):242-247.
 *
 * @example
 * moments([2, 4, 6]) // { count: 3, mean: 4, variance: 4, sd: 2, min: 2, max: 6 }
 */
export function moments(sample: ArrayLike<number>, weights?: ArrayLike<number>): Moments {
  requireNumbers({ sample })
  requireWeights(sample, weights)
  const count = sample.length
  let mass = 0
  let sum = 0
  let min = count === 0 ? Number.NaN : sample[0]!
  let max = min
  for (let i = 0; i < count; i++) {
    const value = sample[i]!
    const weight = weights === undefined ? 1 : weights[i]!
    mass += weight
    sum += weight * value
    min = Math.min(min, value)
    max = Math.max(max, value)
  }
  const mean = sum / mass
  let left = 0
  let squares = 0
  for (let i = 0; i < count; i++) {
    const deviation = sample[i]! - mean
    const weight = weights === undefined ? 1 : weights[i]!
    left += weight * deviation
    squares += weight * deviation * deviation
  }
  const variance = count < 2 ? Number.NaN : Math.max(0, squares - (left * left) / mass) / (mass - 1)
  return { count, mean: mean + left / mass, variance, sd: Math.sqrt(variance), min, max }
}
