// Labels are shuffled for each of thousands of permutations: the loop indexes with `!`.
import { OptionError } from '../core/errors.ts'
import { rankCounts } from './mann-whitney.ts'
import { type RandomSource, randomSource } from './random.ts'
import { requireCount, requireOneOf } from './require-option.ts'
import {
  directionOf,
  type SampleOptions,
  sortedFinite,
  sortedPair,
  type TwoSampleResult,
} from './two-sample.ts'

const METHODS: readonly string[] = ['asymptotic', 'permutation']
const MIN_VALUES = 5
/** The variance of Y / (j(j+1)), summed over j, for one degree of freedom. */
const LIMIT_VARIANCE = 2 * (Math.PI ** 2 / 3 - 3)

export interface AndersonDarlingOptions extends SampleOptions {
  /**
   * `'asymptotic'` the limit distribution, for p of any size; `'permutation'` the share of random
   * ways to deal the values out, never below 1 / (permutations + 1). Default `'asymptotic'`.
   */
  readonly method?: 'asymptotic' | 'permutation'
  /** How many random ways. Default 9999. */
  readonly permutations?: number
  /** Of the random ways. Default 1. */
  readonly seed?: number
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
 * different ones, in location, spread or shape. Compared with Kolmogorov-Smirnov, differences in
 * the tails weigh more.
 *
 * Ties have midranks. The statistic takes no further account of them (as SciPy's `anderson_ksamp`);
 * p does: times cut to milliseconds would else be called different at 5 % in up to 11 % of the
 * cases. NaN and infinite values are left out and counted. When all values are equal, p is 1. When
 * a sample is empty, statistic, p and a2 are NaN; for fewer than 4 values in all, statistic and
 * asymptotic p.
 *
 * Limits: values must be independent. The asymptotic p is that of the limit distribution itself,
 * not of a table, so that it has no floor and no cap; for samples of 5 values and more it is good
 * to a few tenths of its value down to 0.001. Takes O(k·n) after sorting, a permutation the same.
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
  const testable = counts.every((count) => count >= MIN_VALUES)
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

/** `statistic`, `a2` and `method` are those of `andersonDarling`. */
export interface AndersonDarlingTwoSampleResult
  extends TwoSampleResult,
    Pick<AndersonDarlingResult, 'a2' | 'method'> {}

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
 * @throws OptionError for an unknown method, permutations below 1, or unsorted samples with
 *   `sorted`.
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

/**
 * A²_akN, the k-sample Anderson-Darling statistic with midranks; 0 when all values are equal.
 *
 * Source: Scholz and Stephens 1987, equation 7.
 */
function andersonDarlingStatistic(
  { labels, ends }: PooledLabels,
  sizes: readonly number[],
): number {
  const total = labels.length
  const counts = new Float64Array(sizes.length)
  const tied = new Float64Array(sizes.length)
  let sum = 0
  let start = 0
  for (const end of ends) {
    tied.fill(0)
    for (let place = start; place < end; place++) tied[labels[place]!]!++
    const group = end - start
    const middle = start + group / 2
    let squares = 0
    for (let sample = 0; sample < sizes.length; sample++) {
      const gap = total * (counts[sample]! + tied[sample]! / 2) - middle * sizes[sample]!
      squares += (gap * gap) / sizes[sample]!
      counts[sample]! += tied[sample]!
    }
    if (squares > 0) {
      sum += ((group / total) * squares) / (middle * (total - middle) - (total * group) / 4)
    }
    start = end
  }
  return ((total - 1) / total) * sum
}

/**
 * The variance of A²_akN over all ways to deal the values out, when no two are equal; NaN for fewer
 * than 4 values.
 *
 * Source: Scholz and Stephens 1987, equation 4.
 */
function andersonDarlingVariance(sizes: readonly number[]): number {
  const k = sizes.length
  const n = sizes.reduce((sum, size) => sum + size, 0)
  if (n < 4) return Number.NaN
  const H = sizes.reduce((sum, size) => sum + 1 / size, 0)
  let h = 0
  let g = 0
  for (let i = 1; i < n - 1; i++) {
    h += 1 / (n - i)
    g += h / (i + 1)
  }
  h += 1
  const a = (4 * g - 6) * (k - 1) + (10 - 6 * g) * H
  const b = (2 * g - 4) * k * k + 8 * h * k + (2 * g - 14 * h - 4) * H - 8 * h + 4 * g - 6
  const c = (6 * h + 2 * g - 2) * k * k + (4 * h - 4 * g + 6) * k + (2 * h - 6) * H + 4 * h
  const d = (2 * h + 6) * k * k - 4 * h * k
  return (((a * n + b) * n + c) * n + d) / ((n - 1) * (n - 2) * (n - 3))
}

/**
 * How many times larger ties make the variance of A²_akN, 1 when no two values are equal; `ends` as
 * in `PooledLabels`.
 *
 * A²_akN is a weighted sum of squares whose means stay 1 under ties; its variance grows with the
 * correlation of the terms. With l_j values tied at place j, B_j = those below + l_j/2 and
 * D_j = B_j(N − B_j) − N·l_j/4, terms i < j have the correlation B_i(N − B_j) / √(D_i·D_j), the
 * variance of normal terms is proportional to Σ_i Σ_j (l_i/N)(l_j/N)·correlation².
 */
function andersonDarlingTies(ends: ArrayLike<number>): number {
  const n = ends[ends.length - 1] ?? 0
  const untied = squaredCorrelations({ length: n }, (i) => i + 1)
  return squaredCorrelations(ends, (i) => ends[i]!) / untied
}

function squaredCorrelations({ length }: { length: number }, endOf: (i: number) => number): number {
  const n = endOf(length - 1)
  let sum = 0
  let below = 0
  let start = 0
  for (let i = 0; i < length; i++) {
    const weight = (endOf(i) - start) / n
    const middle = (start + endOf(i)) / 2
    const spread = middle * (n - middle) - (n * n * weight) / 4
    if (spread > 0) {
      sum += weight * weight + (2 * below * weight * (n - middle) ** 2) / spread
      below += (weight * middle * middle) / spread
    }
    start = endOf(i)
  }
  return sum
}

interface PooledLabels {
  /** For each pooled value the number of its sample. */
  readonly labels: Uint16Array
  /** Where each group of equal values ends, ascending; the last is the number of values. */
  readonly ends: Uint32Array
}

function pooledLabels(samples: readonly ArrayLike<number>[]): PooledLabels {
  const read = new Uint32Array(samples.length)
  const labels = new Uint16Array(samples.reduce((sum, { length }) => sum + length, 0))
  const ends: number[] = []
  for (let place = 0; place < labels.length; ) {
    let value = Number.POSITIVE_INFINITY
    for (const [label, sample] of samples.entries()) {
      if (read[label]! < sample.length) value = Math.min(value, sample[read[label]!]!)
    }
    for (const [label, sample] of samples.entries()) {
      for (; sample[read[label]!] === value; read[label]!++) labels[place++] = label
    }
    ends.push(place)
  }
  return { labels, ends: Uint32Array.from(ends) }
}

/**
 * P(A² > x) for the limit of the (m + 1)-sample Anderson-Darling statistic, Σ_j Y_j / (j(j+1)) with
 * independent χ² variables Y_j of m degrees of freedom.
 *
 * The transform of A² is M(t) = (−2πt / cos(½π√(1+8t)))^(m/2); the tail is the integral of
 * e^(−tx)·M(t)/t over a path that crosses the real axis between the pole 0 and the branch point 1.
 * On a parabola around the branch point the trapezoidal rule converges geometrically: about 1e-11
 * of the value at any depth of the tail.
 *
 * Sources: Anderson and Darling 1952, "Asymptotic theory of certain goodness of fit criteria based
 * on stochastic processes", Annals of Mathematical Statistics 23(2):193-212 (M); Scholz and
 * Stephens 1987, §3 (k samples); Weideman and Trefethen 2007, "Parabolic and hyperbolic contours
 * for computing the Bromwich integral", Mathematics of Computation 76:1341-1356 (path).
 *
 * @example
 * andersonDarlingTail(2.492, 1).toFixed(4) // '0.0500'
 */
export function andersonDarlingTail(x: number, m: number): number {
  if (Number.isNaN(x)) return Number.NaN
  if (x <= 0) return 1
  // Distance of the path's vertex from the branch point at 1.
  const width = Math.min(0.25, (1 + m / 2) / x)
  let sum = integrand(0, { x, m, width }).value / 2
  let largest = Math.abs(sum)
  for (let step = 1; step <= MAX_STEPS; step++) {
    const { value, size } = integrand(step * STEP, { x, m, width })
    sum += value
    largest = Math.max(largest, size)
    if (size < largest * 1e-18) break
  }
  return Math.min(1, Math.max(0, (sum * STEP) / Math.PI))
}

const STEP = 0.08
const MAX_STEPS = 1000

/** Imaginary part and size of the integrand at t = 1 − width·(1 − iu)². */
function integrand(u: number, { x, m, width }: { x: number; m: number; width: number }) {
  const re = 1 - width + width * u * u
  const im = 2 * width * u
  const [rootRe, rootIm] = squareRoot(1 + 8 * re, 8 * im)
  // log cos(½πw) = −½iπw + log((1 + e^(iπw)) / 2), whose last term stays on one branch.
  const decay = Math.exp(-Math.PI * rootIm)
  const cosRe = 1 + decay * Math.cos(Math.PI * rootRe)
  const cosIm = decay * Math.sin(Math.PI * rootRe)
  const logCosRe = (Math.PI / 2) * rootIm + Math.log(Math.hypot(cosRe, cosIm) / 2)
  const logCosIm = (-Math.PI / 2) * rootRe + Math.atan2(cosIm, cosRe)
  const logRe = Math.log(Math.hypot(re, im))
  const logIm = Math.atan2(im, re)
  const size = Math.exp(
    -re * x +
      (m / 2) * (Math.log(2 * Math.PI) + logRe - logCosRe) -
      logRe +
      Math.log(2 * width * Math.hypot(1, u)),
  )
  // The path's derivative is 2·width·(u + i).
  const angle = -im * x + (m / 2) * (logIm - Math.PI - logCosIm) - logIm + Math.atan2(1, u)
  return { value: size * Math.sin(angle), size }
}

function squareRoot(re: number, im: number): [number, number] {
  const root = Math.sqrt((Math.hypot(re, im) + re) / 2)
  return [root, im / (2 * root)]
}
