import { bisectRight } from 'd3-array'
import { fisherExact } from './fisher-exact.ts'
import { quantile } from './quantile.ts'
import { requireOneOf, requireShare } from './require-option.ts'
import {
  ALTERNATIVES,
  directionOf,
  pooledValues,
  type SidedOptions,
  sortedPair,
  type TwoSampleResult,
} from './two-sample.ts'

export interface TailTestOptions extends SidedOptions {
  /** Beginning of the tail, as a share of both samples together. Default 0.95. */
  readonly quantile?: number
}

export interface TailTestResult extends TwoSampleResult {
  /** Share of after in the tail less that of before. */
  readonly statistic: number
  /** The value beyond which the tail is: that quantile of both samples together. */
  readonly beyond: number
  readonly beforeInTail: number
  readonly afterInTail: number
}

/**
 * Tests whether there are more slow values than before. Compares the shares of both samples beyond a high quantile of
 * them together, where the Kolmogorov-Smirnov test has little power.
 *
 * Null hypothesis: both samples come from one distribution. Alternative `'two-sided'`: another
 * share of after lies beyond the quantile; `'slower'`: a larger one; `'faster'`: a smaller one. p
 * is that of Fisher's exact test of the two counts, two-sided or one-sided as asked.
 *
 * NaN and infinite values are left out; values equal to the quantile are not beyond it.
 * When a sample is empty, statistic and p are NaN.
 *
 * Limits: what lies on one side of the quantile is not looked at any further.
 *
 * Source: Mood 1954, "On the asymptotic efficiency of certain nonparametric two-sample tests", for
 * counts beyond a common quantile; Fisher 1922 for their test.
 *
 * @throws OptionError for a quantile outside 0 to 1, an unknown alternative, or unsorted samples
 *   with `sorted`.
 *
 * @example
 * const before = Array.from({ length: 100 }, (_, i) => 100 + i)
 * const after = before.map((value, i) => (i < 90 ? value : 10 * value))
 * tailTest(before, after).direction // 'slower'
 */
export function tailTest(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  { quantile: share = 0.95, alternative = 'two-sided', sorted = false }: TailTestOptions = {},
): TailTestResult {
  requireOneOf('alternative', alternative, ALTERNATIVES)
  requireShare('quantile', share)
  const { first, second, sizes } = sortedPair(before, after, sorted)
  const beyond = quantile(pooledValues({ first, second }), share)
  const beforeInTail = first.length - bisectRight(first, beyond)
  const afterInTail = second.length - bisectRight(second, beyond)
  const shape = { ...sizes, beyond, beforeInTail, afterInTail }
  if (first.length === 0 || second.length === 0) {
    return { ...shape, statistic: Number.NaN, p: Number.NaN, direction: 'none' }
  }
  const statistic = afterInTail / second.length - beforeInTail / first.length
  const direction = directionOf(statistic)
  const fisher = fisherExact(beforeInTail, first.length, afterInTail, second.length)
  const oneSided = alternative === 'slower' ? fisher.pMore : fisher.pFewer
  const p = alternative === 'two-sided' ? fisher.p : oneSided
  return { ...shape, statistic, p, direction }
}
