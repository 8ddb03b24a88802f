import { min, range, sum } from 'd3-array'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample, type WeightedSample } from '../../stats/weighted-sample.ts'
import { type PeriodName, periodOfName } from '../../traces/period.ts'
import { tableOf } from '../parameters/explain.ts'
import { parameterDifferences } from '../parameters/parameter-table.ts'
import {
  type CategoryVariance,
  criticalLatencies,
  type EdgeVariance,
  edgeTimes,
} from './category-variance.ts'

/** Requests of one part of an edge's latencies; with `counts: 'weighted'`, as many as they stand for. */
export interface Behavior {
  readonly requests: number
  readonly medianUs: number
}

/**
 * An edge that does one thing in some requests and another in others: instrument it more finely unless a parameter
 * tells which.
 */
export interface MergedBehaviors extends Pick<EdgeVariance, 'edge' | 'from' | 'to' | 'occurrence'> {
  readonly category: number
  readonly period: PeriodName
  /** The edge's share of the variance of response times. */
  readonly share: number
  /** Parameter that tells the two parts apart, as `storage SN READ · cached`; `null` if none does. */
  readonly toldBy: string | null
  /** The first mode of its latencies, and the others. */
  readonly faster: Behavior
  readonly slower: Behavior
}

const ALPHA = 0.05
/** Edges with less of the variance are not worth more trace points. */
const MIN_SHARE = 0.05
/** Smallest difference of a parameter's values between both parts, as a share, that distinguishes them. */
const MIN_TOLD = 0.8

/**
 * Finds edges on critical paths whose latencies have more than one mode (`modesOf`) and that have at least 5 % of the
 * variance of response times, the largest share first.
 *
 * Source: Sambasivan 2013, §5.5: variance from merged behaviors; the modes are our own.
 */
export function findMergedBehaviors(sources: readonly CategoryVariance[]): MergedBehaviors[] {
  return sources
    .flatMap((source) => {
      const { categories, category, period } = source
      const times = edgeTimes(categories, category, periodOfName(period))
      return source.edges
        .filter(({ share }) => share >= MIN_SHARE)
        .flatMap((edge) => mergedIn(source, edge, criticalLatencies(times, edge.edge)))
    })
    .sort((a, b) => b.share - a.share)
}

function mergedIn(
  source: CategoryVariance,
  { edge, from, to, occurrence, share }: EdgeVariance,
  latencies: CriticalLatencies,
): MergedBehaviors[] {
  const { values, weights } = ascendingSample(latencies.timesUs, latencies.weights)
  const at = modesOf({ values, weights })[1]?.from
  if (at === undefined) return []
  const part = (start: number, end: number) => {
    const own = { values: values.subarray(start, end), weights: weights?.subarray(start, end) }
    return { requests: Math.round(countOf(own)), medianUs: quantile(own.values, 0.5, own.weights) }
  }
  const { category, period } = source
  return [
    {
      category,
      period,
      edge,
      from,
      to,
      occurrence,
      share,
      toldBy: parameterThatTells(source, latencies, values[at] as number),
      faster: part(0, at),
      slower: part(at, values.length),
    },
  ]
}

type CriticalLatencies = ReturnType<typeof criticalLatencies>

/** Returns the parameter of the requests that differs most between latencies below `fromUs` and the others. */
function parameterThatTells(
  { categories, category }: CategoryVariance,
  { requests, timesUs }: CriticalLatencies,
  fromUs: number,
): string | null {
  const positions = range(categories.nodeCount(category))
  const side = { requests, category, label: 0, positions } as const
  const { parameters, rows } = tableOf(categories, [side], {
    choice: { include: [], exclude: [] },
  })
  const isSlower = Uint8Array.from(timesUs, (time) => Number(time >= fromUs))
  const [most] = parameterDifferences(parameters, isSlower, rows.weights)
  return most !== undefined && most.q < ALPHA && most.effect >= MIN_TOLD ? most.column : null
}

/** Fewest times that form a mode. */
const MIN_REQUESTS = 10
/** A mode has this share of the requests at least: a few slow ones are a tail. */
const MIN_PART = 0.05
/** Interquartile ranges above the upper quartile: Tukey's outer fence. */
const FENCE = 3

/**
 * Divides ascending times, on a logarithmic scale, so that the squares within both parts are smallest. Times count by
 * weight. Returns the place, and how many times smaller these squares are than those of the whole.
 */
function divisionOf({ values, weights }: WeightedSample) {
  const logs = (values[0] as number) > 0 ? values.map(Math.log) : values
  const counts = weights ?? values.map(() => 1)
  const all = sum(counts)
  const mean = sum(logs, (value, i) => value * (counts[i] as number)) / all
  const whole = sum(logs, (value, i) => (value - mean) ** 2 * (counts[i] as number))
  let [below, count, most, at] = [0, 0, 0, 0]
  for (let i = 1; i < values.length; i++) {
    const own = counts[i - 1] as number
    below += own * ((logs[i - 1] as number) - mean)
    count += own
    const between = (below * below * all) / (count * (all - count))
    if (between > most) [most, at] = [between, i]
  }
  return { at, ratio: whole / (whole - most) }
}

/** Mode of ascending times, and the values between it and the next. */
export interface Mode {
  /** Places of the first, and of the first that lies far out: as many as there are where none does. */
  readonly from: number
  readonly beyond: number
  /** Place after the last one, where the next mode begins. */
  readonly to: number
}

/**
 * Finds the modes of ascending times, and the values beyond Tukey's outer fence of each (upper quartile and three
 * interquartile ranges, of logarithms). Times divide in two if the slower part is far outside the faster part's last
 * mode, or if the parts explain nearly all that times vary. A mode has 5 % of all times.
 */
export function modesOf(sample: WeightedSample): Mode[] {
  const { values } = sample
  const steps = values.subarray(1).map((value, i) => value - (values[i] as number))
  // Times that are rounded are no nearer to each other than they can be.
  const step = min(steps, (own) => (own > 0 ? own : undefined)) ?? Number.MAX_VALUE
  const part = ([from, to]: Stretch): WeightedSample => ({
    values: values.subarray(from, to),
    weights: sample.weights?.subarray(from, to),
  })
  const least = Math.max(MIN_REQUESTS, MIN_PART * countOf(sample))
  const divide = (whole: Stretch): readonly Stretch[] => {
    const [from, to] = whole
    const { at, isApart } = placeBetween(part(whole), least)
    if (at === 0) return [whole]
    const below = divide([from, from + at])
    const slower: Stretch = [from + at, to]
    const { fence, beyond } = rangeOf(part(below.at(-1) as Stretch), step)
    const { values: all, weights } = part(slower)
    const hasGap = Number(all[0]) > beyond(Number(values[from + at - 1]), 1)
    const isFar = hasGap && quantile(all, 0.25, weights) > fence
    return isFar || isApart ? [...below, ...divide(slower)] : [whole]
  }
  const modes = divide([0, values.length])
  return modes.map((mode, i) => {
    const [from] = mode
    const to = modes[i + 1]?.[0] ?? values.length
    const { fence: widest } = rangeOf(part(mode), step)
    // Times far out are no part of the mode that tells so.
    const within = values.subarray(from, to).findLastIndex((value) => value <= widest) + 1
    const { fence } = rangeOf(part([from, from + within]), step)
    const at = values.subarray(from, to).findIndex((value) => value > fence)
    return { from, to, beyond: at < 0 ? to : from + at }
  })
}

/** Squares of evenly spread values are this many times those within both halves. */
const EVEN_RATIO = 4
/** Returns by how much the log of that ratio is larger in one of 1,000 samples of `n` evenly spread values. */
const chanceOf = (n: number) => 3 / Math.sqrt(n) + 13 / n

/**
 * Returns the place that divides ascending times, without the tails, and whether both parts explain more than of times
 * that are spread evenly (simulated), as of two modes that may overlap. So must they of distinct times: times that are
 * rounded are few. Source: Engelman and Hartigan 1969, "Percentage points of a test for clusters", JASA 64(328):1647-1648,
 * for the statistic.
 */
function placeBetween(sample: WeightedSample, least: number) {
  const share = Math.min(0.5, least / countOf(sample))
  const [low, high] = [share, 1 - share].map((at) =>
    quantile(sample.values, at, sample.weights),
  ) as [number, number]
  const from = sample.values.findIndex((value) => value >= low)
  const to = sample.values.findLastIndex((value) => value <= high) + 1
  const values = sample.values.subarray(from, to)
  const distinct = values.filter((value, row) => row === 0 || value !== values[row - 1])
  const divisions = [
    divisionOf({ values, weights: sample.weights?.subarray(from, to) }),
    divisionOf({ values: distinct }),
  ] as const
  const isApart = divisions.every(
    ({ ratio }) => Math.log(ratio / EVEN_RATIO) > chanceOf(distinct.length),
  )
  const [{ at }] = divisions
  return {
    at: at === 0 ? 0 : from + at,
    isApart: distinct.length >= MIN_REQUESTS && isApart,
  }
}

type Stretch = readonly [from: number, to: number]

/** Returns how many values a sample stands for. */
export function countOf({
  values,
  weights,
}: {
  readonly values: ArrayLike<number>
  readonly weights?: Iterable<number> | undefined
}): number {
  return weights === undefined ? values.length : sum(weights)
}

/** Returns the outer fence of some times, and a function for what lies some interquartile ranges beyond a time. */
function rangeOf({ values, weights }: WeightedSample, step: number) {
  const isLog = (values[0] as number) > 0
  const [low, high] = [0.25, 0.75].map((share) => quantile(values, share, weights)) as [
    number,
    number,
  ]
  const near = Math.min(step, high)
  const beyond = (time: number, ranges: number) =>
    isLog
      ? time * Math.max(high / low, 1 + near / high) ** ranges
      : time + ranges * Math.max(high - low, near)
  return { fence: beyond(high, FENCE), beyond }
}
