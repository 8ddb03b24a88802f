import { sum } from 'd3-array'
import { grouped, spoken } from '../core/words.ts'
import { missingSpans } from '../traces/missing-spans.ts'
import { AFTER, type FlowSet, type Period } from './flow-set.ts'

/**
 * How many requests a period has: `872`, or by weights `8,234 (872 recorded)`; where the parents of
 * some spans are lost, also how many are `parts of others`.
 */
export function countText(flows: FlowSet, period: Period): string {
  const recorded = grouped(flows.count(period))
  const isWeighted = flows.counted !== undefined
  const own = flows.periods.filter((_, i, { length }) => (i === length - 1) === (period === AFTER))
  const parts = sum(own, (traces) => missingSpans(traces).orphans)
  const notes = spoken([
    isWeighted && `${recorded} recorded`,
    parts > 0 && `${grouped(parts)} of them parts of others`,
  ]).join(', ')
  const all = isWeighted ? grouped(flows.countedIn(period)) : recorded
  return notes === '' ? all : `${all} (${notes})`
}
