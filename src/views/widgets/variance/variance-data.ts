import type { Categories } from '../../../compare/categories/categories.ts'
import type { Comparison } from '../../../compare/comparison.ts'
import { count, defineOptions, flag, type OptionsOf, oneOf } from '../../../core/options.ts'
import type { CategoryVariance, EdgeVariance } from '../../../explain/variance/category-variance.ts'
import type { PeriodName } from '../../../explain/variance/compare-spreads.ts'
import type { EdgeCovariance } from '../../../explain/variance/edge-covariances.ts'
import {
  type CategorySpread,
  VARIANCE_OPTIONS,
  type VarianceOptions,
  type VarianceSources,
} from '../../../explain/variance/variance-sources.ts'
import { AFTER, BEFORE } from '../../../flows/flow-set.ts'
import { edgeName } from '../../charts/flow-order.ts'
import { rootName } from '../../charts/node-names.ts'
import { STAGE_NAME } from '../define-widget.ts'
import { type CategoryPoints, categoryPoints, MEASURE_NAMES } from './category-points.ts'
import { type VarianceGraph, varianceGraph } from './variance-graph.ts'

/** Data of the explorer of variance in a page. */
export interface VarianceData {
  /** Options of the stage. */
  readonly of: VarianceOptions
  /** Whether the stage is of `findVariance`, and not the comparison. */
  readonly isStage: boolean
  /** All categories by their measures. */
  readonly points: CategoryPoints
  /** Categories too small to be ranked. */
  readonly small: number
  /** How many are ranked, of which `spreads` are the first. */
  readonly ranked: number
  /** Share of the ranked categories with C² below 1, period by period; `NaN` for no category. */
  readonly periods: readonly {
    readonly period: PeriodName
    readonly categories: number
    readonly belowOne: number
  }[]
  /** Tier 1, the highest C² first. */
  readonly spreads: readonly SpreadRow[]
  /** Tier 2 of some of them. */
  readonly details: readonly VarianceDetail[]
  /** Place in `spreads` of the category that is open at first. */
  readonly open: number | null
}

/** A category in tier 1. */
export interface SpreadRow extends CategorySpread {
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

/** An edge in tier 2; its labels are empty where they are too long to be carried. */
export interface DetailEdge
  extends Pick<EdgeVariance, 'edge' | 'from' | 'to' | 'requests' | 'onCriticalPath'>,
    Pick<EdgeVariance, 'meanUs' | 'varianceUs2' | 'share'> {
  readonly name: string
  /** What it varies together with, strongest first; `null` where that was not looked for. */
  readonly covarying: readonly Covarying[] | null
  /** How many more there are. */
  readonly moreCovarying: number
  /** How many edges could be tested for that. */
  readonly tested: number
}

/** An edge that covaries with another. */
export interface Covarying
  extends Pick<EdgeCovariance, 'edge' | 'correlation' | 'covarianceUs2' | 'q'> {
  readonly name: string
}

/** Options of the explorer of variance, and its state; `large`, `period` and `marks` are those of `findVariance`. */
export const VARIANCE_WIDGET_OPTIONS = defineOptions({
  ...VARIANCE_OPTIONS,
  category: count({
    default: null,
    or: null,
    min: 0,
    sentence: 'Category that is open at first; null for none',
  }),
  limit: count({
    default: 12,
    min: 0,
    unit: 'categories',
    sentence: 'Categories that carry their flow and edges, the highest C² first',
  }),
  categories: flag({
    default: false,
    sentence: 'Whether the plots of all categories are open at first',
  }),
  across: oneOf(MEASURE_NAMES, {
    default: 'before',
    sentence: 'Measure of categories to the right',
  }),
  up: oneOf(MEASURE_NAMES, { default: 'after', sentence: 'Measure of categories upwards' }),
  name: STAGE_NAME,
})

export type VarianceWidgetOptions = OptionsOf<typeof VARIANCE_WIDGET_OPTIONS>

const MAX_SPREADS = 300
const MAX_EDGES = 40
/** Edges, those with the largest shares, that are tested for covariance. */
const MAX_PARTNERED = 16
const MAX_PARTNERS = 12
/** Characters of the label at either end. */
const MAX_NAME_LENGTH = 40
const MAX_LABEL_LENGTH = 400
/** Bins a mean, and means in all. */
export const BINS = { perMean: 8, means: 3 } as const

/** Takes what there is to explore out of a comparison, or of a stage of `findVariance`. */
export function varianceData(
  variance: VarianceSources,
  comparison: Comparison | null,
  { limit, category }: { limit: number; category: number | null },
): VarianceData {
  const { categories, options, ranked, small } = variance
  const asked = ranked.findIndex((spread) => spread.category === category)
  const shown = ranked.filter((_, place) => place < MAX_SPREADS || place === asked)
  const detailed = shown.filter((spread, place) => place < limit || spread.category === category)
  const periods = options.period === 'both' ? (['before', 'after'] as const) : [options.period]
  return {
    of: options,
    isStage: comparison === null,
    points: categoryPoints(categories, comparison),
    small,
    ranked: ranked.length,
    periods: periods.map((period) => ({
      period,
      categories: ranked.filter((spread) => spread.period === period).length,
      belowOne: variance.shareBelowOne(period),
    })),
    spreads: shown.map((spread) => {
      const detail = detailed.indexOf(spread)
      return { ...spreadRow(categories, spread), detail: detail === -1 ? null : detail }
    }),
    details: detailed.map((spread) => varianceDetail(variance.category(spread))),
    open: category === null ? null : shown.findIndex((spread) => spread.category === category),
  }
}

function spreadRow(categories: Categories, spread: CategorySpread): Omit<SpreadRow, 'detail'> {
  const { category, period, meanUs } = spread
  const times = categories.responseTimes(category, period === 'before' ? BEFORE : AFTER)
  const bins = new Array<number>(BINS.perMean * BINS.means + 1).fill(0)
  for (const timeUs of times) {
    // A mean of 0 has only times of 0, which stand at the mean.
    const place = Math.floor(BINS.perMean * (meanUs > 0 ? timeUs / meanUs : 1))
    const bin = Math.min(bins.length - 1, Math.max(0, place))
    bins[bin] = (bins[bin] ?? 0) + 1
  }
  return { ...spread, root: rootName(categories, category, 200), bins }
}

function varianceDetail(found: CategoryVariance): VarianceDetail {
  const byShare = [...found.edges].sort(
    (a, b) => Math.abs(b.share || 0) - Math.abs(a.share || 0) || a.edge - b.edge,
  )
  return {
    note: found.note,
    graph: varianceGraph(found),
    edges: byShare
      .slice(0, MAX_EDGES)
      .map((edge, place) => detailEdge(found, edge, place < MAX_PARTNERED)),
    more: Math.max(0, byShare.length - MAX_EDGES),
  }
}

function detailEdge(found: CategoryVariance, edge: EdgeVariance, isPartnered: boolean): DetailEdge {
  const { edge: number, from, to, requests, onCriticalPath, meanUs, varianceUs2, share } = edge
  const isCarried = from.length <= MAX_LABEL_LENGTH && to.length <= MAX_LABEL_LENGTH
  const covariances = isPartnered ? found.covariances(number) : null
  const covarying = covariances?.covarying ?? null
  return {
    ...(isCarried ? { from, to } : { from: '', to: '' }),
    ...{ edge: number, requests, onCriticalPath, meanUs, varianceUs2, share },
    name: edgeName(edge, MAX_NAME_LENGTH),
    covarying:
      covarying?.slice(0, MAX_PARTNERS).map((other) => ({
        edge: other.edge,
        name: edgeName(other, MAX_NAME_LENGTH),
        correlation: Number(other.correlation.toFixed(4)),
        covarianceUs2: Number(other.covarianceUs2.toPrecision(6)),
        q: Number(other.q.toPrecision(3)),
      })) ?? null,
    moreCovarying: Math.max(0, (covarying?.length ?? 0) - MAX_PARTNERS),
    tested: covariances?.others.filter(({ q }) => !Number.isNaN(q)).length ?? 0,
  }
}
