import { pValue } from '../../core/words.ts'
import type { Explanation } from '../../explain/parameters/explanation.ts'
import {
  type ParameterDifference,
  parameterDifferences,
} from '../../explain/parameters/parameter-differences.ts'
import type { ParameterQuestion } from '../../explain/parameters/parameter-question.ts'
import { groupsOf } from './parameter-groups.ts'

/**
 * Every parameter of a question by itself, the most different first. In what is slow, `before` of a
 * difference are the usual rows and `after` the slow ones.
 */
export function differencesOf(
  explanation: Explanation,
  question: ParameterQuestion,
): readonly ParameterDifference[] {
  return question.question === 'what-differs'
    ? explanation.differences
    : parameterDifferences(question.table.parameters, groupsOf(explanation, question).labels)
}

/** How much a parameter differs, as one reads it: dashes where one of the groups is empty. */
export function effectTexts({ effect, q }: ParameterDifference): { effect: string; q: string } {
  if (Number.isNaN(q)) return { effect: '–', q: '–' }
  return { effect: effect.toFixed(2), q: pValue(q, 'q').replace(/^q (= )?/, '') }
}
