import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import type { TreeChoice } from './parameter-question.ts'
import type { ParameterChoice } from './parameter-table.ts'
import type { Sampling } from './request-sample.ts'

/** How low-level parameters are searched for explanations. */
export interface ExplainOptions {
  /**
   * `'what-differs'`: which parameters tell mutations from precursors, or requests after from those
   * before; `'what-is-slow'`: which parameters do slow requests after have; `'both'`. Default
   * `'both'`.
   */
  readonly question?: 'both' | 'what-differs' | 'what-is-slow'
  /**
   * `'gain-ratio'`: C4.5; `'gini'`: CART; `'auto'`: C4.5, unless CART separates better, as it does
   * where mutations are few. Default `'auto'`.
   */
  readonly criterion?: 'auto' | 'gain-ratio' | 'gini'
  /**
   * How many requests are looked at: `'tenth'` (a tenth, but at least 100; of requests after alone,
   * for what is slow, up to 10,000), a number, or `'all'`. Default `'tenth'`.
   */
  readonly sample?: Sampling
  /** Seed of the sample. Default 1. */
  readonly seed?: number
  /** Whether splits that may be chance are left out. Default true. */
  readonly prune?: boolean
  /** Parameters to use although they look like identifiers or times. Default none. */
  readonly include?: readonly string[]
  /** Parameters not to use. Default none. */
  readonly exclude?: readonly string[]
  /**
   * Level at which the first split must be significant, corrected for the number of parameters
   * (Benjamini-Hochberg), before it counts as an explanation; only with `prune`. Default 0.05.
   */
  readonly alpha?: number
}

const OPTIONS = [
  ...['question', 'criterion', 'sample', 'seed', 'prune', 'alpha', 'include', 'exclude'],
]

/** Options in the form they are used in. */
export interface ExplainSettings {
  readonly question: 'both' | 'what-differs' | 'what-is-slow'
  readonly sample: Sampling
  readonly seed: number
  readonly choice: ParameterChoice
  readonly growth: TreeChoice
}

/**
 * @throws OptionError for a value that an option cannot have, FlowdeltaError for an unknown option
 */
export function explainOptions(options: ExplainOptions): ExplainSettings {
  rejectUnknownOptions(options, OPTIONS)
  const { question = 'both', sample = 'tenth', seed = 1, include = [], exclude = [] } = options
  const { criterion = 'auto', prune = true, alpha = 0.05 } = options
  if (!['both', 'what-differs', 'what-is-slow'].includes(question)) {
    throw new OptionError('question', question, "'both', 'what-differs' or 'what-is-slow'")
  }
  if (!['auto', 'gain-ratio', 'gini'].includes(criterion)) {
    throw new OptionError('criterion', criterion, "'auto', 'gain-ratio' or 'gini'")
  }
  if (!(alpha > 0 && alpha < 1)) throw new OptionError('alpha', alpha, 'a level between 0 and 1')
  for (const [name, value] of Object.entries({ include, exclude })) {
    if (!Array.isArray(value)) throw new OptionError(name, value, 'a list of names of parameters')
  }
  return {
    question,
    sample,
    seed,
    choice: { include, exclude },
    growth: { criterion, prune, alpha },
  }
}
