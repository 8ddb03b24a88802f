import { type Comparison, compare } from '../../../src/compare/comparison.ts'
import type { StageTable } from '../../../src/core/stage-table.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { exploreVariation } from '../../../src/views/widgets/variation/explore-variation.ts'
import type { VariationData } from '../../../src/views/widgets/variation/variation-model.ts'

const FOLDER = new URL('../../../datasets/storage-service/mds-prefetch/', import.meta.url).pathname

export const comparison = compare(
  await loadTraces(`${FOLDER}before.jsonl.gz`),
  await loadTraces(`${FOLDER}after.jsonl.gz`),
)

export const dataOf = (of: Comparison): VariationData => exploreVariation(of).data as VariationData

export const data = dataOf(comparison)

/** What code from the widget gives when it is pasted. */
export function pasted(code: string, of: Comparison = comparison): StageTable {
  return new Function('comparison', `return ${code}`)(of)
}

/** The categories of a table, ascending. */
export function categoriesOf(table: StageTable): number[] {
  return Array.from(table.array('category') as ArrayLike<number>).sort((a, b) => a - b)
}
