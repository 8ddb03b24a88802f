import { fTail } from './distributions.ts'
import { moments } from './moments.ts'
import { quantile } from './quantile.ts'
import { sortedPair, type TwoSampleResult } from './two-sample.ts'

export interface BrownForsytheResult extends Omit<TwoSampleResult, 'direction'> {
  /** F: how much more the mean deviations differ between the samples than chance explains. */
  readonly statistic: number
  /** Degrees of freedom between and within the samples: 1 and n1 + n2 − 2. */
  readonly df: readonly [between: number, within: number]
  /** Mean absolute deviation from the sample's own median, in the unit of the samples. */
  readonly beforeDeviation: number
  readonly afterDeviation: number
  /** `'wider'` when values of after lie further from their median, on average. */
  readonly direction: 'wider' | 'narrower' | 'none'
}

/**
 * Tests whether values of two samples lie equally far from the median of their own sample (Brown-Forsythe test of equal
 * spread).
 *
 * Null hypothesis: the mean absolute deviation from the median is the same in both. Two-sided; the
 * direction is that of the samples. It is Levene's test with medians: an analysis of variance of
 * the absolute deviations, robust where Bartlett's and the F test of variances fail, at long tails
 * as latencies have. A shift of all values changes nothing.
 *
 * Ties need no correction. NaN and infinite values are left out and counted. When a sample is empty
 * or both hold one value, statistic and p are NaN. Where no deviation differs from another, F is 0
 * and p 1; where those within a sample do not, but the samples do, F is infinite and p 0 (always so
 * for two against two: see `testable`).
 *
 * Limits: values must be independent. Means of deviations have outliers too: a single extreme value
 * can hide a change of the rest.
 *
 * Source: Brown and Forsythe 1974, "Robust tests for the equality of variances", Journal of the
 * American Statistical Association 69(346):364-367.
 *
 * @example
 * brownForsythe([9, 10, 11, 12], [5, 10, 15, 20]).direction // 'wider'
 * brownForsythe([9, 10, 11, 12], [5, 10, 15, 20]).statistic // 7.384615384615385
 */
export function brownForsythe(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
): BrownForsytheResult {
  const { first, second, sizes } = sortedPair(before, after)
  const n = first.length + second.length
  const [earlier, later] = [deviations(first), deviations(second)]
  const difference = later.mean - earlier.mean
  const between = (first.length * second.length * difference ** 2) / n
  const within = earlier.squares + later.squares
  const df = [1, n - 2] as const
  const judged = first.length > 0 && second.length > 0 && n > 2
  const statistic = between === 0 ? 0 : between / (within / df[1])
  return {
    ...sizes,
    df,
    statistic: judged ? statistic : Number.NaN,
    p: judged ? fTail(statistic, ...df) : Number.NaN,
    beforeDeviation: earlier.mean,
    afterDeviation: later.mean,
    direction: difference > 0 ? 'wider' : difference < 0 ? 'narrower' : 'none',
  }
}

function deviations(ascending: ArrayLike<number>): { mean: number; squares: number } {
  const n = ascending.length
  if (n === 0) return { mean: Number.NaN, squares: 0 }
  const median = quantile(ascending, 0.5)
  const { mean, variance } = moments(Float64Array.from(ascending, (one) => Math.abs(one - median)))
  return { mean, squares: n === 1 ? 0 : variance * (n - 1) }
}
