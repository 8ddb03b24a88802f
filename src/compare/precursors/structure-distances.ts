import { editDistanceFrom } from '../../stats/edit-distance.ts'
import type { Categories } from '../categories/categories.ts'
import { editTokens } from './edit-tokens.ts'
import type { EditTokens } from './precursors.ts'

/** How far a structure is from others, one value each. */
export interface DistanceColumns {
  /** Edit distance as a share of the longer token string. */
  readonly nsed: Float64Array
  /** Its inverse; for different structures that read the same, that of half an edit. */
  readonly inverse: Float64Array
}

/**
 * Edit distances between the structures of categories, each computed once: the same pairs are
 * asked for again whenever a threshold moves.
 */
export class StructureDistances {
  readonly #categories: Categories
  readonly #kind: EditTokens
  readonly #tokens: Uint32Array[] = []
  /** For each category asked about, the edit distances to others. */
  readonly #known: Map<number, number>[] = []

  constructor(categories: Categories, kind: EditTokens) {
    this.#categories = categories
    this.#kind = kind
  }

  /** Distances from one category to others. */
  from(category: number, others: readonly number[]): DistanceColumns {
    const tokens = this.#tokensOf(category)
    const known = this.#known[category] ?? new Map<number, number>()
    this.#known[category] = known
    const nsed = new Float64Array(others.length)
    const inverse = new Float64Array(others.length)
    let distanceTo: ((text: Uint32Array) => number) | undefined
    for (let i = 0; i < others.length; i++) {
      const other = others[i] as number
      const text = this.#tokensOf(other)
      let distance = known.get(other)
      if (distance === undefined) {
        distanceTo ??= editDistanceFrom(tokens, 2 * this.#categories.labelCount)
        distance = distanceTo(text)
        known.set(other, distance)
      }
      const longer = Math.max(tokens.length, text.length, 1)
      nsed[i] = distance / longer
      inverse[i] = distance === 0 ? 2 * longer : longer / distance
    }
    return { nsed, inverse }
  }

  #tokensOf(category: number): Uint32Array {
    const known = this.#tokens[category]
    if (known !== undefined) return known
    const tokens = editTokens(this.#categories.outline(category), this.#kind)
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
