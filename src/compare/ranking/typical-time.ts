import type { Period } from '../../flows/flow-set.ts'
import { quantile } from '../../stats/quantile.ts'
import type { Categories } from '../categories/categories.ts'
import type { Centre } from './ranking.ts'

const TRIM = 0.1

/** The typical response time of a category's requests in one period, in µs; `NaN` for none. */
export function typicalTimeUs(
  categories: Categories,
  { category, period, centre }: { category: number; period: Period; centre: Centre },
): number {
  if (centre === 'mean') return categories.responseTimeMoments(category, period).mean
  const times = categories.responseTimes(category, period).sort()
  if (centre === 'median') return quantile(times, 0.5)
  const cut = Math.floor(TRIM * times.length)
  const kept = times.subarray(cut, times.length - cut)
  return kept.reduce((sum, time) => sum + time, 0) / kept.length
}
