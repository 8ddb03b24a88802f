import type { Categories } from '../../../compare/categories/categories.ts'
import type { Comparison } from '../../../compare/comparison.ts'
import { defineOptions, flag, most, type OptionsOf, optionalNumber } from '../../../core/options.ts'
import { shortText } from '../../../core/words.ts'
import type { CategoryVariance, EdgeVariance } from '../../../explain/variance/category-variance.ts'
import {
  type CategorySpread,
  VARIANCE_OPTIONS,
  type VarianceSources,
} from '../../../explain/variance/find-variance.ts'
import { AFTER, BEFORE } from '../../../flows/flow-set.ts'
import { rootName } from '../../charts/node-names.ts'
import { squaredVariationChart } from '../../charts/squared-variation.ts'
import { edgeName, waterfallOf } from '../../charts/variance.ts'
import { STAGE_NAME } from '../define-widget.ts'
import { tableData } from '../table/table-columns.ts'

export type VarianceData = ReturnType<typeof varianceData>

export type SpreadRow = VarianceData['spreads'][number]

export type VarianceDetail = VarianceData['details'][number]

export type DetailEdge = VarianceDetail['edges'][number]

/** Options of the explorer of variance, and its state; `large` and `period` are those of `findVariance`. */
export const VARIANCE_WIDGET_OPTIONS = defineOptions({
  ...VARIANCE_OPTIONS,
  category: optionalNumber('Category that is open at first; null for none'),
  limit: most(12, 'categories', 'Categories that carry their edges, the highest C² first', 0),
  categories: flag({
    default: false,
    sentence: 'Whether the plots of all categories are open at first',
  }),
  name: STAGE_NAME,
})

export type VarianceWidgetOptions = OptionsOf<typeof VARIANCE_WIDGET_OPTIONS>

const MAX_SPREADS = 300
const MAX_EDGES = 40
const MAX_PARTNERED = 16
const MAX_BARS = 20
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
    waterfall: waterfallOf(found, MAX_BARS),
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
  const covarying = covariances?.others.filter(({ covaries }) => covaries) ?? null
  return {
    /** Whole labels; empty where they are too long to be carried. */
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

const MAX_ROWS = 20_000
const MAX_ROOT_LENGTH = 200
const MEASURES = ['before', 'after', 'beforeMeanUs', 'afterMeanUs', 'beforeC2', 'afterC2'] as const
const TESTS = [
  ['structural', ['change', 'label']],
  ['responseTime', ['q', 'mutation']],
] as const

/** Returns what is shown of all categories: the distribution of C², and a table with their tests. */
export function categoriesData(
  categories: Categories,
  { comparison, large, name }: { comparison: Comparison | null; large: number; name: string },
) {
  const tests = comparison === null ? [] : TESTS
  const table = tests.reduce(
    (joined, [stage, columns]) =>
      joined.join(
        (comparison as Comparison)[stage].table().select('category', ...columns),
        'category',
      ),
    categories
      .table()
      .select('category', 'root', ...MEASURES)
      .assign({
        root: Array.from(categories.table().array('root') as Iterable<unknown>, (root) =>
          shortText(String(root), MAX_ROOT_LENGTH),
        ),
      }),
  )
  const shown = ['category', 'root', ...MEASURES].map((column) => `'${column}'`).join(', ')
  const joins = tests.map(
    ([stage, columns]) =>
      `.join(${name}.${stage}.table().select('category', '${columns.join("', '")}'), 'category')`,
  )
  return {
    variation: squaredVariationChart(categories, { large }).spec,
    table: tableData(table, {
      name: `${name}.categories.table().select(${shown})${joins.join('')}`,
      title: 'All categories',
      pageSize: 10,
      limit: MAX_ROWS,
    }),
  }
}
