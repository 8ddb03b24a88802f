// Tries thousands of pairs of places for each series: the loops index with `!`.
import { cumulated, longRunVariance } from './change-point.ts'
import { twoSidedTP } from './distributions.ts'
import { moments } from './moments.ts'

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
  /** How long growth may take at most: what an F test does not reject; as `times`. */
  readonly longest: number
  /** Returns p of the hypothesis that growth begins between a value and the one before it. */
  readonly pAt: (position: number) => number
}

/** Exponents of the share of the growth that is over: as a queue or a leak grows, or ever faster. */
const SHAPES = [1, 2]
/** Of the noise, which rests on ten stretches. */
const DF = 9
const LEVEL = 0.05
/** Of the squares of a series: less is rounding. */
const ROUNDING = 1e-6

/**
 * Finds from when on a series grows (or falls) from one level to another, by least squares: constant,
 * then as time passes or as its square, then constant, unless the series ends before. A step is the
 * special case that takes no time; p tells whether it would do as well. It may come while a value is
 * measured, which then is anywhere between the levels.
 *
 * The interval holds the beginnings that an F test does not reject, whatever the end, the shape and the
 * levels, and reaches one value further on both sides. Values may depend on their neighbors: noise is
 * that of the long run (`longRunVariance`), of all values or of those after the beginning, whichever is
 * larger, as the path of a queue wanders more than what was before it.
 *
 * Limits: of 600 simulated values, steps are called gradual in 2 % or fewer, and the interval holds the
 * beginning in 95 % or more of ramps, in about 90 % of queues. Growth that is less than the noise is not
 * told from a step. `null` where no position lies between `from` and `to`, or all values are equal.
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
  const fitOf = ({ start, end, shape }: Growth): Fit => {
    const at = place(start)
    const growth = { start, end, at, length: place(end) - at }
    const x = count - end + grown(powers, shape, growth)
    const xx = count - end + grown(powers, 2 * shape, growth) - x ** 2 / count
    const xy = products[0]![count]! - products[0]![end]! + grown(products, shape, growth)
    if (!(xx > ROUNDING)) return { explained: 0, size: 0, base: mean }
    return { explained: xy ** 2 / xx, size: xy / xx, base: mean - (xy / xx) * (x / count) }
  }
  /** Of a step that comes while a value is measured. */
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
    if (lost <= ROUNDING * best) return 1
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
interface Growth {
  readonly start: number
  readonly end: number
  readonly shape: number
}

interface Fit {
  /** Sum of squares that it accounts for. */
  readonly explained: number
  readonly size: number
  readonly base: number
}

/** Σ ((t − at) / length)^power of the values while growth lasts, from sums of the powers of t. */
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
