import type { FeatureTest, PerformanceTest } from '../../../logs/divergence/divergence.ts'
import type { Feature } from '../../../logs/features/features.ts'
import { readNumber, type SentNumber, sentNumber } from './sent-number.ts'

/** A test as a row: t, df, p, q, significant, tested, both means, both counts. */
export type SentTest = readonly SentNumber[]

/** Enough to show; t, which scores are computed from, is sent as it is. */
const DIGITS = 6

export function sentTest(test: PerformanceTest): SentTest {
  const { t, df, p, q, significant, tested, beforeMean, afterMean, beforeCount, afterCount } = test
  return [
    sentNumber(t),
    ...[df, p, q].map((value) => sentNumber(value, DIGITS)),
    ...[Number(significant), Number(tested)],
    ...[beforeMean, afterMean].map((value) => sentNumber(value, DIGITS)),
    ...[beforeCount, afterCount],
  ]
}

export function readTest(sent: SentTest): PerformanceTest {
  const [t, df, p, q, significant, tested, beforeMean, afterMean, beforeCount, afterCount] =
    sent.map(readNumber) as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ]
  return {
    ...{ t, df, p, q, beforeMean, afterMean, beforeCount, afterCount },
    significant: significant === 1,
    tested: tested === 1,
  }
}

/** A test of one feature of a variable. */
export function readFeatureTest(sent: SentTest, feature: Feature): FeatureTest {
  return { ...readTest(sent), feature }
}
