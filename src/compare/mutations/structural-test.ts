import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import type { Categories } from '../categories/categories.ts'
import { countTypes, type TypeCount } from './count-types.ts'

/** Whether a category holds another share of the requests of its type than before. */
export interface StructuralTest {
  /** Share of the requests with the category's root, before. */
  readonly beforeShare: number
  readonly afterShare: number
  /** Fisher's exact test of the two shares. */
  readonly p: number
  /** p corrected over the testable categories; `NaN` where this one is not. */
  readonly q: number
  /** Whether even the most uneven split of its requests could have been significant. */
  readonly testable: boolean
  readonly rejected: boolean
}

/**
 * Tests every category's share of the requests that have its root, so that neither unequal load
 * nor another mix of request types passes for a change of structure. Benjamini-Hochberg over the
 * testable categories: one so small that no split of it could be significant is left out of the
 * family, which costs no level, since that depends on the total alone.
 *
 * Source: Fisher 1922; Benjamini and Hochberg 1995; Tarone 1990 for leaving out what cannot reject.
 */
export function testStructures(categories: Categories, alpha: number): StructuralTest[] {
  const types = countTypes(categories)
  const tests = Array.from({ length: categories.size }, (_, category) => {
    const { before: ofBefore, after: ofAfter } = types[category] as TypeCount
    const before = categories.count(category, BEFORE)
    const after = categories.count(category, AFTER)
    return {
      beforeShare: before / ofBefore,
      afterShare: after / ofAfter,
      p: fisherExact(before, ofBefore, after, ofAfter).p,
      testable: leastP(before + after, ofBefore, ofAfter) < alpha,
    }
  })
  const q = benjaminiHochberg(tests.map(({ p, testable }) => (testable ? p : Number.NaN)))
  return tests.map((test, category) => ({
    ...test,
    q: q[category] as number,
    rejected: test.testable && (q[category] as number) < alpha,
  }))
}

/** The smallest p that `total` requests could give, if as many as can be fell into one period. */
function leastP(total: number, ofBefore: number, ofAfter: number): number {
  if (ofBefore === 0 || ofAfter === 0) return 1
  const inBefore = Math.min(total, ofBefore)
  const inAfter = Math.min(total, ofAfter)
  return Math.min(
    fisherExact(inBefore, ofBefore, total - inBefore, ofAfter).p,
    fisherExact(total - inAfter, ofBefore, inAfter, ofAfter).p,
  )
}
