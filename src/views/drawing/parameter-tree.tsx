import { shortText, tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted } from '../../core/words.ts'
import type { Explanation } from '../../explain/parameters/explanation.ts'
import { pathSentence } from '../../explain/parameters/explanation-words.ts'
import type {
  ParameterQuestion,
  ParameterQuestionName,
} from '../../explain/parameters/parameter-question.ts'
import {
  groupSizes,
  groupsOf,
  type ParameterGroups,
  QUESTION_WORDS,
} from '../charts/parameter-groups.ts'
import { actOnKey } from './controls.tsx'
import { LegendRows } from './legend.tsx'
import { type Ink, Text, useInk } from './medium.tsx'
import { countText, leafText, type TreeRow, treeHidden, treeRows } from './parameter-tree-rows.ts'
import type { Picture } from './picture.ts'
import { fittedText, textWidth } from './text.ts'

/** A tree and the rows it tells apart. */
export interface DrawnTree {
  readonly explanation: Explanation
  readonly question: ParameterQuestion
  readonly groups: ParameterGroups
  readonly rows: readonly TreeRow[]
  readonly width: number
  /** Takes a parameter out; left out where there is nobody to click. */
  readonly onTakeOut?: ((column: string) => void) | undefined
}

const ROW = 50
const LEGEND = 24
const INDENT = 24
const MIDDLE = 14
const BAR = 9
const COUNTS = 88
const MAX_SENTENCE_LENGTH = 700

/** Returns the height of a tree of so many rows, its legend included. */
export function parameterTreeHeight(rows: number): number {
  return LEGEND + rows * ROW
}

/** Returns the colors of both groups of a question: what is slow is all of the period after. */
export function groupColors(question: ParameterQuestionName, ink: Ink): readonly [string, string] {
  return question === 'what-differs' ? [ink.before, ink.after] : [ink.soft, ink.change]
}

/**
 * Draws a tree that tells two groups of rows apart: each node below the one it splits, indented,
 * with the share of either group that is there. The way to the best leaf is bold.
 */
export function ParameterTree(tree: DrawnTree) {
  const ink = useInk()
  const { rows, width } = tree
  const colors = groupColors(tree.question.question, ink)
  const legend = tree.groups.names.map((text, group) => ({
    ...{ text, width: 11 },
    sign: () => <rect y="-5.5" width="11" height="11" style={`fill:${colors[group]}`} />,
  }))
  return (
    <g font-size="12">
      <LegendRows entries={legend} width={width} />
      <g transform={`translate(0 ${LEGEND})`}>
        <Lines rows={rows} />
        {rows.map((row, i) => (
          <g key={`${i} ${row.condition}`} transform={`translate(0 ${i * ROW})`}>
            <NodeWords tree={tree} row={row} room={width - barsWidth(width) - COUNTS - 12} />
            <NodeBars tree={tree} row={row} />
          </g>
        ))}
      </g>
    </g>
  )
}

/** The lines from each row up to its parent's, down and across; those to the best leaf are bold. */
function Lines({ rows }: { readonly rows: readonly TreeRow[] }) {
  const ink = useInk()
  const lineTo = ({ parent, depth }: TreeRow, place: number) => {
    const x = (depth - 1) * INDENT + 12
    return `M${x},${(parent + 1) * ROW - 8}V${place * ROW + MIDDLE}H${depth * INDENT + 2}`
  }
  return (
    <>
      {[false, true].map((isBest) => (
        <path
          key={String(isBest)}
          d={rows
            .map((row, i) => (row.parent >= 0 && row.isBest === isBest ? lineTo(row, i) : ''))
            .join('')}
          fill="none"
          stroke={isBest ? ink.text : ink.soft}
          stroke-width={isBest ? 2.5 : 1}
        />
      ))}
    </>
  )
}

function barsWidth(width: number): number {
  return Math.min(150, Math.max(60, Math.round(width * 0.2)))
}

interface DrawnNode {
  readonly tree: DrawnTree
  readonly row: TreeRow
}

/** How one gets to a node, and what it says or splits by. */
function NodeWords({ tree, row, room }: DrawnNode & { readonly room: number }) {
  const { subject } = tree.explanation
  const { depth, column, isBest, hidden } = row
  const x = depth * INDENT + 6
  const isRoot = depth === 0
  const condition = isRoot ? `all ${groupSizes(tree.groups, subject)}` : row.condition
  const says =
    column === null
      ? leafText(row, subject)
      : `split by ${column}${hidden === 0 ? '' : ` (${hidden} nodes below)`}`
  return (
    <>
      <Text x={x} y={18} font-weight={isBest ? '700' : '400'}>
        <title>{tooltipText(isRoot ? condition : row.wholeCondition)}</title>
        {fittedText(condition, room - x, isBest ? 13 : 12)}
      </Text>
      {column === null || tree.onTakeOut === undefined ? (
        <Text color="soft" x={x} y={36} size={11}>
          {fittedText(says, room - x, 11)}
        </Text>
      ) : (
        <SplitButton
          help={takeOutText(tree.explanation, column)}
          text={says}
          x={x}
          room={room - x}
          onTakeOut={() => tree.onTakeOut?.(column)}
        />
      )}
    </>
  )
}

function takeOutText({ questions }: Explanation, column: string): string {
  const equal = new Set(questions.flatMap(({ table }) => table.equalTo(column)))
  equal.delete(column)
  const also = equal.size === 0 ? '' : `, and what divides the rows alike: ${[...equal].join(', ')}`
  return tooltipText(`Take out ${column}${also}`)
}

interface SplitButtonProps {
  readonly help: string
  readonly text: string
  readonly x: number
  readonly room: number
  readonly onTakeOut: () => void
}

function SplitButton({ help, text, x, room, onTakeOut }: SplitButtonProps) {
  const ink = useInk()
  const fitted = fittedText(text, room - 26, 11)
  const width = Math.min(room, textWidth(fitted, 11) + 26)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a button of HTML cannot stand in an SVG
    <g
      class="fd-split"
      role="button"
      tabindex={0}
      aria-label={help}
      onClick={onTakeOut}
      onKeyDown={(event) => actOnKey(event, { Enter: onTakeOut, ' ': onTakeOut })}
    >
      <title>{help}</title>
      <rect x={x - 4} y={24} width={width} height={18} rx={4} fill={ink.raised} stroke={ink.line} />
      <text x={x + 1} y={37} font-size="11">
        {fitted}
      </text>
      <text x={x + width - 17} y={37} font-size="12">
        ×
      </text>
    </g>
  )
}

/** The share of either group at a node, how many that are, and how long they take. */
function NodeBars({ tree: { groups, question, width }, row }: DrawnNode) {
  const ink = useInk()
  const colors = groupColors(question.question, ink)
  const longest = barsWidth(width)
  const left = width - longest - COUNTS
  return (
    <>
      {row.counts.map((count, group) => {
        const size = groups.sizes[group] ?? 0
        const y = 5 + group * (BAR + 4)
        const length = (count / Math.max(1, size)) * longest
        return (
          <g key={groups.names[group]}>
            <title>{`${countText(count)} of ${countText(size)} ${groups.names[group]}`}</title>
            <rect x={left} y={y} width={longest} height={BAR} fill={ink.raised} />
            <rect x={left} y={y} width={length} height={BAR} style={`fill:${colors[group]}`} />
            <Text color="soft" x={left + longest + 6} y={y + 9} size={10.5}>
              {countText(count)} of {countText(size)}
            </Text>
          </g>
        )
      })}
      {row.meanUs === null || !Number.isFinite(row.meanUs) ? null : (
        <Text x={left} y={43} size={11}>
          mean {formatDuration(row.meanUs)}
        </Text>
      )}
    </>
  )
}

const PICTURE_WIDTH = 740

/** Returns the tree of a question as a picture with its words, of about `limit` nodes. */
export function parameterTreePicture(
  explanation: Explanation,
  question: ParameterQuestion,
  limit: number,
): Picture {
  const groups = groupsOf(explanation, question)
  const rows = treeRows(question, { limit })
  const { subject } = explanation
  const [best] = question.paths
  const hidden = treeHidden(rows)
  return {
    title: `${QUESTION_WORDS[question.question]} ${tooltipText(subject.title)}`,
    subtitle:
      best === undefined
        ? [`No parameter tells ${groups.names[0]} and ${groups.names[1]} apart.`]
        : [
            shortText(pathSentence(best, subject), MAX_SENTENCE_LENGTH),
            `Bars are shares of each group (${groupSizes(groups, subject)}). The way to the leaf that separates best is bold.`,
          ],
    omissions: [hidden > 0 && `${counted(hidden, 'node')} further down are not drawn.`],
    width: PICTURE_WIDTH,
    height: parameterTreeHeight(rows.length),
    drawing: <ParameterTree {...{ explanation, question, groups, rows, width: PICTURE_WIDTH }} />,
  }
}
