import { categorize } from '../categories/categorize.ts'
import { findFindings } from '../findings/find-findings.ts'
import type { FlowSet } from '../flows/flow-set.ts'
import { selectRequests } from '../flows/select-requests.ts'
import { findResponseTimeMutations } from '../mutations/find-response-time-mutations.ts'
import { findStructuralMutations } from '../mutations/find-structural-mutations.ts'
import type { Correction } from '../mutations/response-time-mutations.ts'
import { randomSource } from '../stats/random.ts'

/** How often comparisons of the same with the same find something. */
export interface NullRates {
  readonly comparisons: number
  readonly correction: Correction
  /** Share of testable categories that were rejected, over all comparisons. */
  readonly categoryRejectionRate: number
  readonly testableCategories: number
  /** Share of testable critical-path edges of testable categories that were rejected. */
  readonly edgeRejectionRate: number
  readonly testableEdges: number
  /**
   * Share of comparisons that report anything: any finding where results are corrected, any
   * mutation, in time or in structure, where they are not.
   */
  readonly anyFindingRate: number
}

/**
 * Compares random halves of one period with each other, many times. Nothing differs between them,
 * so whatever is found is a false alarm; the stated level is what may be.
 *
 * @param flows requests of one period (or of several that are known to be alike)
 * @param options.comparisons how many random splits; default 100
 * @param options.seed default 1
 * @param options.edges test edges as well, those of every testable category; default `true`
 */
export function compareHalves(
  flows: FlowSet,
  {
    comparisons = 100,
    correction = 'none' as Correction,
    alpha = 0.05,
    seed = 1,
    edges = true,
  } = {},
): NullRates {
  const random = randomSource(seed)
  const rows = Array.from({ length: flows.size }, (_, request) => request)
  const half = flows.size >> 1
  const tally = { categories: 0, rejected: 0, edges: 0, rejectedEdges: 0, findings: 0 }
  for (let run = 0; run < comparisons; run++) {
    const shuffled = random.shuffle(rows)
    const before = shuffled.slice(0, half).sort((a, b) => a - b)
    const after = shuffled.slice(half, 2 * half).sort((a, b) => a - b)
    const categories = categorize(selectRequests(flows, { before, after }))
    const responseTime = findResponseTimeMutations(categories, { alpha, correction })
    for (let category = 0; category < categories.size; category++) {
      const test = responseTime.test(category)
      if (!test.testable) continue
      tally.categories++
      if (test.rejected) tally.rejected++
      if (!edges) continue
      for (const edge of responseTime.edges(category)) {
        if (edge.test?.testable !== true) continue
        tally.edges++
        if (edge.test.rejected) tally.rejectedEdges++
      }
    }
    const reports =
      correction === 'bh'
        ? findFindings(categories, { alpha }).findings.length
        : responseTime.mutations.length + findStructuralMutations(categories).mutations.length
    if (reports > 0) tally.findings++
  }
  return {
    ...{ comparisons, correction },
    categoryRejectionRate: tally.rejected / tally.categories,
    testableCategories: tally.categories,
    edgeRejectionRate: tally.rejectedEdges / tally.edges,
    testableEdges: tally.edges,
    anyFindingRate: tally.findings / comparisons,
  }
}
