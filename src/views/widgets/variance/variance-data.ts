import type { Categories } from '../../../compare/categories/categories.ts'
import type { Comparison } from '../../../compare/comparison.ts'
import {
  defineOptions,
  flag,
  most,
  type OptionsOf,
  oneOf,
  optionalNumber,
} from '../../../core/options.ts'
import { counted, formatDuration, tooltipText } from '../../../core/words.ts'
import type { CategoryVariance, EdgeVariance } from '../../../explain/variance/category-variance.ts'
import {
  type CategorySpread,
  VARIANCE_OPTIONS,
  type VarianceSources,
} from '../../../explain/variance/find-variance.ts'
import { AFTER, BEFORE } from '../../../flows/flow-set.ts'
import { edgeName, varianceShare } from '../../charts/flow-order.ts'
import { drawnFlow, drawnName, rootName } from '../../charts/node-names.ts'
import { flowPart } from '../../drawing/flow.tsx'
import { STAGE_NAME } from '../define-widget.ts'
import { categoriesData } from './categories-pane.tsx'
import { MEASURE_NAMES } from './category-scatter.ts'

export type VarianceData = ReturnType<typeof varianceData>

export type SpreadRow = VarianceData['spreads'][number]

export type VarianceDetail = VarianceData['details'][number]

export type VarianceLink = VarianceDetail['graph']['links'][number]

export type DetailEdge = VarianceDetail['edges'][number]

/** Options of the explorer of variance, and its state; `large`, `period` and `marks` are those of `findVariance`. */
export const VARIANCE_WIDGET_OPTIONS = defineOptions({
  ...VARIANCE_OPTIONS,
  category: optionalNumber('Category that is open at first; null for none'),
  limit: most(
    12,
    'categories',
    'Categories that carry their flow and edges, the highest C² first',
    0,
  ),
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
const MAX_PARTNERED = 16
const MAX_PARTNERS = 12
const MAX_NAME_LENGTH = 40
const MAX_LABEL_LENGTH = 400
export const BINS = { perMean: 8, means: 3 } as const

export function varianceData(
  variance: VarianceSources,
  comparison: Comparison | null,
  { limit, category, name }: { limit: number; category: number | null; name: string },
) {
  const { categories, options, ranked, small } = variance
  const asked = ranked.findIndex((spread) => spread.category === category)
  const shown = ranked.filter((_, place) => place < MAX_SPREADS || place === asked)
  const detailed = shown.filter((spread, place) => place < limit || spread.category === category)
  const periods = options.period === 'both' ? (['before', 'after'] as const) : [options.period]
  return {
    of: options,
    /** Whether the stage is of `findVariance`, and not the comparison. */
    isStage: comparison === null,
    all: categoriesData(categories, { comparison, large: options.large, name }),
    small,
    ranked: ranked.length,
    periods: periods.map((period) => ({
      period,
      categories: ranked.filter((spread) => spread.period === period).length,
      /** Share of these with C² below 1; `NaN` for no category. */
      belowOne: variance.shareBelowOne(period),
    })),
    spreads: shown.map((spread) => {
      const detail = detailed.indexOf(spread)
      return {
        ...spread,
        root: rootName(categories, spread.category, 200),
        bins: binsOf(categories, spread),
        detail: detail === -1 ? null : detail,
      }
    }),
    details: detailed.map((spread) => varianceDetail(variance.category(spread))),
    open: category === null ? null : shown.findIndex((spread) => spread.category === category),
  }
}

/** Requests by response time over mean, a bin for every eighth; the last one holds all above 3. */
function binsOf(categories: Categories, { category, period, meanUs }: CategorySpread): number[] {
  const which = period === 'before' ? BEFORE : AFTER
  const times = categories.responseTimes(category, which)
  const weights = categories.weights(category, which)
  const bins = new Array<number>(BINS.perMean * BINS.means + 1).fill(0)
  for (const [i, timeUs] of times.entries()) {
    // A mean of 0 has only times of 0, which stand at the mean.
    const place = Math.floor(BINS.perMean * (meanUs > 0 ? timeUs / meanUs : 1))
    const bin = Math.min(bins.length - 1, Math.max(0, place))
    bins[bin] = (bins[bin] ?? 0) + (weights?.[i] ?? 1)
  }
  return bins
}

function varianceDetail(found: CategoryVariance) {
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

function detailEdge(found: CategoryVariance, edge: EdgeVariance, isPartnered: boolean) {
  const { edge: number, from, to, requests, onCriticalPath, meanUs, varianceUs2, share } = edge
  const isCarried = from.length <= MAX_LABEL_LENGTH && to.length <= MAX_LABEL_LENGTH
  const covariances = isPartnered ? found.covariances(number) : null
  const covarying = covariances?.covarying ?? null
  return {
    /** Whole labels, as marks need them; empty where they are too long to be carried. */
    ...(isCarried ? { from, to } : { from: '', to: '' }),
    edge: number,
    requests,
    onCriticalPath,
    meanUs,
    varianceUs2,
    share,
    name: edgeName(edge, MAX_NAME_LENGTH),
    /** Edges that it varies together with, strongest first; `null` if that was not computed. */
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

const MAX_NODES = 60
const MAX_NODE_LENGTH = 34

/** Returns a category's flow with variance shares; above 60 nodes, the ends of the largest shares. */
export function varianceGraph(found: CategoryVariance) {
  const { categories, category } = found
  const flow = drawnFlow(categories.structure(category))
  const { labels, from, to, classOf } = flow
  const known = new Map(found.edges.map((edge) => [edge.edge, edge]))
  const edgeOf = (edge: number) => known.get(classOf[edge] as number)
  const weight = (edge: number) => Math.abs(edgeOf(edge)?.share || 0)
  const order = [...from.keys()].sort((a, b) => weight(b) - weight(a) || a - b)
  const part = flowPart({ size: labels.length, from, to }, { order, limit: MAX_NODES })
  const ends = (start: number | undefined, end: number | undefined) => ({
    from: part.nodes.indexOf(start as number),
    to: part.nodes.indexOf(end as number),
  })
  return {
    nodesInAll: flow.nextRound,
    nodes: part.nodes.map((node) => {
      const { name, where } = drawnName(categories, flow, {
        category,
        node,
        longest: MAX_NODE_LENGTH,
      })
      return { name, detail: where, tooltip: tooltipText(labels[node] ?? '') }
    }),
    links: [
      ...part.edges.map((edge) => ({
        ...ends(from[edge], to[edge]),
        ...lineOf(edgeOf(edge)),
        /** Number of its class; `null` where nodes in between are left out. */
        edge: classOf[edge] as number | null,
      })),
      ...part.gaps.map((gap) => ({
        ...ends(gap.from, gap.to),
        edge: null,
        share: null,
        onPath: false,
        text: `… ${counted(gap.nodes, 'node')}`,
      })),
    ],
  }
}

/** `37 % · 120 µs ± 80 µs`: share (`null` off the critical path) and duration. */
function lineOf(edge: EdgeVariance | undefined) {
  if (edge === undefined) return { text: '', share: null, onPath: false }
  const { share, meanUs, varianceUs2 } = edge
  const sd = Number.isNaN(varianceUs2) ? '' : ` ± ${formatDuration(Math.sqrt(varianceUs2))}`
  const latency = `${formatDuration(meanUs)}${sd}`
  return Number.isNaN(share)
    ? { text: latency, share: null, onPath: true }
    : { text: `${varianceShare(share)} · ${latency}`, share, onPath: true }
}
