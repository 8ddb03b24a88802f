import type { Categories } from '../categories/categories.ts'
import { findEdgeChanges } from '../edges/find-edge-changes.ts'
import { findResponseTimeMutations } from '../mutations/find-response-time-mutations.ts'
import { findStructuralMutations } from '../mutations/find-structural-mutations.ts'
import { matchPrecursors } from '../precursors/match-precursors.ts'
import { rankMutations } from '../ranking/rank-mutations.ts'
import type { Findings } from './findings.ts'
import { groupFindings } from './group-findings.ts'

/** Categories, structures and edges are tested apart, and any of them makes a finding. */
const KINDS_OF_EVIDENCE = 3

/** The level at which each kind of evidence is tested, so that all findings together keep `alpha`. */
export function findingsLevel(alpha: number): number {
  return alpha / KINDS_OF_EVIDENCE
}

/**
 * Finds what changed between two periods, one entry a cause, by corrected tests, as
 * `comparison.findings` does with default options. Of periods that do not differ, at most `alpha` of
 * all comparisons find anything.
 *
 * @param options.alpha chance of any false finding; default 0.05
 * @param options.limit most findings to keep; default 10
 * @throws OptionError for an alpha outside 0 to 1
 *
 * @example
 * findFindings(categories).findings.map(({ title }) => title)
 */
export function findFindings(categories: Categories, { alpha = 0.05, limit = 10 } = {}): Findings {
  const level = findingsLevel(alpha)
  const responseTime = findResponseTimeMutations(categories, { alpha: level, correction: 'bh' })
  const structural = findStructuralMutations(categories, { alpha: level, smPThreshold: 'auto' })
  const evidence = rankMutations(responseTime, matchPrecursors(structural))
  const edges = findEdgeChanges(categories, { alpha: level })
  return groupFindings({ ranking: evidence, evidence, edges }, { limit })
}
