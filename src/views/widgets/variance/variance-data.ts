import type { Categories } from '../../../compare/categories/categories.ts'
import type { Comparison } from '../../../compare/comparison.ts'
import { defineOptions, flag, most, type OptionsOf, optionalNumber } from '../../../core/options.ts'
import { shortText } from '../../../core/words.ts'
import { VARIANCE_OPTIONS, type VarianceSources } from '../../../explain/variance/find-variance.ts'
import { rootName } from '../../charts/node-names.ts'
import { squaredVariationChart } from '../../charts/squared-variation.ts'
import { waterfallOf } from '../../charts/variance.ts'
import { STAGE_NAME } from '../define-widget.ts'
import { tableData } from '../table/table-columns.ts'

export type VarianceData = ReturnType<typeof varianceData>

export type SpreadRow = VarianceData['spreads'][number]

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
const MAX_BARS = 20

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
        detail: detail === -1 ? null : detail,
      }
    }),
    /** Bars that show which edges make up the variance. */
    details: detailed.map((spread) => waterfallOf(variance.category(spread), MAX_BARS)),
    open: category === null ? null : shown.findIndex((spread) => spread.category === category),
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
