import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import { decodeColumns, type EncodedColumns } from '../../../src/core/columns.ts'
import { findVariance, VarianceSources } from '../../../src/explain/variance/find-variance.ts'
import { explore } from '../../../src/views/explore.ts'
import type { VarianceData } from '../../../src/views/widgets/variance/variance-widget.tsx'
import { compareShops } from '../../compare/findings/fixture.ts'
import { makeGraphs } from '../../make-traces.ts'

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

/** One category, a chain of edges that take longer together. */
export function compareChain(edges: number) {
  const graphs = Array.from({ length: 20 }, (_, i) => ({
    labels: Array.from({ length: edges + 1 }, (_, step) => `m__t__S${step}`),
    edges: Array.from({ length: edges }, (_, edge) => [edge, edge + 1] as const),
    latencyUs: Array.from({ length: edges }, (_, edge) => 100 + i + ((i * (edge + 1)) % 3)),
  }))
  return compare(makeGraphs(graphs), makeGraphs(graphs))
}
