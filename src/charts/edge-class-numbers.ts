import type { Categories } from '../categories/categories.ts'

/** The edge class of each edge of a category's structure, in the order of its edges. */
export function edgeClassNumbers(categories: Categories, category: number): Uint32Array {
  return categories.structure(category).classOf
}
