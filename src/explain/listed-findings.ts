import type { Finding } from '../compare/findings/finding.ts'
import type { RankedMutation } from '../compare/ranking/rank-mutations.ts'
import type { Comparison } from '../comparison/comparison.ts'
import { entryNamed, FlowdeltaError, show } from '../core/errors.ts'
import { AFTER, BEFORE, type Period } from '../traces/period.ts'
import { explain, explainMutation } from './parameters/explain.ts'
import type { Explanation } from './parameters/explanation.ts'

/** Finding with what a list of all findings says of it. */
export type ListedFinding = Finding & {
  /** Id of the finding that it is a consequence of; `null` for a cause. */
  readonly consequenceOf: string | null
  /** All requests of both periods. */
  readonly all: readonly [before: number, after: number]
}

/** Returns causes, the most important first, then their consequences. */
export function listedFindings({ findings, flows }: Comparison): ListedFinding[] {
  const causes = findings.findings
  const counted = (period: Period) => Math.round(flows.countedIn(period))
  const all = [counted(BEFORE), counted(AFTER)] as const
  return [
    ...causes.map((finding) => ({ ...finding, consequenceOf: null, all })),
    ...causes.flatMap(({ id, consequences }) =>
      consequences.map((finding) => ({ ...finding, consequenceOf: id, all })),
    ),
  ]
}

/** Returns the printed number of a finding: `#1` for `1`. */
export function rankName(which: unknown): unknown {
  return /^\d+$/.test(String(which)) ? `#${which}` : which
}

/** Returns the finding of a rank or an id; throws for another, and says which was meant. */
export function findingCalled(comparison: Comparison, which: unknown): ListedFinding {
  const findings = listedFindings(comparison)
  if (findings.length === 0) {
    throw new FlowdeltaError(`${show(which)} is no finding: this comparison has none.`)
  }
  const causes = findings.filter(({ consequenceOf }) => consequenceOf === null)
  const named = [
    ...causes.map((finding) => [`#${finding.rank}`, finding] as const),
    ...findings.map((finding) => [finding.id, finding] as const),
  ]
  return entryNamed(
    Object.fromEntries(named),
    rankName(which),
    'not the rank or the id of a finding',
  )
}

/** Entries to explain: a finding, a mutation or both, with their explanations. */
export interface Explained {
  readonly finding: (ListedFinding & { readonly why: Explanation }) | null
  readonly mutation: (RankedMutation & { readonly why: Explanation }) | null
}

/**
 * Returns the entries to explain, `null` if there is nothing to explain; throws if no finding or mutation has that
 * name.
 */
export function explainCalled(comparison: Comparison, which: string): Explained | null {
  const { findings } = comparison.findings
  const { mutations } = comparison.ranking
  if (findings.length + mutations.length === 0) return null
  const mutation = mutations.find(({ rank }) => rankName(which) === `#${rank}`)
  // There may be more mutations than findings.
  const isAlone = mutation !== undefined && findings.length < mutation.rank
  const finding = isAlone ? undefined : findingCalled(comparison, which)
  return {
    finding: finding === undefined ? null : { ...finding, why: explain(comparison, finding) },
    mutation:
      mutation === undefined ? null : { ...mutation, why: explainMutation(comparison, mutation) },
  }
}
