import type { FlowSet, Period } from '../../flows/flow-set.ts'

/** The slowest hundredth of the requests, one at least, is taken to be no slower than the next. */
const SLOWEST = 0.01

/**
 * Response times of a period in which the slowest are cut to what the next slowest took: one
 * request of an hour must not make every other change look negligible.
 */
export function cappedTimes(flows: FlowSet, period: Period): (request: number) => number {
  const { responseTimeUs } = flows
  const times = responseTimeUs.filter((_, request) => flows.period[request] === period).sort()
  const cut = Math.max(1, Math.floor(SLOWEST * times.length))
  const mostUs = times[Math.max(0, times.length - 1 - cut)] ?? 0
  return (request) => Math.min(mostUs, responseTimeUs[request] as number)
}
