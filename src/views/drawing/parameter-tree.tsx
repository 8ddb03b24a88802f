import { sort, sum } from 'd3-array'
import { useContext } from 'preact/hooks'
import { counted, formatDuration, grouped, percent, tooltipText } from '../../core/words.ts'
import { conditionWords, type Explanation } from '../../explain/parameters/explanation.ts'
import {
  type ParameterQuestion,
  type Prediction,
  rowsOnPath,
} from '../../explain/parameters/parameter-question.ts'
import {
  type ClassificationNode,
  type PathCondition,
  type RegressionNode,
  withStep,
} from '../../stats/decision-tree/tree.ts'
import type { ParameterGroups } from '../charts/parameter-differences.ts'
import { textWidth } from '../charts/text-width.ts'
import { Button } from './controls.tsx'
import { type DataColumn, DataTable, numberColumn } from './data-table.tsx'
import { MediumContext, Text, useInk } from './figure.tsx'

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
/** Smallest width of a still: names of parameters are long. */
const MIN_WIDTH = 920

/** Shows each node below the one it splits, with the share of either group that is there. */
export function ParameterTree({ explanation, question, groups, rows, onTakeOut }: DrawnTree) {
  const ink = useInk()
  const medium = useContext(MediumContext)
  // All slow requests are from the period after.
  const colors =
    question.question === 'what-differs' ? [ink.before, ink.after] : [ink.soft, ink.change]
  const conditionOf = ({ depth, condition }: TreeRow) =>
    depth === 0 ? `all ${explanation.subject.rows}s` : condition
  const { words } = explanation.subject
  const saysOf = ({ column, hidden, says }: TreeRow) => {
    const below = hidden === 0 ? '' : ` (${counted(hidden, 'node')} below)`
    if (column !== null) return `split by ${column}${below}`
    return says === null ? '' : `→ ${words[says.predicts]} (${percent(says.precision)})`
  }
  const splitButton = (column: string, text: string) => {
    const equal = new Set(explanation.questions.flatMap(({ table }) => table.equalTo(column)))
    equal.delete(column)
    const also =
      equal.size > 0 && `, and those that divide the rows the same way: ${[...equal].join(', ')}`
    const help = tooltipText(`Take out ${column}${also || ''}`)
    return (
      <Button class="fd-split" aria-label={help} title={help} onClick={() => onTakeOut?.(column)}>
        {text} ✕
      </Button>
    )
  }
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
            splitButton(row.column, saysOf(row))
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
  const mean = ({ meanUs }: TreeRow) => (Number.isFinite(meanUs) ? formatDuration(meanUs ?? 0) : '')
  if (rows.some(({ meanUs }) => meanUs !== null)) columns.push(numberColumn('mean', mean))
  return (
    <MediumContext.Provider value={{ ...medium, width: Math.max(MIN_WIDTH, medium.width) }}>
      <DataTable label="Tree" class="fd-tree" columns={columns} rows={rows} max={rows.length} />
    </MediumContext.Provider>
  )
}

/** A node of a tree as one row of its drawing, indented by its depth. */
export interface TreeRow {
  readonly depth: number
  /** Condition of the way here on the column that the row above splits on: `is at most 4,096`. */
  readonly condition: string
  readonly wholeCondition: string
  readonly column: string | null
  /** Rows here of both groups; parts of rows where values are missing. */
  readonly counts: readonly [number, number]
  /** Mean time of the rows here, in µs; null where the tree is not one of times. */
  readonly meanUs: number | null
  /** Prediction of a leaf for its rows, and the share of them for which it is true. */
  readonly says: { readonly predicts: Prediction; readonly precision: number } | null
  readonly isBest: boolean
  readonly hidden: number
}

type Node = ClassificationNode | RegressionNode

interface Branch extends Omit<TreeRow, 'hidden'> {
  readonly children: readonly Branch[]
  readonly size: number
}

/** Splits with more branches have the smaller ones drawn as one. */
const MOST_BRANCHES = 8

/** Returns a tree as at most about `limit` rows: those near the root and the way to the best leaf. */
export function treeRows(question: ParameterQuestion, { limit }: { limit: number }): TreeRow[] {
  const way = { depth: 0, condition: '', wholeCondition: '' }
  const root = branchOf(question, question.tree.root, [], way)
  const open = new Set<Branch>()
  let shown = 1
  const queue = [root]
  for (const branch of queue) {
    const { children, isBest } = branch
    if (children.length === 0 || (!isBest && shown + children.length > limit)) continue
    open.add(branch)
    shown += children.length
    queue.push(...children)
  }
  const rows: TreeRow[] = []
  const list = (branch: Branch) => {
    const { children, size, ...row } = branch
    const isOpen = open.has(branch)
    rows.push({ ...row, hidden: isOpen ? 0 : size - 1 })
    if (isOpen) children.forEach(list)
  }
  list(root)
  return rows
}

function branchOf(
  question: ParameterQuestion,
  node: Node,
  conditions: readonly PathCondition[],
  way: Pick<Branch, 'depth' | 'condition' | 'wholeCondition'>,
): Branch {
  const split = node.kind === 'split' ? node : null
  const info = question.tree.columns.find(({ name }) => name === split?.column)
  const children =
    split === null || info === undefined
      ? []
      : split.children.map((child: Node, at) => {
          const [step] = withStep([], info, split.test, at) as [PathCondition]
          // The column is said by the row above.
          const condition = conditionWords(step).slice(step.column.length + 1)
          return branchOf(question, child, withStep(conditions, info, split.test, at), {
            depth: way.depth + 1,
            condition,
            wholeCondition: step.kind === 'levels' ? `is ${step.levels.join(', ')}` : condition,
          })
        })
  const wanted = JSON.stringify(conditions)
  const isLeaf = split === null && conditions.length > 0
  const path = question.paths.find((one) => isLeaf && JSON.stringify(one.conditions) === wanted)
  return {
    ...way,
    column: split?.column ?? null,
    isBest: path === undefined ? children.some(({ isBest }) => isBest) : path === question.paths[0],
    counts: countsOf(node, question, conditions),
    meanUs: 'mean' in node ? node.mean : null,
    says: path === undefined ? null : { predicts: path.predicts, precision: path.precision },
    children: summedUp(children),
    size: 1 + sum(children, ({ size }) => size),
  }
}

function countsOf(
  node: Node,
  { table, slowAboveUs }: ParameterQuestion,
  conditions: readonly PathCondition[],
): readonly [number, number] {
  if ('weights' in node) return node.weights
  const here = rowsOnPath(table.parameters, conditions, table.size)
  const counts = [0, 0] as [number, number]
  table.rows.timeUs.forEach((time, row) => {
    if (here[row] !== 1) return
    const isSlow = Number(time > (slowAboveUs ?? Number.POSITIVE_INFINITY)) as 0 | 1
    counts[isSlow] += table.rows.weights?.[row] ?? 1
  })
  return counts
}

/** Returns the largest branches, and the leaves among the others as one; never the best. */
function summedUp(children: readonly Branch[]): readonly Branch[] {
  if (children.length <= MOST_BRANCHES) return children
  const leaves = children.filter(({ isBest, column }) => !isBest && column === null)
  const small = sort(leaves, ({ counts }) => sum(counts)).slice(
    0,
    1 + children.length - MOST_BRANCHES,
  )
  const [first] = small
  if (first === undefined) return children
  const condition = `is one of ${counted(small.length, 'other value')}`
  const rest: Branch = {
    ...first,
    condition,
    wholeCondition: condition,
    says: null,
    meanUs: null,
    counts: [sum(small, ({ counts }) => counts[0]), sum(small, ({ counts }) => counts[1])],
  }
  return [...children.filter((child) => !small.includes(child)), rest]
}

export function treeHidden(rows: readonly TreeRow[]): number {
  return sum(rows, ({ hidden }) => hidden)
}

function countText(count: number): string {
  return Math.abs(count - Math.round(count)) < 0.05 ? grouped(count) : count.toFixed(1)
}
