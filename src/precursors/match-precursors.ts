import { OptionError } from '../errors.ts'
import type { StructuralMutations } from '../mutations/structural-mutations.ts'
import { editDistance } from '../stats/edit-distance.ts'
import { Dictionary } from '../traces/dictionary.ts'
import { type EditTokens, editTokens } from './edit-tokens.ts'
import { type PrecursorCandidate, type PrecursorOptions, Precursors } from './precursors.ts'

const TOKENS: readonly EditTokens[] = ['preorder', 'edges']

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
 *
 * Source: Sambasivan 2013, §2.4.3 and §2.6.4.
 *
 * @example
 * matchPrecursors(findStructuralMutations(categories)).of(3)
 */
export function matchPrecursors(
  structural: StructuralMutations,
  { oneToN = true, editTokens: tokenKind = 'preorder' }: Partial<PrecursorOptions> = {},
): Precursors {
  if (!TOKENS.includes(tokenKind)) {
    throw new OptionError('editTokens', tokenKind, "'preorder' or 'edges'")
  }
  const { categories, changes } = structural
  const distances = new StructureDistances((category, dictionary) =>
    editTokens(categories.structure(category), tokenKind, dictionary),
  )
  const byRoot = new Map<string, number[]>()
  for (const precursor of structural.precursors) {
    const { root } = categories.structure(precursor)
    byRoot.set(root, [...(byRoot.get(root) ?? []), precursor])
  }
  const candidates = new Map<number, readonly PrecursorCandidate[]>()
  for (const mutation of structural.mutations) {
    const gained = changes[mutation] as number
    const sameRoot = byRoot.get(categories.structure(mutation).root) ?? []
    const possible = sameRoot.filter(
      (precursor) => !oneToN || -(changes[precursor] as number) >= gained,
    )
    candidates.set(
      mutation,
      weigh(possible.map((category) => ({ category, ...distances.between(mutation, category) }))),
    )
  }
  return new Precursors(structural, { oneToN, editTokens: tokenKind }, candidates)
}

function weigh(
  candidates: readonly { category: number; nsed: number; inverse: number }[],
): PrecursorCandidate[] {
  const sum = candidates.reduce((total, { inverse }) => total + inverse, 0)
  return candidates
    .map(({ category, nsed, inverse }) => ({ category, nsed, weight: inverse / sum }))
    .sort((a, b) => b.weight - a.weight || a.category - b.category)
}

/** Edit distances between categories; the tokens of each are made once. */
class StructureDistances {
  readonly #dictionary = new Dictionary()
  readonly #tokens = new Map<number, Uint32Array>()
  readonly #make: (category: number, dictionary: Dictionary) => Uint32Array

  constructor(make: (category: number, dictionary: Dictionary) => Uint32Array) {
    this.#make = make
  }

  /** Normalized distance and its inverse; different structures that read the same are nearly 0. */
  between(a: number, b: number): { nsed: number; inverse: number } {
    const tokensA = this.#tokensOf(a)
    const tokensB = this.#tokensOf(b)
    const longer = Math.max(tokensA.length, tokensB.length, 1)
    const nsed = editDistance(tokensA, tokensB) / longer
    return { nsed, inverse: nsed === 0 ? 2 * longer : 1 / nsed }
  }

  #tokensOf(category: number): Uint32Array {
    const tokens = this.#tokens.get(category) ?? this.#make(category, this.#dictionary)
    this.#tokens.set(category, tokens)
    return tokens
  }
}
