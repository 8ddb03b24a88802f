import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { growingFloat64 } from '../../traces/growing-columns.ts'
import type { Categories } from './categories.ts'
import type { ClassTimes } from './class-times.ts'

/** What one period says of an edge class. */
export interface EdgeSample {
  /** One latency a request, in µs; see `collectEdgeSamples`. */
  readonly latencyUs: Float64Array
  /** In what share of the period's requests the edge is on the critical path. */
  readonly onCriticalPath: number
}

/** Latencies of one edge class, by period. */
export interface EdgeSamples {
  readonly before: EdgeSample
  readonly after: EdgeSample
}

/**
 * The latencies of every edge class of a category, one value a request so that samples stay
 * independent: where branches are identical, that of the branch on the critical path, else the
 * mean of the branches. An edge into a join counts only in the requests where the join waited for
 * it; elsewhere its latency is mostly waiting for another branch, and would accuse the wrong one.
 * Repetitions that were folded are as identical branches: see `ClassTimes`.
 */
export function collectEdgeSamples(
  categories: Categories,
  category: number,
  times: ClassTimes,
): EdgeSamples[] {
  const before = collectPeriod(categories, { category, period: BEFORE, times })
  const after = collectPeriod(categories, { category, period: AFTER, times })
  return before.map((sample, i) => ({ before: sample, after: after[i] as EdgeSample }))
}

function collectPeriod(
  categories: Categories,
  { category, period, times }: { category: number; period: Period; times: ClassTimes },
): EdgeSample[] {
  const { edgeClasses } = categories.structure(category)
  const members = categories.members(category, period)
  const latencies = edgeClasses.map(() => growingFloat64())
  const criticalRequests = new Uint32Array(edgeClasses.length)
  for (const request of members) {
    times.read(request)
    latencies.forEach((column, number) => {
      const isCritical = (times.criticalCount[number] as number) > 0
      if (isCritical) criticalRequests[number] = (criticalRequests[number] as number) + 1
      const counts = isCritical || (times.otherCount[number] as number) > 0
      if (counts) column.push(times.latencyUs(number))
    })
  }
  return latencies.map((column, number) => ({
    latencyUs: column.finish(),
    onCriticalPath:
      members.length === 0 ? 0 : (criticalRequests[number] as number) / members.length,
  }))
}
