import type { TraceSet } from '../../traces/trace-set.ts'
import { affectedText, differsInShare, isConsiderable } from './affected-traces.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'

/** Some calls outlive their callers everywhere; from this share of traces on it is told. */
const LEAST_SHARE = 0.01

/**
 * Whether spans reach outside their parents on other hosts (what `traces.quality()` counts as
 * clock-skew), in more than 1 % of a period's traces or in differing shares.
 */
export function clockSkew({ before, after, flows }: ComparedPeriods): ComparisonWarning[] {
  const affected = {
    before: skewedTraces(before),
    after: skewedTraces(after),
    ofBefore: before.size,
    ofAfter: after.size,
  }
  if (!isConsiderable(affected, LEAST_SHARE)) return []
  const { clampedStarts, outsideParent } = flows.report.counts
  return [
    warning('clock-skew', {
      finding: `${affectedText(affected)} have spans that begin before or end after their parent on another host.`,
      effect:
        'Times between hosts are off by as much as their clocks, and calls that end after their caller ' +
        'count as not waited for, which is another structure; ' +
        `${clampedStarts} span(s) in all were taken as starting with their parent, ` +
        `${outsideParent} lie wholly outside it.` +
        (differsInShare(affected)
          ? ' The shares differ: callers that no longer wait may be the change itself.'
          : ''),
      answer:
        'Trust durations more than times between hosts, see `traces.quality().issues` for how far off ' +
        "they are, and keep the order of siblings out of structures with `concurrency: 'none'` (--concurrency none).",
    }),
  ]
}

function skewedTraces(traces: TraceSet): number {
  return traces.quality().counts.get('clock-skew') ?? 0
}
