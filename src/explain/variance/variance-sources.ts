import type { Categories } from '../../compare/categories/categories.ts'
import { OptionError } from '../../core/errors.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { ecdf } from '../../stats/ecdf.ts'
import type { CategoryVariance } from './category-variance.ts'
import { localizeVariance } from './localize-variance.ts'
import type { MarkedEdges } from './marked-edges.ts'
import { type PeriodName, periodOfName } from './period-name.ts'
import type { VarianceMark } from './variance-marks.ts'

/** What variance is looked for with. */
export interface VarianceOptions {
  /** Only categories of more requests than this, period by period. */
  readonly large: number
  /** Which period, or both, each on its own. */
  readonly period: PeriodName | 'both'
  /** What is known of edges already; see `markVariance`. */
  readonly marks: readonly VarianceMark[]
}

/** How much the response times of one category vary in one period. */
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
}

/** Which kinds of request are unpredictable, and where: what `findVariance` finds. */
export class VarianceSources extends Stage {
  readonly categories: Categories
  readonly options: VarianceOptions
  /** Tier 1: the highest C² first; those without C² last. */
  readonly ranked: readonly CategorySpread[]
  /** How many categories were too small, in the periods asked for. */
  readonly small: number
  readonly #marked: MarkedEdges
  #unused: readonly VarianceMark[] | undefined
  readonly #localized = new Map<string, CategoryVariance>()

  constructor(
    categories: Categories,
    options: VarianceOptions,
    {
      ranked,
      small,
      marked,
    }: Pick<VarianceSources, 'ranked' | 'small'> & { readonly marked: MarkedEdges },
  ) {
    super()
    this.#marked = marked
    this.categories = categories
    this.options = options
    this.ranked = ranked
    this.small = small
  }

  /** Marks on edges that no category has: misspelt, or gone. */
  get unused(): readonly VarianceMark[] {
    this.#unused ??= this.#marked.unused()
    return this.#unused
  }

  /**
   * The share of ranked categories whose C² is below 1: those that count as predictable. NaN
   * where there is none; those without C² do not count.
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
    const key = `${id} ${chosen}`
    const known = this.#localized.get(key)
    if (known !== undefined) return known
    const found = localizeVariance(this.categories, id, { period: chosen, marked: this.#marked })
    this.#localized.set(key, found)
    return found
  }

  /** The distribution of C²: one row a step, with the share of categories that are not above it. */
  distribution(): StageTable {
    const rows = (['before', 'after'] as const).flatMap((period) => {
      const { x, y } = ecdf(this.#c2(period))
      return Array.from(x, (c2, i) => ({ period, c2, share: y[i] as number }))
    })
    return stageTable({
      period: rows.map(({ period }) => period),
      c2: rows.map(({ c2 }) => c2),
      share: rows.map(({ share }) => share),
    })
  }

  /** Tier 1: one row a category and period, the highest C² first. */
  table(): StageTable {
    const column = <T>(value: (spread: CategorySpread) => T) => this.ranked.map(value)
    return stageTable({
      category: column(({ category }) => category),
      period: column(({ period }) => period),
      root: column(({ root }) => root),
      requests: column(({ requests }) => requests),
      meanUs: column(({ meanUs }) => meanUs),
      varianceUs2: column(({ varianceUs2 }) => varianceUs2),
      c2: column(({ c2 }) => c2),
    })
  }

  override displayText(): string {
    const lost = this.unused.map(({ from, to }) => `${from} → ${to}`)
    const table = this.table().displayText()
    return lost.length === 0
      ? table
      : `No category has what is marked: ${lost.join('; ')}.\n${table}`
  }

  #c2(period: PeriodName | undefined): number[] {
    return this.ranked.flatMap((spread) =>
      (period === undefined || spread.period === period) && !Number.isNaN(spread.c2)
        ? [spread.c2]
        : [],
    )
  }

  #periodFor(category: number): PeriodName {
    // Says so where there is no such category.
    this.categories.structure(category)
    const { period } = this.options
    if (period !== 'both') return period
    const ranked = this.ranked.find((spread) => spread.category === category)
    if (ranked !== undefined) return ranked.period
    return this.categories.count(category, AFTER) > 1 ||
      this.categories.count(category, BEFORE) === 0
      ? 'after'
      : 'before'
  }
}

/** @throws OptionError unless `period` is one, or both. */
export function requirePeriods(period: PeriodName | 'both'): void {
  if (period === 'both' || period === 'before' || period === 'after') return
  throw new OptionError('period', period, "'before', 'after' or 'both'")
}
