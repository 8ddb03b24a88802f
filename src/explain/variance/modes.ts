import { sum } from 'd3-array'
import { quantile } from '../../stats/quantile.ts'
import type { WeightedSample } from '../../stats/weighted-sample.ts'

/** Fewer times are no mode. */
export const MIN_REQUESTS = 10
/** A mode has this share of the requests at least: a few slow ones are a tail. */
export const MIN_PART = 0.05
/** Interquartile ranges above the upper quartile: Tukey's outer fence. */
const FENCE = 3

/**
 * Returns the place that divides ascending times, on a logarithmic scale, so that the squares within
 * both parts are least, each time counting as often as it weighs, and each part `least` at least.
 */
export function placeBetween({ values, weights }: WeightedSample, least: number): number {
  const logs = scaled(values)
  const counts = weights ?? values.map(() => 1)
  const all = sum(counts)
  const total = sum(logs, (value, i) => value * (counts[i] as number))
  let [below, count, most, at] = [0, 0, Number.NEGATIVE_INFINITY, 1]
  for (let i = 1; i < values.length; i++) {
    const own = counts[i - 1] as number
    below += own * (logs[i - 1] as number)
    count += own
    const between = below ** 2 / count + (total - below) ** 2 / (all - count)
    if (count >= least && all - count >= least && between > most) [most, at] = [between, i]
  }
  return at
}

/** A mode of ascending times, and what lies between it and the next. */
export interface Mode {
  /** Places of the first, and of the first that lies far out: as many as there are where none does. */
  readonly from: number
  readonly beyond: number
  /** Place after the last one, where the next mode begins. */
  readonly to: number
}

/**
 * Finds the modes of ascending times, and what lies beyond Tukey's outer fence of each (upper quartile and three
 * interquartile ranges, of logarithms). Times divide in two where the slower half of the slower part is far out
 * of the faster part's last mode; what has less than 5 % of all times is no mode.
 */
export function modesOf(sample: WeightedSample): Mode[] {
  const { values } = sample
  const step = smallestStep(values)
  const part = ([from, to]: Stretch): WeightedSample => ({
    values: values.subarray(from, to),
    weights: sample.weights?.subarray(from, to),
  })
  const fence = (stretch: Stretch) => fenceOf(part(stretch), step)
  const least = Math.max(MIN_REQUESTS, MIN_PART * countOf(sample))
  const isMode = (stretch: Stretch) => countOf(part(stretch)) >= least
  const divide = (whole: Stretch): readonly Stretch[] => {
    const [from, to] = whole
    if (to - from < 2) return [whole]
    const at = from + placeBetween(part(whole), 0)
    const faster: Stretch = [from, at]
    const slower: Stretch = [at, to]
    const below = isMode(faster) ? divide(faster) : [faster]
    const { values: all, weights } = part(slower)
    if (!(quantile(all, 0.5, weights) > fence(below.at(-1) ?? faster))) return [whole]
    const modes = [...below, ...(isMode(slower) ? divide(slower) : [])].filter(isMode)
    return modes.length === 0 ? [whole] : modes
  }
  const modes = divide([0, values.length])
  return modes.map((mode, i) => {
    const [from] = mode
    const to = modes[i + 1]?.[0] ?? values.length
    const highest = fence(mode)
    const at = values.subarray(from, to).findIndex((value) => value > highest)
    return { from, to, beyond: at < 0 ? to : from + at }
  })
}

type Stretch = readonly [from: number, to: number]

function countOf({ values, weights }: WeightedSample): number {
  return weights === undefined ? values.length : sum(weights)
}

/** Times that are rounded are no nearer to each other than they can be. */
function smallestStep(values: Float64Array): number {
  const steps = values.subarray(1).map((value, i) => value - (values[i] as number))
  return steps.reduce((least, own) => (own > 0 && own < least ? own : least), Number.MAX_VALUE)
}

function fenceOf({ values, weights }: WeightedSample, step: number): number {
  const isLog = (values[0] as number) > 0
  const [low, high] = [0.25, 0.75].map((share) => quantile(values, share, weights)) as [
    number,
    number,
  ]
  const near = Math.min(step, high)
  return isLog
    ? high * Math.max(high / low, 1 + near / high) ** FENCE
    : high + FENCE * Math.max(high - low, near)
}

/** Logarithms, unless some value has none. */
function scaled(values: Float64Array): Float64Array {
  return (values[0] as number) > 0 ? values.map(Math.log) : values
}
