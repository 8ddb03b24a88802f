import { requireCount } from '../require-option.ts'
import { classCounts } from './class-counts.ts'
import { codeColumn } from './coded-column.ts'
import { gainRatioScoresOf } from './gain-ratio-choice.ts'
import type { GainRatioScore } from './gain-ratio-score.ts'
import { allRows } from './node-rows.ts'
import { requireTreeColumns, type TreeColumn } from './tree-column.ts'
import { ValueGroups } from './value-groups.ts'
import { xLogX } from './x-log-x.ts'

export interface GainRatioScoresOptions {
  /** Least weight of rows in two branches of a split; 2. */
  readonly minLeaf?: number | undefined
  /** As for `growClassificationTree`; false. */
  readonly c45Strict?: boolean | undefined
}

/**
 * What each column would gain as the root of a C4.5 tree, in the order of the columns: also those
 * that `growClassificationTree` would leave out.
 *
 * @throws As `growClassificationTree` does for columns; labels are taken to be right.
 *
 * @example
 * const values = Float64Array.of(4096, 2048, 4096, 8192, 16384, 8192)
 * const size = { name: 'size', kind: 'numeric', values }
 * const [score] = gainRatioScores([size], Uint8Array.of(1, 1, 1, 0, 0, 0))
 * score.rawGain // 1
 */
export function gainRatioScores(
  columns: readonly TreeColumn[],
  labels: Uint8Array,
  { minLeaf = 2, c45Strict = false }: GainRatioScoresOptions = {},
): GainRatioScore[] {
  requireCount('minLeaf', minLeaf)
  requireTreeColumns(columns, labels.length)
  const rows = labels.length
  const coded = columns.map(codeColumn)
  const most = coded.reduce((largest, { size }) => Math.max(largest, size), 0)
  const all = allRows(rows)
  const options = { minLeaf, strict: c45Strict }
  const counts = classCounts(all, labels)
  return gainRatioScoresOf(coded, all, counts, new ValueGroups(most, rows), xLogX(rows), options)
}
