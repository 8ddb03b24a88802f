import { isTestable } from './ks-two-sample.ts'
import { sortedFinite } from './sorted-finite.ts'
import type { TwoSampleResult } from './two-sample-result.ts'

/** Two samples, each ascending and finite. */
export interface SortedPair {
  readonly first: ArrayLike<number>
  readonly second: ArrayLike<number>
  readonly sizes: Omit<TwoSampleResult, 'statistic' | 'p' | 'direction'>
}

/** Sorts both samples, leaves out what is not finite, and counts. */
export function sortedPair(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  sorted = false,
): SortedPair {
  const { values: first, dropped: droppedBefore } = sortedFinite(before, { sorted })
  const { values: second, dropped: droppedAfter } = sortedFinite(after, { sorted })
  const beforeCount = first.length
  const afterCount = second.length
  const testable = isTestable(beforeCount, afterCount)
  const sizes = { beforeCount, afterCount, droppedBefore, droppedAfter, testable }
  return { first, second, sizes }
}
