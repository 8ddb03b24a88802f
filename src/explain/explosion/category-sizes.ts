import { type Categories, squaredVariation } from '../../compare/categories/categories.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { isTestable } from '../../stats/two-sample.ts'

/** Whether categories hold enough requests, and how much these vary within them. */
export interface CategorySizes {
  readonly categories: number
  /** Mean number of requests a category, of both periods together. */
  readonly requestsPerCategory: number
  /**
   * Categories with enough requests for the Kolmogorov-Smirnov test of before against after; of a
   * single period, for one against another of as many.
   */
  readonly testable: number
  /** Share of all requests that are in these. */
  readonly testableShare: number
  /**
   * C² = variance / mean² of response times in the category, and period, that the median request is
   * in; of those with two requests or more. NaN where there is none.
   */
  readonly medianC2: number
}

/** Measures how categories have turned out. */
export function categorySizes(categories: Categories): CategorySizes {
  const { flows, size } = categories
  const onePeriod = flows.count(BEFORE) === 0 || flows.count(AFTER) === 0
  const variations: Variation[] = []
  let testable = 0
  let testableRequests = 0
  for (let category = 0; category < size; category++) {
    const [before, after] = [categories.count(category, BEFORE), categories.count(category, AFTER)]
    const all = before + after
    if (onePeriod ? isTestable(all, all) : isTestable(before, after)) {
      testable++
      testableRequests += all
    }
    for (const period of [BEFORE, AFTER]) {
      const moments = categories.responseTimeMoments(category, period)
      const c2 = squaredVariation(moments)
      if (!Number.isNaN(c2)) variations.push({ c2, requests: moments.count })
    }
  }
  return {
    categories: size,
    requestsPerCategory: size === 0 ? Number.NaN : flows.size / size,
    testable,
    testableShare: flows.size === 0 ? Number.NaN : testableRequests / flows.size,
    medianC2: medianByRequests(variations),
  }
}

interface Variation {
  readonly c2: number
  readonly requests: number
}

/** Where categories are small their number says little: each counts with its requests. */
function medianByRequests(variations: Variation[]): number {
  const ascending = variations.sort((a, b) => a.c2 - b.c2)
  const half = ascending.reduce((sum, { requests }) => sum + requests, 0) / 2
  let counted = 0
  for (const { c2, requests } of ascending) {
    counted += requests
    if (counted >= half) return c2
  }
  return Number.NaN
}
