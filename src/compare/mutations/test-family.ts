import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { compareSamples } from './compare-samples.ts'
import type { FamilyTest, ResponseTimeOptions } from './response-time-mutations.ts'

/** The two samples of one test. */
export interface SamplePair {
  readonly before: Float64Array
  readonly after: Float64Array
}

/**
 * Tests a family of sample pairs and corrects over its testable members. A pair with too few
 * samples is tested all the same, so that its numbers can be looked at, but never rejected.
 */
export function testFamily(
  pairs: readonly SamplePair[],
  { alpha, alternative, correction, method, test }: ResponseTimeOptions,
): FamilyTest[] {
  const results = pairs.map(({ before, after }) =>
    compareSamples(before, after, { test, alternative, method }),
  )
  const q = benjaminiHochberg(results.map(({ p, testable }) => (testable ? p : Number.NaN)))
  return results.map((result, i) => {
    const decisive = correction === 'bh' ? (q[i] as number) : result.p
    return { ...result, q: q[i] as number, rejected: result.testable && decisive < alpha }
  })
}
