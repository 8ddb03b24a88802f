import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { erfc } from '../../stats/distributions.ts'
import type { Categories } from '../categories/categories.ts'

/**
 * The smallest SM_P_THRESHOLD that chance alone would cross in a share `alpha` of comparisons: the
 * number of requests by which some category's count may differ though nothing changed.
 *
 * If nothing changed, each request of a category fell into either period independently (counts are
 * Poisson): its count after is binomial, and the change of its count has twice that standard
 * deviation. The chances of all categories to pass the threshold (normal approximation) add up to
 * `alpha`.
 *
 * One number for all categories is blunt: it is set by the largest ones, and misses what changed
 * in the small ones. `smPThreshold: 'auto'` tests each category instead.
 */
export function suggestThreshold(categories: Categories, alpha = 0.05): number {
  const before = categories.flows.count(BEFORE)
  const all = before + categories.flows.count(AFTER)
  const afterShare = (all - before) / all
  const deviations = Array.from({ length: categories.size }, (_, category) => {
    const total = categories.count(category, BEFORE) + categories.count(category, AFTER)
    return 2 * Math.sqrt(total * afterShare * (1 - afterShare))
  })
  const chance = (threshold: number) =>
    deviations.reduce((sum, sd) => sum + (sd > 0 ? erfc(threshold / (sd * Math.SQRT2)) : 0), 0)
  let low = 0
  let high = 1
  while (chance(high) > alpha) high *= 2
  while (high - low > 0.5) {
    const middle = (low + high) / 2
    if (chance(middle) > alpha) low = middle
    else high = middle
  }
  return Math.ceil(high)
}
