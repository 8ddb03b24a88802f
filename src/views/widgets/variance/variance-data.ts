import type { Categories } from '../../../compare/categories/categories.ts'
import type { CategoryVariance, EdgeVariance } from '../../../explain/variance/category-variance.ts'
import type { PeriodName } from '../../../explain/variance/compare-spreads.ts'
import type { VarianceMark } from '../../../explain/variance/variance-marks.ts'
import type { CategorySpread, VarianceSources } from '../../../explain/variance/variance-sources.ts'
import { AFTER, BEFORE } from '../../../flows/flow-set.ts'
import { edgeName } from '../../charts/edge-name.ts'
import { rootName } from '../../charts/node-names.ts'
import { type VarianceGraph, varianceGraph } from './variance-graph.ts'

/** What the explorer of variance carries into a page. */
export interface VarianceData {
  /** What the comparison is called in code. */
  readonly name: string
  readonly large: number
  readonly period: PeriodName | 'both'
  readonly marks: readonly VarianceMark[]
  /** Categories too small to be ranked. */
  readonly small: number
  /** How many are ranked, of which `spreads` are the first. */
  readonly ranked: number
  /** Share of the ranked categories with C² below 1, period by period; `null` for no category. */
  readonly periods: readonly {
    readonly period: PeriodName
    readonly categories: number
    readonly belowOne: number | null
  }[]
  /** Tier 1, the highest C² first. */
  readonly spreads: readonly SpreadRow[]
  /** Tier 2 of some of them. */
  readonly details: readonly VarianceDetail[]
  /** Which of `spreads` is open at first. */
  readonly open: number | null
}

/** A category in tier 1; numbers that are none are `null`. */
export interface SpreadRow {
  readonly category: number
  readonly period: PeriodName
  readonly root: string
  readonly requests: number
  readonly meanUs: number
  readonly sdUs: number | null
  readonly c2: number | null
  /** Requests by response time over mean, a bin for every eighth; the last one holds all above 3. */
  readonly bins: readonly number[]
  /** Its place in `details`; `null` where they are not in the page. */
  readonly detail: number | null
}

/** Where the variance of one category comes from. */
export interface VarianceDetail {
  readonly note: string
  readonly graph: VarianceGraph
  /** Edges on the critical path, the largest share first. */
  readonly edges: readonly DetailEdge[]
  /** How many more there are. */
  readonly more: number
}

/** An edge in tier 2; numbers that are none are `null`. */
export interface DetailEdge {
  readonly edge: number
  /** Whole labels, as marks need them; empty where they are too long to be carried. */
  readonly from: string
  readonly to: string
  readonly name: string
  readonly requests: number
  readonly onCriticalPath: number
  readonly meanUs: number
  readonly varianceUs2: number | null
  readonly share: number | null
  /** What it varies together with, strongest first; `null` where that was not looked for. */
  readonly covarying: readonly Covarying[] | null
  /** How many more there are. */
  readonly moreCovarying: number
  /** How many edges could be tested for that. */
  readonly tested: number
}

/** An edge that covaries with another. */
export interface Covarying {
  readonly edge: number
  readonly name: string
  readonly correlation: number
  readonly covarianceUs2: number
  readonly q: number
}

const MOST_SPREADS = 300
const MOST_EDGES = 40
/** Of so many edges, those with the largest shares, what they covary with is looked for. */
const MOST_PARTNERED = 16
const MOST_PARTNERS = 12
/** Of the label at either end. */
const LONGEST_NAME = 40
const LONGEST_LABEL = 400
/** Bins a mean, and means in all. */
export const BINS = { perMean: 8, means: 3 } as const

/** Takes what there is to explore out of a stage of `findVariance`. */
export function varianceData(
  variance: VarianceSources,
  { name, limit, category }: { name: string; limit: number; category: number | null },
): VarianceData {
  const { large, period, marks } = variance.options
  const asked = variance.ranked.findIndex((spread) => spread.category === category)
  const shown = variance.ranked.filter((_, place) => place < MOST_SPREADS || place === asked)
  const isDetailed = (spread: CategorySpread, place: number) =>
    place < limit || spread.category === category
  const detailed = shown.filter(isDetailed)
  return {
    ...{ name, large, period, marks, small: variance.small, ranked: variance.ranked.length },
    periods: (period === 'both' ? (['before', 'after'] as const) : [period]).map((each) => ({
      period: each,
      categories: variance.ranked.filter((spread) => spread.period === each).length,
      belowOne: orNull(variance.shareBelowOne(each)),
    })),
    spreads: shown.map((spread) => {
      const detail = detailed.indexOf(spread)
      return { ...spreadRow(variance.categories, spread), detail: detail === -1 ? null : detail }
    }),
    details: detailed.map((spread) =>
      varianceDetail(variance.category(spread.category, { period: spread.period })),
    ),
    open: category === null ? null : shown.findIndex((spread) => spread.category === category),
  }
}

function spreadRow(
  categories: Categories,
  { category, period, requests, meanUs, varianceUs2, c2 }: CategorySpread,
): Omit<SpreadRow, 'detail'> {
  const times = categories.responseTimes(category, period === 'before' ? BEFORE : AFTER)
  const bins = new Array<number>(BINS.perMean * BINS.means + 1).fill(0)
  for (const timeUs of times) {
    // Where the mean is 0 every time is, and stands at the mean.
    const place = Math.floor(BINS.perMean * (meanUs > 0 ? timeUs / meanUs : 1))
    const bin = Math.min(bins.length - 1, Math.max(0, place))
    bins[bin] = (bins[bin] as number) + 1
  }
  return {
    ...{ category, period, requests, meanUs, bins },
    root: rootName(categories, category, 200),
    sdUs: orNull(Math.sqrt(varianceUs2)),
    c2: orNull(c2),
  }
}

function varianceDetail(found: CategoryVariance): VarianceDetail {
  const byShare = [...found.edges].sort(
    (a, b) => Math.abs(b.share || 0) - Math.abs(a.share || 0) || a.edge - b.edge,
  )
  return {
    note: found.note,
    graph: varianceGraph(found),
    edges: byShare
      .slice(0, MOST_EDGES)
      .map((edge, place) => detailEdge(found, edge, place < MOST_PARTNERED)),
    more: Math.max(0, byShare.length - MOST_EDGES),
  }
}

function detailEdge(found: CategoryVariance, edge: EdgeVariance, isPartnered: boolean): DetailEdge {
  const isCarried = edge.from.length <= LONGEST_LABEL && edge.to.length <= LONGEST_LABEL
  const { edge: number, requests, onCriticalPath, meanUs } = edge
  const covariances = isPartnered ? found.covariances(number) : null
  const covarying = covariances?.covarying
  return {
    ...{ edge: number, requests, onCriticalPath, meanUs, name: edgeName(edge, LONGEST_NAME) },
    ...{ from: isCarried ? edge.from : '', to: isCarried ? edge.to : '' },
    varianceUs2: orNull(edge.varianceUs2),
    share: orNull(edge.share),
    covarying:
      covarying?.slice(0, MOST_PARTNERS).map((other) => ({
        ...{ edge: other.edge, name: edgeName(other, LONGEST_NAME) },
        correlation: Number(other.correlation.toFixed(4)),
        covarianceUs2: Number(other.covarianceUs2.toPrecision(6)),
        q: Number(other.q.toPrecision(3)),
      })) ?? null,
    moreCovarying: Math.max(0, (covarying?.length ?? 0) - MOST_PARTNERS),
    tested: covariances?.others.filter(({ q }) => !Number.isNaN(q)).length ?? 0,
  }
}

function orNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
