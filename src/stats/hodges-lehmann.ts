import { requireShare } from './require-option.ts'
import { noShift, type ShiftInterval, shiftInterval } from './shift-interval.ts'
import { sortedPair } from './sorted-pair.ts'
import type { TwoSampleResult } from './two-sample-result.ts'

export interface ShiftOptions {
  /** How often the interval is to hold the true shift, a share. Default 0.95. */
  readonly level?: number
  /** Whether all samples are ascending already: they are then read without a copy. Default false. */
  readonly sorted?: boolean
}

export interface HodgesLehmannResult
  extends ShiftInterval,
    Omit<TwoSampleResult, 'statistic' | 'p' | 'direction'> {}

/**
 * The Hodges-Lehmann estimate of how much slower after is than before: the median of all n1·n2
 * differences after − before, with the interval of shifts that the Mann-Whitney test does not reject.
 *
 * A positive shift says that after is slower. Unlike a difference of means it is hardly moved by a
 * few extreme values. It need not be the difference of the medians, unless one distribution is the
 * other one shifted.
 *
 * Ties make the interval wider than its level, never narrower. NaN and infinite values are left out
 * and counted. When a sample is empty, shift, low and high are NaN; when the samples are too small
 * for any shift to be rejected, low is −∞ and high ∞.
 *
 * Limits: the interval uses the normal approximation of U with continuity correction, as the
 * asymptotic p of `mannWhitney`: the shifts it holds are those with p > 1 − level. Measured coverage
 * at 95 % is 95 to 95.5 % from 20/30 values, in smaller samples up to 97 % (U has few values). Takes
 * O(n log n) without listing the pairs.
 *
 * Sources: Hodges and Lehmann 1963, "Estimates of location based on rank tests", Annals of
 * Mathematical Statistics 34(2):598-611; Moses 1953 (interval), in Lehmann 1975, "Nonparametrics",
 * §2.6.
 *
 * @throws OptionError for a level outside 0 to 1, or unsorted samples with `sorted`.
 *
 * @example
 * hodgesLehmann([1, 2, 3, 4], [11, 12, 13, 14]).shift // 10
 */
export function hodgesLehmann(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  { level = 0.95, sorted = false }: ShiftOptions = {},
): HodgesLehmannResult {
  requireShare('level', level)
  const { first, second, sizes } = sortedPair(before, after, sorted)
  const empty = first.length === 0 || second.length === 0
  const interval = empty ? noShift(level) : shiftInterval([{ first, second, weight: 1 }], level)
  return { ...interval, ...sizes }
}
