// Power is computed some sixty times on up to a million values: the loops index with `!`.

import { rejectUnknownOptions } from '../core/errors.ts'
import { normalQuantile, normalTail } from './distributions.ts'
import { splitAt } from './hodges-lehmann.ts'
import { requireCount, requireShare } from './require-option.ts'
import { sortedFinite } from './two-sample.ts'

export interface DetectableShiftOptions {
  /** The level of the two-sided Mann-Whitney test. Default 0.05. */
  readonly alpha?: number
  /** Probability that the test finds the shift. Default 0.8. */
  readonly power?: number
  /** Ratio of the variance of U to that of independent values. Default 1. */
  readonly designEffect?: number
  /** Whether the sample is ascending already: it is then read without a copy. Default false. */
  readonly sorted?: boolean
}

export interface DetectableShiftResult {
  /**
   * In the unit of the sample; ∞ when the samples are too small for any shift; 0 when all values
   * are equal and any shift would be seen; NaN for a sample of fewer than two values or an empty
   * one.
   */
  readonly shift: number
  /** The power at that shift: at least the one asked for; smaller only where shift is ∞. */
  readonly power: number
  readonly alpha: number
  readonly beforeCount: number
  readonly afterCount: number
}

/**
 * Returns the smallest shift that a comparison of these sizes would see: by how much all requests
 * must get slower for the two-sided Mann-Whitney test at level `alpha` to reject with probability
 * `power`.
 *
 * Assumes that before has the distribution of the sample and after the same, moved up. The power is
 * that of a normal U whose mean and variance under the shift are counted from all pairs of distinct
 * values of the sample. A shift down by as much is seen equally often.
 *
 * Only differences between values of the sample are tried as shifts: latencies recorded in whole
 * milliseconds shift by whole milliseconds, and their ties, which count half, are no evidence until
 * then. NaN and infinite values are left out. A sample of fewer than two values, or an
 * `afterCount` of 0, gives NaN; samples too small to reject anything give ∞.
 *
 * Limits: the power of the asymptotic test; for heavy-tailed latencies the Kolmogorov-Smirnov test
 * sees shifts of about the same size. A planning figure, not a result: it rests on the sample. From
 * about 10 values on each side.
 *
 * Sources: Lehmann 1975, "Nonparametrics", §2.3 (power); DeLong, DeLong and Clarke-Pearson 1988,
 * "Comparing the areas under two or more correlated receiver operating characteristic curves",
 * Biometrics 44(3):837-845 (variance).
 *
 * @throws OptionError for alpha or power outside 0 to 1, an afterCount that is not an integer of 0 or
 *   more, or an unsorted sample with `sorted`.
 *
 * @example
 * const before = Array.from({ length: 100 }, (_, i) => 1000 + 10 * i)
 * detectableShift(before, 100).shift < detectableShift(before, 25).shift // true
 */
export function detectableShift(
  before: ArrayLike<number>,
  afterCount: number,
  options: DetectableShiftOptions = {},
): DetectableShiftResult {
  rejectUnknownOptions(options, ['alpha', 'power', 'designEffect', 'sorted'])
  const { alpha = 0.05, power = 0.8, designEffect = 1, sorted = false } = options
  requireShare('alpha', alpha)
  requireShare('power', power)
  requireCount('afterCount', afterCount, 0)
  const values = sortedFinite(before, { sorted })
  const beforeCount = values.length
  // For a value of before, those of after that lie above it are as those below it upside down.
  const mirrored = Float64Array.from(values, (value) => -value).reverse()
  const shape = { alpha, beforeCount, afterCount }
  if (beforeCount < 2 || afterCount === 0) return { shift: Number.NaN, power: Number.NaN, ...shape }
  const wider = Math.sqrt(designEffect)
  const pairs = beforeCount * afterCount
  const nullSd = wider * Math.sqrt((pairs * (beforeCount + afterCount + 1)) / 12)
  const critical = -normalQuantile(alpha / 2) * nullSd + 0.5
  const powerAt = (by: number) => {
    const [ofAfter, ofBefore] = [placements(values, by), placements(mirrored, by)]
    const variance = ofAfter.variance / afterCount + ofBefore.variance / beforeCount
    const sd = wider * pairs * Math.sqrt(variance)
    const excess = pairs * (ofAfter.mean - 0.5)
    if (sd === 0) return excess > critical ? 1 : 0
    return normalTail((critical - excess) / sd) + normalTail((critical + excess) / sd)
  }
  const range = values[beforeCount - 1]! - values[0]!
  // Past the range every pair is in order, and the power at its highest.
  const highest = powerAt(Number.POSITIVE_INFINITY)
  if (highest < power) return { shift: Number.POSITIVE_INFINITY, power: highest, ...shape }
  if (range === 0 || powerAt(range) < power) {
    return { shift: range * 1.000001, power: highest, ...shape }
  }
  const shift = smallestDifference(values, (difference) => powerAt(difference) >= power)
  return { shift, power: powerAt(shift), ...shape }
}

/** Returns the smallest positive difference of two values that is enough, if larger ones are too. */
function smallestDifference(values: ArrayLike<number>, isEnough: (difference: number) => boolean) {
  const pairs = [{ first: values, second: values, weight: 1 }]
  let low = 0
  let high = values[values.length - 1]! - values[0]!
  for (;;) {
    const { below, above } = splitAt(pairs, low / 2 + high / 2)
    const between = below > low ? below : above
    if (between >= high) return high
    if (isEnough(between)) high = between
    else low = between
  }
}

/** Returns mean and variance of the shares of a sample below each of its values, moved by `shift`, ties counted half. */
function placements(values: ArrayLike<number>, shift: number) {
  const n = values.length
  let [sum, squares, below, reached] = [0, 0, 0, 0]
  for (let j = 0; j < n; j++) {
    const moved = values[j]! + shift
    while (below < n && values[below]! < moved) below++
    reached = Math.max(reached, below)
    while (reached < n && values[reached]! <= moved) reached++
    const itself = moved > values[j]! ? 1 : 0.5
    const share = ((below + reached) / 2 - itself) / (n - 1)
    sum += share
    squares += share * share
  }
  const mean = sum / n
  return { mean, variance: Math.max(0, squares / n - mean * mean) }
}
