import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'

/** Each category once, the one with the most requests after first. */
export function byRequestsAfter(categories: Categories, ids: readonly number[]): number[] {
  return [...new Set(ids)].sort(
    (a, b) => categories.count(b, AFTER) - categories.count(a, AFTER) || a - b,
  )
}

export function requestsOf(
  categories: Categories,
  ids: readonly number[],
): readonly [before: number, after: number] {
  const sum = (period: Period) =>
    ids.reduce((all, category) => all + categories.count(category, period), 0)
  return [sum(BEFORE), sum(AFTER)]
}
