import { counted, grouped, percent } from '../../core/words.ts'
import { conditionWords, type GroupWords } from '../../explain/parameters/explanation-words.ts'
import type {
  ExplainedPath,
  ParameterQuestion,
  Prediction,
} from '../../explain/parameters/parameter-question.ts'
import { rowsOnPath } from '../../explain/parameters/parameter-question.ts'
import type { ClassificationNode, RegressionNode } from '../../stats/decision-tree/tree.ts'
import { type PathCondition, withStep } from '../../stats/decision-tree/tree-paths.ts'

/** A node of a tree as one row of its drawing, indented by its depth. */
export interface TreeRow {
  /** 0 for the root. */
  readonly depth: number
  /** What the way here says of the column that the row above splits on: `is at most 4,096`. */
  readonly condition: string
  /** The same with every value named, however many. */
  readonly wholeCondition: string
  /** The column that the node splits on; null for a leaf. */
  readonly column: string | null
  /** Rows here of both groups; parts of rows where values are missing. */
  readonly counts: readonly [number, number]
  /** Mean time of the rows here, in µs; null where the tree is not one of times. */
  readonly meanUs: number | null
  /** Of a leaf: what is said of its rows, and of which share that is true. */
  readonly says: { readonly predicts: Prediction; readonly precision: number } | null
  /** Whether it is on the way to the leaf that separates best. */
  readonly isBest: boolean
  /** Nodes below that are not drawn. */
  readonly hidden: number
  /** Place of the row of its parent; -1 for the root. */
  readonly parent: number
}

type Node = ClassificationNode | RegressionNode

interface Branch extends Omit<TreeRow, 'hidden' | 'parent'> {
  readonly children: readonly Branch[]
  /** All nodes from here down, this one included. */
  readonly size: number
}

/** Splits with more branches have the smaller ones drawn as one. */
const MOST_BRANCHES = 8

/**
 * A tree as rows, each below its parent, at most about `limit`: those near the root and the way to
 * the best leaf. Branches that lead to the smallest leaves of one split are one row together.
 */
export function treeRows(question: ParameterQuestion, { limit }: { limit: number }): TreeRow[] {
  const [best] = question.paths
  const root = branchOf(question.tree.root, {
    ...{ question, depth: 0, condition: '', wholeCondition: '', conditions: [] },
    best: best?.conditions ?? null,
  })
  const open = new Set<Branch>()
  let shown = 1
  for (const queue = [root]; queue.length > 0; ) {
    const branch = queue.shift() as Branch
    const { children, isBest } = branch
    if (children.length === 0 || (!isBest && shown + children.length > limit)) continue
    open.add(branch)
    shown += children.length
    queue.push(...children)
  }
  const rows: TreeRow[] = []
  const list = ({ children, size, ...row }: Branch, parent: number, isOpen: boolean) => {
    const place = rows.length
    rows.push({ ...row, parent, hidden: isOpen ? 0 : size - 1 })
    if (isOpen) for (const child of children) list(child, place, open.has(child))
  }
  list(root, -1, open.has(root))
  return rows
}

interface Way {
  readonly question: ParameterQuestion
  readonly depth: number
  readonly condition: string
  readonly wholeCondition: string
  readonly conditions: readonly PathCondition[]
  /** Of the best leaf, on the way to which this may be; null if it is not. */
  readonly best: readonly PathCondition[] | null
}

function branchOf(node: Node, way: Way): Branch {
  const { question, depth, condition, wholeCondition, conditions } = way
  const split = node.kind === 'split' ? node : null
  const info = question.tree.columns.find(({ name }) => name === split?.column)
  const children =
    split === null || info === undefined
      ? []
      : split.children.map((child: Node, at) => {
          const [step] = withStep([], info, split.test, at) as [PathCondition]
          return branchOf(child, {
            ...{ ...way, depth: depth + 1, condition: stepWords(step) },
            wholeCondition:
              step.kind === 'levels' ? `is ${step.levels.join(', ')}` : stepWords(step),
            conditions: withStep(conditions, info, split.test, at),
          })
        })
  const path = split === null ? leafPath(question, conditions) : undefined
  const isBest =
    path === undefined
      ? children.some((child) => child.isBest)
      : way.best !== null && isSame(path.conditions, way.best)
  return {
    ...{ depth, condition, wholeCondition, isBest, column: split?.column ?? null },
    counts: countsOf(node, question, conditions),
    meanUs: 'mean' in node ? node.mean : null,
    says: path === undefined ? null : { predicts: path.predicts, precision: path.precision },
    children: summedUp(children),
    size: 1 + children.reduce((sum, { size }) => sum + size, 0),
  }
}

/** `is at most 4,096`: the column is said by the row above. */
function stepWords(step: PathCondition): string {
  return conditionWords(step).slice(step.column.length + 1)
}

function leafPath(
  { paths }: ParameterQuestion,
  conditions: readonly PathCondition[],
): ExplainedPath | undefined {
  return conditions.length === 0
    ? undefined
    : paths.find((path) => isSame(path.conditions, conditions))
}

function isSame(a: readonly PathCondition[], b: readonly PathCondition[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
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
  const sizeOf = ({ counts }: Branch) => counts[0] + counts[1]
  const small = children
    .filter(({ isBest, column }) => !isBest && column === null)
    .sort((a, b) => sizeOf(a) - sizeOf(b))
    .slice(0, children.length - MOST_BRANCHES + 1)
  const [first] = small
  if (first === undefined) return children
  const sum = (group: 0 | 1) => small.reduce((total, { counts }) => total + counts[group], 0)
  const condition = `is one of ${counted(small.length, 'other value')}`
  const rest: Branch = {
    ...{ ...first, condition, wholeCondition: condition, says: null, meanUs: null },
    counts: [sum(0), sum(1)],
  }
  return [...children.filter((child) => !small.includes(child)), rest]
}

/** How many nodes are not drawn. */
export function treeHidden(rows: readonly TreeRow[]): number {
  return rows.reduce((sum, { hidden }) => sum + hidden, 0)
}

/** What a leaf says: `→ mutations (100 %)`; nothing where there is no telling. */
export function leafText({ says }: TreeRow, { words }: { readonly words: GroupWords }): string {
  return says === null ? '' : `→ ${words[says.predicts]} (${percent(says.precision)})`
}

/** Rows as a count; parts of rows, where values are missing, to a tenth. */
export function countText(count: number): string {
  return Math.abs(count - Math.round(count)) < 0.05 ? grouped(count) : count.toFixed(1)
}
