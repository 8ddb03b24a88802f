import type { FlowSet } from '../../flows/flow-set.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import type { Categories } from '../categories/categories.ts'
import type { ComparisonOptions } from '../comparison-options.ts'

export type WarningCode =
  | 'unequal-load'
  | 'small-periods'
  | 'nothing-in-common'
  | 'request-mix'
  | 'sampling-differs'
  | 'time-ranges'
  | 'missing-intervals'
  | 'hosts-differ'
  | 'versions-differ'
  | 'clock-skew'
  | 'orphans'
  | 'truncated-traces'
  | 'duplicate-traces'
  | 'skipped-traces'
  | 'data-quality'
  | 'undecided-structures'
  | 'unfinished-folding'
  | 'extreme-request'
  | 'no-durations'
  | 'no-weights'

/** Something that may make results mean less than they seem to. */
export interface ComparisonWarning {
  readonly code: WarningCode
  /** The problem, in numbers. */
  readonly finding: string
  /** Its effect on the results. */
  readonly effect: string
  /** Option or step that helps. */
  readonly answer: string
  /** The problem in one line: `finding`. */
  readonly message: string
  /** Effect and answer, on demand. */
  readonly detail: string
}

/** What there is to judge a comparison by. */
export interface ComparedPeriods {
  readonly before: TraceSet
  readonly after: TraceSet
  /** The requests of `before`, then those of `after`. */
  readonly flows: FlowSet
  readonly categories: Pick<Categories, 'size' | 'count' | 'undecided'>
  readonly options: Pick<ComparisonOptions, 'omitHosts' | 'counts' | 'smPThreshold'>
}

/** One thing that could be wrong with a comparison: what of it is, or nothing. */
export type FairnessCheck = (periods: ComparedPeriods) => ComparisonWarning[]

export function warning(
  code: WarningCode,
  { finding, effect, answer }: Pick<ComparisonWarning, 'finding' | 'effect' | 'answer'>,
): ComparisonWarning {
  return { code, finding, effect, answer, message: finding, detail: `${effect} ${answer}` }
}
