import { sort, sum } from 'd3-array'
import { counted, grouped, percent } from '../../core/words.ts'
import { conditionWords, type GroupWords } from '../../explain/parameters/explanation-words.ts'
import type { ParameterQuestion, Prediction } from '../../explain/parameters/parameter-question.ts'
import { rowsOnPath } from '../../explain/parameters/parameter-question.ts'
import type { ClassificationNode, RegressionNode } from '../../stats/decision-tree/tree.ts'
import { type PathCondition, withStep } from '../../stats/decision-tree/tree-paths.ts'

/** A node of a tree as one row of its drawing, indented by its depth. */
export interface TreeRow {
  readonly depth: number
  /** What the way here says of the column that the row above splits on: `is at most 4,096`. */
  readonly condition: string
  /** The same with every value named, however many. */
  readonly wholeCondition: string
  readonly column: string | null
  /** Rows here of both groups; parts of rows where values are missing. */
  readonly counts: readonly [number, number]
  /** Mean time of the rows here, in µs; null where the tree is not one of times. */
  readonly meanUs: number | null
  /** Of a leaf: what is said of its rows, and of which share that is true. */
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

/** A tree as at most about `limit` rows: those near the root and the way to the best leaf. */
export function treeRows(question: ParameterQuestion, { limit }: { limit: number }): TreeRow[] {
  const root = branchOf(question, question.tree.root, [], {
    ...{ depth: 0, condition: '', wholeCondition: '' },
  })
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
            ...{ depth: way.depth + 1, condition },
            wholeCondition: step.kind === 'levels' ? `is ${step.levels.join(', ')}` : condition,
          })
        })
  const path = split === null ? leafPath(question, conditions) : undefined
  return {
    ...{ ...way, column: split?.column ?? null },
    isBest: path === undefined ? children.some(({ isBest }) => isBest) : path === question.paths[0],
    counts: countsOf(node, question, conditions),
    meanUs: 'mean' in node ? node.mean : null,
    says: path === undefined ? null : { predicts: path.predicts, precision: path.precision },
    children: summedUp(children),
    size: 1 + children.reduce((sum, { size }) => sum + size, 0),
  }
}

function leafPath({ paths }: ParameterQuestion, conditions: readonly PathCondition[]) {
  const wanted = JSON.stringify(conditions)
  return conditions.length === 0
    ? undefined
    : paths.find((path) => JSON.stringify(path.conditions) === wanted)
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
    if (here[row] === 1) counts[Number(time > (slowAboveUs ?? Number.POSITIVE_INFINITY)) as 0 | 1]++
  })
  return counts
}

/** The largest branches, and the leaves among the others as one; never the best. */
function summedUp(children: readonly Branch[]): readonly Branch[] {
  if (children.length <= MOST_BRANCHES) return children
  const leaves = children.filter(({ isBest, column }) => !isBest && column === null)
  const small = sort(leaves, ({ counts }) => sum(counts)).slice(
    0,
    children.length - MOST_BRANCHES + 1,
  )
  const [first] = small
  if (first === undefined) return children
  const condition = `is one of ${counted(small.length, 'other value')}`
  const rest: Branch = {
    ...{ ...first, condition, wholeCondition: condition, says: null, meanUs: null },
    counts: [sum(small, ({ counts }) => counts[0]), sum(small, ({ counts }) => counts[1])],
  }
  return [...children.filter((child) => !small.includes(child)), rest]
}

export function treeHidden(rows: readonly TreeRow[]): number {
  return rows.reduce((sum, { hidden }) => sum + hidden, 0)
}

/** What a leaf says: `→ mutations (100 %)`; nothing where there is no telling. */
export function leafText({ says }: TreeRow, { words }: { readonly words: GroupWords }): string {
  return says === null ? '' : `→ ${words[says.predicts]} (${percent(says.precision)})`
}

export function countText(count: number): string {
  return Math.abs(count - Math.round(count)) < 0.05 ? grouped(count) : count.toFixed(1)
}
