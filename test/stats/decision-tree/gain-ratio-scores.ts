import {
  classCounts,
  GainRatioScorer,
} from '../../../src/stats/decision-tree/grow-classification-tree.ts'
import { codeColumn } from '../../../src/stats/decision-tree/grow-node.ts'
import type { TreeColumn } from '../../../src/stats/index.ts'

/** What each column would gain as the root of a C4.5 tree, also those that trees leave out. */
export function gainRatioScores(
  columns: readonly TreeColumn[],
  labels: Uint8Array,
  { strict = false } = {},
) {
  const coded = columns.map(codeColumn)
  const all = { rows: Int32Array.from(labels.keys()), weights: undefined }
  const scorer = new GainRatioScorer(coded, labels.length, { minLeaf: 2, strict })
  return coded.map((column) => scorer.score(column, all.rows, classCounts(all, labels)))
}
