import { divideRows, type NodeRows } from './node-rows.ts'
import type { SplitChoice } from './split-choice.ts'
import type { TreeNode } from './tree-node.ts'

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
 * Grows a tree from the top: a node is done before its children are begun.
 *
 * Rows of small nodes are moved together, since reading a few rows here and there from all of many
 * long columns is waiting for memory.
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

/** For each child its share of the rows whose value is known, by weight. */
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
