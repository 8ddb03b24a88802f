import {
  type ComparisonWarning,
  partOf,
  type WarningCode,
  warning,
} from '../compare/fairness/comparison-warning.ts'
import { dataQuality } from '../compare/fairness/data-quality.ts'
import { isConsiderable, missingSpans, skewedTraces } from '../compare/fairness/trace-problems.ts'
import type { TraceSet } from '../traces/trace-set.ts'

/** Some calls outlive their callers everywhere; from this share of traces on it is told. */
const MIN_SKEWED = 0.01

export function whatifWarnings(periods: readonly TraceSet[]): readonly ComparisonWarning[] {
  return periods.flatMap((traces) => {
    const told = [...lostSpans(traces), ...differingClocks(traces)]
    return [...told, ...dataQuality(traces, told)]
  })
}

function lostSpans(traces: TraceSet): ComparisonWarning[] {
  const { orphaned, rootless } = missingSpans(traces)
  const found = (code: WarningCode, count: number, what: string, effect: string) =>
    isOften(count, traces)
      ? warning(code, {
          finding: `${traces.name}: ${partOf(count, traces.size)} traces ${what}.`,
          effect,
          answer: 'Load the files of all services.',
        })
      : []
  return [
    ...found(
      'orphans',
      orphaned,
      'have spans whose caller is not in the files',
      'These spans, and all below them, are left out: what their requests spend in them counts as ' +
        'own time of what is there, and requests look as if they took other flows.',
    ),
    ...found(
      'truncated-traces',
      rootless,
      'have no root',
      'They are no requests, unless what is left of them begins like other requests do.',
    ),
  ]
}

function differingClocks(traces: TraceSet): ComparisonWarning[] {
  const skewed = skewedTraces(traces)
  if (!isOften(skewed, traces, MIN_SKEWED)) return []
  return warning('clock-skew', {
    finding: `${traces.name}: ${partOf(skewed, traces.size)} traces have spans that begin before or end after their parent on another host.`,
    effect:
      'Where both client and server were recorded, clocks do not matter; elsewhere, calls that seem ' +
      'to end after their caller count as not waited for, and times before calls are off.',
    answer: '`traces.quality().issues` says how far off they are. Record client and server spans.',
  })
}

function isOften(count: number, { size }: TraceSet, leastShare?: number): boolean {
  return isConsiderable({ before: count, after: 0, ofBefore: size, ofAfter: size }, leastShare)
}
