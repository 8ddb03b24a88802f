import { percent } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'

/** Periods in which more requests than this take no time at all were recorded too coarsely. */
const MOST = 0.5

/** Whether most requests of a period are said to have taken no time. */
export function noDurations({ flows }: ComparedPeriods): ComparisonWarning[] {
  return ([BEFORE, AFTER] as const).flatMap((period) => {
    const count = flows.count(period)
    const zeros = flows.responseTimeUs.reduce(
      (sum, timeUs, request) => sum + (timeUs === 0 && flows.period[request] === period ? 1 : 0),
      0,
    )
    if (count === 0 || zeros <= MOST * count) return []
    return [
      warning('no-durations', {
        finding: `${percent(zeros / count)} of the requests ${period === BEFORE ? 'before' : 'after'} took 0 µs.`,
        effect:
          'Their durations are missing, or were cut to a coarse unit; no change of time can be seen in them.',
        answer: 'Export the traces with their durations, in µs or finer.',
      }),
    ]
  })
}
