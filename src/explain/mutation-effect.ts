import type { Comparison } from '../compare/comparison.ts'
import type { RankedMutation } from '../compare/ranking/rank-mutations.ts'

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
