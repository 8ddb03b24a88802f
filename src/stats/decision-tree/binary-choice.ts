// Called for every column of every node: indexes with `!`.
import { type BinaryCut, bestBinaryCut } from './binary-cut.ts'
import type { CodedColumn } from './coded-column.ts'
import type { NodeRows } from './node-rows.ts'
import { divideBySets, divideByThreshold, type SplitChoice } from './split-choice.ts'
import { selectedCutP, standardisedGap } from './split-significance.ts'
import type { ValueGroups } from './value-groups.ts'

/** Columns this close, in bits, are equally good. */
const SAME = 1e-6

/** What a node is split to explain. */
export interface NodeTarget {
  /** For each row of the node its weight, and its weight times the target. */
  readonly weights: Float64Array
  readonly weighted: Float64Array
  /** Their weight and squared error in all. */
  readonly weight: number
  readonly squares: number
  /** For each row of the data what significance is judged by. */
  readonly scores: ArrayLike<number>
  /** Whether scores are 0 and 1. */
  readonly labels: boolean
}

interface BinaryOptions {
  readonly minLeaf: number
  /** Highest p of a split, over all cuts of all columns; no test if undefined. */
  readonly alpha: number | undefined
  /** Converts squared error for each row into what is reported as the gain. */
  readonly gainScale: number
}

interface Candidate {
  readonly column: CodedColumn
  readonly cut: BinaryCut
  readonly bits: number
}

/**
 * The column whose best cut in two separates best, after what the choice among its cuts costs; of
 * several the first. With `alpha` the best one that chance does not explain.
 *
 * The cost is that of C4.5's thresholds: to say which of m cuts was taken needs log2 m bits, and k
 * levels can be divided in two in 2^(k−1) − 1 ways. Without it a column with many values beats the
 * column with few that is behind it. The separation counts ½·(n − 1)·R² / ln 2 bits, the information
 * of small differences (R² = 1 − squared error after / before).
 */
export function chooseBinary(
  columns: readonly CodedColumn[],
  { rows, weights }: NodeRows,
  target: NodeTarget,
  groups: ValueGroups,
  { minLeaf, alpha, gainScale }: BinaryOptions,
): SplitChoice | undefined {
  const perSquare = (target.weight - 1) / (2 * Math.LN2 * target.squares)
  const candidates: Candidate[] = []
  for (const column of columns) {
    const cut = bestBinaryCut(
      column,
      groups.fill(column, rows, target.weights, target.weighted),
      minLeaf,
    )
    if (cut === undefined || !(cut.between > 1e-12 * target.squares)) continue
    candidates.push({ column, cut, bits: cut.between * perSquare - cut.log2Cuts })
  }
  // Stable: of equally good ones the first stays first.
  const ranked = candidates.toSorted((a, b) =>
    Math.abs(a.bits - b.bits) < SAME ? 0 : b.bits - a.bits,
  )
  for (const { column, cut, bits } of ranked) {
    const division =
      cut.sets === undefined
        ? divideByThreshold(column, cut.lastCode, cut.nextCode)
        : divideBySets(column, cut.sets)
    const gap = standardisedGap(column, division.childOf, rows, weights, target.scores)
    const p = Math.min(1, selectedCutP(gap, cut, target.labels) * candidates.length)
    if (alpha !== undefined && !(p <= alpha)) continue
    const tied = ranked.filter(
      (other) => other.column !== column && Math.abs(other.bits - bits) < SAME,
    )
    return {
      ...division,
      ...{ column: column.name, gain: (gainScale * cut.between) / target.weight, p },
      tied: tied.map((other) => other.column.name),
    }
  }
  return undefined
}
