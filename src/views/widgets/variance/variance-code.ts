import { codeText } from '../../../core/code-literals.ts'
import {
  type EdgeEnds,
  isSameEdge,
  markVariance,
  type VarianceKind,
  type VarianceMark,
} from '../../../explain/variance/variance-marks.ts'
import { callCode } from '../../drawing/option-code.ts'
import type { SpreadRow, VarianceData } from './variance-data.ts'

/** What is open. */
export interface VarianceState {
  readonly marks: readonly VarianceMark[]
  readonly open: SpreadRow | null
  /** Number of the edge chosen in it. */
  readonly edge: number | null
}

/** What is looked at, as code: the stage, down to the category and the edge that are open. */
export function varianceCode(
  { name, large, period }: Pick<VarianceData, 'name' | 'large' | 'period'>,
  { marks, open, edge }: VarianceState,
): string {
  const call = callCode('findVariance', [name], {
    large: { value: large, usually: 10 },
    period: { value: period, usually: 'both' },
    marks: { value: marks.map(plain), usually: [] },
  })
  if (open === null) return call
  const category = `${call}.category(${open.category}, { period: ${codeText(open.period)} })`
  return edge === null ? category : `${category}.covariances(${edge})`
}

/** Keys in the order in which one reads them. */
function plain({ from, to, kind, note }: VarianceMark): VarianceMark {
  return { from, to, kind, ...(note === undefined ? {} : { note }) }
}

/** The marks with an edge marked as something, keeping its note, or without its mark. */
export function withMark(
  marks: readonly VarianceMark[],
  { from, to }: EdgeEnds,
  kind: VarianceKind | null,
): readonly VarianceMark[] {
  const before = marks.find((mark) => isSameEdge(mark, { from, to }))
  if (kind === null) return marks.filter((mark) => mark !== before)
  const note = before?.note === undefined ? {} : { note: before.note }
  return markVariance(marks, { from, to, kind, ...note })
}
