import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { isTestable } from '../../stats/two-sample.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'

/** Whether there are so few requests that neither test can find anything. */
export function smallPeriods({ flows, categories, options }: ComparedPeriods): ComparisonWarning[] {
  const { smPThreshold } = options
  const before = flows.count(BEFORE)
  const after = flows.count(AFTER)
  const problems = [
    ...(hasTestable(categories)
      ? []
      : ['no category has enough requests in both periods to test its times']),
    ...(smPThreshold !== 'auto' && Math.min(before, after) <= smPThreshold
      ? [`no category can change by more than SM_P_THRESHOLD (${smPThreshold}) requests`]
      : []),
  ]
  if (problems.length === 0) return []
  return [
    warning('small-periods', {
      finding: `With ${before} requests before and ${after} after, ${problems.join(', and ')}.`,
      effect: 'No finding does not mean no change.',
      answer: 'Load longer periods, or lower `smPThreshold` (--sm-p-threshold).',
    }),
  ]
}

function hasTestable(categories: ComparedPeriods['categories']): boolean {
  for (let category = 0; category < categories.size; category++) {
    if (isTestable(categories.count(category, BEFORE), categories.count(category, AFTER))) {
      return true
    }
  }
  return false
}
