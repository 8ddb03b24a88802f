import {
  type ComparisonWarning,
  partOf,
  type WarningCode,
  warning,
} from '../../comparison/fairness/comparison-warning.ts'
import {
  type Arrivals,
  missingIntervals,
  timeRanges,
} from '../../comparison/fairness/period-problems.ts'
import {
  dataQuality,
  duplicateTraces,
  isConsiderable,
  skewedTraces,
} from '../../comparison/fairness/trace-problems.ts'
import { missingSpans } from '../../traces/missing-spans.ts'
import { rootOf } from '../../traces/selection/span-values.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import type { TraceSet } from '../../traces/trace-set.ts'

/** Some calls outlive their callers everywhere; from this share of traces on it is reported. */
const MIN_SKEWED = 0.01

export function whatifWarnings(before: SpanTraces, after: SpanTraces | null): ComparisonWarning[] {
  const ofBoth: ComparisonWarning[] = []
  if (after !== null) {
    const arrivals: Arrivals = [arrivalsOf(before), arrivalsOf(after)]
    ofBoth.push(...duplicateTraces({ before, after }))
    ofBoth.push(...timeRanges(arrivals), ...missingIntervals(arrivals))
  }
  const ofEach = [before, ...(after === null ? [] : [after])].flatMap((traces) => {
    const told = [...lostSpans(traces), ...differingClocks(traces)]
    return [...told, ...dataQuality(traces, [...ofBoth, ...told])]
  })
  return [...ofBoth, ...ofEach]
}

function arrivalsOf(traces: SpanTraces): Float64Array {
  const epochUs = Number(traces.epochNs) / 1e3
  return Float64Array.from(traces.ids, (_, trace) => {
    return epochUs + (traces.spans.startUs[rootOf(traces, trace)] as number)
  }).sort()
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
      'These spans, and all below them, are left out: their time counts as own time of the services ' +
        'that remain, and requests seem to take other flows.',
    ),
    ...found(
      'truncated-traces',
      rootless,
      'have no root',
      'They do not count as requests, unless their first span is like the root of others.',
    ),
  ]
}

function differingClocks(traces: TraceSet): ComparisonWarning[] {
  const skewed = skewedTraces(traces)
  if (!isOften(skewed, traces, MIN_SKEWED)) return []
  return warning('clock-skew', {
    finding: `${traces.name}: ${partOf(skewed, traces.size)} traces have spans that begin before or end after their parent on another host, by clocks as recorded.`,
    effect:
      'Clocks do not matter where both client and server were recorded. Elsewhere, calls that seem ' +
      'to end after their caller count as not waited for, and times before calls are off.',
    answer: '`traces.quality().issues` says how far off they are. Record client and server spans.',
  })
}

function isOften(count: number, { size }: TraceSet, leastShare?: number): boolean {
  return isConsiderable({ before: count, after: 0, ofBefore: size, ofAfter: size }, leastShare)
}
