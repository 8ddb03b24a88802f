import type { Precursors } from '../precursors/precursors.ts'
import { structureDistances } from '../precursors/structure-distances.ts'
import type { StructureMove } from './finding.ts'

/**
 * What became of whom: for each structural mutation its likeliest precursor, and for each category
 * that lost requests to no mutation the most similar one of its type that gained some, however few.
 *
 * The 1:N rule is waived where it leaves a mutation without a precursor: in short periods a
 * precursor may well have lost fewer requests than chance brought to the mutation.
 */
export function structureMoves(precursors: Precursors): StructureMove[] {
  const { structural } = precursors
  const { changes } = structural
  const lost = structural.precursors
  const moves = structural.mutations.map((mutation) => {
    const from = precursors.of(mutation)[0]?.category ?? nearest(precursors, mutation, lost)
    return { from: from ?? mutation, to: mutation, requests: changes[mutation] as number }
  })
  const matched = new Set(moves.map(({ from }) => from))
  const gaining = Array.from(changes, (_, category) => category).filter(
    (category) => (changes[category] as number) > 0,
  )
  const strays = lost
    .filter((category) => !matched.has(category))
    .map((from) => ({
      from,
      to: nearest(precursors, from, gaining) ?? from,
      requests: -(changes[from] as number),
    }))
  return [...moves, ...strays]
}

/** The category among `others` whose structure is most like that of `category`, of its root. */
function nearest(
  { structural: { categories }, options }: Precursors,
  category: number,
  others: readonly number[],
): number | undefined {
  const root = categories.root(category)
  const alike = others.filter((other) => categories.root(other) === root)
  const { nsed } = structureDistances(categories, options.editTokens).from(category, alike)
  let best = 0
  for (let i = 1; i < alike.length; i++) {
    if ((nsed[i] as number) < (nsed[best] as number)) best = i
  }
  return alike[best]
}
