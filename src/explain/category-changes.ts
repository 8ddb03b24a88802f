import type { EdgeComparison } from '../compare/mutations/find-response-time-mutations.ts'
import type { RankedMutation } from '../compare/ranking/rank-mutations.ts'
import type { Comparison } from '../comparison/comparison.ts'

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
