// Run on every feature of every variable: the loops index with `!`.
import { fsum } from 'd3-array'
import { rejectUnknownOptions, requireNumbers } from '../core/errors.ts'
import { fTail } from './distributions.ts'
import { moments } from './moments.ts'
import type { SampleCounts, WeightOptions } from './two-sample.ts'
import { requireWeights, worthWeights } from './weighted-sample.ts'

export type WelchOptions = WeightOptions

export interface WelchResult extends SampleCounts {
  /**
   * t: the difference of the means over its standard error. NaN when not tested; may be ±Infinity.
   */
  readonly statistic: number
  /** Degrees of freedom, by Welch and Satterthwaite. NaN when not tested or nothing varies. */
  readonly df: number
  /** Two-sided. NaN when not tested. */
  readonly p: number
  readonly beforeMean: number
  readonly afterMean: number
  /** Sample variance, n − 1 in the denominator; NaN for fewer than two values. */
  readonly beforeVariance: number
  readonly afterVariance: number
  /** Whether both samples have two values at least. */
  readonly tested: boolean
}

/**
 * Tests whether the means of two samples differ (Welch's t-test). Variances may be unequal.
 *
 * Null hypothesis: both distributions have one mean. Alternative: they differ (two-sided). The
 * statistic is positive when after is larger; swapping the samples changes its sign only.
 *
 * NaN and infinite values are left out. With fewer than two values in a sample nothing
 * is tested. Where neither sample varies, equal means give t = 0 and p = 1, different ones t = ±∞
 * and p = 0; where one does not, the other's n − 1 are the degrees of freedom.
 *
 * Only proportions of weights matter: mean and variance are weighted, and a sample counts as
 * (Σw)² / Σw² values, never more than it has.
 *
 * Limits: values must be independent; with few of them their distribution should be near normal.
 *
 * Sources: Welch 1947, "The generalization of 'Student's' problem when several different population
 * variances are involved", Biometrika 34:28-35; the size of a weighted sample as Kish 1965, "Survey
 * sampling", §8.2.
 *
 * @throws OptionError for weights that are not as many as the values or not above 0
 *
 * @example
 * const { statistic, df } = welch([1, 2], [3, 5])
 * statistic.toFixed(3) // '2.236'
 * df.toFixed(3) // '1.471'
 */
export function welch(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  options: WelchOptions = {},
): WelchResult {
  requireNumbers({ before, after })
  rejectUnknownOptions(options, ['beforeWeights', 'afterWeights'])
  const { beforeWeights, afterWeights } = options
  const first = weightedMoments(before, beforeWeights, 'beforeWeights')
  const second = weightedMoments(after, afterWeights, 'afterWeights')
  const tested = first.count >= 2 && second.count >= 2
  const untested = { statistic: Number.NaN, df: Number.NaN, p: Number.NaN }
  return {
    ...(tested ? compareMeans(first, second) : untested),
    beforeMean: first.mean,
    afterMean: second.mean,
    beforeVariance: first.variance,
    afterVariance: second.variance,
    beforeCount: first.count,
    afterCount: second.count,
    tested,
  }
}

type WeightedMoments = ReturnType<typeof weightedMoments>

function compareMeans(first: WeightedMoments, second: WeightedMoments) {
  const difference = second.mean - first.mean
  const a = first.variance / first.size
  const b = second.variance / second.size
  if (a + b === 0) {
    if (difference === 0) return { statistic: 0, df: Number.NaN, p: 1 }
    return { statistic: Math.sign(difference) * Number.POSITIVE_INFINITY, df: Number.NaN, p: 0 }
  }
  const statistic = difference / Math.sqrt(a + b)
  // Shares of the sum, as squares of tiny variances are 0.
  const [shareA, shareB] = [a / (a + b), b / (a + b)]
  const df = 1 / (shareA ** 2 / (first.size - 1) + shareB ** 2 / (second.size - 1))
  return { statistic, df, p: fTail(statistic * statistic, 1, df) }
}

/** `size` is the number of equally weighted values that the sample is worth. */
function weightedMoments(
  sample: ArrayLike<number>,
  weights: ArrayLike<number> | undefined,
  option: string,
) {
  requireWeights(sample, weights, option)
  const kept: number[] = []
  for (let i = 0; i < sample.length; i++) if (Number.isFinite(sample[i])) kept.push(i)
  // Deviations from one of the values are exactly 0 where all are equal.
  const origin = sample[kept[0] ?? -1] ?? Number.NaN
  const values = Float64Array.from(kept, (i) => sample[i]! - origin)
  const own = weights && worthWeights(Float64Array.from(kept, (i) => weights[i]!))
  const { count, mean, variance } = moments(values, own)
  return { count, mean: origin + mean, variance, size: own === undefined ? count : fsum(own) }
}
