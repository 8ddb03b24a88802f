import { OptionError } from '../../core/errors.ts'
import { andersonDarlingTwoSample } from '../../stats/anderson-darling.ts'
import { ksTwoSample } from '../../stats/ks-two-sample.ts'
import { mannWhitney } from '../../stats/mann-whitney.ts'
import { permutationTest } from '../../stats/permutation-test.ts'
import { tailTest } from '../../stats/tail-test.ts'
import type { Alternative, TwoSampleResult } from '../../stats/two-sample.ts'

/**
 * How two samples of times are compared:
 * - `'ks'`: Kolmogorov-Smirnov, any difference, best in the middle;
 * - `'anderson-darling'`: any difference, better in the tails;
 * - `'mann-whitney'`: whether requests tend to be slower; best for shifts;
 * - `'permutation'`: whether the means differ, with no assumption;
 * - `'p95'`, `'p99'`: whether more requests lie beyond that quantile of both.
 */
export type SampleTest = (typeof SAMPLE_TESTS)[number]

export const SAMPLE_TESTS = [
  'ks',
  'anderson-darling',
  'mann-whitney',
  'permutation',
  'p95',
  'p99',
] as const

/** A test's result, whichever test it was. */
export interface SampleComparison extends TwoSampleResult {
  /** Where the distributions are furthest apart, for `'ks'`; else `NaN`. */
  readonly location: number
}

export interface SampleTestOptions {
  readonly test: SampleTest
  readonly alternative: Alternative
  readonly method: 'stephens' | 'exact' | 'auto'
}

export function compareSamples(
  before: Float64Array,
  after: Float64Array,
  { test, alternative, method }: SampleTestOptions,
): SampleComparison {
  switch (test) {
    case 'ks':
      return ksTwoSample(before, after, { alternative, method })
    case 'anderson-darling':
      return withoutLocation(towards(andersonDarlingTwoSample(before, after), alternative))
    case 'mann-whitney':
      return withoutLocation(mannWhitney(before, after, { alternative }))
    case 'permutation':
      return withoutLocation(permutationTest(before, after, { alternative }))
    case 'p95':
      return withoutLocation(tailTest(before, after, { quantile: 0.95, alternative }))
    case 'p99':
      return withoutLocation(tailTest(before, after, { quantile: 0.99, alternative }))
    default:
      throw new OptionError('test', test, `one of ${SAMPLE_TESTS.join(', ')}`)
  }
}

function withoutLocation(result: TwoSampleResult): SampleComparison {
  return { ...result, location: Number.NaN }
}

/** A test that knows no direction says nothing for one that the samples do not go in. */
function towards(result: TwoSampleResult, alternative: Alternative): TwoSampleResult {
  const agrees = alternative === 'two-sided' || result.direction === alternative
  return agrees ? result : { ...result, p: 1 }
}
