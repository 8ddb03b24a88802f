import { categorize } from '../src/compare/categories/categorize.ts'
import {
  type Correction,
  findResponseTimeMutations,
} from '../src/compare/mutations/find-response-time-mutations.ts'
import { findStructuralMutations } from '../src/compare/mutations/find-structural-mutations.ts'
import { findFindings } from '../src/comparison/words/find-findings.ts'
import type { FlowSet } from '../src/flows/flow-set.ts'
import { selectRequests } from '../src/flows/select-requests.ts'
import { randomSource } from '../src/stats/random.ts'

/** How often comparisons of the same with the same find something. */
export interface NullRates {
  readonly comparisons: number
  readonly correction: Correction
  /** Share of testable categories that were rejected, over all comparisons. */
  readonly categoryRejectionRate: number
  readonly testableCategories: number
  /** Of the rate, each comparison taken as one draw: what it tests depends on each other. */
  readonly categoryStandardError: number
  /** Share of testable critical-path edges of testable categories that were rejected. */
  readonly edgeRejectionRate: number
  readonly testableEdges: number
  readonly edgeStandardError: number
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
  const ofCategories: Tally[] = []
  const ofEdges: Tally[] = []
  let reporting = 0
  for (let run = 0; run < comparisons; run++) {
    const shuffled = random.shuffle(rows)
    const before = shuffled.slice(0, half).sort((a, b) => a - b)
    const after = shuffled.slice(half, 2 * half).sort((a, b) => a - b)
    const categories = categorize(selectRequests(flows, { before, after }))
    const responseTime = findResponseTimeMutations(categories, { alpha, correction })
    const testable = Array.from({ length: categories.size }, (_, one) => one).filter(
      (category) => responseTime.test(category).testable,
    )
    ofCategories.push(tallied(testable.map((category) => responseTime.test(category))))
    ofEdges.push(
      tallied(
        (edges ? testable : [])
          .flatMap((category) => responseTime.edges(category).map(({ test }) => test))
          .filter((test) => test?.testable === true),
      ),
    )
    const reports =
      correction === 'bh'
        ? findFindings(categories, { alpha }).findings.length
        : responseTime.mutations.length + findStructuralMutations(categories).mutations.length
    if (reports > 0) reporting++
  }
  const category = rateOf(ofCategories)
  const edge = rateOf(ofEdges)
  return {
    comparisons,
    correction,
    categoryRejectionRate: category.rate,
    testableCategories: category.tests,
    categoryStandardError: category.standardError,
    edgeRejectionRate: edge.rate,
    testableEdges: edge.tests,
    edgeStandardError: edge.standardError,
    anyFindingRate: reporting / comparisons,
  }
}

/** The tests of one comparison. */
interface Tally {
  readonly tests: number
  readonly rejected: number
}

function tallied(tests: readonly ({ readonly rejected: boolean } | null)[]): Tally {
  return { tests: tests.length, rejected: tests.filter((test) => test?.rejected).length }
}

/** Share of rejections; its standard error is that of a ratio of sums over the comparisons. */
function rateOf(tallies: readonly Tally[]) {
  const tests = tallies.reduce((sum, tally) => sum + tally.tests, 0)
  const rate = tallies.reduce((sum, { rejected }) => sum + rejected, 0) / tests
  const squares = tallies.reduce(
    (sum, tally) => sum + (tally.rejected - rate * tally.tests) ** 2,
    0,
  )
  const n = tallies.length
  return { tests, rate, standardError: Math.sqrt((squares * n) / (n - 1)) / tests }
}
