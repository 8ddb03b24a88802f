import { addAt, at } from '../../src/core/entries.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { compareOperations, TRIPLED } from '../operation-baselines.ts'
import { coveredUs, endUs, findVisits } from './visits.ts'

/** Services that trivial ways of comparing two periods accuse, the likeliest first. */
export interface ServiceBaselines {
  /** Services of operations whose 95th percentile of durations at least tripled, by that ratio. */
  readonly p95Tripled: readonly string[]
  /** Services whose own time a request rose, the way to them included, by how much. */
  readonly ownTimeRise: readonly string[]
  /** Services of operations whose durations the KS test tells apart at 5 %, by its statistic. */
  readonly ksStatistic: readonly string[]
}

/** Ranks services in three ways that need no flows: what findings have to beat. */
export function serviceBaselines(before: SpanTraces, after: SpanTraces): ServiceBaselines {
  const operations = compareOperations(before, after)
  const earlier = ownTimes(before)
  const rises = [...ownTimes(after)].map(([service, timeUs]) => ({
    service,
    riseUs: timeUs - (earlier.get(service) ?? 0),
  }))
  return {
    p95Tripled: ranked(
      operations.filter(({ p95Ratio }) => p95Ratio >= TRIPLED),
      ({ p95Ratio }) => p95Ratio,
    ),
    ownTimeRise: ranked(
      rises.filter(({ riseUs }) => riseUs > 0),
      ({ riseUs }) => riseUs,
    ),
    ksStatistic: ranked(
      operations.filter(({ rejected }) => rejected),
      ({ statistic }) => statistic,
    ),
  }
}

function ranked<Row extends { readonly service: string }>(
  rows: readonly Row[],
  size: (row: Row) => number,
): string[] {
  const sorted = rows.toSorted((a, b) => size(b) - size(a))
  return [...new Set(sorted.map(({ service }) => service))]
}

/**
 * Returns each service's own time a request, in µs: of each visit the time from entry to reply that
 * no call of it covers, and what the call to it takes beyond its own span, which is the network's.
 */
export function ownTimes({ spans, services, size }: SpanTraces): ReadonlyMap<string, number> {
  const sumUs = new Float64Array(services.size)
  for (const { entry, calls } of findVisits(spans).visits) {
    const startUs = at(spans.startUs, entry)
    const stopUs = endUs(spans, entry)
    addAt(sumUs, at(spans.service, entry), stopUs - startUs - coveredUs(calls, [startUs, stopUs]))
    for (const call of calls) {
      const wayUs = call.endUs - call.startUs - at(spans.durationUs, call.callee)
      addAt(sumUs, at(spans.service, call.callee), wayUs)
    }
  }
  return new Map(Array.from(sumUs, (sum, code) => [services.value(code), sum / size]))
}
