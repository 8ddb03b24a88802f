import type { Categories } from '../categories/categories.ts'
import { editDistanceFrom } from '../stats/edit-distance-from.ts'
import { Dictionary } from '../traces/dictionary.ts'
import { type EditTokens, editTokens } from './edit-tokens.ts'

/** How far a category's structure is from another's. */
export interface StructureDistance {
  readonly category: number
  /** Edit distance as a share of the longer token string. */
  readonly nsed: number
  /** Its inverse; for different structures that read the same, of half an edit. */
  readonly inverse: number
}

/**
 * Edit distances between the structures of categories, each computed once: the same pairs are
 * asked for again whenever a threshold moves.
 */
export class StructureDistances {
  readonly #categories: Categories
  readonly #kind: EditTokens
  readonly #dictionary = new Dictionary()
  readonly #tokens: Uint32Array[] = []
  readonly #known = new Map<number, number>()

  constructor(categories: Categories, kind: EditTokens) {
    this.#categories = categories
    this.#kind = kind
  }

  /** Distances from one category to others. */
  from(category: number, others: readonly number[]): StructureDistance[] {
    const tokens = this.#tokensOf(category)
    const otherTokens = others.map((other) => this.#tokensOf(other))
    let distanceTo: ((text: Uint32Array) => number) | undefined
    return others.map((other, i) => {
      const text = otherTokens[i] as Uint32Array
      const longer = Math.max(tokens.length, text.length, 1)
      const pair = category * this.#categories.size + other
      let distance = this.#known.get(pair)
      if (distance === undefined) {
        distanceTo ??= editDistanceFrom(tokens, this.#dictionary.size)
        distance = distanceTo(text)
        this.#known.set(pair, distance)
      }
      const inverse = distance === 0 ? 2 * longer : longer / distance
      return { category: other, nsed: distance / longer, inverse }
    })
  }

  #tokensOf(category: number): Uint32Array {
    const known = this.#tokens[category]
    if (known !== undefined) return known
    const structure = this.#categories.structure(category)
    const tokens = editTokens(structure, this.#kind, this.#dictionary)
    this.#tokens[category] = tokens
    return tokens
  }
}

const CACHE = new WeakMap<Categories, Map<EditTokens, StructureDistances>>()

/** The distances of these categories, shared by everybody who asks. */
export function structureDistances(categories: Categories, kind: EditTokens): StructureDistances {
  const kinds = CACHE.get(categories) ?? new Map<EditTokens, StructureDistances>()
  CACHE.set(categories, kinds)
  const distances = kinds.get(kind) ?? new StructureDistances(categories, kind)
  kinds.set(kind, distances)
  return distances
}
