import type { Comparison } from '../../compare/comparison.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import type { TraceSet } from '../../traces/trace-set.ts'

/** Clocks that say less were never set: the year 2000. */
const EARLIEST_MS = Date.UTC(2000, 0, 1)

/** From when to when requests arrived, in UTC; `undefined` where no time of day was recorded. */
export function periodTimes(comparison: Comparison) {
  const { before, after, flows } = comparison
  return { before: spanOf(before, flows, BEFORE), after: spanOf(after, flows, AFTER) }
}

function spanOf({ epochNs }: TraceSet, flows: FlowSet, period: 0 | 1): string | undefined {
  const count = flows.count(BEFORE)
  const arrivals =
    period === BEFORE ? flows.startUs.subarray(0, count) : flows.startUs.subarray(count)
  if (arrivals.length === 0) return undefined
  const least = arrivals.reduce((low, start) => Math.min(low, start))
  const most = arrivals.reduce((high, start) => Math.max(high, start))
  const [first, last] = [least, most].map(
    (startUs) => Number(epochNs / 1000n) / 1e3 + startUs / 1e3,
  )
  if (first === undefined || last === undefined || first < EARLIEST_MS) return undefined
  const [from, to] = [first, last].map((time) => new Date(time).toISOString()) as [string, string]
  const day = (iso: string) => iso.slice(0, 10)
  const time = (iso: string) => iso.slice(11, 19)
  const end = day(from) === day(to) ? time(to) : `${day(to)} ${time(to)}`
  return `${day(from)} ${time(from)} to ${end} UTC`
}
