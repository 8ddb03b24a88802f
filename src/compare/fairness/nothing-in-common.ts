import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'

/** Whether no category has requests in both periods: their times cannot be compared at all. */
export function nothingInCommon({ categories }: ComparedPeriods): ComparisonWarning[] {
  const { size } = categories
  for (let category = 0; category < size; category++) {
    if (categories.count(category, BEFORE) > 0 && categories.count(category, AFTER) > 0) return []
  }
  if (size === 0) return []
  return [
    warning('nothing-in-common', {
      finding: `None of the ${size} categories has requests in both periods: every request took another structure.`,
      effect: 'No times can be compared, and everything looks new.',
      answer:
        'See whether the same requests were traced, by the same instrumentation; leave out what ' +
        'differs by name with `omitHosts` (--omit-hosts) or `label`.',
    }),
  ]
}
