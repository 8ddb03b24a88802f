import { group, sum } from 'd3-array'
import { describePlace } from '../../core/errors.ts'
import { formatAmount, TIME } from '../../core/quantity.ts'
import { counted, firstOf, formatDuration, grouped, printable, spoken } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { operationOf } from '../../flows/node-labels.ts'
import { DUPLICATE_SPAN, MISSING_TRACES, TRUNCATED_FILE } from '../../traces/quality.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import { type RecordedOnce, recordedOtherwise } from '../steps/recorded-otherwise.ts'
import { slowSample } from '../steps/slow-sample.ts'
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

/** Warns that consumers wait for work; that wait is left out of their requests. */
export function idleWaits({ flows: given }: ComparedPeriods): ComparisonWarning[] {
  const { waits = [], quantity } = recordedFlows(given)
  if (waits.length === 0) return []
  const told = waits.map(({ service, operation, counts, sumsUs }) => {
    const [was, is] = ([BEFORE, AFTER] as const).map((period) =>
      formatAmount(sumsUs[period] / counts[period], quantity),
    )
    return `${printable(service)} ${printable(operation)} (${counts[BEFORE] > 0 ? was : 'none'} before, ${counts[AFTER] > 0 ? is : 'none'} after)`
  })
  return warning('idle-waits', {
    finding: `Consumers wait for work: ${firstOf(told)}.`,
    effect:
      'Their requests begin when that wait ends. It grows when messages get rarer, and delays nobody.',
    answer: 'Where these waits changed, look at the request rate.',
  })
}

/** Whether an operation of a service receives messages: it may have received none, and nobody waits for it. */
function receivesMessages({ messages, labels }: FlowSet, service: string): boolean {
  const receivers = new Set(messages?.receiver)
  return [...receivers].some((code) => operationOf(labels.get(code)).service === service)
}

/** Warns of spans that only one period records, or names so, for work done in both. */
export function recordedAnew({ flows: given }: ComparedPeriods): ComparisonWarning[] {
  const flows = recordedFlows(given)
  const { operations: once, uncovered } = recordedOtherwise(flows)
  const layers = (flows.layers ?? []).map((one) => ({
    ...one,
    ...{ isWhole: false, isRelay: true, renamed: null },
  }))
  const operations = [...once, ...layers]
  const renamedWhole = flows.renames ?? []
  if (operations.length + renamedWhole.length === 0) return []
  const renames = operations.filter(({ renamed }) => renamed !== null)
  const [wholes, parts] = [true, false].map((isWhole) =>
    operations.filter((one) => one.renamed === null && one.isWhole === isWhole),
  ) as [RecordedOnce[], RecordedOnce[]]
  const named = (own: readonly RecordedOnce[]) =>
    own.some((one) => one.isWhole)
      ? ''
      : `${firstOf(own.map(({ operation }) => printable(operation)))} `
  const ofOnePeriod = [wholes, parts].flatMap((some) => {
    const kindOf = ({ service, period, isRelay }: RecordedOnce) => `${period} ${isRelay} ${service}`
    return Array.from(group(some, kindOf).values(), (own) => {
      const [{ service, period, isRelay, isWhole }] = own as [RecordedOnce]
      const spans = grouped(sum(own, (one) => one.spans))
      const records =
        period === AFTER
          ? `records ${named(own)}spans only after (${spans})`
          : `records no ${named(own)}spans after (${spans} before)`
      const takes = isRelay
        ? 'which only pass calls on'
        : isWhole && receivesMessages(flows, service)
          ? `but may have received no messages${period === AFTER ? ' before' : ''}`
          : 'but its callers are as fast as before'
      return `${printable(service)} ${records}, ${takes}`
    })
  })
  // A call has its name on both sides: that of who is called is reported.
  const renamed = Array.from(
    group(
      [
        ...renames.map((one) => ({ ...one, names: 1 })),
        ...renamedWhole.map((one) => ({ ...one, renamed: [one.renamed] })),
      ],
      ({ operation, renamed: now }) => JSON.stringify([operation, now]),
    ).values(),
    (own) => {
      const { service, operation, renamed: now, names = 1 } = own.at(-1)!
      const was = operation === null ? [service] : [service, operation]
      const called = was.map((name) => printable(name)).join(' ')
      const one = firstOf(now!.map((name) => printable(name)))
      return names > 1
        ? `${grouped(names)} names like ${called} are compared as one, ${one}`
        : `${called} is now called ${one}`
    },
  )
  return warning('recorded-otherwise', {
    finding: `${spoken([...ofOnePeriod, firstOf(renamed, { most: 3, separator: '; ' })]).join('; ')}.`,
    effect: spoken([
      renamedWhole.length > 0 &&
        'Renamed steps are compared as one: they make the same calls, carry the same attributes, or differ only in ids.',
      operations.length > 0 &&
        `${renamedWhole.length > 0 ? 'For the rest, the' : 'The'} recording changed, not the work. Its times are not compared${
          uncovered.size > 0
            ? ', nor are its calls, those of its callers, and the work and calls it covers.'
            : '; its calls count as calls of its callers.'
        }`,
    ]).join(' '),
    answer: 'To compare them, record both periods the same way.',
  })
}

/** Whether slow requests seem to have been kept preferentially in one period (`slowSample`). */
export function slowPreferred({ flows }: ComparedPeriods): ComparisonWarning[] {
  const found = slowSample(recordedFlows(flows))
  if (found === null) return []
  const limit = formatDuration(found.limitUs)
  const [period, other] = found.sampled === AFTER ? ['after', 'before'] : ['before', 'after']
  const [fast, slow] = found.ratios.map((ratio) => Number(ratio.toPrecision(2)))
  const isKept = found.keepsFailing ? 'Slow and failing requests seem' : 'Slow requests seem'
  return warning('sampling-differs', {
    finding:
      `${isKept} to have been kept preferentially ${period}: per type, ${fast} times the requests ` +
      `faster than ${limit} ${other}, but ${slow} times the slower ones.`,
    effect:
      'Requests look slower, and fail more often, than they really do. Fast and slow requests are compared separately; shares of types are not compared.',
    answer:
      `Compare only requests faster than ${limit}, then only slower ones, with \`where\` and ` +
      '`duration`; or record sampling probabilities, so that requests can be weighted.',
  })
}
