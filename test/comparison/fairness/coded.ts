import { type ComparisonOptions, compare } from '../../../src/comparison/comparison.ts'
import type {
  ComparisonWarning,
  WarningCode,
} from '../../../src/comparison/fairness/comparison-warning.ts'
import type { TraceSet } from '../../../src/traces/trace-set.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

type Period = TraceSet | readonly SpanSketch[]

/** The warnings of a comparison that have one code. */
export function coded(
  code: WarningCode,
  before: Period,
  after: Period,
  options: Partial<ComparisonOptions> = {},
): ComparisonWarning[] {
  const traces = (period: Period, name: string) =>
    'kind' in period ? period : makeSpans(period, name)
  return compare(traces(before, 'monday'), traces(after, 'tuesday'), options)
    .warnings()
    .filter((warning) => warning.code === code)
}
