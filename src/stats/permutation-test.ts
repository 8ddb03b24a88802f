// Values are dealt out thousands of times: the loops index with `!`.

import { rejectUnknownOptions } from '../core/errors.ts'
import { type Measure, measurer } from './measure.ts'
import { type RandomSource, randomSource } from './random.ts'
import { requireCount, requireOneOf } from './require-option.ts'
import {
  ALTERNATIVES,
  type Alternative,
  directionOf,
  pooledValues,
  type SidedOptions,
  type SortedPair,
  sortedPair,
  type TwoSampleResult,
} from './two-sample.ts'

export interface PermutationTestOptions extends SidedOptions {
  /**
   * Measure to compare: `'mean'`, `'median'`, `{ quantile: 0.95 }`, or a function of an ascending sample of at least
   * one value. Default `'mean'`.
   */
  readonly measure?: Measure | ((ascending: Float64Array) => number)
  /** Number of random permutations of the values. Default 9999. */
  readonly permutations?: number
  /** Seed of the permutations. Default 1. */
  readonly seed?: number
}

export interface PermutationTestResult extends TwoSampleResult {
  /** The measure of after less that of before. */
  readonly statistic: number
  readonly permutations: number
}

/**
 * Tests whether dealing the values out at random would give as large a difference of a measure (permutation test).
 *
 * Null hypothesis: both samples come from the same distribution. Alternative `'two-sided'`: the
 * difference of the measures is far from 0; `'slower'`: it is large; `'faster'`: it is small. The
 * samples keep their sizes, equal or not. p = (1 + number of random ways at least as extreme) /
 * (permutations + 1): valid at any size, never below 1 / (permutations + 1).
 *
 * Ties need no correction. NaN and infinite values are left out and counted. When all values are
 * equal, p is 1. When a sample is empty, or the measure of one is NaN, statistic and p are NaN; a
 * random way that has no measure counts as extreme.
 *
 * Limits: rejects with the right rate when the distributions are equal, not when only the measures
 * are; with many tests to correct for, permutations must be far more than tests / α. Each
 * permutation takes O(n).
 *
 * Sources: Pitman 1937, "Significance tests which may be applied to samples from any populations",
 * Supplement to the J. Royal Statistical Society 4(1):119-130; Phipson and Smyth 2010, "Permutation
 * p-values should never be zero", Statistical Applications in Genetics and Molecular Biology
 * 9(1):39.
 *
 * @throws OptionError for an unknown measure or alternative, permutations below 1, or unsorted
 *   samples with `sorted`.
 *
 * @example
 * const before = [10, 11, 12, 13, 14, 15]
 * const after = [20, 21, 22, 23]
 * permutationTest(before, after, { measure: 'median' }).statistic // 9
 */
export function permutationTest(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  options: PermutationTestOptions = {},
): PermutationTestResult {
  rejectUnknownOptions(options, ['measure', 'alternative', 'permutations', 'seed', 'sorted'])
  const {
    measure = 'mean',
    alternative = 'two-sided',
    permutations = 9999,
    seed = 1,
    sorted = false,
  } = options
  requireOneOf('alternative', alternative, ALTERNATIVES)
  requireCount('permutations', permutations)
  const measured = typeof measure === 'function' ? measure : measurer(measure)
  const pair = sortedPair(before, after, sorted)
  const { first, second, sizes } = pair
  if (first.length === 0 || second.length === 0) {
    return { ...sizes, statistic: Number.NaN, p: Number.NaN, direction: 'none', permutations }
  }
  const ofBefore = measured(Float64Array.from(first))
  const ofAfter = measured(Float64Array.from(second))
  const statistic = ofAfter - ofBefore
  const towards = evidence(alternative)
  const dealer = dealerOf(pair, randomSource(seed))
  // Rounding may separate equal differences: of large values, or of a function's results.
  const rounding =
    typeof measure === 'function'
      ? 1e-12 * Math.max(Math.abs(ofBefore), Math.abs(ofAfter))
      : 1e-12 * dealer.range + 4 * Number.EPSILON * dealer.largest
  const observed = towards(statistic) - rounding
  let extreme = 1
  for (let round = 0; round < permutations; round++) {
    dealer.deal()
    if (!(towards(measured(dealer.second) - measured(dealer.first)) < observed)) extreme++
  }
  const p = Number.isNaN(statistic) ? Number.NaN : extreme / (permutations + 1)
  return { ...sizes, statistic, p, direction: directionOf(statistic), permutations }
}

/** Returns the score by which differences are evidence for the alternative. */
function evidence(alternative: Alternative): (difference: number) => number {
  if (alternative === 'two-sided') return Math.abs
  return alternative === 'slower' ? (difference) => difference : (difference) => -difference
}

/** Deals the pooled values out again and again, into the same two ascending arrays. */
function dealerOf(pair: SortedPair, random: RandomSource) {
  const first = Float64Array.from(pair.first)
  const second = Float64Array.from(pair.second)
  const pooled = pooledValues(pair)
  const places = Uint32Array.from(pooled, (_, place) => place)
  const taken = new Uint8Array(pooled.length)
  const [few, many] = second.length <= first.length ? [second, first] : [first, second]

  function deal(): void {
    for (let i = 0; i < few.length; i++) {
      const chosen = i + random.integer(places.length - i)
      const place = places[chosen]!
      places[chosen] = places[i]!
      places[i] = place
      taken[place] = 1
    }
    let left = 0
    let right = 0
    for (let place = 0; place < pooled.length; place++) {
      if (taken[place]) few[left++] = pooled[place]!
      else many[right++] = pooled[place]!
    }
    taken.fill(0)
  }

  const smallest = pooled[0]!
  const greatest = pooled[pooled.length - 1]!
  const largest = Math.max(Math.abs(smallest), Math.abs(greatest))
  return { first, second, deal, range: greatest - smallest, largest }
}
