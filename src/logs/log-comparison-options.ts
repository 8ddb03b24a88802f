import type { AttentionOptions } from './attention.ts'
import type { DependencyOptions } from './dependency-networks.ts'
import type { DivergenceOptions } from './divergence.ts'
import { DIVERGENCE_DEFAULTS } from './find-divergence.ts'
import { ATTENTION_DEFAULTS } from './focus-attention.ts'
import { DEPENDENCY_DEFAULTS } from './learn-dependencies.ts'

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
