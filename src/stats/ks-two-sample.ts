// The merge below runs for every category and every edge of a comparison: it indexes with `!`.
import { fsum } from 'd3-array'
import { rejectUnknownOptions } from '../core/errors.ts'
import { requireOneOf } from './require-option.ts'
import {
  ALTERNATIVES,
  type Alternative,
  type Direction,
  type SidedOptions,
  type SortedPair,
  sortedPair,
  type TwoSampleResult,
  type WeightOptions,
} from './two-sample.ts'

const METHODS: readonly string[] = ['stephens', 'exact', 'auto']
const MAX_AUTO_EXACT = 1e7

export interface KsOptions extends SidedOptions, WeightOptions {
  /**
   * `'stephens'` the asymptotic formula MATLAB uses; `'exact'` the probability given the ties, in
   * n1·n2 steps; `'auto'` exact while n1·n2 ≤ 10,000,000. Default `'stephens'`.
   */
  readonly method?: 'stephens' | 'exact' | 'auto'
}

export interface KsResult extends TwoSampleResult {
  /**
   * The largest gap between the two empirical distributions, 0 to 1: in either direction for
   * `'two-sided'`, else in the direction asked for. NaN when a sample is empty.
   */
  readonly statistic: number
  /** The smallest value at which that gap is reached; NaN when the gap is 0. */
  readonly location: number
  /**
   * `'slower'` when at `location` fewer requests of after than of before have finished,
   * `'faster'` the opposite, `'none'` when the gap is 0 or equally large both ways.
   */
  readonly direction: Direction
  /** Method that computed p. */
  readonly method: 'stephens' | 'exact'
}

/**
 * Tests whether two samples of latencies come from one distribution (two-sample Kolmogorov-Smirnov test).
 *
 * Null hypothesis: both samples come from the same distribution. Alternative `'two-sided'`: they
 * come from different ones; `'slower'`: somewhere the distribution function of after lies below
 * that of before (values of after tend to be larger; statistic D⁺ = max(F_before − F_after));
 * `'faster'`: somewhere it lies above (D⁻).
 *
 * Ties are compared at the end of their group; Stephens's p takes no further account of them,
 * the exact p is conditional on them. NaN and infinite values are left out. When a
 * sample is empty, statistic, p and location are NaN. A result with `testable: false` still has
 * its statistic and p, but must not be called significant.
 *
 * With weights that differ, the distributions are weighted, and p is Stephens's of as many values as
 * the samples are worth (`effectiveSize`).
 *
 * Limits: values must be independent. At α = 0.05 Stephens's true size is at most 0.054 over
 * samples of 10 to 100 values. Gaps are exact while n1·n2 < 2^53. Sorting takes O(n log n).
 *
 * Sources: Sambasivan 2013, §2.6.2 (use and validity); Stephens 1970 (p); Schröer and Trenkler 1995
 * (exact p with ties).
 *
 * @throws OptionError for an unknown alternative or method, or unsorted samples with `sorted`.
 *
 * @example
 * const before = [1, 2, 3, 4, 5, 6, 7, 8, 9]
 * const after = [11, 12, 13, 14, 15, 16, 17, 18, 19]
 * ksTwoSample(before, after).statistic // 1
 * ksTwoSample(before, after).direction // 'slower'
 */
export function ksTwoSample(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  options: KsOptions = {},
): KsResult {
  rejectUnknownOptions(options, [
    'alternative',
    'method',
    'sorted',
    'beforeWeights',
    'afterWeights',
  ])
  const { alternative = 'two-sided', method = 'stephens', sorted = false } = options
  requireOneOf('alternative', alternative, ALTERNATIVES)
  requireOneOf('method', method, METHODS)
  const pair = sortedPair(before, after, sorted, options)
  const { first, second, sizes, worth } = pair
  const [n1, n2] = worth
  const exact =
    !pair.isUneven && (method === 'exact' || (method === 'auto' && n1 * n2 <= MAX_AUTO_EXACT))
  const gap = ksGap(pair)
  const { height, location, direction } = chosenGap(gap, alternative)
  const statistic = height / gap.unit
  const p = exact
    ? exactP(height, { n1, n2, ends: tieGroupEnds(first, second) }, alternative)
    : stephensP(statistic, { n1, n2 }, alternative)
  return { ...sizes, statistic, p, location, direction, method: exact ? 'exact' : 'stephens' }
}

function chosenGap(gap: ReturnType<typeof ksGap>, alternative: Alternative) {
  const { slower, faster, slowerAt, fasterAt } = gap
  if (alternative === 'slower') return oneSided(slower, slowerAt, 'slower')
  if (alternative === 'faster') return oneSided(faster, fasterAt, 'faster')
  if (slower > faster) return oneSided(slower, slowerAt, 'slower')
  if (faster > slower) return oneSided(faster, fasterAt, 'faster')
  return { height: slower, location: Math.min(slowerAt, fasterAt), direction: 'none' } as const
}

function oneSided(height: number, location: number, direction: 'slower' | 'faster') {
  return { height, location, direction: height > 0 ? direction : ('none' as const) }
}

/**
 * Merges ascending samples and compares them at ends of ties, in units of 1/(n1·n2), so that no
 * rounding makes equal gaps differ; exact while n1·n2 < 2^53. With weights, of their sums.
 */
function ksGap({ first: before, second: after, weights: given, isUneven }: SortedPair) {
  const weights = isUneven ? given : undefined
  const n1 = before.length
  const n2 = after.length
  const [mass1, mass2] = weights === undefined ? [n1, n2] : [fsum(weights[0]), fsum(weights[1])]
  let [i, j] = [0, 0]
  let [read1, read2] = [0, 0]
  let slower = 0
  let faster = 0
  let slowerAt = Number.NaN
  let fasterAt = Number.NaN
  // Once one sample is used up, the gap only closes: the rest need not be read.
  while (i < n1 && j < n2) {
    const value = Math.min(before[i]!, after[j]!)
    for (; i < n1 && before[i]! === value; i++) read1 += weights === undefined ? 1 : weights[0][i]!
    for (; j < n2 && after[j]! === value; j++) read2 += weights === undefined ? 1 : weights[1][j]!
    const gap = read1 * mass2 - read2 * mass1
    if (gap > slower) {
      slower = gap
      slowerAt = value
    } else if (-gap > faster) {
      faster = -gap
      fasterAt = value
    }
  }
  return {
    /** Amount of a gap of 1: n1·n2, or the product of the samples' weights. */
    unit: mass1 * mass2,
    /** max(F_before − F_after) in that unit, and the smallest value where it is reached; 0 and NaN for none. */
    slower,
    slowerAt,
    /** max(F_after − F_before), likewise. */
    faster,
    fasterAt,
  }
}

/** Returns, for k = 0 to n1 + n2, whether the first k pooled values end a group of ties (1). */
function tieGroupEnds(before: ArrayLike<number>, after: ArrayLike<number>): Uint8Array {
  const ends = new Uint8Array(before.length + after.length + 1)
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    const value = Math.min(
      before[i] ?? Number.POSITIVE_INFINITY,
      after[j] ?? Number.POSITIVE_INFINITY,
    )
    while (before[i] === value) i++
    while (after[j] === value) j++
    ends[i + j] = 1
  }
  return ends
}

/**
 * Returns Stephens's approximation of the p-value of a two-sample KS statistic, as MATLAB's `kstest2`.
 *
 * λ = (√n + 0.12 + 0.11/√n)·D with n = n1·n2/(n1+n2); two-sided the Kolmogorov series cut at 101
 * terms, one-sided e^(−2λ²). Clamped to [0, 1]; 0 only where it underflows (λ > 19). NaN for an
 * empty sample.
 *
 * Source: Stephens 1970, "Use of the Kolmogorov-Smirnov, Cramér-von Mises and related statistics
 * without extensive tables", J. Royal Statistical Society B 32(1):115-122.
 */
function stephensP(
  statistic: number,
  { n1, n2 }: { n1: number; n2: number },
  alternative: Alternative,
): number {
  const root = Math.sqrt((n1 * n2) / (n1 + n2))
  const lambda = (root + 0.12 + 0.11 / root) * statistic
  return alternative === 'two-sided' ? kolmogorovTail(lambda) : Math.exp(-2 * lambda * lambda)
}

export function kolmogorovTail(lambda: number): number {
  let sum = 0
  let sign = 1
  for (let j = 1; j <= 101; j++) {
    const term = Math.exp(-2 * j * j * lambda * lambda)
    sum += sign * term
    if (term <= Number.EPSILON * 1e-2 * sum) break
    sign = -sign
  }
  return Math.min(1, Math.max(0, 2 * sum))
}

/**
 * Returns the exact probability that a random interleaving of the two samples, with the ties they have, reaches a gap
 * of at least `height` / (n1·n2) in the direction of the alternative.
 *
 * First-exit summation: reading the pooled sample in ascending order is a Markov chain on (i, j),
 * the number of values of each sample read so far. The probability that first reaches the boundary
 * is added up and taken out of the chain. Every term is positive, so that the result keeps full
 * relative precision far into the tail (down to about 1e-300). The boundary is tested only where a
 * group of ties ends, which makes this the p-value conditional on the ties (R 4.2: `ks.test(exact =
 * TRUE)`). At most n1·n2 steps, n1 numbers of memory. NaN for an empty sample.
 *
 * Source: Schröer and Trenkler 1995, "Exact and randomization distributions of Kolmogorov-Smirnov
 * tests two or three samples", Computational Statistics & Data Analysis 20(2):185-202 (ties).
 */
function exactP(
  height: number,
  { n1, n2, ends }: { readonly n1: number; readonly n2: number; readonly ends: Uint8Array },
  alternative: Alternative,
): number {
  if (n1 === 0 || n2 === 0) return Number.NaN
  if (height <= 0) return 1
  const total = n1 + n2
  const mass = new Float64Array(n1 + 1)
  mass[0] = 1
  let low = 0
  let high = 0
  let exited = 0
  for (let read = 1; read <= total && low <= high; read++) {
    high = readOne(mass, { low, high, read, n1, n2 })
    low = Math.max(low, read - n2)
    if (ends[read] === 0) continue
    // The gap i·n2 − j·n1 is i·total − read·n1 where i + j = read.
    if (alternative !== 'faster') {
      const first = Math.ceil((height + read * n1) / total)
      for (; high >= first && high >= low; high--) {
        exited += mass[high]!
        mass[high] = 0
      }
    }
    if (alternative !== 'slower') {
      const last = Math.floor((read * n1 - height) / total)
      for (; low <= last && low <= high; low++) {
        exited += mass[low]!
        mass[low] = 0
      }
    }
  }
  return Math.min(1, exited)
}

/** Moves the chain to `read` values, in place; returns the highest i that can now occur. */
function readOne(
  mass: Float64Array,
  { low, high, read, n1, n2 }: Record<'low' | 'high' | 'read' | 'n1' | 'n2', number>,
): number {
  const left = n1 + n2 - read + 1
  const top = Math.min(high + 1, n1)
  for (let i = top; i > low; i--) {
    mass[i] = (mass[i]! * (n2 - read + 1 + i) + mass[i - 1]! * (n1 - i + 1)) / left
  }
  mass[low] = (mass[low]! * (n2 - read + 1 + low)) / left
  return top
}
