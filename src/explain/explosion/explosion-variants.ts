import type { Categories } from '../../compare/categories/categories.ts'
import { categorize } from '../../compare/categories/categorize.ts'
import type { Concurrency, FlowSet } from '../../flows/flow-set.ts'
import type { LabelChange } from './label-parts.ts'
import { rebuildFlows } from './rebuild-flows.ts'
import { relabelFlows } from './relabel-flows.ts'

/** Folds what flows repeat; see `collapse`. */
export type Fold = (flows: FlowSet) => FlowSet

/** What is done to requests before they are categorized again. */
export interface Variant {
  readonly concurrency?: Concurrency | undefined
  readonly changes?: readonly LabelChange[]
  readonly fold?: Fold | undefined
}

/** The same requests, categorized by other rules. */
export class ExplosionVariants {
  readonly categories: Categories
  readonly #rebuilt = new Map<Concurrency, FlowSet | string>()

  constructor(categories: Categories) {
    this.categories = categories
  }

  /** The requests built by a rule of concurrency, or why they cannot be. */
  flows(concurrency: Concurrency): FlowSet | string {
    const known = this.#rebuilt.get(concurrency) ?? rebuildFlows(this.categories.flows, concurrency)
    this.#rebuilt.set(concurrency, known)
    return known
  }

  /** Order first, then labels, then loops: folding needs names that repeat. */
  categorize({ concurrency, changes = [], fold }: Variant): Categories {
    const { flows, options } = this.categories
    const built = concurrency === undefined ? flows : this.flows(concurrency)
    const relabelled = relabelFlows(typeof built === 'string' ? flows : built, changes)
    const folded = fold === undefined ? relabelled : fold(relabelled)
    return folded === flows ? this.categories : categorize(folded, options)
  }
}
