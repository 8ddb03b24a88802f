import { OptionError } from '../core/errors.ts'
import type { Alternative } from './ks-p-value.ts'
import { exactMannWhitneyP } from './mann-whitney-exact.ts'
import { normalP } from './normal-tail.ts'
import { rankCounts, rankVariance } from './rank-counts.ts'
import { requireOneOf } from './require-option.ts'
import { sortedPair } from './sorted-pair.ts'
import { directionOf, type TwoSampleResult } from './two-sample-result.ts'

const ALTERNATIVES: readonly string[] = ['two-sided', 'slower', 'faster']
const METHODS: readonly string[] = ['auto', 'exact', 'asymptotic']
const LARGEST_AUTO_EXACT = 400
const LARGEST_EXACT = 10_000

export interface MannWhitneyOptions {
  /**
   * What counts as evidence: `'two-sided'` any tendency, `'slower'` only that after tends to larger
   * values, `'faster'` only to smaller ones. Default `'two-sided'`.
   */
  readonly alternative?: Alternative
  /**
   * `'exact'` counts all ways to deal the pooled values out, ties included, up to n1·n2 = 10,000;
   * `'asymptotic'` the normal approximation, corrected for ties and continuity, as SciPy's; `'auto'`
   * exact while n1·n2 ≤ 400. Default `'auto'`.
   */
  readonly method?: 'auto' | 'exact' | 'asymptotic'
  /** Whether both samples are ascending already: they are then read without a copy. Default false. */
  readonly sorted?: boolean
}

export interface MannWhitneyResult extends TwoSampleResult {
  /** U of the after sample: pairs (before, after) in which after is larger, ties counted half. */
  readonly statistic: number
  /**
   * U less its mean over its standard deviation given the ties, moved half a step towards the null
   * hypothesis; positive when after is slower, 0 when all values are equal. Whatever the method.
   */
  readonly z: number
  /** P(after > before) + ½·P(after = before) of a random pair: U / (n1·n2). */
  readonly probabilitySlower: number
  /** How p was computed. */
  readonly method: 'exact' | 'asymptotic'
}

/**
 * Mann-Whitney U test (Wilcoxon's rank sum test): does one of two samples tend to larger values?
 *
 * Null hypothesis: both samples come from the same distribution. Alternative `'two-sided'`: a
 * random value of after is larger than one of before with a probability other than ½;
 * `'slower'`: with more than ½; `'faster'`: with less. The direction is that of the samples,
 * whatever the alternative.
 *
 * Ties have midranks; both p are conditional on them. NaN and infinite values are left out and
 * counted. When all values are equal, z is 0, p 1. When a sample is empty, statistic, z, p and
 * probabilitySlower are NaN. A result with `testable: false` still has its p, but must not be
 * called significant.
 *
 * Limits: values must be independent. Blind to a change of spread that leaves that probability at
 * ½. Takes O(n log n), the exact p O(n1·n2·(n1 + n2)·min(n1, n2)).
 *
 * Sources: Mann and Whitney 1947, "On a test of whether one of two random variables is
 * stochastically larger than the other", Annals of Mathematical Statistics 18(1):50-60; Lehmann
 * 1975, "Nonparametrics", §1.4 (ties).
 *
 * @throws OptionError for an unknown alternative or method, an exact p of more than 10,000 pairs,
 *   or unsorted samples with `sorted`.
 *
 * @example
 * mannWhitney([1, 2, 3, 4], [3, 5, 6, 7, 8]).statistic // 18.5
 * mannWhitney([1, 2, 3, 4], [3, 5, 6, 7, 8]).probabilitySlower // 0.925
 */
export function mannWhitney(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  { alternative = 'two-sided', method = 'auto', sorted = false }: MannWhitneyOptions = {},
): MannWhitneyResult {
  requireOneOf('alternative', alternative, ALTERNATIVES)
  requireOneOf('method', method, METHODS)
  const { first, second, sizes } = sortedPair(before, after, sorted)
  const pairs = first.length * second.length
  const exact = method === 'exact' || (method === 'auto' && pairs <= LARGEST_AUTO_EXACT)
  const used = exact ? 'exact' : 'asymptotic'
  if (pairs === 0) return { ...sizes, ...NOTHING, method: used }
  if (exact && pairs > LARGEST_EXACT) {
    throw new OptionError('method', method, `'asymptotic': ${pairs} pairs are too many to count`)
  }
  const { u, tieTerm } = rankCounts(first, second)
  const excess = u - pairs / 2
  const sd = Math.sqrt(rankVariance(first.length, second.length, tieTerm))
  const z = sd === 0 ? 0 : corrected(excess, alternative) / sd
  const p = exact
    ? exactMannWhitneyP(first, second, { u, alternative })
    : sd === 0
      ? 1
      : normalP(z, alternative)
  const direction = directionOf(excess)
  return { ...sizes, statistic: u, z, p, probabilitySlower: u / pairs, direction, method: used }
}

const NOTHING = {
  statistic: Number.NaN,
  z: Number.NaN,
  p: Number.NaN,
  probabilitySlower: Number.NaN,
  direction: 'none',
} as const

/** Takes U half a step, the width of its own probability, away from the evidence. */
function corrected(excess: number, alternative: Alternative): number {
  if (alternative === 'slower') return excess - 0.5
  if (alternative === 'faster') return excess + 0.5
  return Math.sign(excess) * Math.max(0, Math.abs(excess) - 0.5)
}
