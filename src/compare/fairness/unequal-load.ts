import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'

/** Periods whose numbers of requests differ by more than this factor are not alike. */
const ALIKE = 1.1

/**
 * Whether one period has more requests than the other, while counts are compared as they are.
 * Scaled counts and tested shares allow for the load; weighted ones do where weights were recorded.
 */
export function unequalLoad(periods: ComparedPeriods): ComparisonWarning[] {
  const { flows, options } = periods
  const before = flows.count(BEFORE)
  const after = flows.count(AFTER)
  const ratio = Math.max(before, after) / Math.max(1, Math.min(before, after))
  if (ratio <= ALIKE || allowsForLoad(periods)) return []
  const kind = after > before ? 'structural mutations' : 'precursors'
  const passing = passingByLoad(periods, after / before)
  return [
    warning('unequal-load', {
      finding: `There are ${before} requests before and ${after} after.`,
      effect:
        `Every category then ${after > before ? 'gains' : 'loses'} requests: by the load alone, ` +
        `${passing === 0 ? 'none' : passing} of ${periods.categories.size} categories would pass ` +
        `SM_P_THRESHOLD (${options.smPThreshold}) as ${kind}.`,
      answer:
        "Compare periods of equal load, scale counts with `counts: 'scaled'` (--scale-counts), or " +
        "test shares instead of counts with `smPThreshold: 'auto'` (--sm-p-threshold auto).",
    }),
  ]
}

function allowsForLoad({ flows, options }: ComparedPeriods): boolean {
  const { counts, smPThreshold } = options
  if (smPThreshold === 'auto' || counts === 'scaled') return true
  return counts === 'weighted' && flows.weight !== undefined
}

/** Categories whose count would change by more than the threshold if each grew with the load. */
function passingByLoad({ categories, options }: ComparedPeriods, growth: number): number {
  let passing = 0
  for (let category = 0; category < categories.size; category++) {
    const before = categories.count(category, BEFORE)
    if (Math.abs(before * growth - before) > Number(options.smPThreshold)) passing++
  }
  return passing
}
