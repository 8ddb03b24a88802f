import type { AttentionOptions } from './attention/attention.ts'
import { ATTENTION_DEFAULTS } from './attention/focus-attention.ts'
import type { DependencyOptions } from './dependencies/dependency-networks.ts'
import { DEPENDENCY_DEFAULTS } from './dependencies/learn-dependencies.ts'
import type { DivergenceOptions } from './divergence/divergence.ts'
import { DIVERGENCE_DEFAULTS } from './divergence/find-divergence.ts'

/** The options of all stages of a comparison of logs; see the stages for what each means. */
export interface LogComparisonOptions
  extends DivergenceOptions,
    DependencyOptions,
    AttentionOptions {}

export const LOG_COMPARISON_DEFAULTS: LogComparisonOptions = {
  ...DIVERGENCE_DEFAULTS,
  ...DEPENDENCY_DEFAULTS,
  ...ATTENTION_DEFAULTS,
}
