import { fTail } from '../../stats/distributions.ts'
import { type BestCut, bestCut, type TargetSums, targetSums } from './best-cut.ts'
import type { DependencyColumns } from './dependency-columns.ts'
import { dividedNode, leftRows, rootNode } from './tree-node.ts'

export interface TreeOptions {
  /** A node with less weight than this is not split. */
  readonly minMass: number
  /** Fewest instances with a value on either side of a split. */
  readonly minLeaf: number
  /**
   * `'significance'`: a split must explain more than chance would, however many cuts there are to
   * choose from; `'orange'`: any that explains anything is made, as the authors' library did.
   */
  readonly stop: 'significance' | 'orange'
  /** The level of that test. */
  readonly significance: number
}

/** One split of a tree. */
export interface TreeSplit {
  /** The column it splits on, and where. */
  readonly predictor: number
  readonly threshold: number
  /** Σ of weights of the node it splits: its number of instances where all count the same. */
  readonly mass: number
  /** The share of the node's sum of squares that it explains. */
  readonly r2: number
}

/**
 * Splits of the regression tree that predicts one column from all others: binary, by the largest
 * reduction of squared error. Instances without the target are left out; those without the
 * predictor go with the majority.
 *
 * With the `'significance'` stop a split is made if the p-value of its F test, 1 and n − 2 degrees
 * of freedom, times the number of cuts there were to choose from is below the level (Bonferroni).
 * n is (Σw)² / Σw² of the node.
 *
 * No rule of a split depends on `minMass`, so that the tree of a larger one is a pruning of this.
 *
 * `growRegressionTree` of `stats/decision-tree` is another tree: its stop is one of ranks, it
 * weights rows with missing values down both branches, splits on sets and excludes columns. This one
 * is the paper's, and only counts cuts: it grows thousands of times on columns that are sorted once.
 *
 * Sources: Nagaraj, Killian and Neville, NSDI 2012, §3.3; Breiman, Friedman, Olshen and Stone 1984,
 * "Classification and regression trees"; the stop is our own.
 */
export function growDependencyTree(
  columns: DependencyColumns,
  target: number,
  options: TreeOptions,
): TreeSplit[] {
  const splits: TreeSplit[] = []
  const { minLeaf, minMass } = options
  const values = columns.values[target] as Float64Array
  const pending = [rootNode(columns, values)]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const sums = targetSums(node.rows, values, columns.weights)
    if (sums === undefined || sums.mass < minMass) continue
    const cut = bestCut(columns, node, sums, { target, minLeaf })
    if (cut === undefined || !isAccepted(cut, sums, options)) continue
    const r2 = Math.min(1, cut.gain / sums.squares)
    splits.push({ predictor: cut.column, threshold: cut.threshold, mass: sums.mass, r2 })
    // Dividing costs as much as looking for a cut: not for parts that are all too small.
    const isLeft = leftRows(columns, node, cut)
    const left = massOf(node.rows, isLeft, columns.weights)
    if (Math.max(left, sums.mass - left) < minMass) continue
    pending.push(...dividedNode(node, isLeft, columns.scratch))
  }
  return splits
}

function isAccepted(
  { gain, cuts }: BestCut,
  { squares, size }: TargetSums,
  { stop, significance }: TreeOptions,
): boolean {
  if (stop === 'orange') return true
  if (size <= 2) return false
  const left = squares - gain
  const f = left > 0 ? (gain / left) * (size - 2) : Number.POSITIVE_INFINITY
  return fTail(f, 1, size - 2) * cuts < significance
}

function massOf(rows: Int32Array, isIn: Uint8Array, weights: Float64Array): number {
  let mass = 0
  for (const row of rows) mass += Number(isIn[row]) * Number(weights[row])
  return mass
}
