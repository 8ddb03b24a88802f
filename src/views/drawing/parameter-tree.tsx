import { useContext } from 'preact/hooks'
import { tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import type { Explanation } from '../../explain/parameters/explanation.ts'
import type { ParameterQuestion } from '../../explain/parameters/parameter-question.ts'
import type { ParameterGroups } from '../charts/parameter-groups.ts'
import { Button } from './controls.tsx'
import { type DataColumn, DataTable } from './data-table.tsx'
import { MediumContext, Text, useInk } from './medium.tsx'
import { countText, leafText, type TreeRow } from './parameter-tree-rows.ts'
import { textWidth } from './text.ts'

interface DrawnTree {
  readonly explanation: Explanation
  readonly question: ParameterQuestion
  readonly groups: ParameterGroups
  readonly rows: readonly TreeRow[]
  readonly onTakeOut?: ((column: string) => void) | undefined
}

const BARS = { width: 90, height: 20 }
const BAR = 8
const INDENT = 22
/** Of a still: names of parameters are long. */
const MIN_WIDTH = 920

/** Shows each node below the one it splits, with the share of either group that is there. */
export function ParameterTree({ explanation, question, groups, rows, onTakeOut }: DrawnTree) {
  const ink = useInk()
  const medium = useContext(MediumContext)
  // What is slow is all of the period after.
  const colors =
    question.question === 'what-differs' ? [ink.before, ink.after] : [ink.soft, ink.change]
  const conditionOf = ({ depth, condition }: TreeRow) =>
    depth === 0 ? `all ${explanation.subject.rows}s` : condition
  const saysOf = (row: TreeRow) =>
    row.column === null
      ? leafText(row, explanation.subject)
      : `split by ${row.column}${row.hidden === 0 ? '' : ` (${row.hidden} nodes below)`}`
  const bars = ({ counts }: TreeRow) =>
    counts.map((count, group) => {
      const bar = { y: 1 + group * (BAR + 2), height: BAR }
      const share = count / Math.max(1, groups.sizes[group] ?? 0)
      return (
        <g key={groups.names[group]}>
          <rect {...bar} width={BARS.width} fill={ink.raised} />
          <rect {...bar} width={share * BARS.width} style={`fill:${colors[group]}`} />
        </g>
      )
    })
  const columns: DataColumn<TreeRow>[] = [
    {
      title: 'node',
      still: (row) => ({
        text: `${'\u00a0'.repeat(5 * row.depth)}${conditionOf(row)} ${saysOf(row)}`.trimEnd(),
        isBold: row.isBest,
      }),
      cell: (row) => (
        <div style={`padding-left:${row.depth * INDENT}px`}>
          <span
            style={`font-weight:${row.isBest ? 700 : 400}`}
            title={tooltipText(row.depth === 0 ? conditionOf(row) : row.wholeCondition)}
          >
            {conditionOf(row)}
          </span>{' '}
          {row.column === null ? (
            <span class="fd-soft">{saysOf(row)}</span>
          ) : (
            <SplitButton {...{ explanation, onTakeOut }} column={row.column} text={saysOf(row)} />
          )}
        </div>
      ),
    },
    {
      title: 'share of each group',
      stillTitle: '',
      still: (row) => ({ width: BARS.width, drawing: bars(row) }),
      cell: (row) => (
        <svg {...BARS} aria-hidden="true">
          {bars(row)}
        </svg>
      ),
    },
    ...groups.names.map((name, group): DataColumn<TreeRow> => {
      const color = `fill:${colors[group]}`
      const sign = <rect y="6" width="11" height="11" style={color} />
      return {
        title: name,
        isNumber: true,
        head: (
          <span style="white-space:nowrap">
            <svg width="15" height="17" aria-hidden="true" style="display:inline">
              {sign}
            </svg>
            {name}
          </span>
        ),
        stillTitle: {
          width: 16 + 1.1 * textWidth(name, 12),
          drawing: (
            <>
              {sign}
              <Text x="16" y="15" font-weight="600">
                {name}
              </Text>
            </>
          ),
        },
        cell: ({ counts }) =>
          `${countText(counts[group] ?? 0)} of ${countText(groups.sizes[group] ?? 0)}`,
      }
    }),
  ]
  if (rows.some(({ meanUs }) => meanUs !== null)) {
    columns.push({
      title: 'mean',
      isNumber: true,
      cell: ({ meanUs }) =>
        meanUs === null || !Number.isFinite(meanUs) ? '' : formatDuration(meanUs),
    })
  }
  return (
    <MediumContext.Provider value={{ ...medium, width: Math.max(MIN_WIDTH, medium.width) }}>
      <DataTable label="Tree" class="fd-tree" columns={columns} rows={rows} max={rows.length} />
    </MediumContext.Provider>
  )
}

interface SplitProps extends Pick<DrawnTree, 'explanation' | 'onTakeOut'> {
  readonly column: string
  readonly text: string
}

/** Says what a node splits by, to be taken out. */
function SplitButton({ explanation: { questions }, column, text, onTakeOut }: SplitProps) {
  const equal = new Set(questions.flatMap(({ table }) => table.equalTo(column)))
  equal.delete(column)
  const also = equal.size === 0 ? '' : `, and what divides the rows alike: ${[...equal].join(', ')}`
  const help = tooltipText(`Take out ${column}${also}`)
  return (
    <Button class="fd-split" aria-label={help} title={help} onClick={() => onTakeOut?.(column)}>
      {text} ✕
    </Button>
  )
}
