import type { Comparison } from '../compare/comparison.ts'
import { FlowdeltaError } from '../core/errors.ts'
import { counted } from '../core/words.ts'
import { explain } from '../explain/parameters/explain.ts'
import { explainMutation } from '../explain/parameters/explain-mutation.ts'
import type { Explanation } from '../explain/parameters/explanation.ts'

/** What the parameters say of the finding and of the mutation of one rank. */
export interface ExplainedRank {
  readonly rank: number
  /** `null` where no finding has the rank. */
  readonly finding: Explanation | null
  readonly mutation: Explanation | null
}

/**
 * `null` where nothing was found, so that there is nothing to explain.
 *
 * @throws FlowdeltaError where neither a finding nor a mutation has the rank
 */
export function explainRank(comparison: Comparison, rank: number): ExplainedRank | null {
  const { findings } = comparison.findings
  const { mutations } = comparison.ranking
  if (findings.length + mutations.length === 0) return null
  const finding = findings[rank - 1]
  const mutation = mutations[rank - 1]
  if (finding === undefined && mutation === undefined) {
    throw new FlowdeltaError(
      `--explain ${rank}: there are ${counted(findings.length, 'finding')} and ` +
        `${counted(mutations.length, 'mutation')}. ` +
        `Give a rank from 1 to ${Math.max(findings.length, mutations.length)}.`,
    )
  }
  return {
    rank,
    finding: finding === undefined ? null : explain(comparison, finding),
    mutation: mutation === undefined ? null : explainMutation(comparison, mutation),
  }
}
