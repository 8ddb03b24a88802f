import { OptionError } from '../../core/errors.ts'
import { certaintyText, grouped } from '../../core/words.ts'
import { ksTwoSample } from '../../stats/ks-two-sample.ts'
import { mannWhitney } from '../../stats/mann-whitney.ts'
import { tailTest } from '../../stats/tail-test.ts'
import {
  type Alternative,
  equalSamples,
  type SamplePair,
  type TwoSampleResult,
} from '../../stats/two-sample.ts'

/**
 * Test that compares two samples of times:
 * - `'ks'`: Kolmogorov-Smirnov, any difference, best in the middle;
 * - `'mann-whitney'`: whether requests tend to be slower; best for shifts;
 * - `'p95'`, `'p99'`: whether more requests lie beyond that quantile of both.
 */
export type SampleTest = keyof typeof TESTS

interface TestKind {
  /** Name of the test and its statistic in results. */
  readonly words: string
  readonly compare: (
    before: ArrayLike<number>,
    after: ArrayLike<number>,
    how: Omit<SampleTestOptions, 'test'>,
  ) => TwoSampleResult & Partial<SampleComparison>
}

const TESTS = {
  ks: { words: 'KS test: D', compare: ksTwoSample },
  'mann-whitney': {
    words: 'Mann-Whitney test: U',
    compare: (before, after, { alternative }) => mannWhitney(before, after, { alternative }),
  },
  p95: {
    words: 'Test of the slowest 5 %: difference of the shares',
    compare: (before, after, { alternative }) =>
      tailTest(before, after, { quantile: 0.95, alternative }),
  },
  p99: {
    words: 'Test of the slowest 1 %: difference of the shares',
    compare: (before, after, { alternative }) =>
      tailTest(before, after, { quantile: 0.99, alternative }),
  },
} satisfies Readonly<Record<string, TestKind>>

export const SAMPLE_TESTS = Object.keys(TESTS) as SampleTest[]

/** Says a test's result: `KS test: D = 0.23, p < 0.001`. */
export function testText(test: SampleTest, { statistic, p }: TwoSampleResult): string {
  const { words }: TestKind = TESTS[test]
  const digits = Math.abs(statistic) < 10 ? statistic.toFixed(2) : grouped(Math.round(statistic))
  return `${words} = ${digits}, ${certaintyText(p)}`
}

/** A test's result, whichever test it was. */
export interface SampleComparison extends TwoSampleResult {
  /** Place where the distributions are furthest apart, for `'ks'`; else `NaN`. */
  readonly location: number
}

export interface SampleTestOptions {
  readonly test: SampleTest
  readonly alternative: Alternative
  readonly method: 'stephens' | 'exact' | 'auto'
}

/** Compares two samples. A test without weights gets as many equally weighted values as the samples are worth. */
export function compareSamples(
  pair: SamplePair,
  { test, ...how }: SampleTestOptions,
): SampleComparison {
  if (!Object.hasOwn(TESTS, test)) {
    throw new OptionError('test', test, `one of ${SAMPLE_TESTS.join(', ')}`)
  }
  const { compare }: TestKind = TESTS[test]
  const { before, after, beforeWeights, afterWeights } = pair
  if (test === 'ks') return ksTwoSample(before, after, { ...how, beforeWeights, afterWeights })
  const equal = equalSamples(pair)
  return { location: Number.NaN, ...compare(equal.before, equal.after, how) }
}
