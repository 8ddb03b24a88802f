import { range, sum } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { getOrInsert } from '../../core/entries.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { dipTest } from '../../stats/dip-test.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample, equalRows, type WeightedSample } from '../../stats/weighted-sample.ts'
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
  /** Dip of its latencies, and the p-value corrected over all edges tested. */
  readonly dip: number
  readonly p: number
  readonly q: number
  /** Parameter that tells the two parts apart, as `storage SN READ · cached`; `null` if none does. */
  readonly toldBy: string | null
  /** The latencies divided where the two parts vary least. */
  readonly faster: Behavior
  readonly slower: Behavior
}

const ALPHA = 0.05
/** Edges with less of the variance are tested, but not worth more trace points. */
const MIN_SHARE = 0.05
/** Smallest difference of a parameter's values between both parts, as a share, that distinguishes them. */
const MIN_TOLD = 0.8

/**
 * Finds edges on critical paths whose latencies have more than one mode (Hartigan's dip test, Benjamini-Hochberg over
 * all edges, level 0.05) and that have at least 5 % of the variance of response times, the largest share first.
 *
 * Source: Sambasivan 2013, §5.5: variance from merged behaviors; the test is our own.
 */
export function findMergedBehaviors(sources: readonly CategoryVariance[]): MergedBehaviors[] {
  const tested = sources.flatMap((source) => {
    const latencies = criticalLatencies(source)
    return source.edges.flatMap((edge) => {
      const rowsOf = latencies.get(edge.edge) ?? { requests: [], timesUs: [], weights: [] }
      const sample = ascendingSample(rowsOf.timesUs, rowsOf.weights)
      const rows = equalRows(sample)
      const values = Float64Array.from(rows, (row) => sample.values[row] as number)
      return values.length < MIN_REQUESTS
        ? []
        : [{ source, edge, rowsOf, sample, test: dipTest(values) }]
    })
  })
  const q = benjaminiHochberg(tested.map(({ test }) => test.p))
  return tested
    .map((each, i) => ({ ...each, q: q[i] as number }))
    .filter(({ q, edge }) => q < ALPHA && edge.share >= MIN_SHARE)
    .map(({ source, edge, rowsOf, sample, test, q }) => {
      const { fromUs, ...behaviors } = parts(sample)
      return {
        category: source.category,
        period: source.period,
        edge: edge.edge,
        from: edge.from,
        to: edge.to,
        occurrence: edge.occurrence,
        share: edge.share,
        dip: test.statistic,
        p: test.p,
        q,
        toldBy: parameterThatTells(source, rowsOf, fromUs),
        ...behaviors,
      }
    })
    .sort((a, b) => b.share - a.share)
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

/** Divides ascending times in the two parts that vary least. */
function parts(sample: WeightedSample) {
  const { values, weights } = sample
  const counts = weights ?? values.map(() => 1)
  const at = placeBetween(sample, Math.max(1, Math.round(MIN_PART * sum(counts))))
  const part = (from: number, to: number) => ({
    requests: Math.round(sum(counts.subarray(from, to))),
    medianUs: quantile(values.subarray(from, to), 0.5, weights?.subarray(from, to)),
  })
  return {
    faster: part(0, at),
    slower: part(at, values.length),
    fromUs: values[at] as number,
  }
}

/** Fewest times that form a mode. */
export const MIN_REQUESTS = 10
/** A mode has this share of the requests at least: a few slow ones are a tail. */
export const MIN_PART = 0.05
/** Interquartile ranges above the upper quartile: Tukey's outer fence. */
const FENCE = 3

/**
 * Returns the place that divides ascending times, on a logarithmic scale, so that the squares within both parts are
 * smallest. Times count by weight, and each part has a weight of at least `least`.
 */
function placeBetween({ values, weights }: WeightedSample, least: number): number {
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
 * interquartile ranges, of logarithms). Times divide in two if the slower half of the slower part is far outside the
 * faster part's last mode, or if the dip test finds more than one mode; a part with less than 5 % of all times is no
 * mode.
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
    const isFar = quantile(all, 0.5, weights) > fence(below.at(-1) ?? faster)
    if (!isFar && !hasModes(part(whole))) return [whole]
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

/** Whether ascending times have more than one mode, also where these overlap. Equal times tell no more than one. */
function hasModes({ values }: WeightedSample): boolean {
  const distinct = values.filter((value, row) => row === 0 || value !== values[row - 1])
  return dipTest(distinct).p < ALPHA
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
