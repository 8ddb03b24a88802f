import { OptionError } from '../../core/errors.ts'
import { counted, pValue } from '../../core/words.ts'
import type { Explanation } from '../../explain/parameters/explanation.ts'
import { PERIOD_WORDS } from '../../explain/parameters/explanation-words.ts'
import {
  type ParameterDifference,
  parameterDifferences,
} from '../../explain/parameters/parameter-differences.ts'
import type {
  ParameterQuestion,
  ParameterQuestionName,
} from '../../explain/parameters/parameter-question.ts'
import { PALETTE } from './chart-frame.ts'

/** The two groups of rows that a question tells apart. */
export type ParameterGroups = ReturnType<typeof groupsOf>

export const GROUP_COLOURS: Readonly<Record<ParameterQuestionName, readonly [string, string]>> = {
  'what-differs': [PALETTE.before, PALETTE.after],
  'what-is-slow': [PALETTE.rest, PALETTE.change],
}

export const QUESTION_WORDS: Readonly<Record<ParameterQuestionName, string>> = {
  'what-differs': 'What differs?',
  'what-is-slow': 'What is slow?',
}

/** The answer to a question, by default to the one whose parameters separate better. */
export function answerTo(
  explanation: Explanation,
  name?: ParameterQuestionName,
): ParameterQuestion {
  const { questions } = explanation
  const found = name === undefined ? questions[0] : explanation.question(name)
  if (found !== undefined) return found
  const asked = questions.map(({ question }) => `'${question}'`)
  throw new OptionError('question', name, `a question that was asked: ${asked.join(' or ')}`)
}

export function groupsOf(
  { subject }: Pick<Explanation, 'subject'>,
  { question, table, slowAboveUs }: ParameterQuestion,
) {
  const { labels, timeUs } = table.rows
  const isSlow = (time: number) => Number(time > (slowAboveUs ?? Number.POSITIVE_INFINITY))
  const own = question === 'what-differs' ? labels : Uint8Array.from(timeUs, isSlow)
  const ones = own.reduce((sum, label) => sum + label, 0)
  const names: readonly [string, string] =
    question === 'what-is-slow'
      ? [`usual ${subject.rows}s`, `slow ${subject.rows}s`]
      : subject.words.mutation === PERIOD_WORDS.mutation
        ? ['before', 'after']
        : [subject.words.precursor, subject.words.mutation]
  return { labels: own, names, sizes: [own.length - ones, ones] as const }
}

export function groupSizes(
  { names, sizes }: ParameterGroups,
  { rows }: Explanation['subject'],
): string {
  const [zero, one] = sizes
  if (names[0] === 'before') return `${counted(zero, rows)} before and ${counted(one, rows)} after`
  return names.map((name, group) => counted(sizes[group] as number, name, name)).join(' and ')
}

/** Each parameter of a question; of what is slow, `before` is the usual rows, `after` the slow. */
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
