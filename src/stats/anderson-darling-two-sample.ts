import { type AndersonDarlingOptions, andersonDarling } from './anderson-darling.ts'
import { rankCounts } from './rank-counts.ts'
import { sortedPair } from './sorted-pair.ts'
import { directionOf, type TwoSampleResult } from './two-sample-result.ts'

export interface AndersonDarlingTwoSampleResult extends TwoSampleResult {
  /** A² less its mean over its standard deviation; NaN for fewer than 4 values in all. */
  readonly statistic: number
  /** A²_akN, about 1 under the null hypothesis, 0 when all values are equal. */
  readonly a2: number
  /** How p was computed. */
  readonly method: 'asymptotic' | 'permutation'
}

/**
 * Two-sample Anderson-Darling test: do two samples of latencies come from one distribution?
 *
 * Hypotheses, p, ties, limits and options are those of `andersonDarling`. The test has no side; the
 * direction is that of most pairs: `'slower'` when a random value of after is more often larger
 * than one of before than smaller, which says nothing of a difference in spread alone.
 *
 * NaN and infinite values are left out and counted. When a sample is empty, statistic, p and a2 are
 * NaN. `testable` asks the rule of `isTestable`, as for the Kolmogorov-Smirnov test.
 *
 * Source: Scholz and Stephens 1987, "K-sample Anderson-Darling tests", Journal of the American
 * Statistical Association 82(399):918-924.
 *
 * @throws OptionError for an unknown method, permutations below 1, or unsorted samples with `sorted`.
 *
 * @example
 * const before = [1, 2, 3, 4, 5, 6, 7, 8, 9]
 * const after = [11, 12, 13, 14, 15, 16, 17, 18, 19]
 * andersonDarlingTwoSample(before, after).direction // 'slower'
 */
export function andersonDarlingTwoSample(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  { sorted = false, ...options }: AndersonDarlingOptions = {},
): AndersonDarlingTwoSampleResult {
  const { first, second, sizes } = sortedPair(before, after, sorted)
  const { statistic, p, a2, method } = andersonDarling([first, second], {
    ...options,
    sorted: true,
  })
  const excess = rankCounts(first, second).u - (first.length * second.length) / 2
  return { ...sizes, statistic, p, a2, direction: directionOf(excess), method }
}
