import { formatDuration } from '../../core/units.ts'
import { percent } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'

/** One request of a period is extreme when it takes this share of all its requests' time. */
const SHARE = 0.2
/** Of fewer requests, one that takes much of the time is nothing strange. */
const FEWEST = 50

/** Whether one request takes a large part of a period's time, so that it alone makes the means. */
export function extremeRequest(periods: ComparedPeriods): ComparisonWarning[] {
  return ([BEFORE, AFTER] as const).flatMap((period) => extremeOf(periods, period))
}

function extremeOf({ flows }: ComparedPeriods, period: Period): ComparisonWarning[] {
  const count = flows.count(period)
  if (count < FEWEST) return []
  const first = period === BEFORE ? 0 : flows.count(BEFORE)
  let totalUs = 0
  let slowest = first
  for (let request = first; request < first + count; request++) {
    const timeUs = flows.responseTimeUs[request] as number
    totalUs += timeUs
    if (timeUs > (flows.responseTimeUs[slowest] as number)) slowest = request
  }
  const slowestUs = flows.responseTimeUs[slowest] as number
  if (!(slowestUs > SHARE * totalUs)) return []
  const when = period === BEFORE ? 'before' : 'after'
  return [
    warning('extreme-request', {
      finding:
        `One request ${when}, trace ${flows.ids[slowest]}, took ${formatDuration(slowestUs)}, ` +
        `${percent(slowestUs / totalUs)} of the time of all ${count} requests.`,
      effect:
        'Means, contributions and shares of the change say little beside it; medians and tests are as good as ever.',
      answer: "Look at that trace, and rank with `centre: 'median'` (--centre median).",
    }),
  ]
}
