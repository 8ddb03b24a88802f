import type { Explanation } from '../explain/parameters/explanation.ts'
import { pathSentence } from '../explain/parameters/explanation-words.ts'
import type { ParameterDifference } from '../explain/parameters/parameter-differences.ts'
import type { ExplainedPath } from '../explain/parameters/parameter-question.ts'
import type { PathCondition } from '../stats/decision-tree/tree-paths.ts'
import { numbers } from './json-numbers.ts'

const MOST_PATHS = 20
const MOST_PARAMETERS = 50
const MOST_LEFT_OUT = 200

/** An explanation in the JSON document: paths best first, and every parameter by itself. */
export function explanationDocument(explanation: Explanation) {
  const { subject, paths, differences, leftOut } = explanation
  return {
    subject: subject.title,
    excluded: leftOut.slice(0, MOST_LEFT_OUT),
    paths: paths.slice(0, MOST_PATHS).map((path) => ({
      question: path.question,
      sentence: pathSentence(path, subject),
      conditions: path.conditions.flatMap(conditionEntries),
      predicts: path.predicts,
      ...pathFigures(path),
    })),
    parameters: differences.slice(0, MOST_PARAMETERS).map(differenceEntry),
  }
}

function pathFigures(path: ExplainedPath) {
  const { requests, support, precision, recall, lift, separation, times } = path
  return {
    ...{ requests, support, precision, recall, lift, separation },
    meanUs: times === null ? null : { here: times.hereUs, elsewhere: times.elsewhereUs },
  }
}

export interface ConditionEntry {
  readonly column: string
  readonly op: '<=' | '>' | 'in'
  readonly value: number | readonly string[]
}

function conditionEntries(condition: PathCondition): ConditionEntry[] {
  const { column } = condition
  if (condition.kind === 'levels') return [{ column, op: 'in', value: condition.levels }]
  const { above, atMost } = condition
  const entries: ConditionEntry[] = []
  if (above !== undefined) entries.push({ column, op: '>', value: above })
  if (atMost !== undefined) entries.push({ column, op: '<=', value: atMost })
  return entries
}

function differenceEntry({ column, kind, effect, p, q }: ParameterDifference) {
  return { column, kind, ...numbers({ effect, p, q }) }
}
