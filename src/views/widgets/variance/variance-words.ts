import { codeText } from '../../../core/code-literals.ts'
import { optionsCode } from '../../../core/options.ts'
import { counted, grouped, percent } from '../../../core/words.ts'
import {
  type EdgeEnds,
  markOf,
  markVariance,
  type VarianceKind,
  type VarianceMark,
} from '../../../explain/variance/variance-marks.ts'
import {
  VARIANCE_OPTIONS,
  type VarianceOptions,
} from '../../../explain/variance/variance-sources.ts'
import type { SpreadRow, VarianceData } from './variance-data.ts'

/** Writes C² with two digits; a category of one request has none. */
export function c2Text(c2: number): string {
  if (Number.isNaN(c2)) return 'none'
  if (c2 === 0) return '0'
  if (c2 < 0.001) return 'under 0.001'
  return c2 >= 10 ? grouped(c2) : c2.toPrecision(2)
}

/** Says how many categories are predictable, period by period, and how many are left out. */
export function varianceSummary({ periods, small, of: { large } }: VarianceData): string {
  const shares = periods.map(({ period, categories, belowOne }) =>
    Number.isNaN(belowOne)
      ? `none is large ${period}`
      : `${percent(belowOne)} of ${grouped(categories)} ${period}`,
  )
  const rest =
    small === 0
      ? ''
      : ` ${counted(small, 'category', 'categories')} of no more than ${counted(large, 'request')} ${small === 1 ? 'is' : 'are'} left out.`
  return `Kinds of request that are predictable (C² = variance ÷ mean² below 1): ${shares.join(', ')}.${rest}`
}

/** State of the explorer. */
export interface VarianceState {
  readonly marks: readonly VarianceMark[]
  readonly open: SpreadRow | null
  /** Number of the edge chosen in it. */
  readonly edge: number | null
}

/** Writes the stage, down to the category and the edge that are open, as code. */
export function varianceCode(
  { name, isStage, of: { large, period } }: { name: string; isStage: boolean; of: VarianceOptions },
  { marks, open, edge }: VarianceState,
): string {
  const options = optionsCode(VARIANCE_OPTIONS, { large, period, marks })
  const stage = isStage
    ? name
    : `findVariance(${[name, options].filter((part) => part !== '').join(', ')})`
  if (open === null) return stage
  const category = `${stage}.category(${open.category}, { period: ${codeText(open.period)} })`
  return edge === null ? category : `${category}.covariances(${edge})`
}

/** Marks an edge, keeping its note, or takes its mark away. */
export function withMark(
  marks: readonly VarianceMark[],
  { from, to }: EdgeEnds,
  kind: VarianceKind | null,
): readonly VarianceMark[] {
  const before = markOf(marks, { from, to })
  if (kind === null) return marks.filter((mark) => mark !== before)
  return markVariance(marks, { from, to, ...before, kind })
}
