import type { Categories } from '../../compare/categories/categories.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import type { BrownForsytheResult } from '../../stats/brown-forsythe.ts'
import type { KsResult } from '../../stats/ks-two-sample.ts'

/** What spreads are compared with. */
export interface SpreadOptions {
  /** Only categories of more requests than this in both periods. */
  readonly large: number
  /** A test rejects when its q is below this. */
  readonly alpha: number
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
export class SpreadComparison extends Stage {
  readonly categories: Categories
  readonly options: SpreadOptions
  /** Are the variances of all categories together others than before? See `compareVariances`. */
  readonly overall: KsResult
  /** The smallest p first. */
  readonly tests: readonly CategorySpreadTest[]

  constructor(
    categories: Categories,
    options: SpreadOptions,
    { overall, tests }: Pick<SpreadComparison, 'overall' | 'tests'>,
  ) {
    super()
    this.categories = categories
    this.options = options
    this.overall = overall
    this.tests = tests
  }

  /** The categories that have become more or less predictable, significantly. */
  get changed(): CategorySpreadTest[] {
    return this.tests.filter(({ rejected }) => rejected)
  }

  /** One row a category compared, the smallest p first. */
  table(): StageTable {
    const { categories, tests } = this
    const column = <T>(value: (test: CategorySpreadTest) => T) => tests.map(value)
    const sd = (period: 0 | 1) =>
      column(({ category }) => categories.responseTimeMoments(category, period).sd)
    return stageTable({
      category: column(({ category }) => category),
      root: column(({ category }) => categories.root(category)),
      before: column(({ test }) => test.beforeCount),
      after: column(({ test }) => test.afterCount),
      beforeSdUs: sd(BEFORE),
      afterSdUs: sd(AFTER),
      beforeDeviationUs: column(({ test }) => test.beforeDeviation),
      afterDeviationUs: column(({ test }) => test.afterDeviation),
      statistic: column(({ test }) => test.statistic),
      p: column(({ test }) => test.p),
      q: column(({ q }) => q),
      direction: column(({ test }) => test.direction),
      changed: column(({ rejected }) => rejected),
    })
  }
}
