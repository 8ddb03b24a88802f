import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'

/** How many requests of one type there are; requests with the same root are of one type. */
export interface TypeCount {
  before: number
  after: number
}

/** Of each category, how many requests in all have its root. */
export function countTypes(categories: Categories): TypeCount[] {
  const types = new Map<string, TypeCount>()
  return Array.from({ length: categories.size }, (_, category) => {
    const root = categories.root(category)
    const type = types.get(root) ?? { before: 0, after: 0 }
    types.set(root, type)
    type.before += categories.count(category, BEFORE)
    type.after += categories.count(category, AFTER)
    return type
  })
}
