import { affectedText, isConsiderable } from './affected-traces.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'
import { cutAtBorder } from './cut-at-border.ts'
import { missingSpans } from './missing-spans.ts'

/** Where nearly all traces of both periods have no root, the callers were never traced. */
const NEVER_TRACED = 0.9

/**
 * Whether traces were cut: they have no root at all, or were under way at a border of their period
 * and have far fewer spans than others of their type.
 */
export function truncatedTraces({ before, after }: ComparedPeriods): ComparisonWarning[] {
  const rootless = [before, after].map((traces) => missingSpans(traces).rootless)
  const [ofBefore = 0, ofAfter = 0] = rootless
  const isWhole = ofBefore > NEVER_TRACED * before.size && ofAfter > NEVER_TRACED * after.size
  const noRoot = isWhole ? ([0, 0] as const) : ([ofBefore, ofAfter] as const)
  const short = [cutAtBorder(before), cutAtBorder(after)] as const
  const affected = {
    before: noRoot[0] + short[0],
    after: noRoot[1] + short[1],
    ofBefore: before.size,
    ofAfter: after.size,
  }
  if (!isConsiderable(affected)) return []
  const causes = [
    [noRoot[0] + noRoot[1], 'have no root'],
    [
      short[0] + short[1],
      'were under way at a border of the period and have less than half the spans usual for their root',
    ],
  ] as const
  return [
    warning('truncated-traces', {
      finding:
        `${affectedText(affected)} are cut: ` +
        `${causes
          .filter(([count]) => count > 0)
          .map(([count, what]) => `${count} ${what}`)
          .join(', ')}.`,
      effect:
        'What is left of them counts as shorter requests of other structures that nobody made.',
      answer:
        'Load files that reach beyond both ends of the period, or leave the requests at its ends out with `selectRequests`.',
    }),
  ]
}
