// Orders are divided once a split and column: the loops index with `!`.
import type { BestCut } from './best-cut.ts'
import type { DependencyColumns } from './dependency-columns.ts'

/** Instances that one part of a tree is about. */
export interface TreeNode {
  /** Instances that have a value of the target. */
  readonly rows: Int32Array
  /**
   * Of column c those of `rows` that have a value of it, ascending by it, stand from `starts[c]` to
   * before `ends[c]`. Nodes of one tree share the array: each has stretches of its own.
   */
  readonly orders: Int32Array
  readonly starts: Int32Array
  readonly ends: Int32Array
}

/** The node that holds all instances with a value of the target. */
export function rootNode(columns: DependencyColumns, target: Float64Array): TreeNode {
  const { orders, counts } = columns
  const starts = counts.map((_, column) => column * target.length)
  const ends = counts.map((count, column) => column * target.length + count)
  const all = Int32Array.from(target.keys())
  const root = { rows: all, orders, starts, ends }
  if (!target.some(Number.isNaN)) return root
  const isKept = Uint8Array.from(target, (value) => Number(!Number.isNaN(value)))
  return dividedNode(root, isKept, columns.scratch)[1]
}

/** Of each row of a node, whether a cut puts it on the left. */
export function leftRows(
  { values }: DependencyColumns,
  { rows }: TreeNode,
  { column, lastLeft, missingLeft }: BestCut,
): Uint8Array {
  const ofColumn = values[column]!
  const isLeft = new Uint8Array(ofColumn.length)
  for (const row of rows) {
    const value = ofColumn[row]!
    isLeft[row] = Number(Number.isNaN(value) ? missingLeft : value <= lastLeft)
  }
  return isLeft
}

/**
 * Both parts of a node, right and left, by what `isLeft` says of each row; either keeps the order of
 * its rows. Orders are written to `scratch`, where those of a node that was divided before are lost.
 */
export function dividedNode(
  { rows, orders, starts, ends }: TreeNode,
  isLeft: Uint8Array,
  scratch: Int32Array<ArrayBuffer>,
): readonly [TreeNode, TreeNode] {
  const right = new Int32Array(rows.length)
  const middles = new Int32Array(starts.length)
  for (let column = 0; column < starts.length; column++) {
    const end = ends[column]!
    let inLeft = starts[column]!
    let inRight = 0
    for (let place = inLeft; place < end; place++) {
      const row = orders[place]!
      // Both are written and one is kept: which of them it is cannot be foreseen.
      const left = isLeft[row]!
      right[inRight] = row
      scratch[inLeft] = row
      inLeft += left
      inRight += 1 - left
    }
    middles[column] = inLeft
    for (let i = 0; i < inRight; i++) scratch[inLeft + i] = right[i]!
  }
  return [
    { rows: rows.filter((row) => !isLeft[row]), orders: scratch, starts: middles, ends },
    { rows: rows.filter((row) => isLeft[row]), orders: scratch, starts, ends: middles },
  ]
}
