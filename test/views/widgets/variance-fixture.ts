import type { Comparison } from '../../../src/compare/comparison.ts'
import { decodeColumns, type EncodedColumns } from '../../../src/core/columns.ts'
import { findVariance, VarianceSources } from '../../../src/explain/variance/find-variance.ts'
import { explore } from '../../../src/views/explore.ts'
import type { VarianceData } from '../../../src/views/widgets/variance/variance-data.ts'
import { compareShops } from '../../compare/findings/fixture.ts'

export const comparison = compareShops({}, { payUs: 2600 })

export const variance = findVariance(comparison)

/** Data of the explorer of variance. */
export function dataOf(of: Comparison | VarianceSources = comparison, options: object = {}) {
  const widget =
    of instanceof VarianceSources ? explore(of, options) : explore(of, 'variance', options)
  return decodeColumns((widget.data as { data: EncodedColumns<VarianceData> }).data)
}

export const data = dataOf()

/** What code that is pasted into a cell gives. */
export function pasted(code: string, of = comparison): unknown {
  const given = { comparison: of, findVariance, explore }
  return new Function(...Object.keys(given), `return ${code}`)(...Object.values(given))
}
