import type { FlowOptions } from '../flows/flow-set.ts'
import type { CategoryOptions } from './categories/categories.ts'
import type { EdgeOptions } from './edges/edge-changes.ts'
import type { ResponseTimeOptions } from './mutations/response-time-mutations.ts'
import type { StructuralOptions } from './mutations/structural-mutations.ts'
import type { PrecursorOptions } from './precursors/precursors.ts'
import type { RankingOptions } from './ranking/ranking.ts'

/** Whether what repeats within a flow is folded into one; see `foldFlows`. */
export interface FoldOptions {
  /**
   * `'exact'`: loops and pipeline lanes become one, with their number in the root's label; `'log2'`:
   * with the power of two it lies between, so that flows of nearly equal size share a category.
   * Default `'none'`.
   */
  readonly fold: 'none' | 'exact' | 'log2'
}

/** The options of every stage of a comparison; see the stages for meanings and defaults. */
export type ComparisonOptions = FlowOptions &
  FoldOptions &
  CategoryOptions &
  ResponseTimeOptions &
  StructuralOptions &
  PrecursorOptions &
  RankingOptions &
  EdgeOptions

/** What a comparison is made with where nothing else is said. */
export const COMPARISON_DEFAULTS: ComparisonOptions = {
  concurrency: 'learned',
  slackUs: 1,
  fold: 'none',
  omitHosts: false,
  label: null,
  alpha: 0.05,
  alternative: 'two-sided',
  correction: 'none',
  method: 'stephens',
  test: 'ks',
  smPThreshold: 50,
  counts: 'raw',
  oneToN: true,
  editTokens: 'preorder',
  centre: 'mean',
  minimumEffect: 0.03,
  minimumShare: 0.001,
}
