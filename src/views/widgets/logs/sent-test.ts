import type { FeatureTest, PerformanceTest } from '../../../logs/divergence/divergence.ts'
import type { Feature } from '../../../logs/features/feature-types.ts'
import { readNumber, type SentNumber, sentNumber } from './sent-number.ts'

/** A test as a row: t, df, p, q, significant, tested, both means, both counts. */
export type SentTest = readonly SentNumber[]

/** Enough to show; t, which scores are computed from, is sent as it is. */
const DIGITS = 6

export function sentTest(test: PerformanceTest): SentTest {
  const { t, df, p, q, significant, tested, goodMean, badMean, goodCount, badCount } = test
  return [
    sentNumber(t),
    ...[df, p, q].map((value) => sentNumber(value, DIGITS)),
    ...[Number(significant), Number(tested)],
    ...[goodMean, badMean].map((value) => sentNumber(value, DIGITS)),
    ...[goodCount, badCount],
  ]
}

export function readTest(sent: SentTest): PerformanceTest {
  const [t, df, p, q, significant, tested, goodMean, badMean, goodCount, badCount] = sent.map(
    readNumber,
  ) as [number, number, number, number, number, number, number, number, number, number]
  return {
    ...{ t, df, p, q, goodMean, badMean, goodCount, badCount },
    significant: significant === 1,
    tested: tested === 1,
  }
}

/** A test of one feature of a variable. */
export function readFeatureTest(sent: SentTest, feature: Feature): FeatureTest {
  return { ...readTest(sent), feature }
}
