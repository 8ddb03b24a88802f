// Called for every row of every node: indexes with `!`.

import { worthWeights } from '../weighted-sample.ts'
import type { CodedColumn } from './coded-columns.ts'
import type { SplitTest, TreeNode, TreeSplit } from './tree.ts'

/** What makes a tree the tree of one criterion. */
export interface Growth<Content> {
  /** Says of rows what a node keeps of them, and how to split them, if at all. */
  readonly look: (node: NodeRows) => Look<Content>
  /** Rows of the data that it looks at. */
  readonly size: number
  /** The same for these rows alone, which become rows 0, 1, 2, …. */
  readonly narrow: (rows: Int32Array) => Growth<Content>
  readonly maxDepth: number
  /** Smaller parts of rows are not made: see `divideRows`. */
  readonly leastWeight: number
}

interface Look<Content> {
  readonly content: Content
  /** Called only where the depth allows a split. */
  readonly choose: () => SplitChoice | undefined
}

/** A node with fewer of the rows than this share has them moved together: */
const SCATTERED = 1 / 8
/** but not fewer rows than this. */
const FEW = 256

/**
 * Grows a tree from the top. Rows of small nodes are moved together, as reading a few here and
 * there is waiting for memory.
 */
export function growNode<Content extends object>(
  growth: Growth<Content>,
  node: NodeRows,
  depth = 0,
): TreeNode<Content> {
  const { rows, weights } = node
  if (rows.length >= FEW && rows.length < SCATTERED * growth.size) {
    const together = Int32Array.from(rows, (_, row) => row)
    return growNode(growth.narrow(rows), { rows: together, weights }, depth)
  }
  const { content, choose } = growth.look(node)
  const choice = depth < growth.maxDepth ? choose() : undefined
  if (choice === undefined) return { ...content, kind: 'leaf' }
  const { codes, childOf, width, ...split } = choice
  const division = { codes, childOf, shares: knownShares(node, choice) }
  const children = divideRows(node, division, growth.leastWeight).map((child) =>
    growNode(growth, child, depth + 1),
  )
  return { ...content, ...split, kind: 'split', children }
}

function knownShares({ rows, weights }: NodeRows, { codes, childOf, width }: SplitChoice) {
  const sums = new Array<number>(width).fill(0)
  let known = 0
  for (const [i, row] of rows.entries()) {
    const code = Number(codes[row])
    if (code < 0) continue
    const weight = weights === undefined ? 1 : Number(weights[i])
    const child = childOf(code)
    sums[child] = Number(sums[child]) + weight
    known += weight
  }
  return sums.map((sum) => sum / known)
}

/** The rows that reach a node. A row whose value was missing on the way is in several, in part. */
export interface NodeRows {
  readonly rows: Int32Array
  /** How much of each row is here, and counts; all of each, once, if undefined. */
  readonly weights: Float64Array | undefined
}

/** How a split divides rows: a code's child, −1 for codes that no row of the node has. */
interface Division {
  readonly codes: Int32Array
  readonly childOf: (code: number) => number
  readonly shares: readonly number[]
}

/** All rows; with weights, in these proportions as many as they are worth. */
export function allRows(count: number, weights?: Float64Array): NodeRows {
  const rows = Int32Array.from({ length: count }, (_, row) => row)
  return { rows, weights: weights && worthWeights(weights) }
}

/** The same tree with other contents of its nodes. */
export function withContents<Content extends object>(
  node: TreeNode<Content>,
  change: (content: Content) => Partial<Content>,
): TreeNode<Content> {
  const own = { ...node, ...change(node) }
  if (node.kind === 'leaf') return own
  return {
    ...own,
    children: node.children.map((child) => withContents(child, change)),
  } as typeof own
}

/**
 * The rows of each child; missing values go to all, as known rows are divided (C4.5's fractional
 * cases). Parts below `leastWeight` go to the largest child.
 */
function divideRows(node: NodeRows, division: Division, leastWeight: number): NodeRows[] {
  const { rows, weights } = node
  const { codes, childOf, shares } = division
  const children = new Int32Array(rows.length)
  const whole = new Int32Array(shares.length)
  let missing = 0
  for (let i = 0; i < rows.length; i++) {
    const code = codes[rows[i]!]!
    const child = code < 0 ? -1 : childOf(code)
    children[i] = child
    if (child < 0) missing++
    else whole[child]!++
  }
  const largest = shares.indexOf(Math.max(...shares))
  return shares.map((share, child) => {
    const weighted = weights !== undefined || missing > 0
    const most = whole[child]! + missing
    const ownRows = new Int32Array(most)
    const ownWeights = weighted ? new Float64Array(most) : undefined
    let count = 0
    for (let i = 0; i < rows.length; i++) {
      const to = children[i]!
      if (to !== child && to >= 0) continue
      const weight = weights === undefined ? 1 : weights[i]!
      const part = to >= 0 ? weight : partOf(weight, child)
      if (part === 0) continue
      ownRows[count] = rows[i]!
      if (ownWeights !== undefined) ownWeights[count] = part
      count++
    }
    if (count === most) return { rows: ownRows, weights: ownWeights }
    return { rows: ownRows.slice(0, count), weights: ownWeights?.slice(0, count) }

    function partOf(weight: number, child: number): number {
      if (child !== largest) return weight * share < leastWeight ? 0 : weight * share
      let others = 0
      for (let other = 0; other < shares.length; other++) {
        const part = weight * shares[other]!
        if (other !== largest && part >= leastWeight) others += part
      }
      return weight - others
    }
  })
}

/** A split that a criterion decided on, and how to divide the rows by it. */
export interface SplitChoice extends Omit<TreeSplit<never>, 'kind' | 'children'> {
  readonly codes: Int32Array
  readonly childOf: (code: number) => number
  readonly width: number
}

type CodeDivision = Pick<SplitChoice, 'test' | 'codes' | 'childOf' | 'width'>

/**
 * Up to `lastCode` and above. The threshold shown is the largest value seen up to the middle of the
 * gap, which later data next to it do not overturn.
 */
export function divideByThreshold(
  { codes, values }: CodedColumn,
  lastCode: number,
  nextCode: number,
): CodeDivision {
  const middle = values[lastCode]! / 2 + values[nextCode]! / 2
  let shown = lastCode
  while (shown + 1 < nextCode && values[shown + 1]! <= middle) shown++
  return {
    test: { kind: 'threshold', value: values[shown]! },
    codes,
    childOf: (code) => (code <= lastCode ? 0 : 1),
    width: 2,
  }
}

export function divideByBranches(column: CodedColumn, branches: readonly number[]): CodeDivision {
  const test: SplitTest = { kind: 'branches', codes: branches }
  return { test, width: branches.length, ...byTable(column, branches.map(single)) }
}

export function divideBySets(
  column: CodedColumn,
  sets: readonly [readonly number[], readonly number[]],
): CodeDivision {
  return { test: { kind: 'set', codes: sets }, width: 2, ...byTable(column, sets) }
}

const single = (code: number) => [code]

function byTable({ codes, size }: CodedColumn, children: readonly (readonly number[])[]) {
  const table = new Int32Array(size).fill(-1)
  for (const [child, own] of children.entries()) for (const code of own) table[code] = child
  return { codes, childOf: (code: number) => table[code]! }
}
