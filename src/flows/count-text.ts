import { grouped } from '../core/words.ts'
import type { FlowSet, Period } from './flow-set.ts'

/** How many requests a period has: `872`, or by weights `8,234 (872 recorded)`. */
export function countText(flows: FlowSet, period: Period): string {
  const recorded = grouped(flows.count(period))
  if (flows.counted === undefined) return recorded
  return `${grouped(flows.countedIn(period))} (${recorded} recorded)`
}
