import { formatDuration } from '../../../core/units.ts'
import { counted, grouped, percent } from '../../../core/words.ts'
import type { VarianceData } from './variance-data.ts'

/** C² with two digits; a category of one request has none. */
export function c2Text(c2: number | null): string {
  if (c2 === null) return 'none'
  if (c2 === 0) return '0'
  if (c2 < 0.001) return 'under 0.001'
  return c2 >= 10 ? grouped(c2) : c2.toPrecision(2)
}

/** How many kinds of request are predictable, period by period. */
export function predictableShares({ periods }: Pick<VarianceData, 'periods'>): string {
  return periods
    .map(({ period, categories, belowOne }) =>
      belowOne === null
        ? `none is large ${period}`
        : `${percent(belowOne)} of ${grouped(categories)} ${period}`,
    )
    .join(', ')
}

/** What tier 1 says as a whole. */
export function varianceSummary(data: VarianceData): string {
  const { small, large } = data
  const rest =
    small === 0
      ? ''
      : ` ${counted(small, 'category', 'categories')} of no more than ${counted(large, 'request')} ${small === 1 ? 'is' : 'are'} left out.`
  return `Kinds of request that are predictable (C² = variance ÷ mean² below 1): ${predictableShares(data)}.${rest}`
}

/** A covariance by the duration whose square it is. */
export function squaredDuration(us2: number): string {
  return `${us2 < 0 ? '−' : ''}(${formatDuration(Math.sqrt(Math.abs(us2)))})²`
}
