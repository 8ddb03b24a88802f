import { affectedText, isConsiderable } from './affected-traces.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'
import { missingSpans } from './missing-spans.ts'

/** Whether traces have spans besides their root whose parent was not recorded. */
export function orphans({ before, after }: ComparedPeriods): ComparisonWarning[] {
  const missingBefore = missingSpans(before)
  const missingAfter = missingSpans(after)
  const affected = {
    before: missingBefore.orphaned,
    after: missingAfter.orphaned,
    ofBefore: before.size,
    ofAfter: after.size,
  }
  if (!isConsiderable(affected)) return []
  return [
    warning('orphans', {
      finding: `${affectedText(affected)} have spans whose parent is not in the files.`,
      effect:
        'Each such span counts as a request of its own ' +
        `(${missingBefore.orphans} before, ${missingAfter.orphans} after), ` +
        'and the request it belongs to looks simpler than it is.',
      answer:
        'Load the files of all services for both periods; or leave these requests out with `selectRequests`.',
    }),
  ]
}
