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
  const tests = results.map((result, i) => ({ ...result, q: q[i] as number, rejected: false }))
  return decideFamily(tests, { alpha, correction })
}

/** Rejects by p, or by q where p-values are corrected. */
export function decideFamily(
  tests: readonly FamilyTest[],
  { alpha, correction }: Pick<ResponseTimeOptions, 'alpha' | 'correction'>,
): FamilyTest[] {
  return tests.map((test) => {
    const decisive = correction === 'bh' ? test.q : test.p
    return { ...test, rejected: test.testable && decisive < alpha }
  })
}
