import type { Categories } from '../../compare/categories/categories.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { type KsResult, ksTwoSample } from '../../stats/ks-two-sample.ts'

/**
 * Whether response times within categories vary more, or less, than before: a Kolmogorov-Smirnov
 * test of the variances of large categories, before against after.
 *
 * Null hypothesis: the categories' variances come from one distribution in both periods. With it
 * not rejected, a slowdown without mutations is not hidden in the categories' variance either.
 *
 * @param options.large categories with more requests than this in both periods count; default 10
 *
 * Source: Sambasivan 2013, §3.3.6.
 *
 * @example
 * compareVariances(categories).p
 */
export function compareVariances(categories: Categories, { large = 10 } = {}): KsResult {
  const before: number[] = []
  const after: number[] = []
  for (let category = 0; category < categories.size; category++) {
    const counts = [categories.count(category, BEFORE), categories.count(category, AFTER)]
    if (Math.min(...counts) <= large) continue
    before.push(categories.responseTimeMoments(category, BEFORE).variance)
    after.push(categories.responseTimeMoments(category, AFTER).variance)
  }
  return ksTwoSample(before, after)
}
