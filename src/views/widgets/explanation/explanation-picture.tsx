import { shortText } from '../../../core/shown-text.ts'
import { counted } from '../../../core/words.ts'
import type { ParameterQuestionName } from '../../../explain/parameters/explained-path.ts'
import type { Explanation } from '../../../explain/parameters/explanation.ts'
import { pathSentence } from '../../../explain/parameters/explanation-words.ts'
import { answerTo, groupsOf, QUESTION_WORDS } from '../../charts/parameter-groups.ts'
import { treeHidden, treeRows } from '../../charts/parameter-tree-rows.ts'
import { textWidth } from '../../charts/text-width.ts'
import { fittedText } from '../../drawing/fitted-text.ts'
import { PICTURE_INK } from '../../drawing/ink.ts'
import { groupInk } from './group-ink.ts'
import { GroupLegend } from './group-legend.tsx'
import { TREE_ROW, TreeDrawing } from './tree-drawing.tsx'

const WIDTH = 760
const MARGIN = 12
const SENTENCES = 3
const LINE = 16
const NODES = 20

/** The explorer in its first state: the tree of the better question, and its first sentences. */
export function ExplanationPicture({
  explanation,
  question,
}: {
  readonly explanation: Explanation
  readonly question: ParameterQuestionName | null
}) {
  const { subject } = explanation
  const asked = answerTo(explanation, question ?? undefined)
  const groups = groupsOf(explanation, asked)
  const rows = treeRows(asked, { limit: NODES })
  const ink = PICTURE_INK
  const colours = groupInk(asked.question, ink)
  const hidden = treeHidden(rows)
  const said =
    asked.paths.length === 0
      ? [`No parameter tells ${groups.names[0]} and ${groups.names[1]} apart.`]
      : asked.paths.slice(0, SENTENCES).map((path) => pathSentence(path, subject))
  const lines = [
    ...said.flatMap((sentence) => linesOf(shortText(sentence, 700))),
    ...(hidden === 0 ? [] : [`${counted(hidden, 'node')} further down are not drawn.`]),
  ]
  const treeTop = 58
  const textTop = treeTop + rows.length * TREE_ROW + 12
  const height = textTop + lines.length * LINE + MARGIN
  return (
    <svg
      width={WIDTH}
      height={height}
      viewBox={`0 0 ${WIDTH} ${height}`}
      font-family="system-ui, sans-serif"
      font-size="12"
    >
      <title>Explanation</title>
      <rect width={WIDTH} height={height} fill={ink.back} />
      <text x={MARGIN} y="22" font-size="14" font-weight="600" style={`fill:${ink.text}`}>
        {fittedText(`${QUESTION_WORDS[asked.question]} ${subject.title}`, WIDTH - 2 * MARGIN, 15)}
      </text>
      <g transform={`translate(${MARGIN - 6} 34)`}>
        <GroupLegend names={groups.names} colours={colours} ink={ink} />
      </g>
      <g transform={`translate(${MARGIN} ${treeTop})`}>
        <TreeDrawing {...{ rows, groups, subject, colours, ink, width: WIDTH - 2 * MARGIN }} />
      </g>
      {lines.map((line, i) => (
        <text
          key={`${i} ${line}`}
          x={MARGIN}
          y={textTop + LINE * (i + 0.8)}
          style={`fill:${ink.soft}`}
        >
          {line}
        </text>
      ))}
    </svg>
  )
}

/** A sentence broken into lines that fit. */
function linesOf(sentence: string): string[] {
  const lines: string[] = []
  for (const word of sentence.split(' ')) {
    const last = lines.at(-1)
    const longer = `${last} ${word}`
    if (last === undefined || textWidth(longer, 12) > WIDTH - 2 * MARGIN) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}
