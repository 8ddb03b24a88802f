// Called on series of up to a million values: the loops index with `!`.
import { rejectUnknownOptions, requireNumbers } from '../core/errors.ts'
import { twoSidedTP } from './distributions.ts'
import { kolmogorovTail } from './ks-two-sample.ts'
import { moments } from './moments.ts'
import { requireShare } from './require-option.ts'

/** Numbers of stretches of a series whose means show the drift of its level. */
const STRETCHES = [5, 10]
const MIN_STRETCH = 2
/** Largest lean of values on their predecessors at which a series can be judged. */
const MAX_LEANING = 0.97

export interface ChangePointOptions {
  /** Fewest and most values that may come before the change. Default: 1, and all but one. */
  readonly from?: number
  readonly to?: number
  /** Level of the interval. Default 0.95. */
  readonly level?: number
}

export interface ChangePointResult {
  /** Number of values before the change: the first value at the new level. */
  readonly at: number
  /** The positions that the interval holds, both included. */
  readonly low: number
  readonly high: number
  /** Mean before and after the change. */
  readonly before: number
  readonly after: number
  /**
   * Returns p of the hypothesis that the change is at another position, against that it is at any:
   * 1 − (1 − exp(−LR / 2))².
   */
  readonly pAt: (position: number) => number
  /** Returns the likelihood ratio of a change at a position, against none. */
  readonly ratioAt: (position: number) => number
}

/** Differences of sums by less than this, of one, are rounding. */
const ROUNDING = 1e-9

/**
 * Finds where a series changes from one level to another, by least squares, with an interval: the
 * positions that a likelihood-ratio test does not reject.
 *
 * Assumes one change. Values may depend on their neighbors: noise is measured by single values and by the means of ten
 * stretches on each side, and the larger one counts. A position before the one found is judged by the noise after it,
 * and the reverse, because the values between would belong to that side. For large changes, intervals hold the position
 * more often than `level`.
 *
 * Fewer than two values, or no position between `from` and `to`, give NaN for all.
 *
 * Source: Hansen 2000, "Sample splitting and threshold estimation", Econometrica 68(3):575-603, for
 * the distribution of the likelihood ratio; Eo and Morley 2015, "Likelihood-ratio-based confidence
 * sets for the timing of structural breaks", Quantitative Economics 6(2):463-497; strucchange
 * (`breakpoints`) finds the same position.
 *
 * @param values in the order of time
 * @throws OptionError for a level outside 0 to 1
 *
 * @example
 * const { at, low, high } = changePoint([5, 6, 5, 6, 5, 9, 8, 9, 9, 8])
 * at // 5
 * low // 5
 * high // 5
 */
export function changePoint(
  values: ArrayLike<number>,
  options: ChangePointOptions = {},
): ChangePointResult {
  requireNumbers({ values })
  rejectUnknownOptions(options, ['from', 'to', 'level'])
  const { from = 1, to = values.length - 1, level = 0.95 } = options
  requireShare('level', level)
  const count = values.length
  const sums = cumulated(values)
  const total = sums[count]!
  /** Returns the sum of squares between the two levels. */
  const between = (at: number) => {
    const difference = (total - sums[at]!) / (count - at) - sums[at]! / at
    return ((at * (count - at)) / count) * difference * difference
  }
  const first = Math.max(1, from)
  const last = Math.min(count - 1, to)
  if (!(first <= last)) return NONE
  let at = first
  for (let i = first + 1; i <= last; i++) if (between(i) > between(at) * (1 + ROUNDING)) at = i
  const all = Array.from(values)
  const sides = [longRunVariance(all.slice(0, at)), longRunVariance(all.slice(at))] as const
  const noise = [at > 1 ? sides[0] : sides[1], at < count - 1 ? sides[1] : sides[0]] as const
  const best = between(at)
  const pAt = (position: number) => {
    const lost = Math.max(0, best - between(position))
    const ratio = lost === 0 ? 0 : lost / noise[position < at ? 1 : 0]
    return positionTail(ratio)
  }
  let [low, high] = [at, at]
  for (let i = first; i < low; i++) if (pAt(i) > 1 - level) low = i
  for (let i = last; i > high; i--) if (pAt(i) > 1 - level) high = i
  // Noise of both sides together: a few equal values on one side tell nothing of its noise.
  const common = (at * noise[0] + (count - at) * noise[1]) / count
  const ratioAt = (position: number) => {
    const gained = between(position)
    return gained === 0 ? 0 : gained / common
  }
  const [before, after] = [sums[at]! / at, (total - sums[at]!) / (count - at)]
  return { at, low, high, before, after, pAt, ratioAt }
}

const NONE: ChangePointResult = {
  at: Number.NaN,
  low: Number.NaN,
  high: Number.NaN,
  before: Number.NaN,
  after: Number.NaN,
  pAt: () => Number.NaN,
  ratioAt: () => Number.NaN,
}

export interface PassingChangeResult {
  /** The first value at the other level, and the first that is back at the first one. */
  readonly at: number
  readonly end: number
  /** The other level less the first one. */
  readonly size: number
  /** Likelihood ratio against one level throughout, and against a change that lasts. */
  readonly ratio: number
  readonly ratioOfEnd: number
}

/** Positions at which a change is tried to begin and to end. */
const MAX_POSITIONS = 200

/**
 * Finds where a series goes to another level and comes back, by least squares, to a two-hundredth of
 * its length (`changePoint` of its parts tells more). Where a change that lasts fits as well,
 * `ratioOfEnd` is 0; where no position lies between the limits, both ratios are.
 *
 * Source: Levin and Kline 1985, "The CUSUM test of homogeneity with an application in spontaneous
 * abortion epidemiology", Statistics in Medicine 4(4):469-488.
 *
 * @param values in the order of time
 * @param options.from fewest values before the change
 * @param options.until first value that may be back at the first level
 * @param options.lasting fewest values that the change lasts, and that follow it
 *
 * @example
 * const { at, end } = passingChange([5, 6, 5, 9, 8, 9, 6, 5, 5, 6])
 * at // 3
 * end // 6
 */
export function passingChange(
  values: readonly number[],
  { from = 0, until = 0, lasting = 1 }: { from?: number; until?: number; lasting?: number } = {},
): PassingChangeResult {
  const count = values.length
  const { mean } = moments(values)
  const sums = cumulated(values.map((value) => value - mean))
  const between = (at: number, end: number) => {
    const inside = sums[end]! - sums[at]!
    const size = end - at
    return size === count ? 0 : (inside * inside * count) / (size * (count - size))
  }
  const step = Math.ceil(count / MAX_POSITIONS)
  let [best, lasts, at, end] = [0, 0, count, count]
  for (let i = from; i <= count - lasting; i += step) {
    lasts = Math.max(lasts, between(i, count))
    for (let j = Math.max(i + lasting, until); j <= count - lasting; j += step) {
      const explained = between(i, j)
      if (explained > best * (1 + ROUNDING)) [best, at, end] = [explained, i, j]
    }
  }
  const size = end > at ? ((sums[end]! - sums[at]!) * count) / (end - at) / (count - end + at) : 0
  const noise = longRunVariance(values.map((value, i) => value - (i >= at && i < end ? size : 0)))
  const ratioOf = (explained: number) => (explained > 0 ? explained / noise : 0)
  return { at, end, size, ratio: ratioOf(best), ratioOfEnd: ratioOf(Math.max(0, best - lasts)) }
}

export interface ConstantLevelResult {
  /** Largest distance of the cumulated deviations from 0, in standard errors. */
  readonly statistic: number
  readonly p: number
  /** Number of values before the largest distance. */
  readonly at: number
}

/**
 * Tests whether a series keeps one level: the OLS-based CUSUM test.
 *
 * Null hypothesis: the mean is the same throughout. The statistic is the largest distance of
 * cumulated deviations from the mean over the root of n times the variance; p is that of a Brownian
 * bridge. Conservative for short series. NaN for fewer than two values; p is 1 where all are equal.
 *
 * Source: Ploberger and Krämer 1992, "The CUSUM test with OLS residuals", Econometrica
 * 60(2):271-285; strucchange's `efp(type = 'OLS-CUSUM')` is the oracle.
 *
 * @param variance noise of the series; by default that of the values, as if each were independent
 *
 * @example
 * constantLevel([1, 2, 1, 2, 1, 2, 1, 2]).p > 0.9 // true
 */
export function constantLevel(
  values: ArrayLike<number>,
  variance = moments(values).variance,
): ConstantLevelResult {
  requireNumbers({ values, variance: [variance] })
  const { count, mean } = moments(values)
  if (count < 2) return { statistic: Number.NaN, p: Number.NaN, at: Number.NaN }
  // Takes the first of equally far places, so that rounding does not decide.
  const slack = ROUNDING * Math.sqrt(count * variance)
  let [sum, farthest, at] = [0, 0, 0]
  for (let i = 0; i < count - 1; i++) {
    sum += values[i]! - mean
    if (Math.abs(sum) <= farthest + slack) continue
    farthest = Math.abs(sum)
    at = i + 1
  }
  const statistic = farthest === 0 ? 0 : farthest / Math.sqrt(count * variance)
  return { statistic, p: statistic < 0.2 ? 1 : kolmogorovTail(statistic), at }
}

/**
 * Returns the long-run variance of a series, per value: the largest of its variance, the variance if each value leans
 * on the one before it by the mean correlation, and the variances from the means of ten and of five stretches. NaN for
 * fewer than two values.
 *
 * Source: Andrews 1991, "Heteroskedasticity and autocorrelation consistent covariance matrix
 * estimation", Econometrica 59(3):817-858, for the second; batch means for the others.
 */
export function longRunVariance(values: readonly number[]): number {
  const { count, mean, variance } = moments(values)
  if (!(variance > 0)) return variance
  let products = 0
  for (let i = 1; i < count; i++) products += (values[i]! - mean) * (values[i - 1]! - mean)
  const measured = products / (count - 1) / variance
  // Corrects for the loss from subtracting the fitted mean.
  const leaning = Math.min(MAX_LEANING, measured + (1 + 3 * measured) / count)
  const ofStretches = STRETCHES.filter((stretches) => count >= MIN_STRETCH * stretches).map(
    (stretches) => (varianceOfMeans(values, stretches) * count) / stretches,
  )
  return Math.max(variance, (variance * (1 + leaning)) / (1 - leaning), ...ofStretches)
}

function varianceOfMeans(values: readonly number[], stretches: number): number {
  const bound = (i: number) => Math.floor((i * values.length) / stretches)
  const means = Array.from(
    { length: stretches },
    (_, i) => moments(values.slice(bound(i), bound(i + 1))).mean,
  )
  return moments(means).variance
}

/** Returns the chance that the likelihood ratio of the true position is larger: Hansen 2000, theorem 1. */
export function positionTail(ratio: number): number {
  return 1 - (1 - Math.exp(-ratio / 2)) ** 2
}

/** Sums up to each value, from 0. */
export function cumulated(values: ArrayLike<number>): Float64Array {
  const sums = new Float64Array(values.length + 1)
  for (let i = 0; i < values.length; i++) sums[i + 1] = sums[i]! + values[i]!
  return sums
}

export interface GradualChangeOptions {
  /** Fewest and most values that may come before the growth. Default: 1, and all but two. */
  readonly from?: number
  readonly to?: number
}

export interface GradualChangeResult {
  /** When growth begins, and the 95 % interval of that; as `times`. */
  readonly begins: number
  readonly low: number
  readonly high: number
  /** When it ends. */
  readonly ends: number
  /** Level before and after the growth, and that fitted to each value. */
  readonly before: number
  readonly after: number
  readonly fitted: Float64Array
  /** Noise of the long run, a value. */
  readonly noise: number
  /** Likelihood ratio of the change, against none. */
  readonly ratio: number
  /** p of the hypothesis that the change takes no longer than from one value to the next, or comes within one. */
  readonly p: number
  /** Longest duration of growth that an F test does not reject, in the unit of `times`. */
  readonly longest: number
  /** Returns p of the hypothesis that growth begins between a value and the one before it. */
  readonly pAt: (position: number) => number
}

/** Exponents of the share of the growth that is over: as a queue or a leak grows, or ever faster. */
const SHAPES = [1, 2]
/** Degrees of freedom of the noise, which rests on ten stretches. */
const DF = 9
const LEVEL = 0.05
/** Relative limit for the squares of a series: anything smaller is rounding. */
const ROUNDED = 1e-6

/**
 * Finds when a series begins to grow (or fall) from one level to another, by least squares: constant, then linear or
 * quadratic in time, then constant, unless the series ends before. A step is growth that takes no time; p tests whether
 * a step would fit as well. A step may fall within a measurement, whose value then lies anywhere between the levels.
 *
 * The interval holds the beginnings that an F test does not reject, whatever the end, the shape and the levels, and
 * reaches one value further on both sides. Values may depend on their neighbors: noise is the long-run variance
 * (`longRunVariance`) of all values or of those after the beginning, whichever is larger, because a growing queue
 * drifts more than the values before it.
 *
 * Limits: of 600 simulated values, steps are called gradual in 2 % or fewer, and the interval holds the beginning in 95
 * % or more of ramps, in about 90 % of queues. Growth smaller than the noise cannot be distinguished from a step.
 * Returns `null` if no position lies between `from` and `to`, or all values are equal.
 *
 * Sources: Hinkley 1971, "Inference in two-phase regression", JASA 66(336):736-743; Hušková 1999,
 * "Gradual changes versus abrupt changes", J. Statistical Planning and Inference 76(1-2):109-125.
 *
 * @param times ascending, one a value
 *
 * @example
 * const times = Array.from({ length: 20 }, (_, i) => i)
 * const noise = [0.1, -0.2, 0.2, -0.1]
 * const found = gradualChange(times, times.map((time) => Math.max(0, time - 10) + noise[time % 4]))
 * found.low < 10 && found.high > 10 && found.p < 0.05 // true
 */
export function gradualChange(
  times: ArrayLike<number>,
  values: ArrayLike<number>,
  { from = 1, to = values.length - 2 }: GradualChangeOptions = {},
): GradualChangeResult | null {
  const count = values.length
  const [begin, mean] = [times[0]!, moments(values).mean]
  const scale = times[count - 1]! - begin
  const t = Float64Array.from(values, (_, i) => (times[i]! - begin) / scale)
  const y = Float64Array.from(values, (value) => value - mean)
  const powers = [0, 1, 2, 3, 4].map((power) => cumulated(t.map((time) => time ** power)))
  const products = [0, 1, 2].map((power) => cumulated(t.map((time, i) => y[i]! * time ** power)))
  /** Halfway between a value and the one before it. */
  const place = (i: number) => (i <= 0 ? 0 : i >= count ? 1 : (t[i - 1]! + t[i]!) / 2)
  /** `explained` is the sum of squares that growth accounts for. */
  const fitOf = ({ start, end, shape }: Growth) => {
    const at = place(start)
    const growth = { start, end, at, length: place(end) - at }
    const x = count - end + grown(powers, shape, growth)
    const xx = count - end + grown(powers, 2 * shape, growth) - x ** 2 / count
    const xy = products[0]![count]! - products[0]![end]! + grown(products, shape, growth)
    if (!(xx > ROUNDED)) return { explained: 0, size: 0, base: mean }
    return { explained: xy ** 2 / xx, size: xy / xx, base: mean - (xy / xx) * (x / count) }
  }
  /** Returns the squares explained by a step within the measurement of a value. */
  const explainedWithin = (i: number) => {
    const sums = [products[0]![i]!, products[0]![count]! - products[0]![i + 1]!] as const
    const [earlier, later] = [sums[0] / i, sums[1] / (count - i - 1)] as const
    const isBetween = (y[i]! - earlier) * (later - y[i]!) >= 0
    return isBetween ? sums[0] * earlier + sums[1] * later + y[i]! ** 2 : 0
  }
  const profile = new Float64Array(count + 1)
  const ofLength = new Float64Array(count + 1)
  let [best, abrupt, found] = [0, 0, null as Growth | null]
  for (let start = Math.max(1, from); start <= Math.min(count - 1, to); start++) {
    abrupt = Math.max(abrupt, explainedWithin(start))
    for (let end = start; end <= count; end++) {
      for (const shape of start === end ? [1] : SHAPES) {
        const { explained } = fitOf({ start, end, shape })
        if (end <= start + 1 && explained > abrupt) abrupt = explained
        if (explained > profile[start]!) profile[start] = explained
        if (explained > ofLength[end - start]!) ofLength[end - start] = explained
        if (explained > best) [best, found] = [explained, { start, end, shape }]
      }
    }
  }
  if (found === null) return null
  const { start, end, shape } = found
  const { base, size } = fitOf(found)
  const length = place(end) - place(start)
  const fitted = t.map((time, i) => {
    const share = i < start ? 0 : i >= end ? 1 : ((time - place(start)) / length) ** shape
    return base + size * share
  })
  const residuals = Array.from(values, (value, i) => value - fitted[i]!)
  const noise = Math.max(longRunVariance(residuals), longRunVariance(residuals.slice(start)) || 0)
  const pOf = (explained: number) => {
    const lost = best - explained
    if (lost <= ROUNDED * best) return 1
    return noise > 0 ? twoSidedTP(Math.sqrt(lost / noise), DF) : 0
  }
  const pAt = (position: number) => pOf(profile[position] ?? 0)
  let [low, high] = [start, start]
  for (let i = Math.max(1, from); i < low; i++) if (pAt(i) > LEVEL) low = i
  for (let i = Math.min(count - 1, to); i > high; i--) if (pAt(i) > LEVEL) high = i
  let longest = end - start
  for (let i = count; i > longest; i--) if (pOf(ofLength[i]!) > LEVEL) longest = i
  const timeAt = (position: number) => begin + scale * place(position)
  return {
    begins: timeAt(start),
    low: timeAt(low - 1),
    high: timeAt(high + 1),
    ends: timeAt(end),
    before: base,
    after: base + size,
    fitted,
    noise,
    ratio: best / noise,
    p: pOf(abrupt),
    longest: (longest * scale) / count,
    pAt,
  }
}

/** Growth from before one value to before another. */
type Growth = Readonly<Record<'start' | 'end' | 'shape', number>>

/** Returns Σ ((t − at) / length)^power of the values while growth lasts, from sums of the powers of t. */
function grown(
  sums: readonly Float64Array[],
  power: number,
  { start, end, at, length }: Omit<Growth, 'shape'> & { at: number; length: number },
): number {
  if (start === end) return 0
  let [sum, factor] = [0, 1]
  for (let k = 0; k <= power; k++) {
    sum += factor * (sums[power - k]![end]! - sums[power - k]![start]!)
    factor *= (-at * (power - k)) / (k + 1)
  }
  return sum / length ** power
}
