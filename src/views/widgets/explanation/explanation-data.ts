import type { ParameterQuestionName } from '../../../explain/parameters/explained-path.ts'
import type { Explanation } from '../../../explain/parameters/explanation.ts'
import {
  type ExplanationRows,
  explanationRows,
} from '../../../explain/parameters/explanation-rows.ts'
import type { LeftOutParameter } from '../../../explain/parameters/parameter.ts'
import type { ClassificationNode, RegressionNode } from '../../../stats/decision-tree/tree.ts'
import { differencesOf } from '../../charts/parameter-comparison.ts'

/** What the explorer of explanations carries into a page. */
export interface ExplanationData {
  readonly rows: ExplanationRows
  /** Which question stands first; null for the one whose parameters separate better. */
  readonly question: ParameterQuestionName | null
  /** Parameters that do not take part and were not taken out by hand, the first of them. */
  readonly leftOut: readonly LeftOutParameter[]
  readonly leftOutCount: number
  /** What the explanation is called in code. */
  readonly name: string
}

interface DataOptions {
  readonly question: ParameterQuestionName | null
  readonly name: string
  /** About how many characters of JSON the rows may be. */
  readonly characters: number
}

const MOST_LEFT_OUT = 300

/** The data of the explorer. */
export function explanationData(
  explanation: Explanation,
  { question, name, characters }: DataOptions,
): ExplanationData {
  const rows = explanationRows(explanation, {
    order: importance(explanation),
    limit: characters,
  })
  const leftOut = explanation.leftOut.filter(({ reason }) => reason !== 'excluded')
  return {
    ...{ rows, question, name, leftOutCount: leftOut.length },
    leftOut: leftOut.slice(0, MOST_LEFT_OUT),
  }
}

/** Names of parameters: those of the trees, those taken out, then the most different first. */
function importance(explanation: Explanation): string[] {
  const inTrees = explanation.questions.flatMap(({ tree }) => columnsOf(tree.root))
  const differing = explanation.questions.flatMap((question) =>
    differencesOf(explanation, question).map(({ column, effect }) => ({ column, effect })),
  )
  differing.sort((a, b) => b.effect - a.effect)
  return [
    ...new Set([...inTrees, ...explanation.excluded, ...differing.map(({ column }) => column)]),
  ]
}

type Node = ClassificationNode | RegressionNode

function columnsOf(node: Node): string[] {
  return node.kind === 'leaf' ? [] : [node.column, ...node.children.flatMap(columnsOf)]
}
