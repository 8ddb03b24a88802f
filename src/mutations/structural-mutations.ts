import type { Categories } from '../categories/categories.ts'
import { Stage } from '../stage.ts'
import { type StageTable, stageTable } from '../stage-table.ts'

/** Compare numbers of requests as they are, or after scaled to as many requests as before. */
export type Counts = 'raw' | 'scaled'

/** What counts of requests are compared with. */
export interface StructuralOptions {
  /** SM_P_THRESHOLD: a change of more requests than this makes a mutation or a precursor. */
  readonly smPThreshold: number
  readonly counts: Counts
}

/** How a category's number of requests changed. */
export type StructuralLabel = 'structural-mutation' | 'precursor' | 'unchanged'

/** Every category's change in its number of requests. */
export class StructuralMutations extends Stage {
  readonly categories: Categories
  readonly options: StructuralOptions
  /** Change of each category's number of requests, after − before, after scaled if so chosen. */
  readonly changes: Float64Array

  constructor(categories: Categories, options: StructuralOptions, changes: Float64Array) {
    super()
    this.categories = categories
    this.options = options
    this.changes = changes
  }

  label(category: number): StructuralLabel {
    const change = this.changes[category] as number
    if (change > this.options.smPThreshold) return 'structural-mutation'
    return -change > this.options.smPThreshold ? 'precursor' : 'unchanged'
  }

  /** Categories that gained more requests than the threshold. */
  get mutations(): number[] {
    return this.#withLabel('structural-mutation')
  }

  /** Categories that lost more requests than the threshold: what mutations may have been. */
  get precursors(): number[] {
    return this.#withLabel('precursor')
  }

  /** One row a category: counts, change, and label. */
  table(): StageTable {
    const { categories } = this
    const ids = Array.from(this.changes, (_, category) => category)
    return stageTable({
      category: ids,
      root: ids.map((category) => categories.root(category)),
      before: ids.map((category) => categories.count(category, 0)),
      after: ids.map((category) => categories.count(category, 1)),
      change: this.changes,
      label: ids.map((category) => this.label(category)),
    })
  }

  #withLabel(label: StructuralLabel): number[] {
    return Array.from(this.changes, (_, category) => category).filter(
      (category) => this.label(category) === label,
    )
  }
}
