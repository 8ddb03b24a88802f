import { median, sum } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { dipTest } from '../../stats/dip-test.ts'
import { type CategoryVariance, type EdgeVariance, requestEdges } from './category-variance.ts'
import { type PeriodName, periodOfName } from './compare-spreads.ts'

/** Requests of one part of an edge's latencies. */
export interface Behavior {
  readonly requests: number
  readonly medianUs: number
}

/** An edge that does one thing in some requests and another in others: instrument it more finely. */
export interface MergedBehaviors extends Pick<EdgeVariance, 'edge' | 'from' | 'to' | 'occurrence'> {
  readonly category: number
  readonly period: PeriodName
  /** The edge's share of the variance of response times. */
  readonly share: number
  /** Dip of its latencies, and the p-value corrected over all edges tested. */
  readonly dip: number
  readonly p: number
  readonly q: number
  /** The latencies divided where the two parts vary least. */
  readonly faster: Behavior
  readonly slower: Behavior
}

/** Fewer latencies are not tested. */
const MIN_REQUESTS = 10
const ALPHA = 0.05
/** Edges with less of the variance are tested, but not worth more trace points. */
const MIN_SHARE = 0.05
/** Each part has this share of the requests at least: a few slow ones are a tail. */
const MIN_PART = 0.05

/**
 * Edges on critical paths whose latencies have more than one mode (Hartigan's dip test,
 * Benjamini-Hochberg over all edges, level 0.05) and that have at least 5 % of the variance of
 * response times, the largest share first.
 *
 * Source: Sambasivan 2013, §5.5: variance where behaviors were not told apart; the test is our own.
 */
export function findMergedBehaviors(sources: readonly CategoryVariance[]): MergedBehaviors[] {
  const tested = sources.flatMap((source) => {
    const latencies = criticalLatencies(source)
    return source.edges.flatMap((edge) => {
      const values = Float64Array.from(latencies.get(edge.edge) ?? []).sort()
      return values.length < MIN_REQUESTS ? [] : [{ source, edge, values, test: dipTest(values) }]
    })
  })
  const q = benjaminiHochberg(tested.map(({ test }) => test.p))
  return tested
    .map((each, i) => ({ ...each, q: q[i] as number }))
    .filter(({ q, edge }) => q < ALPHA && edge.share >= MIN_SHARE)
    .map(({ source, edge, values, test, q }) => ({
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
      ...parts(values),
    }))
    .sort((a, b) => b.share - a.share)
}

function criticalLatencies({ categories, category, period }: CategoryVariance) {
  const latencies = new Map<number, number[]>()
  for (const request of requestEdges(categories as Categories, category, periodOfName(period))) {
    request.criticalCount.forEach((count, edge) => {
      if (count === 0) return
      const known = latencies.get(edge) ?? []
      if (known.length === 0) latencies.set(edge, known)
      known.push(request.latencyUs[edge] as number)
    })
  }
  return latencies
}

/** Divides sorted values, on a logarithmic scale, so that the squares within both parts are least. */
function parts(sorted: Float64Array): { faster: Behavior; slower: Behavior } {
  const scaled = (sorted[0] as number) > 0 ? sorted.map(Math.log) : sorted
  const least = Math.max(1, Math.round(MIN_PART * sorted.length))
  const total = sum(scaled)
  let [below, most, at] = [0, Number.NEGATIVE_INFINITY, least]
  for (let count = 1; count <= sorted.length - least; count++) {
    below += scaled[count - 1] as number
    const between = below ** 2 / count + (total - below) ** 2 / (sorted.length - count)
    if (count >= least && between > most) [most, at] = [between, count]
  }
  const part = (values: Float64Array) => ({
    requests: values.length,
    medianUs: median(values) as number,
  })
  return { faster: part(sorted.subarray(0, at)), slower: part(sorted.subarray(at)) }
}
