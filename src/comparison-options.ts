import type { CategoryOptions } from './categories/categories.ts'
import type { EdgeOptions } from './edges/edge-changes.ts'
import type { FlowOptions } from './flows/flow-set.ts'
import type { ResponseTimeOptions } from './mutations/response-time-mutations.ts'
import type { StructuralOptions } from './mutations/structural-mutations.ts'
import type { PrecursorOptions } from './precursors/precursors.ts'
import type { RankingOptions } from './ranking/ranking.ts'

/** The options of every stage of a comparison; see the stages for meanings and defaults. */
export type ComparisonOptions = FlowOptions &
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
