import { AFTER } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'

/** Each category once, the one with the most requests after first. */
export function byRequestsAfter(categories: Categories, ids: readonly number[]): number[] {
  return [...new Set(ids)].sort(
    (a, b) => categories.count(b, AFTER) - categories.count(a, AFTER) || a - b,
  )
}

/** How many requests the categories have after. */
export function requestsAfter(categories: Categories, ids: readonly number[]): number {
  return ids.reduce((sum, category) => sum + categories.count(category, AFTER), 0)
}
