// The count walks N·n·S states: its loops index with `!`.
import { OptionError, rejectUnknownOptions } from '../core/errors.ts'
import { normalP } from './distributions.ts'
import { requireOneOf } from './require-option.ts'
import {
  ALTERNATIVES,
  type Alternative,
  directionOf,
  type SidedOptions,
  sortedPair,
  type TwoSampleResult,
  tiedValues,
} from './two-sample.ts'

const METHODS: readonly string[] = ['auto', 'exact', 'asymptotic']
const MAX_AUTO_EXACT = 400
const MAX_EXACT = 10_000

export interface MannWhitneyOptions extends SidedOptions {
  /**
   * `'exact'` counts all ways to deal the pooled values out, ties included, up to n1·n2 = 10,000;
   * `'asymptotic'` the normal approximation, corrected for ties and continuity, as SciPy's;
   * `'auto'` exact while n1·n2 ≤ 400. Default `'auto'`.
   */
  readonly method?: 'auto' | 'exact' | 'asymptotic'
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
  /** Method that computed p. */
  readonly method: 'exact' | 'asymptotic'
}

/**
 * Tests whether one of two samples tends to larger values (Mann-Whitney U test, Wilcoxon's rank sum test).
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
  options: MannWhitneyOptions = {},
): MannWhitneyResult {
  rejectUnknownOptions(options, ['alternative', 'method', 'sorted'])
  const { alternative = 'two-sided', method = 'auto', sorted = false } = options
  requireOneOf('alternative', alternative, ALTERNATIVES)
  requireOneOf('method', method, METHODS)
  const { first, second, sizes } = sortedPair(before, after, sorted)
  const pairs = first.length * second.length
  const exact = method === 'exact' || (method === 'auto' && pairs <= MAX_AUTO_EXACT)
  const used = exact ? 'exact' : 'asymptotic'
  if (pairs === 0) return { ...sizes, ...NOTHING, method: used }
  if (exact && pairs > MAX_EXACT) {
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

/**
 * Returns the exact p of a Mann-Whitney U of the second sample among all ways to deal the pooled values, with the ties
 * they have, out to two samples of these sizes.
 *
 * Counts the subsets of the pooled doubled midranks by size and sum, which only adds, so that even
 * the smallest p keeps its digits. Two-sided: the share of ways whose U is at least as far from
 * its mean n1·n2/2.
 *
 * Source: Streitberg and Röhmel 1986, "Exact distributions for permutation and rank tests",
 * Statistical Software Newsletter 12(1):10-17 (the shift algorithm).
 */
function exactMannWhitneyP(
  first: ArrayLike<number>,
  second: ArrayLike<number>,
  { u, alternative }: { readonly u: number; readonly alternative: Alternative },
): number {
  const n1 = first.length
  const n2 = second.length
  const chosen = Math.min(n1, n2)
  const ranks = doubledMidranks(first, second)
  const ways = waysBySum(ranks, chosen)
  // Twice U of the smaller sample, less its mean; the sums are offset by the smallest rank, 2.
  const mean = n1 * n2
  const center = chosen * (chosen + 1) - 2 * chosen + mean
  const ofSecond = n2 <= n1 ? 1 : -1
  const observed = Math.round(2 * u - mean)
  let extreme = 0
  let total = 0
  for (let sum = 0; sum < ways.length; sum++) {
    const found = (sum - center) * ofSecond
    total += ways[sum]!
    if (isAsExtreme(found, observed, alternative)) extreme += ways[sum]!
  }
  return extreme / total
}

function isAsExtreme(found: number, observed: number, alternative: Alternative): boolean {
  if (alternative === 'slower') return found >= observed
  if (alternative === 'faster') return found <= observed
  return Math.abs(found) >= Math.abs(observed)
}

/** Returns twice the midrank of every pooled value, ascending: integers. */
function doubledMidranks(first: ArrayLike<number>, second: ArrayLike<number>): Int32Array {
  const ranks = new Int32Array(first.length + second.length)
  let start = 0
  for (const end of tiedValues(first, second).ends) {
    ranks.fill(start + 1 + end, start, end)
    start = end
  }
  return ranks
}

/** Returns, for each sum of (rank − 2), in how many ways `size` of the ascending ranks have it. */
function waysBySum(ranks: Int32Array, size: number): Float64Array {
  let largest = 0
  for (let i = ranks.length - size; i < ranks.length; i++) largest += ranks[i]! - 2
  const bySize = Array.from({ length: size + 1 }, () => new Float64Array(largest + 1))
  bySize[0]![0] = 1
  for (const [read, rank] of ranks.entries()) {
    const shift = rank - 2
    for (let members = Math.min(size, read + 1); members > 0; members--) {
      const from = bySize[members - 1]!
      const to = bySize[members]!
      for (let sum = largest; sum >= shift; sum--) to[sum]! += from[sum - shift]!
    }
  }
  return bySize[size]!
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
