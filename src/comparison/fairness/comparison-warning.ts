import type { Categories, CategoryOptions } from '../../compare/categories/categories.ts'
import type { StructuralOptions } from '../../compare/mutations/find-structural-mutations.ts'
import type { OptionAdvice } from '../../core/errors.ts'
import { grouped } from '../../core/words.ts'
import type { FlowOptions, FlowSet } from '../../flows/flow-set.ts'
import type { TraceSet } from '../../traces/trace-set.ts'

export type WarningCode =
  | 'unequal-load'
  | 'small-periods'
  | 'nothing-in-common'
  | 'request-mix'
  | 'sampling-differs'
  | 'recorded-otherwise'
  | 'idle-waits'
  | 'time-ranges'
  | 'unsteady-before'
  | 'missing-intervals'
  | 'hosts-differ'
  | 'versions-differ'
  | 'clock-skew'
  | 'orphans'
  | 'truncated-traces'
  | 'duplicate-traces'
  | 'selected'
  | 'missing-traces'
  | 'skipped-traces'
  | 'data-quality'
  | 'linked-requests'
  | 'undecided-structures'
  | 'extreme-request'
  | 'no-durations'
  | 'no-weights'
  | 'unmeasured'

/** Something that may make results mean less than they seem to. */
export interface ComparisonWarning {
  readonly code: WarningCode
  /** The problem, in numbers. */
  readonly finding: string
  readonly effect: string
  /** Option or step that helps. */
  readonly answer: string
  /** Options that the answer names. */
  readonly advice: OptionAdvice
  /** The problem in one line: `finding`. */
  readonly message: string
  /** Effect and answer, on demand. */
  readonly detail: string
}

export interface ComparedPeriods {
  readonly before: TraceSet
  readonly after: TraceSet
  readonly flows: FlowSet
  readonly categories: Pick<Categories, 'size' | 'count' | 'undecided'>
  readonly options: Pick<FlowOptions, 'counts' | 'sampling'> &
    Pick<CategoryOptions, 'omitHosts'> &
    Pick<StructuralOptions, 'smPThreshold'>
}

export type FairnessCheck = (periods: ComparedPeriods) => ComparisonWarning[]

type WarningParts = Pick<ComparisonWarning, 'finding' | 'effect' | 'answer'> & {
  readonly advice?: OptionAdvice
}

/** Returns a single warning, as checks return them: in a list. */
export function warning(
  code: WarningCode,
  { finding, effect, answer, advice = {} }: WarningParts,
): ComparisonWarning[] {
  const detail = `${effect} ${answer}`
  return [{ code, finding, effect, answer, advice, message: finding, detail }]
}

export function exactPercent(share: number): string {
  const inPercent = 100 * share
  const size = Math.abs(inPercent)
  if (size >= 10) return `${Math.round(inPercent)} %`
  return `${Number(inPercent.toPrecision(2))} %`
}

export function signedPercent(change: number): string {
  return `${change > 0 ? '+' : ''}${exactPercent(change)}`
}

export function partOf(count: number, all: number): string {
  return `${grouped(count)} of ${grouped(all)}${all > 0 ? ` (${exactPercent(count / all)})` : ''}`
}

/** Warning of any command. */
export interface PrintedWarning {
  readonly code: string
  readonly message: string
  readonly detail?: string
}

export function warningLines(warnings: readonly PrintedWarning[]): string[] {
  return warnings.map(({ code, message }) => `! ${code}: ${message}`)
}
