import type { Comparison } from '../../compare/comparison.ts'
import type { Finding } from '../../compare/findings/finding.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { explainEdge } from './explain-edge.ts'
import { explainMutation } from './explain-mutation.ts'
import type { ExplainOptions } from './explain-options.ts'
import type { Explanation } from './explanation.ts'

/**
 * Explains a finding by low-level parameters: a step that takes another time by the calls of that
 * step in all requests; other work by the requests that most moved from one kind to another; slower
 * requests by those of the kind that most of them are of.
 *
 * @param comparison from `compare`
 * @param finding one of `comparison.findings.findings`
 * @param options as for `explainMutation`
 * @throws as `explainMutation` and `explainEdge` do
 *
 * @example
 * const [finding] = comparison.findings.findings
 * explainFinding(comparison, finding).text()
 */
export function explainFinding(
  comparison: Comparison,
  finding: Finding,
  options: ExplainOptions = {},
): Explanation {
  const [edge] = finding.changedEdges
  if (finding.kind === 'edges' && edge !== undefined) return explainEdge(comparison, edge, options)
  const [move] = finding.moves.toSorted((a, b) => b.requests - a.requests)
  if (move === undefined) {
    return explainMutation(comparison, { category: finding.categories[0] as number }, options)
  }
  const period = comparison.categories.count(move.from, BEFORE) > 0 ? BEFORE : AFTER
  const pair = {
    before: { category: move.from, period },
    after: { category: move.to, period: AFTER },
  }
  return explainMutation(comparison, pair, options)
}
