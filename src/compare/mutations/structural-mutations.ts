import { defineOptions, number, type OptionsOf, oneOf } from '../../core/options.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import { RESPONSE_TIME_OPTIONS } from './response-time-mutations.ts'
import { type StructuralTest, testStructures } from './structural-test.ts'
import { suggestThreshold } from './suggested-threshold.ts'

/** Options of `findStructuralMutations`. */
export const STRUCTURAL_OPTIONS = defineOptions({
  smPThreshold: number({
    default: 50,
    min: 0,
    or: 'auto',
    unit: 'requests',
    sentence:
      "Requests that a category must gain or lose to count as changed; 'auto' tests its share of the requests of its type",
  }),
  counts: oneOf(['raw', 'scaled', 'weighted'], {
    default: 'raw',
    sentence:
      "How requests are counted: 'raw' as they are, 'scaled' to as many after as before, 'weighted' by their sampling weights",
    flag: 'counts <method>',
  }),
  alpha: RESPONSE_TIME_OPTIONS.alpha,
})

/** Options that structural mutations were found with; `alpha` matters with `'auto'` only. */
export type StructuralOptions = OptionsOf<typeof STRUCTURAL_OPTIONS>

/** How requests are counted; see `STRUCTURAL_OPTIONS`. */
export type Counts = StructuralOptions['counts']

/** How a category's number of requests changed. */
export type StructuralLabel = 'structural-mutation' | 'precursor' | 'unchanged'

/** Every category's change in its number of requests. */
export class StructuralMutations extends Stage {
  readonly categories: Categories
  readonly options: StructuralOptions
  /** Change of each category's number of requests, after − before, scaled if so chosen. */
  readonly changes: Float64Array
  #tests: readonly StructuralTest[] | undefined

  constructor(categories: Categories, options: StructuralOptions, changes: Float64Array) {
    super()
    this.categories = categories
    this.options = options
    this.changes = changes
  }

  /** The test of one category's share of the requests of its type. */
  test(category: number): StructuralTest {
    this.categories.root(category)
    this.#tests ??= testStructures(this.categories, this.options.alpha)
    return this.#tests[category] as StructuralTest
  }

  /** The threshold that chance alone would cross in one of twenty comparisons; see its source. */
  get suggestedThreshold(): number {
    return suggestThreshold(this.categories)
  }

  label(category: number): StructuralLabel {
    const { smPThreshold } = this.options
    if (smPThreshold === 'auto') return this.#testedLabel(category)
    const change = this.changes[category] as number
    if (change > smPThreshold) return 'structural-mutation'
    return -change > smPThreshold ? 'precursor' : 'unchanged'
  }

  /** Categories that gained more requests than the threshold. */
  get mutations(): number[] {
    return this.#withLabel('structural-mutation')
  }

  /** Categories that lost more requests than the threshold: what mutations may have been. */
  get precursors(): number[] {
    return this.#withLabel('precursor')
  }

  /** One row a category: counts, change, label, and the test of its share of its type. */
  table(): StageTable {
    const { categories } = this
    const ids = Array.from(this.changes, (_, category) => category)
    const tests = ids.map((category) => this.test(category))
    return stageTable({
      category: ids,
      root: ids.map((category) => categories.root(category)),
      before: ids.map((category) => categories.count(category, BEFORE)),
      after: ids.map((category) => categories.count(category, AFTER)),
      change: this.changes,
      label: ids.map((category) => this.label(category)),
      beforeShare: tests.map(({ beforeShare }) => beforeShare),
      afterShare: tests.map(({ afterShare }) => afterShare),
      p: tests.map(({ p }) => p),
      q: tests.map(({ q }) => q),
    })
  }

  #testedLabel(category: number): StructuralLabel {
    const { rejected, beforeShare, afterShare } = this.test(category)
    if (!rejected) return 'unchanged'
    return afterShare > beforeShare ? 'structural-mutation' : 'precursor'
  }

  #withLabel(label: StructuralLabel): number[] {
    return Array.from(this.changes, (_, category) => category).filter(
      (category) => this.label(category) === label,
    )
  }
}
