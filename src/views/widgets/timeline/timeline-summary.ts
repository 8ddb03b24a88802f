import type { RangeUs } from '../../../flows/select-requests.ts'
import { quantile } from '../../../stats/quantile.ts'
import type { TimelineModel, TimelineRequests } from './timeline-model.ts'

/** What is said of the requests in a range. */
export interface TimelineSummary {
  readonly requests: number
  /** Of all that are shown of the period. */
  readonly all: number
  /** `NaN` where the range covers no time of the period. */
  readonly perSecond: number
  /** `NaN` without requests, as is the median. */
  readonly meanUs: number
  readonly medianUs: number
}

/** Counts and averages the requests in a range of one period; `null` is all of it. */
export function summarizeRange(
  { startUs, responseTimeUs }: TimelineRequests,
  range: RangeUs | null,
  /** From the first to the last arrival of the period, filtered or not. */
  [firstUs, lastUs]: RangeUs,
): TimelineSummary {
  const from = range === null ? 0 : placeOf(startUs, range[0])
  const to = range === null ? startUs.length : placeOf(startUs, range[1])
  const times = responseTimeUs.slice(from, to).sort()
  const [rangeFrom, rangeTo] = range ?? [firstUs, lastUs]
  // Time at which nothing was recorded yet, or any more, says nothing of the rate.
  const coveredUs = Math.min(rangeTo, lastUs) - Math.max(rangeFrom, firstUs)
  return {
    requests: times.length,
    all: startUs.length,
    perSecond: coveredUs > 0 ? (times.length / coveredUs) * 1e6 : Number.NaN,
    meanUs: times.reduce((sum, time) => sum + time, 0) / times.length,
    medianUs: quantile(times, 0.5),
  }
}

/** From the first to the last arrival of a period, filtered or not. */
export function arrivalSpan({ requests }: TimelineModel, period: 0 | 1): RangeUs {
  const { startUs } = requests[period]
  return [startUs[0] ?? 0, startUs.at(-1) ?? 0]
}

/** How many of ascending times are before `timeUs`. */
export function placeOf(ascendingUs: Float64Array, timeUs: number): number {
  let low = 0
  let high = ascendingUs.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascendingUs[middle] as number) < timeUs) low = middle + 1
    else high = middle
  }
  return low
}

/** A rate in the unit a person would say it in: `118 a second`, `2.5 a minute`. */
export function rateText(perSecond: number): string {
  if (!Number.isFinite(perSecond)) return '–'
  const [factor, unit] =
    perSecond >= 1 || perSecond === 0
      ? ([1, 'a second'] as const)
      : perSecond * 60 >= 1
        ? ([60, 'a minute'] as const)
        : ([3600, 'an hour'] as const)
  return `${Number((perSecond * factor).toPrecision(3)).toLocaleString('en-US')} ${unit}`
}
