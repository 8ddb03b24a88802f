// Called on samples of up to a million values: the loops index with `!`.
import { rejectUnknownOptions } from '../core/errors.ts'
import { rankCounts } from './mann-whitney.ts'
import {
  directionOf,
  type SampleOptions,
  sortedPair,
  type TiedValues,
  type TwoSampleResult,
  tiedValues,
} from './two-sample.ts'

/** The variance of Y / (j(j+1)), summed over j, for one degree of freedom. */
const LIMIT_VARIANCE = 2 * (Math.PI ** 2 / 3 - 3)

export interface AndersonDarlingResult extends TwoSampleResult {
  /** A² less its mean over its standard deviation; NaN for fewer than 4 values in all. */
  readonly statistic: number
  /** A²_akN, about 1 under the null hypothesis, 0 when all values are equal. */
  readonly a2: number
}

/**
 * Tests whether two samples of latencies come from one distribution (two-sample Anderson-Darling test).
 *
 * Null hypothesis: both samples come from the same distribution. Alternative: they come from
 * different ones, in location, spread or shape. Compared with Kolmogorov-Smirnov, differences in
 * the tails weigh more. The test has no side; the direction is that of most pairs: `'slower'` when
 * a random value of after is more often larger than one of before than smaller, which says nothing
 * of a difference in spread alone.
 *
 * Ties have midranks. The statistic takes no further account of them (as SciPy's `anderson_ksamp`);
 * p does: times cut to milliseconds would else be called different at 5 % in up to 11 % of the
 * cases. NaN and infinite values are left out and counted. When all values are equal, p is 1. When
 * a sample is empty, statistic, p and a2 are NaN; for fewer than 4 values in all, statistic and p.
 * `testable` asks the rule of `isTestable`, as for the Kolmogorov-Smirnov test.
 *
 * Limits: values must be independent. p is that of the limit distribution itself, not of a table, so
 * that it has no floor and no cap; for samples of 5 values and more it is good to a few tenths of
 * its value down to 0.001. Takes O(n) after sorting.
 *
 * Source: Scholz and Stephens 1987, "K-sample Anderson-Darling tests", Journal of the American
 * Statistical Association 82(399):918-924.
 *
 * @throws OptionError for unsorted samples with `sorted`.
 *
 * @example
 * const before = [1, 2, 3, 4, 5, 6, 7, 8, 9]
 * const after = [11, 12, 13, 14, 15, 16, 17, 18, 19]
 * andersonDarlingTwoSample(before, after).direction // 'slower'
 */
export function andersonDarlingTwoSample(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  options: SampleOptions = {},
): AndersonDarlingResult {
  rejectUnknownOptions(options, ['sorted'])
  const { sorted = false } = options
  const { first, second, sizes } = sortedPair(before, after, sorted)
  const excess = rankCounts(first, second).u - (first.length * second.length) / 2
  const direction = directionOf(excess)
  if (first.length === 0 || second.length === 0) {
    return { ...sizes, statistic: Number.NaN, p: Number.NaN, a2: Number.NaN, direction }
  }
  const ties = tiedValues(first, second)
  const a2 = andersonDarlingStatistic(ties, first.length)
  const statistic = (a2 - 1) / Math.sqrt(andersonDarlingVariance(first.length, second.length))
  const spread = Math.sqrt(LIMIT_VARIANCE / varianceUnderTies(ties.ends))
  const p = a2 === 0 ? 1 : andersonDarlingTail(1 + statistic * spread)
  return { ...sizes, statistic, p, a2, direction }
}

/** Returns A²_akN with midranks; 0 if all are equal. Source: Scholz and Stephens 1987, equation 7. */
function andersonDarlingStatistic({ ends, firsts }: TiedValues, size: number): number {
  const total = ends[ends.length - 1]!
  let sum = 0
  for (let group = 0; group < ends.length; group++) {
    const [start, end] = [ends[group - 1] ?? 0, ends[group]!]
    const middle = (start + end) / 2
    const gap = (total * ((firsts[group - 1] ?? 0) + firsts[group]!)) / 2 - middle * size
    if (gap === 0) continue
    const squares = gap * gap * (1 / size + 1 / (total - size))
    const tied = end - start
    sum += ((tied / total) * squares) / (middle * (total - middle) - (total * tied) / 4)
  }
  return ((total - 1) / total) * sum
}

/** Returns the variance of A²_akN without ties: Scholz and Stephens 1987, equation 4, for two samples. */
function andersonDarlingVariance(one: number, other: number): number {
  const n = one + other
  if (n < 4) return Number.NaN
  const H = 1 / one + 1 / other
  let h = 0
  let g = 0
  for (let i = 1; i < n - 1; i++) {
    h += 1 / (n - i)
    g += h / (i + 1)
  }
  h += 1
  const a = 4 * g - 6 + (10 - 6 * g) * H
  const b = 4 * (2 * g - 4) + 16 * h + (2 * g - 14 * h - 4) * H - 8 * h + 4 * g - 6
  const c = 4 * (6 * h + 2 * g - 2) + 2 * (4 * h - 4 * g + 6) + (2 * h - 6) * H + 4 * h
  const d = 4 * (2 * h + 6) - 8 * h
  return (((a * n + b) * n + c) * n + d) / ((n - 1) * (n - 2) * (n - 3))
}

/**
 * Returns the factor by which ties enlarge the variance of A²_akN; 1 if no two values are equal. `ends` is as in
 * `TiedValues`.
 *
 * A²_akN is a weighted sum of squares whose means stay 1 under ties; its variance grows with the
 * correlation of the terms. With l_j values tied at place j, B_j = those below + l_j/2 and
 * D_j = B_j(N − B_j) − N·l_j/4, terms i < j have the correlation B_i(N − B_j) / √(D_i·D_j), the
 * variance of normal terms is proportional to Σ_i Σ_j (l_i/N)(l_j/N)·correlation².
 */
function varianceUnderTies(ends: ArrayLike<number>): number {
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

/**
 * Returns P(A² > x) for the limit of the Anderson-Darling statistic, Σ_j Y_j / (j(j+1)) with independent χ² variables
 * Y_j of one degree of freedom.
 *
 * The transform of A² is M(t) = √(−2πt / cos(½π√(1+8t))); the tail is the integral of
 * e^(−tx)·M(t)/t over a path that crosses the real axis between the pole 0 and the branch point 1.
 * On a parabola around the branch point the trapezoidal rule converges geometrically: about 1e-11
 * of the value at any depth of the tail.
 *
 * Sources: Anderson and Darling 1952, "Asymptotic theory of certain goodness of fit criteria based
 * on stochastic processes", Annals of Mathematical Statistics 23(2):193-212 (M); Weideman and
 * Trefethen 2007, "Parabolic and hyperbolic contours
 * for computing the Bromwich integral", Mathematics of Computation 76:1341-1356 (path).
 *
 * @example
 * andersonDarlingTail(2.492).toFixed(4) // '0.0500'
 */
export function andersonDarlingTail(x: number): number {
  if (Number.isNaN(x)) return Number.NaN
  if (x <= 0) return 1
  // Distance of the path's vertex from the branch point at 1.
  const width = Math.min(0.25, 1.5 / x)
  let sum = integrand(0, { x, width }).value / 2
  let largest = Math.abs(sum)
  for (let step = 1; step <= MAX_STEPS; step++) {
    const { value, size } = integrand(step * STEP, { x, width })
    sum += value
    largest = Math.max(largest, size)
    if (size < largest * 1e-18) break
  }
  return Math.min(1, Math.max(0, (sum * STEP) / Math.PI))
}

const STEP = 0.08
const MAX_STEPS = 1000

function integrand(u: number, { x, width }: { x: number; width: number }) {
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
      0.5 * (Math.log(2 * Math.PI) + logRe - logCosRe) -
      logRe +
      Math.log(2 * width * Math.hypot(1, u)),
  )
  // The path's derivative is 2·width·(u + i).
  const angle = -im * x + 0.5 * (logIm - Math.PI - logCosIm) - logIm + Math.atan2(1, u)
  return { value: size * Math.sin(angle), size }
}

function squareRoot(re: number, im: number): [number, number] {
  const root = Math.sqrt((Math.hypot(re, im) + re) / 2)
  return [root, im / (2 * root)]
}
