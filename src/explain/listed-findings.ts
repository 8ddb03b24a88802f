import type { Finding } from '../compare/findings/finding.ts'
import type { EdgeComparison } from '../compare/mutations/find-response-time-mutations.ts'
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

/** Returns the category that the requests of a mutation were before; `undefined` where none is known. */
export function originOf({ kind, category, precursors }: Mutation): number | undefined {
  // Changed work is compared with the likeliest earlier requests.
  return kind === 'structural' ? precursors[0]?.category : category
}

type Mutation = Pick<RankedMutation, 'kind' | 'category' | 'precursors'>

/** Returns how far response times of a mutation shifted, against its origin; `null` without one. */
export function mutationEffect({ responseTime, structural }: Comparison, mutation: Mutation) {
  const { kind, category } = mutation
  const origin = originOf(mutation)
  if (origin === undefined) return null
  const { q } = (kind === 'structural' ? structural : responseTime).test(category)
  return { ...responseTime.medianEffect(category, origin), q }
}

/** Returns in which ways a category changed: its number of requests, their times, or both. */
export function changesOf({ structural, responseTime }: Comparison, id: number): string[] {
  const label = structural.label(id)
  const changed = label === 'unchanged' ? [] : [label]
  return responseTime.test(id).rejected ? [...changed, 'response-time-mutation'] : changed
}

/** Returns the edges that changed first, then those whose mean changed most, in the flow's order. */
export function mostChanged(
  edges: readonly EdgeComparison[],
  max: number,
): readonly EdgeComparison[] {
  if (edges.length <= max) return edges
  const size = ({ test, beforeMeanUs, afterMeanUs }: EdgeComparison) =>
    test?.rejected === true ? Number.POSITIVE_INFINITY : Math.abs(afterMeanUs - beforeMeanUs) || 0
  return [...edges]
    .sort((a, b) => size(b) - size(a) || a.number - b.number)
    .slice(0, max)
    .sort((a, b) => a.number - b.number)
}
