// Labels are shuffled for each of thousands of permutations: the loop indexes with `!`.
import { OptionError } from '../core/errors.ts'
import { andersonDarlingTail } from './anderson-darling-limit.ts'
import {
  andersonDarlingStatistic,
  andersonDarlingTies,
  andersonDarlingVariance,
} from './anderson-darling-statistic.ts'
import { type PooledLabels, pooledLabels } from './pooled-labels.ts'
import { type RandomSource, randomSource } from './random.ts'
import { requireCount, requireOneOf } from './require-option.ts'
import { sortedFinite } from './sorted-finite.ts'

const METHODS: readonly string[] = ['asymptotic', 'permutation']
const FEWEST_VALUES = 5
/** The variance of Y / (j(j+1)), summed over j, for one degree of freedom. */
const LIMIT_VARIANCE = 2 * (Math.PI ** 2 / 3 - 3)

export interface AndersonDarlingOptions {
  /**
   * `'asymptotic'` the limit distribution, for p of any size; `'permutation'` the share of random
   * ways to deal the values out, never below 1 / (permutations + 1). Default `'asymptotic'`.
   */
  readonly method?: 'asymptotic' | 'permutation'
  /** How many random ways. Default 9999. */
  readonly permutations?: number
  /** Of the random ways. Default 1. */
  readonly seed?: number
  /** Whether all samples are ascending already: they are then read without a copy. Default false. */
  readonly sorted?: boolean
}

export interface AndersonDarlingResult {
  /** A² less its mean over its standard deviation; NaN for fewer than 4 values in all. */
  readonly statistic: number
  readonly p: number
  /** A²_akN, about k − 1 under the null hypothesis, 0 when all values are equal. */
  readonly a2: number
  /** How many finite values each sample has. */
  readonly counts: readonly number[]
  /** How many values of each sample were NaN or infinite and left out. */
  readonly dropped: readonly number[]
  /** Whether every sample has at least 5 values. */
  readonly testable: boolean
  /** How p was computed. */
  readonly method: 'asymptotic' | 'permutation'
}

/**
 * k-sample Anderson-Darling test: do the samples come from one distribution?
 *
 * Null hypothesis: all samples come from the same distribution. Alternative: at least two come from
 * different ones, in location, spread or shape. Compared with Kolmogorov-Smirnov, differences in the
 * tails weigh more.
 *
 * Ties have midranks. The statistic takes no further account of them (as SciPy's `anderson_ksamp`);
 * p does: times cut to milliseconds would else be called different at 5 % in up to 11 % of the cases.
 * NaN and infinite values are left out and counted. When all values are equal, p is 1. When a sample
 * is empty, statistic, p and a2 are NaN; for fewer than 4 values in all, statistic and asymptotic p.
 *
 * Limits: values must be independent. The asymptotic p is that of the limit distribution itself, not
 * of a table, so that it has no floor and no cap; for samples of 5 values and more it is good to a
 * few tenths of its value down to 0.001. Takes O(k·n) after sorting, a permutation the same.
 *
 * Source: Scholz and Stephens 1987, "K-sample Anderson-Darling tests", Journal of the American
 * Statistical Association 82(399):918-924.
 *
 * @throws OptionError for fewer than two samples, an unknown method, permutations below 1, or
 *   unsorted samples with `sorted`.
 *
 * @example
 * const samples = [[1, 2, 3, 4, 5], [2, 4, 6, 8, 10], [11, 12, 13, 14, 15]]
 * andersonDarling(samples).p.toFixed(5) // '0.00197'
 */
export function andersonDarling(
  samples: readonly ArrayLike<number>[],
  {
    method = 'asymptotic',
    permutations = 9999,
    seed = 1,
    sorted = false,
  }: AndersonDarlingOptions = {},
): AndersonDarlingResult {
  requireOneOf('method', method, METHODS)
  requireCount('permutations', permutations)
  if (samples.length < 2) throw new OptionError('samples', samples.length, 'two samples or more')
  const clean = samples.map((sample) => sortedFinite(sample, { sorted }))
  const counts = clean.map(({ values }) => values.length)
  const dropped = clean.map((sample) => sample.dropped)
  const testable = counts.every((count) => count >= FEWEST_VALUES)
  const shape = { counts, dropped, testable, method }
  if (counts.includes(0)) {
    return { statistic: Number.NaN, p: Number.NaN, a2: Number.NaN, ...shape }
  }
  const pooled = pooledLabels(clean.map(({ values }) => values))
  const a2 = andersonDarlingStatistic(pooled, counts)
  const m = counts.length - 1
  const statistic = (a2 - m) / Math.sqrt(andersonDarlingVariance(counts))
  const p =
    method === 'asymptotic'
      ? andersonDarlingTail(
          m + statistic * Math.sqrt((m * LIMIT_VARIANCE) / andersonDarlingTies(pooled.ends)),
          m,
        )
      : permutationP(pooled, counts, { a2, permutations, seed })
  return { statistic, p: a2 === 0 ? 1 : p, a2, ...shape }
}

function permutationP(
  { labels, ends }: PooledLabels,
  counts: readonly number[],
  { a2, permutations, seed }: { a2: number; permutations: number; seed: number },
): number {
  const random = randomSource(seed)
  const dealt = { labels: labels.slice(), ends }
  let extreme = 1
  for (let round = 0; round < permutations; round++) {
    shuffleInPlace(dealt.labels, random)
    // Equal statistics may differ by rounding.
    if (andersonDarlingStatistic(dealt, counts) >= a2 * (1 - 1e-12)) extreme++
  }
  return extreme / (permutations + 1)
}

function shuffleInPlace(labels: Uint16Array, random: RandomSource): void {
  for (let last = labels.length - 1; last > 0; last--) {
    const chosen = random.integer(last + 1)
    const moved = labels[chosen]!
    labels[chosen] = labels[last]!
    labels[last] = moved
  }
}
