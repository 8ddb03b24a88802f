// Samples hold up to a million values: the merge indexes with `!`.
import { rejectUnknownOptions } from '../core/errors.ts'
import { normalP } from './distributions.ts'
import { requireOneOf } from './require-option.ts'
import {
  ALTERNATIVES,
  type Alternative,
  directionOf,
  type SidedOptions,
  sortedPair,
  type TwoSampleResult,
} from './two-sample.ts'

export type MannWhitneyOptions = SidedOptions

export interface MannWhitneyResult extends TwoSampleResult {
  /** U of the after sample: pairs (before, after) in which after is larger, ties counted half. */
  readonly statistic: number
  /**
   * U less its mean over its standard deviation given the ties, moved half a step towards the null
   * hypothesis; positive when after is slower, 0 when all values are equal.
   */
  readonly z: number
  /** P(after > before) + ½·P(after = before) of a random pair: U / (n1·n2). */
  readonly probabilitySlower: number
}

/**
 * Tests whether one of two samples tends to larger values (Mann-Whitney U test, Wilcoxon's rank sum test).
 *
 * Null hypothesis: both samples come from the same distribution. Alternative `'two-sided'`: a
 * random value of after is larger than one of before with a probability other than ½;
 * `'slower'`: with more than ½; `'faster'`: with less. The direction is that of the samples,
 * whatever the alternative.
 *
 * Ties have midranks, and the variance is corrected for them. NaN and infinite values are left out and
 * counted. When all values are equal, z is 0, p 1. When a sample is empty, statistic, z, p and
 * probabilitySlower are NaN. A result with `testable: false` still has its p, but must not be
 * called significant.
 *
 * Limits: a normal approximation with continuity correction, as SciPy's. Values must be independent. Blind to a change of
 * spread that leaves that probability at ½. Takes O(n log n).
 *
 * Sources: Mann and Whitney 1947, "On a test of whether one of two random variables is
 * stochastically larger than the other", Annals of Mathematical Statistics 18(1):50-60; Lehmann
 * 1975, "Nonparametrics", §1.4 (ties).
 *
 * @throws OptionError for an unknown alternative, or unsorted samples with `sorted`.
 *
 * @example
 * mannWhitney([1, 2, 3, 4], [3, 5, 6, 7, 8]).statistic // 18.5
 * mannWhitney([1, 2, 3, 4], [3, 5, 6, 7, 8]).probabilitySlower // 0.925
 */
export function mannWhitney(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  options: MannWhitneyOptions = {},
): MannWhitneyResult {
  rejectUnknownOptions(options, ['alternative', 'sorted'])
  const { alternative = 'two-sided', sorted = false } = options
  requireOneOf('alternative', alternative, ALTERNATIVES)
  const { first, second, sizes } = sortedPair(before, after, sorted)
  const pairs = first.length * second.length
  if (pairs === 0) return { ...sizes, ...NOTHING }
  const { u, tieTerm } = rankCounts(first, second)
  const excess = u - pairs / 2
  const sd = Math.sqrt(rankVariance(first.length, second.length, tieTerm))
  const z = sd === 0 ? 0 : corrected(excess, alternative) / sd
  const p = sd === 0 ? 1 : normalP(z, alternative)
  const direction = directionOf(excess)
  return { ...sizes, statistic: u, z, p, probabilitySlower: u / pairs, direction }
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

/**
 * Merges two ascending samples and returns U of the second, its pairs in which its value is the larger,
 * ties counted half, and Σ t³ − t over groups of t equal values of both.
 */
export function rankCounts(first: ArrayLike<number>, second: ArrayLike<number>) {
  const n1 = first.length
  const n2 = second.length
  let i = 0
  let j = 0
  let u = 0
  let tieTerm = 0
  while (i < n1 || j < n2) {
    const value = j >= n2 || (i < n1 && first[i]! < second[j]!) ? first[i]! : second[j]!
    const below = i
    const read = i + j
    while (i < n1 && first[i] === value) i++
    const ofSecond = j
    while (j < n2 && second[j] === value) j++
    u += (j - ofSecond) * ((below + i) / 2)
    const tied = i + j - read
    if (tied > 1) tieTerm += tied * (tied * tied - 1)
  }
  return { u, tieTerm }
}

/** Returns the variance of U when both samples come from one distribution, given the ties. */
export function rankVariance(n1: number, n2: number, tieTerm: number): number {
  const n = n1 + n2
  return n < 2 ? 0 : Math.max(0, ((n1 * n2) / 12) * (n + 1 - tieTerm / (n * (n - 1))))
}
