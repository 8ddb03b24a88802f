import type { ParameterQuestionName } from '../../../explain/parameters/explained-path.ts'
import type { Ink } from '../../drawing/ink.ts'

/** Colours of both groups of a question: what is slow is all of the period after. */
export function groupInk(question: ParameterQuestionName, ink: Ink): readonly [string, string] {
  return question === 'what-differs' ? [ink.before, ink.after] : [ink.soft, ink.change]
}
