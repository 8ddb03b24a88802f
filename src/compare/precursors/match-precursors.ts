import { readOptions } from '../../core/options.ts'
import type { StructuralMutations } from '../mutations/structural-mutations.ts'
import {
  type CandidateColumns,
  PRECURSOR_OPTIONS,
  type PrecursorOptions,
  Precursors,
} from './precursors.ts'
import { type DistanceColumns, structureDistances } from './structure-distances.ts'

/**
 * For every structural mutation, the categories its requests may have belonged to before: those
 * that lost requests and have the same root, weighted by how alike their structures are.
 *
 * A candidate's weight is the inverse of its normalized string-edit distance to the mutation,
 * divided by the sum over all candidates. By the 1:N rule one precursor may turn into several
 * mutations but not the reverse, so one that lost fewer requests than the mutation gained is out.
 *
 * @param options.oneToN apply the 1:N rule; default `true`
 * @param options.editTokens `'preorder'` (default) or `'edges'`, see `EditTokens`
 * @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take
 *
 * Source: Sambasivan 2013, §2.4.3 and §2.6.4.
 *
 * @example
 * matchPrecursors(findStructuralMutations(categories)).of(3)
 */
export function matchPrecursors(
  structural: StructuralMutations,
  given: Partial<PrecursorOptions> = {},
): Precursors {
  const options = readOptions(PRECURSOR_OPTIONS, given)
  const { categories, changes } = structural
  const distances = structureDistances(categories, options.editTokens)
  const byRoot = new Map<string, number[]>()
  for (const precursor of structural.precursors) {
    const root = categories.root(precursor)
    const sameRoot = byRoot.get(root)
    if (sameRoot === undefined) byRoot.set(root, [precursor])
    else sameRoot.push(precursor)
  }
  const candidates = new Map<number, CandidateColumns>()
  for (const mutation of structural.mutations) {
    const gained = changes[mutation] as number
    const sameRoot = byRoot.get(categories.root(mutation)) ?? []
    const possible = sameRoot.filter(
      (precursor) => !options.oneToN || -(changes[precursor] as number) >= gained,
    )
    candidates.set(mutation, weigh(possible, distances.from(mutation, possible)))
  }
  return new Precursors(structural, options, candidates)
}

function weigh(
  categories: readonly number[],
  { nsed, inverse }: DistanceColumns,
): CandidateColumns {
  let sum = 0
  for (let i = 0; i < inverse.length; i++) sum += inverse[i] as number
  return { categories, nsed, weights: inverse.map((value) => value / sum) }
}
