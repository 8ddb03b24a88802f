// Runs once a pair of values: the loops index with `!`.
import { OptionError, rejectUnknownOptions, requireNumbers } from '../core/errors.ts'
import { normalP } from './distributions.ts'

export interface RotationTestResult {
  /** Standard errors that the sum of products lies above that of rotated series; `NaN` if none varies. */
  readonly statistic: number
  /** One-sided: large where the series are high at the same time. */
  readonly p: number
  /** Sum of products less its mean over all rotations, and its variance over these. */
  readonly excess: number
  readonly variance: number
}

/**
 * Tests whether two series of the same moments are high together, even if neighbors in time are similar.
 *
 * Null hypothesis: within each stretch of time, one series could as well have begun at any other moment of it. So all
 * rotations of the one within its stretch are equally likely; they preserve how long each series stays high. The sum of
 * products is compared with its mean and variance over all rotations. Alternative: it is larger (one-sided). Common
 * changes over several stretches, such as a trend, do not count.
 *
 * Limits: a normal approximation of the sum over stretches. Series that are high only once, for long, are never
 * significant. An empty series, or one that never varies within a stretch, gives NaN.
 *
 * Source: Lotwick and Silverman 1982, "Methods for analysing spatial processes of several types of
 * points", Journal of the Royal Statistical Society B 44(3):406-413 (toroidal shifts), here in time.
 *
 * @param one values in the order of time
 * @param other values of the same moments
 * @param options.stretches of nearly the same number of values; default 10
 * @throws OptionError for series of different lengths, or stretches that are no whole number from 1
 *
 * @example
 * rotationTest([0, 0, 9, 0, 0, 0], [0, 0, 1, 0, 0, 0], { stretches: 1 }).statistic // 2.23606797749979
 */
export function rotationTest(
  one: ArrayLike<number>,
  other: ArrayLike<number>,
  options: { readonly stretches?: number } = {},
): RotationTestResult {
  requireNumbers({ one, other })
  rejectUnknownOptions(options, ['stretches'])
  const { stretches = 10 } = options
  if (other.length !== one.length) {
    throw new OptionError(
      'other',
      other.length,
      `as many values as the other series (${one.length})`,
    )
  }
  if (!(Number.isInteger(stretches) && stretches >= 1)) {
    throw new OptionError('stretches', stretches, 'a whole number from 1')
  }
  let [excess, variance] = [0, 0]
  for (let stretch = 0; stretch < stretches; stretch++) {
    const from = Math.floor((stretch * one.length) / stretches)
    const size = Math.floor(((stretch + 1) * one.length) / stretches) - from
    const sums = new Float64Array(size)
    const twice = new Float64Array(2 * size)
    for (let i = 0; i < twice.length; i++) twice[i] = other[from + (i % size)]!
    for (let i = 0; i < size; i++) {
      const value = one[from + i]!
      if (value === 0) continue
      for (let shift = 0; shift < size; shift++) sums[shift]! += value * twice[i + shift]!
    }
    if (size === 0) continue
    const mean = sums.reduce((sum, value) => sum + value, 0) / size
    excess += sums[0]! - mean
    variance += sums.reduce((sum, value) => sum + (value - mean) ** 2, 0) / size
  }
  const statistic = variance > 0 ? excess / Math.sqrt(variance) : Number.NaN
  return { statistic, p: normalP(statistic, 'slower'), excess, variance }
}
