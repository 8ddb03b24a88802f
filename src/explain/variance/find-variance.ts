import { range, sort, sum } from 'd3-array'
import { Categories, squaredVariation } from '../../compare/categories/categories.ts'
import { categoriesOf } from '../../compare/categories/categorize.ts'
import type { Comparison } from '../../comparison/comparison.ts'
import { getOrInsert } from '../../core/entries.ts'
import { rejectUnknownOptions, requireStage } from '../../core/errors.ts'
import { defineOptions, number, type OptionsOf, oneOf, readOptions } from '../../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { ecdf } from '../../stats/ecdf.ts'
import { type KsResult, ksTwoSample } from '../../stats/ks-two-sample.ts'
import { moments } from '../../stats/moments.ts'
import { nameOfPeriod, type PeriodName, periodOfName } from '../../traces/period.ts'
import {
  CategoryVariance,
  covariation,
  criticalLatencies,
  type EdgeVariance,
  edgeTimes,
} from './category-variance.ts'
import { type Anomalies, findAnomalies } from './find-anomalies.ts'
import { countOf, findMergedBehaviors, type MergedBehaviors } from './merged-behaviors.ts'

/**
 * Finds which kinds of request are unpredictable, and through `.category(id)` which edges on their
 * critical path are to blame.
 *
 * Requests of one category do the same work, so they should take about the same time. Categories are
 * ranked by the squared coefficient of variation C² = variance / mean² of their response times;
 * above 1 a category counts as unpredictable. With `order: 'importance'` by C² times the share of all
 * response time, so that what hardly anybody asks for comes last.
 *
 * @param source a comparison, or a stage of `categorize`, also of a single period
 * @param given see {@link VARIANCE_OPTIONS}. Periods are never pooled, because a change between them is
 *   no variance
 * @throws OptionError for a number of requests that is negative or no number, or an unknown period;
 *   FlowdeltaError for an unknown option
 *
 * Source: Sambasivan 2013, §5.4.
 *
 * @example
 * const variance = findVariance(comparison, { period: 'after' })
 * variance.ranked.length // 6
 * const worst = variance.category(variance.ranked[0])
 * worst.note // 'Shares of all parts add up to 100 %.'
 * worst.covariances(worst.edges[0].edge).table().print()
 */
export function findVariance(
  source: Comparison | Categories,
  given: Partial<VarianceOptions> = {},
): VarianceSources {
  const options = readOptions(VARIANCE_OPTIONS, given)
  const { large, period, order } = options
  const categories = categoriesOf(source, 'findVariance')
  const periods = periodsOf(period)
  const all = range(categories.size)
  const isLarge = (category: number, each: Period) => categories.count(category, each) > large
  const spreadsIn = (each: Period) => {
    const totalUs = sum(all, (id) => totalTime(categories, id, each))
    return all
      .filter((id) => isLarge(id, each))
      .map((id) => spreadOf(categories, { category: id, period: each, totalUs }))
  }
  const ranked = sort(
    periods.flatMap(spreadsIn),
    (spread) => -spread[order],
    ({ requests }) => -requests,
    ({ category }) => category,
  )
  const small = all.filter((id) => periods.every((each) => !isLarge(id, each))).length
  return new VarianceSources({ categories, options, ranked, small })
}

function periodsOf(period: VarianceOptions['period']): Period[] {
  return [BEFORE, AFTER].filter((each) => period === 'both' || nameOfPeriod(each) === period)
}

function spreadOf(
  categories: Categories,
  of: { readonly category: number; readonly period: Period; readonly totalUs: number },
): CategorySpread {
  const { category, period, totalUs } = of
  const moments = categories.responseTimeMoments(category, period)
  const c2 = squaredVariation(moments)
  const timeShare = totalTime(categories, category, period) / totalUs
  return {
    category,
    period: nameOfPeriod(period),
    root: categories.root(category),
    requests: Math.round(categories.counted(category, period)),
    meanUs: moments.mean,
    varianceUs2: moments.variance,
    c2,
    timeShare,
    importance: c2 * timeShare,
  }
}

function totalTime(categories: Categories, category: number, period: Period): number {
  const { count, mean } = categories.responseTimeMoments(category, period)
  return count === 0 ? 0 : categories.counted(category, period) * mean
}

export const VARIANCE_OPTIONS = defineOptions({
  large: number({
    default: 10,
    min: 0,
    unit: 'requests',
    sentence: 'Only categories of more requests than this, in each period',
  }),
  period: oneOf(['before', 'after', 'both'], {
    default: 'both',
    sentence: 'Period to look at; both periods stay separate, never pooled',
    flag: null,
  }),
  order: oneOf(['c2', 'importance'], {
    default: 'c2',
    sentence:
      'Rank by C², or by importance: C² times the share of all response time that a category takes',
  }),
})

export type VarianceOptions = OptionsOf<typeof VARIANCE_OPTIONS>

/** Spread of the response times of one category in one period. */
export interface CategorySpread {
  readonly category: number
  readonly period: PeriodName
  readonly root: string
  readonly requests: number
  readonly meanUs: number
  /** Sample variance; NaN for a single request. */
  readonly varianceUs2: number
  /** variance / mean²; above 1 a category counts as unpredictable. NaN where the mean is 0. */
  readonly c2: number
  /** Share of the period's response time that the category takes, over all categories. */
  readonly timeShare: number
  /** C² × `timeShare`: large for unpredictable steps that take much time. NaN without C². */
  readonly importance: number
}

/** Unpredictable kinds of requests and their sources, as found by `findVariance`. */
export class VarianceSources extends columnarStage<{
  readonly categories: Categories
  readonly options: VarianceOptions
  /** Tier 1: the highest C², or importance, first; those without C² last. */
  readonly ranked: readonly CategorySpread[]
  /** Number of categories that were too small, in the requested periods. */
  readonly small: number
}>() {
  #merged: readonly MergedBehaviors[] | undefined
  readonly #localized = new Map<string, CategoryVariance>()

  /**
   * Edges of ranked categories whose latencies have more than one mode, as where a cache hit and a
   * miss are one edge: instrument there. The largest share of variance first.
   */
  get merged(): readonly MergedBehaviors[] {
    this.#merged ??= findMergedBehaviors(this.ranked.map((spread) => this.category(spread)))
    return this.#merged
  }

  /**
   * Finds requests far slower than the others of their category within a period, each with its distinguishing edges and
   * attributes. `.text()` lists the first, `.table()` has all.
   *
   * Source: Sambasivan 2013, §2.4, §6.1.1 and §7.6.1.
   *
   * @example
   * console.log(findVariance(comparison, { period: 'after' }).anomalies().text())
   */
  anomalies(): Anomalies {
    const { large, period } = this.options
    return findAnomalies(this.categories, { large, periods: periodsOf(period) })
  }

  /**
   * Returns the share of ranked categories whose C² is below 1: those that count as predictable. NaN where there is
   * none; those without C² do not count.
   *
   * @param period default: every category in every period counts on its own
   * @throws OptionError for an unknown period
   */
  shareBelowOne(period?: PeriodName): number {
    if (period !== undefined) periodOfName(period)
    const values = this.#c2(period)
    return values.filter((c2) => c2 < 1).length / values.length
  }

  /**
   * Tier 2: where the variance of one category comes from, edge by edge, whether or not it is
   * large.
   *
   * @param category one of `ranked`, which has its period, or a category's number
   * @param options.period default: that in which the category is ranked, of both the one with the
   *   higher C²; of one too small to be ranked after, unless it has had fewer than two requests then
   * @throws RangeError for a category that there is not, OptionError for an unknown period
   *
   * @example
   * const variance = findVariance(comparison)
   * variance.category(variance.ranked[0]).period === variance.ranked[0].period // true
   */
  category(
    category: number | Pick<CategorySpread, 'category' | 'period'>,
    { period }: { readonly period?: PeriodName } = {},
  ): CategoryVariance {
    const { category: id, period: ranked } =
      typeof category === 'number' ? { category, period: undefined } : category
    const chosen = periodOfName(period ?? ranked ?? this.#periodFor(id))
    return getOrInsert(this.#localized, `${id} ${chosen}`, () =>
      localizeVariance(this.categories, id, chosen),
    )
  }

  /** Returns the distribution of C²: one row a step, with the share of categories that are not above it. */
  distribution(): StageTable {
    const rows = (['before', 'after'] as const).flatMap((period) => {
      const { x, y } = ecdf(this.#c2(period))
      return Array.from(x, (c2, i) => ({ period, c2, share: y[i] }))
    })
    return rowTable(rows, own('period c2 share'))
  }

  /** Returns tier 1: one row per category and period, in the requested order. */
  table(): StageTable {
    const columns = own('category period root requests meanUs varianceUs2 c2 timeShare importance')
    return rowTable(this.ranked, columns, this.categories.flows.quantity)
  }

  #c2(period: PeriodName | undefined): number[] {
    return this.ranked.flatMap((spread) =>
      (period === undefined || spread.period === period) && !Number.isNaN(spread.c2)
        ? [spread.c2]
        : [],
    )
  }

  #periodFor(category: number): PeriodName {
    // Throws if the category is unknown.
    this.categories.structure(category)
    const { period } = this.options
    if (period !== 'both') return period
    const ranked = this.ranked.find((spread) => spread.category === category)
    if (ranked !== undefined) return ranked.period
    const count = (each: Period) => this.categories.count(category, each)
    return count(AFTER) > 1 || count(BEFORE) === 0 ? 'after' : 'before'
  }
}

/**
 * Finds the critical-path edges that make response times vary. The edges add up to the response time, so their
 * covariances with it add up to its variance. Source: Sambasivan 2013, §5.4.2.
 */
function localizeVariance(
  categories: Categories,
  category: number,
  period: Period,
): CategoryVariance {
  const { edgeClasses } = categories.structure(category)
  const times = edgeTimes(categories, category, period)
  const { responseTimeUs, weights, criticalUs } = times
  const responseTime = categories.responseTimeMoments(category, period)
  const { variance } = responseTime
  const all = countOf({ values: responseTimeUs, weights })
  const shareOf = (us: Float64Array) =>
    variance > 0 ? covariation(responseTimeUs, us, weights).covariance / variance : Number.NaN
  const rest = responseTimeUs.map((us, row) => us - sum(criticalUs, (column) => column[row]))
  const edges = edgeClasses.flatMap(({ intoJoin: _, ...ends }, edge): EdgeVariance[] => {
    const { timesUs, weights: counts } = criticalLatencies(times, edge)
    if (timesUs.length === 0) return []
    const own = moments(timesUs, counts)
    const mass = countOf({ values: timesUs, weights: counts })
    return [
      {
        edge,
        ...ends,
        requests: Math.round(mass),
        meanUs: own.mean,
        varianceUs2: own.variance,
        onCriticalPath: mass / all,
        c2: squaredVariation(own),
        share: shareOf(criticalUs[edge] as Float64Array),
      },
    ]
  })
  return new CategoryVariance({
    categories,
    category,
    responseTime,
    period: nameOfPeriod(period),
    edges: sort(
      edges,
      ({ share }) => -share,
      ({ varianceUs2 }) => -varianceUs2,
    ),
    restShare: shareOf(rest),
    onePath: edges.every(({ onCriticalPath }) => onCriticalPath === 1),
  })
}

/**
 * Tests whether response times within categories vary more, or less, than before: a Kolmogorov-Smirnov test of the
 * variances of large categories, before against after.
 *
 * Null hypothesis: the categories' variances come from one distribution in both periods. If it is not rejected, a
 * slowdown without mutations is not hidden in the categories' variance either.
 *
 * @param options.large categories with more requests than this in both periods count; default 10
 *
 * Source: Sambasivan 2013, §3.3.6.
 *
 * @example
 * compareVariances(categories).p
 */
export function compareVariances(
  categories: Categories,
  options: { readonly large?: number } = {},
): KsResult {
  rejectUnknownOptions(options, ['large'])
  const { large = 10 } = options
  requireStage('compareVariances(categories)', categories, Categories)
  const isLarge = (id: number, period: Period) => categories.count(id, period) > large
  const compared = range(categories.size).filter((id) => isLarge(id, BEFORE) && isLarge(id, AFTER))
  const variances = (period: Period) =>
    compared.map((id) => categories.responseTimeMoments(id, period).variance)
  return ksTwoSample(variances(BEFORE), variances(AFTER))
}
