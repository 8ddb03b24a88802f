import { describePlace } from '../../core/errors.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import { type ComparisonWarning, type WarningCode, warning } from './comparison-warning.ts'
import { partOf } from './number-text.ts'

/** Which kind of issue another warning speaks of. */
const TOLD_BY: Partial<Record<WarningCode, string>> = {
  'clock-skew': 'clock-skew',
  'duplicate-traces': 'duplicate-span',
  orphans: 'orphan-span',
  'truncated-traces': 'orphan-span',
}

/** Says nothing of flows and times: explanations by parameters ask for it. */
const NOT_OF_TIMES = new Set(['no-parameters', 'unused-parameters', 'repeated-parameter'])

/** What a load left out or had doubts about, but for what `told` says already. */
export function dataQuality(
  traces: TraceSet,
  told: readonly ComparisonWarning[],
): ComparisonWarning[] {
  const quality = traces.quality()
  const known = told.map(({ code }) => TOLD_BY[code])
  const left = [...quality.counts].filter(
    ([code]) => !known.includes(code) && !NOT_OF_TIMES.has(code),
  )
  if (left.length === 0) return []
  const found = left.map(([code, count]) => {
    const first = quality.issues.find((issue) => issue.code === code)
    const example = first === undefined ? '' : ` (${describePlace(first.place)}${first.message})`
    return `${count} × ${code}${example}`
  })
  const { skippedTraces } = quality
  if (skippedTraces === 0) {
    return [
      warning('data-quality', {
        finding: `${traces.name}: not everything is as it should be: ${found.join('; ')}.`,
        effect: 'Spans that cannot be used are left out; the rest is used as it is.',
        answer: 'All of it: `traces.quality().issues`.',
      }),
    ]
  }
  const all = skippedTraces + traces.size
  return [
    warning('skipped-traces', {
      finding: `${traces.name}: ${partOf(skippedTraces, all)} traces could not be used: ${found.join('; ')}.`,
      effect: 'They are left out, and whatever they have in common is missing from the results.',
      answer:
        'All of it: `traces.quality().issues`. Load with `strict: true` (--strict) to stop at the first.',
    }),
  ]
}
