import { describePlace } from '../../core/errors.ts'
import { TIME } from '../../core/quantity.ts'
import { counted, firstOf, grouped } from '../../core/words.ts'
import { DUPLICATE_SPAN, MISSING_TRACES, TRUNCATED_FILE } from '../../traces/quality.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import {
  type ComparedPeriods,
  type ComparisonWarning,
  partOf,
  type WarningCode,
  warning,
} from './comparison-warning.ts'

const ISSUES = '`traces.quality().issues` lists the first 1,000 of each kind.'

/** Kind of issue that another warning reports. */
const TOLD_BY: Partial<Record<WarningCode, string>> = {
  'duplicate-traces': DUPLICATE_SPAN,
  orphans: 'orphan-span',
  'truncated-traces': 'orphan-span',
}

/**
 * Problems that affect no finding: only explanations use parameters, a constant clock offset changes no duration, and
 * links are common.
 */
const HARMLESS =
  /^(?:(?:no|unused)-parameters|repeated-parameter|clock-skew|log-without-id|linked-request)$/

/** Reports the selection of traces, and the omissions and doubts of a load, except those that `told` says. */
export function dataQuality(
  traces: TraceSet,
  told: readonly ComparisonWarning[],
  compared?: ComparedPeriods,
): ComparisonWarning[] {
  return [
    ...selectedTraces(traces, compared),
    ...missingTraces(traces),
    ...cutFiles(traces),
    ...loadProblems(traces, told),
  ]
}

/** Reports, once for both periods, that requests triggered by others are compared separately from them. */
export function linkedRequests({ before, after }: ComparedPeriods): ComparisonWarning[] {
  if (![before, after].some((traces) => traces.quality().counts.has('linked-request'))) return []
  return warning('linked-requests', {
    finding: 'Some requests begin with a link to another request, like consumers of messages.',
    effect: 'Each counts as a request of its own. Waiting times of messages are compared anyway.',
    answer: 'Load with `joinLinks` to join them with the request they link to.',
    advice: { joinLinks: true },
  })
}

/** Conditions on durations as `conditionText` writes them. */
const BY_DURATION = /(?:^| )duration [<>≤≥=]/

function selectedTraces(traces: TraceSet, compared?: ComparedPeriods): ComparisonWarning[] {
  return traces.quality().selected.flatMap(({ condition, traces: kept, of, leftOut }) => {
    const isOutcome =
      compared?.flows.quantity === TIME &&
      BY_DURATION.test(condition) &&
      [compared.before, compared.after].every((period) =>
        period.quality().selected.some((one) => one.condition === condition),
      )
    const rest =
      leftOut === 0 || leftOut === of - kept ? '' : `; ${grouped(leftOut)} are in no group`
    const chosen = isOutcome
      ? ': selected by duration, which alone can make calls and segments differ'
      : ''
    // Parts of a recording are named for their condition.
    const where = traces.name === condition ? '' : `, where ${condition}`
    return warning('selected', {
      finding: `${traces.name}: ${grouped(kept)} of ${counted(of, 'trace')}${where}${rest}${chosen}.`,
      effect: 'Results and p-values hold for the selected requests only.',
      answer: 'Load without `where`, `between` or `split` to compare all of them.',
    })
  })
}

function missingTraces(traces: TraceSet): ComparisonWarning[] {
  const found = traces.quality().issues.filter(({ code }) => code === MISSING_TRACES)
  if (found.length === 0) return []
  const said = found.map(({ place, message }) => `${describePlace(place)}${message}`)
  return warning('missing-traces', {
    finding: `${traces.name} lacks traces that its store has: ${said.join('; ')}.`,
    effect: 'Requests may look rarer, or differently mixed, than they were.',
    answer: 'Fetch both periods again, or shorter ones.',
  })
}

function cutFiles(traces: TraceSet): ComparisonWarning[] {
  const found = traces.quality().issues.filter(({ code }) => code === TRUNCATED_FILE)
  if (found.length === 0) return []
  const said = found.map(({ place, message }) => `${describePlace(place)}${message}`)
  return warning('missing-traces', {
    finding: `${traces.name}: ${counted(found.length, 'file')} ${found.length === 1 ? 'is' : 'are'} cut off in the middle, so an unknown number of traces is missing: ${firstOf(said, { separator: '; ' })}.`,
    effect: 'Requests may look rarer, or differently mixed, than they were.',
    answer: 'Copy or export it again.',
  })
}

function loadProblems(traces: TraceSet, told: readonly ComparisonWarning[]): ComparisonWarning[] {
  const quality = traces.quality()
  const known = [MISSING_TRACES, TRUNCATED_FILE, ...told.map(({ code }) => TOLD_BY[code])]
  const left = [...quality.counts].filter(([code]) => !known.includes(code) && !HARMLESS.test(code))
  if (left.length === 0) return []
  const found = left.map(([code, count]) => {
    const first = quality.issues.find((issue) => issue.code === code)
    const example = first === undefined ? '' : ` (${describePlace(first.place)}${first.message})`
    return `${grouped(count)} × ${code}${example}`
  })
  const { skippedTraces, selected } = quality
  const of = selected.length === 0 ? traces.name : `${traces.name}, before selecting`
  if (skippedTraces === 0) {
    return warning('data-quality', {
      finding: `${of}: some data is questionable: ${found.join('; ')}.`,
      effect: 'Spans that cannot be used are left out; the rest is used as it is.',
      answer: ISSUES,
    })
  }
  const all = skippedTraces + quality.traces
  return warning('skipped-traces', {
    finding: `${of}: ${partOf(skippedTraces, all)} traces could not be used: ${found.join('; ')}.`,
    effect: 'They are left out, so anything they have in common is missing from the results.',
    answer: `${ISSUES} Load with \`strict: true\` to stop at the first.`,
    advice: { strict: true },
  })
}
