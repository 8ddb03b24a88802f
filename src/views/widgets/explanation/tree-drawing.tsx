import { tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import type { Explanation } from '../../../explain/parameters/explanation.ts'
import { groupSizes, type ParameterGroups } from '../../charts/parameter-groups.ts'
import { countText, leafText, type TreeRow, treeLines } from '../../charts/parameter-tree-rows.ts'
import { textWidth } from '../../charts/text-width.ts'
import { fittedText } from '../../drawing/fitted-text.ts'
import type { Ink } from '../../drawing/ink.ts'

/** A tree and what it is drawn with. */
export interface DrawnTree {
  readonly rows: readonly TreeRow[]
  readonly groups: ParameterGroups
  readonly subject: Explanation['subject']
  readonly colours: readonly [string, string]
  readonly ink: Ink
  readonly width: number
  /** Takes a parameter out; where there is nobody to click, it is left out. */
  readonly onTakeOut?: (column: string) => void
  /** Parameters that leave together with one. */
  readonly equalTo?: (column: string) => readonly string[]
}

export const TREE_ROW = 50
const INDENT = 24
const MIDDLE = 14
const BAR = 9
const COUNTS = 88

/** The nodes of a tree below each other, with the share of either group that is there. */
export function TreeDrawing(tree: DrawnTree) {
  const { rows, ink, width } = tree
  const lines = treeLines(rows, { row: TREE_ROW, indent: INDENT, middle: MIDDLE })
  return (
    <g font-size="12">
      {[false, true].map((isBest) => (
        <path
          key={String(isBest)}
          d={lines
            .filter((line) => line.isBest === isBest)
            .map(({ x1, x2, y1, y2 }) => `M${x1},${y1}L${x2},${y2}`)
            .join('')}
          fill="none"
          stroke={isBest ? ink.text : ink.soft}
          stroke-width={isBest ? 2.5 : 1}
        />
      ))}
      {rows.map((row, i) => (
        <g key={`${i} ${row.condition}`} transform={`translate(0 ${i * TREE_ROW})`}>
          <NodeWords tree={tree} row={row} room={width - barsWidth(width) - COUNTS - 12} />
          <NodeBars tree={tree} row={row} />
        </g>
      ))}
    </g>
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
  const { subject, groups, ink } = tree
  const { depth, column, isBest, hidden } = row
  const x = depth * INDENT + 6
  const isRoot = depth === 0
  const condition = isRoot ? `all ${groupSizes(groups, subject)}` : row.condition
  const says = leafText(row, subject)
  return (
    <>
      <text x={x} y={18} style={`fill:${ink.text}`} font-weight={isBest ? '700' : '400'}>
        <title>{tooltipText(isRoot ? condition : row.wholeCondition)}</title>
        {fittedText(condition, room - x, isBest ? 13 : 12)}
      </text>
      {column === null ? (
        <text x={x} y={36} font-size="11" style={`fill:${ink.soft}`}>
          {fittedText(says, room - x, 11)}
        </text>
      ) : (
        <SplitWords tree={tree} column={column} x={x} room={room - x} hidden={hidden} />
      )}
    </>
  )
}

function SplitWords({
  tree,
  column,
  x,
  room,
  hidden,
}: {
  readonly tree: DrawnTree
  readonly column: string
  readonly x: number
  readonly room: number
  readonly hidden: number
}) {
  const { ink, onTakeOut, equalTo } = tree
  const more = hidden === 0 ? '' : ` (${hidden} nodes below)`
  if (onTakeOut === undefined) {
    return (
      <text x={x} y={36} font-size="11" style={`fill:${ink.soft}`}>
        {fittedText(`split by ${column}${more}`, room, 11)}
      </text>
    )
  }
  const text = fittedText(`split by ${column}${more}`, room - 26, 11)
  const width = Math.min(room, textWidth(text, 11) + 26)
  const together = (equalTo?.(column) ?? [column]).filter((name) => name !== column)
  const help =
    together.length === 0
      ? `Take out ${column}`
      : `Take out ${column}, and what divides the rows alike: ${together.join(', ')}`
  return (
    // biome-ignore lint/a11y/useSemanticElements: a button of HTML cannot stand in an SVG
    <g
      class="fd-split"
      role="button"
      tabindex={0}
      aria-label={tooltipText(help)}
      onClick={() => onTakeOut(column)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return
        event.preventDefault()
        onTakeOut(column)
      }}
    >
      <title>{tooltipText(help)}</title>
      <rect x={x - 4} y={24} width={width} height={18} rx={4} fill={ink.raised} stroke={ink.line} />
      <text x={x + 1} y={37} font-size="11">
        {text}
      </text>
      <text x={x + width - 17} y={37} font-size="12">
        ×
      </text>
    </g>
  )
}

/** The share of either group at a node, how many that are, and how long they take. */
function NodeBars({ tree, row }: DrawnNode) {
  const { groups, colours, ink, width } = tree
  const most = barsWidth(width)
  const left = width - most - COUNTS
  return (
    <>
      {row.counts.map((count, group) => {
        const size = groups.sizes[group] as number
        const y = 5 + group * (BAR + 4)
        const length = (count / Math.max(1, size)) * most
        return (
          <g key={groups.names[group]}>
            <title>{`${countText(count)} of ${countText(size)} ${groups.names[group]}`}</title>
            <rect x={left} y={y} width={most} height={BAR} fill={ink.raised} />
            <rect x={left} y={y} width={length} height={BAR} style={`fill:${colours[group]}`} />
            <text x={left + most + 6} y={y + 9} font-size="10.5" style={`fill:${ink.soft}`}>
              {countText(count)} of {countText(size)}
            </text>
          </g>
        )
      })}
      {row.meanUs === null || !Number.isFinite(row.meanUs) ? null : (
        <text x={left} y={43} font-size="11" style={`fill:${ink.text}`}>
          mean {formatDuration(row.meanUs)}
        </text>
      )}
    </>
  )
}
