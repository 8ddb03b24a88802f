import { ksTwoSample } from '../src/stats/ks-two-sample.ts'
import { quantile } from '../src/stats/quantile.ts'
import type { SpanTraces } from '../src/traces/span-traces.ts'
import { type RankedQuality, rankedQuality } from './ranked-quality.ts'
import { matchesSpan, type Truth } from './truth.ts'

/** How good two trivial ways of finding slow operations are. */
export interface BaselineQualities {
  /** Operations whose 95th percentile of durations at least tripled, the largest ratio first. */
  readonly p95Tripled: RankedQuality
  /** Operations by the KS statistic of their durations, as far as the test rejects at 5 %. */
  readonly ksStatistic: RankedQuality
}

/** One operation of a service in both periods. */
export interface ComparedOperation {
  readonly service: string
  readonly operation: string
  /** 95th percentile of its durations after over that before. */
  readonly p95Ratio: number
  /** KS statistic of its durations, and whether the test rejects at 5 %. */
  readonly statistic: number
  readonly rejected: boolean
}

/** Smallest ratio of 95th percentiles that counts as a change. */
export const TRIPLED = 3
const ALPHA = 0.05

/**
 * What comparing operations alone, without flows, finds: the baseline that any comparison of
 * request flows has to beat. An operation is a right answer when it is the cause's.
 */
export function operationBaselines(
  before: SpanTraces,
  after: SpanTraces,
  truth: Truth,
): BaselineQualities {
  const operations = compareOperations(before, after)
  const isCause = (operation: ComparedOperation) => {
    const { cause } = truth
    return cause !== null && matchesSpan(operation, cause)
  }
  const tripled = operations
    .filter(({ p95Ratio }) => p95Ratio >= TRIPLED)
    .sort((a, b) => b.p95Ratio - a.p95Ratio)
  const different = operations
    .filter(({ rejected }) => rejected)
    .sort((a, b) => b.statistic - a.statistic)
  return {
    p95Tripled: rankedQuality(tripled.map(isCause), null),
    ksStatistic: rankedQuality(different.map(isCause), null),
  }
}

/** Compares the durations of each operation that both periods have. */
export function compareOperations(before: SpanTraces, after: SpanTraces): ComparedOperation[] {
  const earlier = durationsByOperation(before)
  const later = durationsByOperation(after)
  return [...earlier].flatMap(([name, { service, operation, durations }]) => {
    const now = later.get(name)?.durations
    if (now === undefined) return []
    const test = ksTwoSample(durations, now)
    return [
      {
        service,
        operation,
        statistic: test.statistic,
        rejected: test.testable && test.p < ALPHA,
        p95Ratio: p95(now) / p95(durations),
      },
    ]
  })
}

function durationsByOperation({ spans, services, operations }: SpanTraces) {
  const found = new Map<string, { service: string; operation: string; durations: number[] }>()
  spans.service.forEach((code, span) => {
    const service = services.value(code)
    const operation = operations.value(spans.operation[span] as number)
    const name = JSON.stringify([service, operation])
    const known = found.get(name) ?? { service, operation, durations: [] }
    found.set(name, known)
    known.durations.push(spans.durationUs[span] as number)
  })
  return found
}

function p95(durations: readonly number[]): number {
  return quantile(Float64Array.from(durations).sort(), 0.95)
}
