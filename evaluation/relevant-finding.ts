import type { EdgeChange } from '../src/compare/edges/find-edge-changes.ts'
import { type Finding, isStructural } from '../src/compare/findings/finding.ts'
import type { Comparison } from '../src/comparison/comparison.ts'
import { isRelevant, matchesNode } from './relevance.ts'
import type { RelevantPredicate, Truth } from './truth.ts'

/**
 * Place of the first finding that is a right answer, from 1; `null` when none is.
 *
 * A finding is right by what it says itself: an edge that it names as changed, or a structure that
 * requests moved to, is as the truth describes it.
 */
export function firstRelevantFinding(comparison: Comparison, truth: Truth): number | null {
  const { findings } = comparison.findings
  const first = findings.findIndex((finding) =>
    [finding, ...finding.consequences].some((one) =>
      isRelevantFinding(comparison, one, truth.relevant),
    ),
  )
  return first < 0 ? null : first + 1
}

function isRelevantFinding(
  comparison: Comparison,
  finding: Finding,
  predicate: RelevantPredicate,
): boolean {
  const { changedEdges, moves, categories } = finding
  if (predicate.none) return false
  if (isStructural(finding)) {
    return moves.some(({ from, to }) =>
      isRelevant(
        comparison,
        {
          category: to,
          kind: 'structural',
          precursors: [{ category: from, nsed: 0, weight: 1 }],
        },
        predicate,
      ),
    )
  }
  if (predicate.kind === 'structural') return false
  const { changedEdge } = predicate
  if (changedEdge !== undefined) {
    return changedEdges.some((edge) => isTheEdge(edge, changedEdge))
  }
  return categories.some((category) =>
    isRelevant(
      comparison,
      {
        category,
        kind: 'response-time',
        precursors: [],
      },
      predicate,
    ),
  )
}

function isTheEdge(
  { fromNode, toNode, shiftUs }: EdgeChange,
  { from, to, direction }: NonNullable<RelevantPredicate['changedEdge']>,
): boolean {
  return (
    shiftUs > 0 === (direction === 'slower') &&
    (from === undefined || matchesNode(fromNode, from)) &&
    (to === undefined || matchesNode(toNode, to))
  )
}
