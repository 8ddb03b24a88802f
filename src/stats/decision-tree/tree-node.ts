import type { TreeColumn } from './tree-column.ts'

/**
 * What a split asks of a row. `threshold`: the first child has the values up to `value`, which is
 * one from the data, the second those above. `branches`: child i has the level `codes[i]`. `set`:
 * child i has the levels `codes[i]`. Levels that occur in no row of the node are in no child.
 */
export type SplitTest =
  | { readonly kind: 'threshold'; readonly value: number }
  | { readonly kind: 'branches'; readonly codes: readonly number[] }
  | { readonly kind: 'set'; readonly codes: readonly [readonly number[], readonly number[]] }

export interface TreeSplit<Node> {
  readonly kind: 'split'
  /** The column's name. */
  readonly column: string
  readonly test: SplitTest
  readonly children: readonly Node[]
  /**
   * What the split gains for a row of the node: bits of information, less the correction for the
   * choice of a threshold (`gain-ratio`); the decrease of Gini impurity (`gini`); the decrease of
   * the target's variance (regression).
   */
  readonly gain: number
  /** `gain` in shares of the information in the split itself; only with `gain-ratio`. */
  readonly gainRatio?: number
  /**
   * How likely the best split of any column would separate as well if no column mattered; only with
   * `gini` and regression.
   */
  readonly p?: number
  /** Other columns that would have been as good: the first in the order of columns was taken. */
  readonly tied: readonly string[]
}

/** A node of a tree: what `Content` says of its rows, and either nothing more or a split. */
export type TreeNode<Content> =
  | (Content & { readonly kind: 'leaf' })
  | (Content & TreeSplit<TreeNode<Content>>)

/** 0 precursor, 1 mutation. */
export type ClassLabel = 0 | 1

export interface ClassContent {
  /** Weights of the precursors and of the mutations; whole numbers where no value was missing. */
  readonly weights: readonly [number, number]
  /**
   * The class of most rows; of equally many the one of which there are fewer in the whole tree; null
   * when there, too, are equally many.
   */
  readonly predicts: ClassLabel | null
}

export interface TargetContent {
  /** Weight of the rows; a whole number where no value was missing. */
  readonly weight: number
  /** Of the target, in its unit; NaN without rows. */
  readonly mean: number
  /** Standard deviation of the target, dividing by the weight; NaN without rows. */
  readonly sd: number
}

export type ClassificationNode = TreeNode<ClassContent>
export type RegressionNode = TreeNode<TargetContent>

/** Why a column could not take part. */
export interface LeftOutColumn {
  readonly column: string
  /**
   * `excluded` by the option; `empty`: missing in every row; `constant`: one value in all rows that
   * have one; `too-many-values`: names nearly every row, so that it would separate anything.
   */
  readonly reason: 'excluded' | 'empty' | 'constant' | 'too-many-values'
}

/** A column as a finished tree knows it: without the values of rows. */
export type TreeColumnInfo =
  | { readonly name: string; readonly kind: 'numeric' }
  | { readonly name: string; readonly kind: 'categorical'; readonly levels: readonly string[] }

interface Grown<Node> {
  /** All columns that were given, in their order. */
  readonly columns: readonly TreeColumnInfo[]
  readonly leftOut: readonly LeftOutColumn[]
  readonly root: Node
}

export interface ClassificationTree extends Grown<ClassificationNode> {
  readonly kind: 'classification'
}

export interface RegressionTree extends Grown<RegressionNode> {
  readonly kind: 'regression'
}

export function columnInfo(column: TreeColumn): TreeColumnInfo {
  const { name, kind } = column
  return kind === 'numeric' ? { name, kind } : { name, kind, levels: column.levels }
}
