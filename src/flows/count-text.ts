import { grouped, spoken } from '../core/words.ts'
import type { FlowSet, Period } from './flow-set.ts'

/**
 * How many requests a period has: `872`, or by weights `8,234 (872 recorded)`, of a
 * sample that was drawn `8,234 (872 compared)`; where the parents of
 * some spans are lost, also how many parts of these are apart.
 */
export function countText(flows: FlowSet, period: Period): string {
  const recorded = grouped(flows.wholes(period))
  const isWeighted = flows.counted !== undefined
  const parts = flows.count(period) - flows.wholes(period)
  const notes = spoken([
    isWeighted && `${recorded} ${flows.isOfSample ? 'compared' : 'recorded'}`,
    parts > 0 && `and ${grouped(parts)} parts of them`,
  ]).join(', ')
  const all = isWeighted ? grouped(flows.countedIn(period)) : recorded
  return notes === '' ? all : `${all} (${notes})`
}
