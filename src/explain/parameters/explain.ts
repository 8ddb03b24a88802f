import type { Comparison } from '../../compare/comparison.ts'
import type { PooledEdge } from '../../compare/edges/edge-pool.ts'
import type { Finding } from '../../compare/findings/finding.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import type { FlowsToCompare } from '../flow-pair/flow-pair.ts'
import { explainEdge } from './explain-edge.ts'
import { explainMutation } from './explain-mutation.ts'
import type { ExplainOptions, Explanation } from './explanation.ts'

/**
 * Explains a change by low-level parameters: which ones separate the requests that changed from
 * what they were, and which ones slow requests have.
 *
 * Of a finding about a step, and of an edge, the calls of that step in all requests are explained;
 * of a finding about other work, the requests that moved most from one category to another; of any
 * other finding, those of its largest category.
 *
 * @param comparison from `compare`
 * @param what a mutation of the ranking, a category, two categories with their periods, a finding,
 *   or an edge of `comparison.edges`
 * @param options see `EXPLAIN_OPTIONS`
 * @throws FlowdeltaError where nothing was recorded, or for an unknown option; OptionError for a
 *   category that does not exist or a value that an option does not take
 *
 * Source: Sambasivan 2013, §2.6.6.
 *
 * @example
 * const [finding] = comparison.findings.findings
 * explain(comparison, finding).text()
 */
export function explain(
  comparison: Comparison,
  what: FlowsToCompare | Finding | Pick<PooledEdge, 'fromNode' | 'toNode'>,
  options: ExplainOptions = {},
): Explanation {
  if (typeof what !== 'object' || what === null) return explainMutation(comparison, what, options)
  if ('fromNode' in what) return explainEdge(comparison, what, options)
  if ('changedEdges' in what) return explainFinding(comparison, what, options)
  return explainMutation(comparison, what, options)
}

function explainFinding(
  comparison: Comparison,
  { kind, changedEdges, moves, categories }: Finding,
  options: ExplainOptions,
): Explanation {
  const [edge] = changedEdges
  if (kind === 'edges' && edge !== undefined) return explainEdge(comparison, edge, options)
  const [move] = moves.toSorted((a, b) => b.requests - a.requests)
  if (move === undefined) {
    return explainMutation(comparison, { category: categories[0] as number }, options)
  }
  const period = comparison.categories.count(move.from, BEFORE) > 0 ? BEFORE : AFTER
  const pair = {
    before: { category: move.from, period },
    after: { category: move.to, period: AFTER },
  }
  return explainMutation(comparison, pair, options)
}
