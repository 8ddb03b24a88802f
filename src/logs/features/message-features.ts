import { quantile } from '../../stats/quantile.ts'
import type { EventSeries, StateSeries } from './open-instance.ts'

/** When an instance began and how long it ran, in microseconds. */
export interface Run {
  readonly startUs: number
  readonly runTimeUs: number
}

/** The features of one event in one instance, in the order of `EVENT_FEATURES`. */
export function eventFeatures(series: EventSeries, { startUs, runTimeUs }: Run): number[] {
  const times = series.times.subarray(0, series.kept)
  const median = quantile(series.ascending ? times : times.toSorted(), 0.5)
  const absolute = [series.first, median, series.last].map((timeUs) => timeUs - startUs)
  return [...absolute, ...absolute.map((timeUs) => timeUs / runTimeUs), series.count]
}

const SNAPSHOTS = [0.25, 0.5, 0.75]

/** The features of one state variable in one instance, in the order of `STATE_FEATURES`. */
export function stateFeatures(series: StateSeries, { startUs, runTimeUs }: Run): number[] {
  const { minimum, mean, maximum, final } = series
  const { times, values } = inOrder(series)
  const snapshots = SNAPSHOTS.map((share) => {
    const passed = countUntil(times, { startUs, sinceUs: share * runTimeUs })
    return values[passed - 1] ?? Number.NaN
  })
  const range = maximum - minimum
  const scale = (value: number) => (range > 0 ? (value - minimum) / range : Number.NaN)
  return [minimum, mean, maximum, final, ...snapshots, ...snapshots.map(scale)]
}

function inOrder({ moments, values }: StateSeries): {
  readonly times: Float64Array
  readonly values: Float64Array
} {
  const { kept, ascending, times } = moments
  if (ascending) return { times: times.subarray(0, kept), values }
  // Stable: of messages at one time the last one logged is the one that holds.
  const order = Uint32Array.from({ length: kept }, (_, i) => i).sort(
    (i, j) => Number(times[i]) - Number(times[j]) || i - j,
  )
  return {
    times: Float64Array.from(order, (i) => Number(times[i])),
    values: Float64Array.from(order, (i) => Number(values[i])),
  }
}

/** How many of ascending times are not later than `sinceUs` after the start. */
function countUntil(
  times: Float64Array,
  { startUs, sinceUs }: { readonly startUs: number; readonly sinceUs: number },
): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >>> 1
    // Differences of epoch times are exact where the sum with a share of the run is not.
    if (Number(times[middle]) - startUs <= sinceUs) low = middle + 1
    else high = middle
  }
  return low
}
