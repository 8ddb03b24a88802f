import type { FlowSet, Period } from '../../flows/flow-set.ts'
import type { ComparedPeriods } from './comparison-warning.ts'

/** Times before the year 2000 count from somewhere else than from 1970. */
const CREDIBLE_NS = 946_684_800_000_000_000n

/** When the requests of one period arrived, µs since its own epoch, ascending. */
export function arrivalsUs({ startUs, period }: FlowSet, wanted: Period): Float64Array {
  return startUs
    .filter((start, request) => period[request] === wanted && Number.isFinite(start))
    .sort()
}

/**
 * When the epoch of after lies, µs since that of before; undefined unless the clocks of both
 * periods tell the time of day.
 */
export function epochShiftUs({ before, after }: ComparedPeriods): number | undefined {
  if (before.epochNs < CREDIBLE_NS || after.epochNs < CREDIBLE_NS) return undefined
  return Number(after.epochNs - before.epochNs) / 1e3
}
