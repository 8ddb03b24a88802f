import { range } from 'd3-array'
import { Categories } from '../../compare/categories/categories.ts'
import { categoriesOf } from '../../compare/categories/categorize.ts'
import type { Comparison } from '../../compare/comparison.ts'
import { OptionError, rejectUnknownOptions, requireStage } from '../../core/errors.ts'
import { defineOptions, level, number, type OptionsOf, readOptions } from '../../core/options.ts'
import { columnarStage, rowTable, type StageTable } from '../../core/stage.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { type BrownForsytheResult, brownForsythe } from '../../stats/brown-forsythe.ts'
import { type KsResult, ksTwoSample } from '../../stats/ks-two-sample.ts'
import { equalSamples } from '../../stats/two-sample.ts'

const SPREAD_OPTIONS = defineOptions({
  large: number({
    default: 10,
    min: 0,
    unit: 'requests',
    sentence: 'Only categories of more requests than this in both periods',
  }),
  alpha: level({ default: 0.05, sentence: 'Level below which q means another spread' }),
})

type SpreadOptions = OptionsOf<typeof SPREAD_OPTIONS>

/**
 * Compares how far response times spread in the two periods: category by category with the
 * Brown-Forsythe test, corrected over the categories compared, and over all with
 * `compareVariances`.
 *
 * A category can become less predictable although its typical request takes the same time. A mere shift, with the same
 * spread, is no difference here.
 *
 * @param source a comparison, or a stage of `categorize` over two periods
 * @param given see {@link SPREAD_OPTIONS}
 * @throws OptionError for a number of requests that is negative or no number, or a level outside 0
 *   to 1; FlowdeltaError for an unknown option
 *
 * Source: Sambasivan 2013, §3.3.6 (all categories); Brown and Forsythe 1974 (each).
 *
 * @example
 * const spreads = compareSpreads(comparison)
 * spreads.changed.map(({ category, test }) => `${category} ${test.direction}`)
 */
export function compareSpreads(
  source: Comparison | Categories,
  given: Partial<SpreadOptions> = {},
): SpreadComparison {
  const options = readOptions(SPREAD_OPTIONS, given)
  const { large, alpha } = options
  const categories = categoriesOf(source, 'compareSpreads')
  const compared = largeInBoth(categories, large)
  const results = compared.map((id) => {
    const { before, after } = equalSamples(categories.samples(id))
    return brownForsythe(before, after)
  })
  const q = benjaminiHochberg(results.map(({ p, testable }) => (testable ? p : Number.NaN)))
  const tests = results.map((test, i) => ({
    test,
    category: compared[i] as number,
    q: q[i] as number,
    rejected: (q[i] as number) < alpha,
  }))
  tests.sort((a, b) => a.test.p - b.test.p || a.category - b.category)
  const overall = compareVariances(categories, { large })
  return new SpreadComparison({ categories, options, overall, tests })
}

/**
 * Whether response times within categories vary more, or less, than before: a Kolmogorov-Smirnov
 * test of the variances of large categories, before against after.
 *
 * Null hypothesis: the categories' variances come from one distribution in both periods. With it
 * not rejected, a slowdown without mutations is not hidden in the categories' variance either.
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
  const variances = (period: Period) =>
    largeInBoth(categories, large).map((id) => categories.responseTimeMoments(id, period).variance)
  return ksTwoSample(variances(BEFORE), variances(AFTER))
}

function largeInBoth(categories: Categories, large: number): number[] {
  return range(categories.size).filter(
    (id) => categories.count(id, BEFORE) > large && categories.count(id, AFTER) > large,
  )
}

/** Whether the response times of one category spread as far as they did before. */
export interface CategorySpreadTest {
  readonly category: number
  readonly test: BrownForsytheResult
  /** p corrected over the categories compared (Benjamini-Hochberg). */
  readonly q: number
  readonly rejected: boolean
}

/** The spread of response times within categories, compared between the periods. */
export class SpreadComparison extends columnarStage<{
  readonly categories: Categories
  readonly options: SpreadOptions
  /** Are the variances of all categories together others than before? See `compareVariances`. */
  readonly overall: KsResult
  /** The smallest p first. */
  readonly tests: readonly CategorySpreadTest[]
}>() {
  /** The categories that have become more or less predictable, significantly. */
  get changed(): CategorySpreadTest[] {
    return this.tests.filter(({ rejected }) => rejected)
  }

  /** Returns one row per category compared, the smallest p first. */
  table(): StageTable {
    const { categories, tests } = this
    const sd = (period: Period) => (test: CategorySpreadTest) =>
      categories.responseTimeMoments(test.category, period).sd
    return rowTable(
      tests,
      {
        category: 'category',
        root: ({ category }) => categories.root(category),
        before: ({ test }) => test.beforeCount,
        after: ({ test }) => test.afterCount,
        beforeSdUs: sd(BEFORE),
        afterSdUs: sd(AFTER),
        beforeDeviationUs: ({ test }) => test.beforeDeviation,
        afterDeviationUs: ({ test }) => test.afterDeviation,
        statistic: ({ test }) => test.statistic,
        p: ({ test }) => test.p,
        q: 'q',
        direction: ({ test }) => test.direction,
        changed: 'rejected',
      },
      categories.flows.quantity,
    )
  }
}

/** A period, as options and tables call it. */
export type PeriodName = 'before' | 'after'

export function nameOfPeriod(period: Period): PeriodName {
  return period === BEFORE ? 'before' : 'after'
}

export function periodOfName(name: PeriodName): Period {
  if (name === 'before') return BEFORE
  if (name === 'after') return AFTER
  throw new OptionError('period', name, "'before' or 'after'")
}
