import { range, sum } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { getOrInsert } from '../../core/entries.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample, type WeightedSample } from '../../stats/weighted-sample.ts'
import { type PeriodName, periodOfName } from '../../traces/period.ts'
import { tableOf } from '../parameters/explain.ts'
import { parameterDifferences } from '../parameters/parameter-table.ts'
import { type CategoryVariance, type EdgeVariance, requestEdges } from './category-variance.ts'

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
      const latencies = criticalLatencies(source)
      return source.edges
        .filter(({ share }) => share >= MIN_SHARE)
        .flatMap((edge) => mergedIn(source, edge, latencies.get(edge.edge)))
    })
    .sort((a, b) => b.share - a.share)
}

function mergedIn(
  source: CategoryVariance,
  { edge, from, to, occurrence, share }: EdgeVariance,
  latencies: CriticalLatencies | undefined,
): MergedBehaviors[] {
  if (latencies === undefined) return []
  const { values, weights } = ascendingSample(latencies.timesUs, latencies.weights)
  const at = modesOf({ values, weights })[1]?.from
  if (at === undefined) return []
  const part = (start: number, end: number) => ({
    requests: Math.round(weights === undefined ? end - start : sum(weights.subarray(start, end))),
    medianUs: quantile(values.subarray(start, end), 0.5, weights?.subarray(start, end)),
  })
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

interface CriticalLatencies {
  readonly requests: number[]
  readonly timesUs: number[]
  readonly weights: number[]
}

/** Returns the parameter of the requests that differs most between latencies below `fromUs` and the others. */
function parameterThatTells(
  { categories: given, category }: CategoryVariance,
  { requests, timesUs }: CriticalLatencies,
  fromUs: number,
): string | null {
  const categories = given as Categories
  const positions = range(categories.nodeCount(category))
  const side = { requests, category, label: 0, positions } as const
  const { parameters, rows } = tableOf(categories, [side], {
    times: { name: '', of: () => Number.NaN },
    choice: { include: [], exclude: [] },
  })
  const isSlower = Uint8Array.from(timesUs, (time) => Number(time >= fromUs))
  const [most] = parameterDifferences(parameters, isSlower, rows.weights)
  return most !== undefined && most.q < ALPHA && most.effect >= MIN_TOLD ? most.column : null
}

function criticalLatencies({ categories, category, period }: CategoryVariance) {
  const latencies = new Map<number, CriticalLatencies>()
  for (const request of requestEdges(categories as Categories, category, periodOfName(period))) {
    request.criticalCount.forEach((count, edge) => {
      if (count === 0) return
      const known = getOrInsert(latencies, edge, () => ({ requests: [], timesUs: [], weights: [] }))
      known.requests.push(request.request)
      known.timesUs.push(request.latencyUs[edge] as number)
      known.weights.push(request.weight)
    })
  }
  return latencies
}

/** Fewest times that form a mode. */
const MIN_REQUESTS = 10
/** A mode has this share of the requests at least: a few slow ones are a tail. */
const MIN_PART = 0.05
/** Interquartile ranges above the upper quartile: Tukey's outer fence. */
const FENCE = 3

/**
 * Divides ascending times, on a logarithmic scale, so that the squares within both parts are smallest. Times count by
 * weight, and each part has a weight of at least `least`. Returns the place, 0 if there is none, and how many times
 * smaller these squares are than those of the whole.
 */
function divisionOf({ values, weights }: WeightedSample, least: number) {
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
    if (count >= least && all - count >= least && between > most) [most, at] = [between, i]
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
 * interquartile ranges, of logarithms). Times divide in two if three quarters of the slower part are far outside the
 * faster part's last mode, or if the parts explain nearly all that times vary. A mode has 5 % of all times.
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
  const divide = (whole: Stretch): readonly Stretch[] => {
    const [from, to] = whole
    const { at } = divisionOf(part(whole), least)
    if (at === 0) return [whole]
    const below = divide([from, from + at])
    const slower: Stretch = [from + at, to]
    const { values: all, weights } = part(slower)
    const isFar = quantile(all, 0.25, weights) > fence(below.at(-1) as Stretch)
    return isFar || hasModes(part(whole)) ? [...below, ...divide(slower)] : [whole]
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

/** Squares of evenly spread values are this many times those within both halves. */
const EVEN_RATIO = 4
/** Returns by how much the log of that ratio is larger in one of 1,000 samples of `n` evenly spread values. */
const chanceOf = (n: number) => 3 / Math.sqrt(n) + 13 / n

/**
 * Whether ascending times have two modes, also where these overlap: both parts explain more than of times that are
 * spread evenly (simulated). Equal times alone tell nothing. Source: Engelman and Hartigan 1969, "Percentage points of
 * a test for clusters", JASA 64(328):1647-1648, for the statistic.
 */
function hasModes(sample: WeightedSample): boolean {
  const { values } = sample
  const distinct = values.filter((value, row) => row === 0 || value !== values[row - 1])
  const n = distinct.length
  return [sample, { values: distinct }].every((each) => {
    const { ratio } = divisionOf(each, MIN_PART * countOf(each))
    return n >= MIN_REQUESTS && Math.log(ratio / EVEN_RATIO) > chanceOf(n)
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
