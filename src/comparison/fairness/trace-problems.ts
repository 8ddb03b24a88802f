import { group, rollup, sum } from 'd3-array'
import { type RecordedOnce, recordedOtherwise } from '../../compare/steps/recorded-otherwise.ts'
import { slowSample } from '../../compare/steps/slow-sample.ts'
import {
  ID_LENGTH,
  MIN_AFFECTED,
  MIN_SEEN,
  MOST,
  NEARLY_ALL,
  SURE_LEVEL,
} from '../../compare/thresholds.ts'
import { divided } from '../../core/entries.ts'
import { describePlace } from '../../core/errors.ts'
import { formatAmount, TIME } from '../../core/quantity.ts'
import { counted, firstOf, formatDuration, grouped, printable, spoken } from '../../core/words.ts'
import type { ClockMove, ClockOffset } from '../../flows/clocks/clock-offsets.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { operationOf } from '../../flows/node-labels.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { median } from '../../stats/quantile.ts'
import { twoProportionsTest } from '../../stats/two-proportions.ts'
import { missingSpans, partTops } from '../../traces/missing-spans.ts'
import { spansOutsideParents } from '../../traces/note-doubts.ts'
import { DUPLICATE_SPAN, MISSING_TRACES, TRUNCATED_FILE } from '../../traces/quality.ts'
import { NO_PARENT } from '../../traces/span-columns.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import {
  type ComparedPeriods,
  type ComparisonWarning,
  partOf,
  type WarningCode,
  warning,
} from './comparison-warning.ts'

type TwoPeriods = Pick<ComparedPeriods, 'before' | 'after'>

type AffectedTraces = ReturnType<typeof affectedIn>

/** Whether the problem is frequent enough in a period, or differs between them (z test at 0.001). */
export function isConsiderable(affected: AffectedTraces, leastShare = MIN_AFFECTED): boolean {
  const { before, after, ofBefore, ofAfter } = affected
  return before > leastShare * ofBefore || after > leastShare * ofAfter || differsInShare(affected)
}

function differsInShare({ before, after, ofBefore, ofAfter }: AffectedTraces): boolean {
  const pooled = (before + after) / (ofBefore + ofAfter)
  if (!(pooled * Math.min(ofBefore, ofAfter) >= MIN_SEEN)) return false
  return twoProportionsTest(before, ofBefore, after, ofAfter).p < SURE_LEVEL
}

function affectedIn({ before, after }: TwoPeriods, countIn: (traces: TraceSet) => number) {
  const [ofBefore, ofAfter] = [before.size, after.size]
  return { before: countIn(before), after: countIn(after), ofBefore, ofAfter }
}

function affectedText({ before, after, ofBefore, ofAfter }: AffectedTraces): string {
  return `${partOf(before, ofBefore)} traces before and ${partOf(after, ofAfter)} after`
}

interface RootedTrace {
  readonly type: number
  readonly spans: number
  readonly startUs: number
  readonly durationUs: number
}

/**
 * Counts the traces under way at a period's border that lost spans: they have less than half of the usual number for
 * their root. Returns 0 unless small traces are more frequent there (Fisher's exact test at 0.001).
 */
function cutAtBorder(traces: TraceSet): number {
  if (traces.kind !== 'spans') return 0
  const rooted = rootedTraces(traces)
  if (rooted.length === 0) return 0
  const starts = Float64Array.from(rooted, ({ startUs }) => startUs).sort()
  const typicalUs = median(rooted.map(({ durationUs }) => durationUs))
  const fromUs = (starts[0] as number) + typicalUs
  const toUs = (starts.at(-1) as number) - typicalUs
  const inside = rooted.filter(({ startUs }) => startUs > fromUs && startUs < toUs)
  if (inside.length < (1 - MOST) * rooted.length) return 0
  const medianOf = (own: readonly RootedTrace[]) => median(own.map(({ spans }) => spans))
  const usual = rollup(inside, medianOf, ({ type }) => type)
  const isSmall = ({ type, spans }: RootedTrace) => {
    const typical = usual.get(type) ?? 0
    return typical >= MIN_SEEN && spans < MOST * typical
  }
  const smallInside = inside.filter(isSmall).length
  const small = rooted.filter(isSmall).length - smallInside
  const atBorder = rooted.length - inside.length
  const isMore = small * inside.length > smallInside * atBorder
  const { p } = fisherExact(smallInside, inside.length, small, atBorder)
  return isMore && p < SURE_LEVEL ? small : 0
}

function rootedTraces({ spans, spanOffsets, operations, size }: SpanTraces): RootedTrace[] {
  const rooted: RootedTrace[] = []
  for (let trace = 0; trace < size; trace++) {
    const first = spanOffsets[trace] as number
    const end = spanOffsets[trace + 1] as number
    const root = first + spans.parent.subarray(first, end).indexOf(NO_PARENT)
    if (root < first) continue
    rooted.push({
      type: (spans.service[root] as number) * operations.size + (spans.operation[root] as number),
      spans: end - first,
      startUs: spans.startUs[root] as number,
      durationUs: spans.durationUs[root] as number,
    })
  }
  return rooted
}

/**
 * Warns if a clock moved between the periods, or if spans reach outside parents on other hosts in differing shares of
 * traces, corrected or not. With equal shares, findings rest on durations, which clocks do not affect.
 */
export function clockSkew({ before, after, flows }: ComparedPeriods): ComparisonWarning[] {
  const moved = flows.clocks?.moved ?? null
  if (moved?.isTold) return movedWarning(moved)
  const corrected = flows.clocks?.applied ?? []
  const [outsideBefore, outsideAfter] = flows.clocks?.outsideTraces ?? []
  const affected = {
    before: outsideBefore ?? skewedTraces(before),
    after: outsideAfter ?? skewedTraces(after),
    ofBefore: before.size,
    ofAfter: after.size,
  }
  if (!differsInShare(affected)) return []
  const { clampedStarts, outsideParent } = flows.report.counts
  return warning('clock-skew', {
    finding: `${affectedText(affected)} have spans that begin before or end after their parent on another host${corrected.length === 0 ? '' : ` (${grouped(skewedTraces(before))} and ${grouped(skewedTraces(after))} by clocks as recorded)`}.${correctionText(corrected)}`,
    effect:
      'Either clocks moved, or callers no longer wait, which may be the change itself. Edges between ' +
      'hosts are off by the difference of their clocks; calls that end after their caller count ' +
      `as not waited for. Spans moved to the start of their parent: ${grouped(clampedStarts)}; ` +
      `entirely outside it: ${grouped(outsideParent)}.`,
    answer:
      'Trust findings more than single edges between hosts: they compare durations, and both ways ' +
      'of a call together. `comparison.flows.clocks` and `traces.quality().issues` show how far ' +
      'off clocks are.',
  })
}

function movedWarning({ clock, byUs }: ClockMove): ComparisonWarning[] {
  const [there, back] = byUs > 0 ? ['later', 'earlier'] : ['earlier', 'later']
  const time = formatDuration(Math.abs(byUs))
  return warning('clock-skew', {
    finding:
      `Between the periods, the clock of ${printable(clock)} moved ${byUs > 0 ? 'forward' : 'back'} by ${time}: ` +
      `calls to it begin ${time} ${there} and end ${time} ${back}.`,
    effect:
      'Nothing but a clock does that to all calls to it, and the opposite to all that it makes. They are compared as ' +
      'if it had not moved.',
    answer: 'Synchronize the clocks of hosts. `clocks: recorded` compares times as recorded.',
  })
}

function correctionText(corrected: readonly ClockOffset[]): string {
  if (corrected.length === 0) return ''
  const { clock, reference, offsetUs, residualUs } = corrected.reduce((a, b) =>
    Math.abs(b.offsetUs) > Math.abs(a.offsetUs) ? b : a,
  )
  const side = offsetUs > 0 ? 'ahead of' : 'behind'
  const doubt = residualUs < Infinity ? `, give or take ${formatDuration(residualUs)}` : ''
  const most = corrected.length > 1 ? ` (the largest of ${corrected.length} corrections)` : ''
  return ` Clocks are already corrected: ${clock} is ${formatDuration(Math.abs(offsetUs))} ${side} ${reference}${doubt}${most}.`
}

/** Counts the traces with spans outside a parent on another host, by their clocks. */
export function skewedTraces(traces: TraceSet): number {
  return traces.kind === 'spans' ? [...spansOutsideParents(traces)].length : 0
}

/** Whether traces have spans besides their root whose parent was not recorded. */
export function orphans(periods: ComparedPeriods): ComparisonWarning[] {
  const [before, after] = [partTops(periods.before).size, partTops(periods.after).size]
  const affected = affectedIn(periods, (traces) => missingSpans(traces).orphaned)
  if (!isConsiderable(affected)) return []
  return warning('orphans', {
    finding: `${affectedText(affected)} have spans whose parent is not in the files.`,
    effect:
      `Each of these spans begins a fragment (${grouped(before)} before, ${grouped(after)} after). Its steps are ` +
      'compared, but it is no request of its own, and its request looks simpler than it was.',
    answer:
      'Load the files of all services for both periods, or leave these requests out with `selectRequests`.',
  })
}

/** Whether traces have no root, or are cut at a border of their period. */
export function truncatedTraces(periods: ComparedPeriods): ComparisonWarning[] {
  const both = [periods.before, periods.after]
  const rootless = (traces: TraceSet) => missingSpans(traces).rootless
  const isWhole = both.every((traces) => rootless(traces) > NEARLY_ALL * traces.size)
  const noRoot = isWhole ? () => 0 : rootless
  const affected = affectedIn(periods, (traces) => noRoot(traces) + cutAtBorder(traces))
  if (!isConsiderable(affected)) return []
  const causes = [
    [sum(both, noRoot), 'have no root'],
    [
      sum(both, cutAtBorder),
      'were running at the start or end of the period and have less than half of their usual spans',
    ],
  ] as const
  return warning('truncated-traces', {
    finding:
      `${affectedText(affected)} are cut: ` +
      `${causes
        .filter(([count]) => count > 0)
        .map(([count, what]) => `${grouped(count)} ${what}`)
        .join(', ')}.`,
    effect: 'The rest of them counts as shorter requests with other structures.',
    answer:
      'Load files that reach beyond both ends of the period, or leave out the requests at its ends with `selectRequests`.',
  })
}

/** Whether the same trace is there twice: in both periods, or repeated within one. */
export function duplicateTraces(periods: TwoPeriods): ComparisonWarning[] {
  return [...inBoth(periods), ...withinOne(periods)]
}

function inBoth(periods: TwoPeriods): ComparisonWarning[] {
  const { before, after } = periods
  const ids = new Set(before.ids.filter(isIdentity))
  const shared = new Set(after.ids.filter((id) => ids.has(id))).size
  const affected = affectedIn(periods, () => shared)
  const isSame = before.size === shared && after.size === shared
  if (before.size > 0 && (isSame || areCopies(before, after))) {
    return warning('duplicate-traces', {
      finding: `Both periods are the same ${counted(before.size, 'trace')}. Was one file given twice?`,
      effect: 'There is nothing to compare.',
      answer: 'Load another period before or after.',
    })
  }
  if (!isConsiderable(affected)) return []
  return warning('duplicate-traces', {
    finding: `${affectedText(affected)} have ids that occur in both periods.`,
    effect:
      'Shared requests make the periods look more similar; a request whose spans are split between them counts twice.',
    answer: 'Load files that do not overlap, or cut the flows by arrival with `selectRequests`.',
  })
}

/** Whether two periods, whose ids may only number their traces, hold the same in the same order. */
function areCopies(before: TraceSet, after: TraceSet): boolean {
  const columnsOf = (traces: TraceSet): readonly ArrayLike<unknown>[] =>
    traces.kind === 'spans'
      ? [traces.ids, [traces.epochNs], traces.spans.startUs, traces.spans.durationUs]
      : [traces.ids, [traces.epochNs], traces.startUs, traces.latencyUs]
  const [was, is] = [columnsOf(before), columnsOf(after)]
  return was.every((values, column) => {
    const others = is[column] as ArrayLike<unknown>
    return (
      values.length === others.length && Array.from(values).every((one, i) => one === others[i])
    )
  })
}

function withinOne(periods: TwoPeriods): ComparisonWarning[] {
  const affected = affectedIn(periods, repeated)
  if (!isConsiderable(affected)) return []
  return warning('duplicate-traces', {
    finding: `${affectedText(affected)} occur twice within their period.`,
    effect:
      periods.before.kind === 'spans'
        ? 'Only the first copy of each span counts.'
        : 'Each counts once per copy.',
    answer: 'Load each file once; `traces.quality().issues` lists them.',
  })
}

/** Counts the traces that have copies of spans; for graphs, of ids. */
function repeated(traces: TraceSet): number {
  if (traces.kind === 'graphs') {
    const ids = traces.ids.filter(isIdentity)
    return ids.length - new Set(ids).size
  }
  const copied = new Set(traces.quality().copied)
  return traces.ids.filter((id) => copied.has(id)).length
}

function isIdentity(id: string): boolean {
  return id.length >= ID_LENGTH
}

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

/** Reports traces that a store has, or a file had before it was cut off. */
function missingTraces(traces: TraceSet): ComparisonWarning[] {
  const saidOf = (wanted: string) =>
    traces
      .quality()
      .issues.filter(({ code }) => code === wanted)
      .map(({ place, message }) => `${describePlace(place)}${message}`)
  const effect = 'Requests may look rarer, or differently mixed, than they were.'
  const [lacking, cut] = [saidOf(MISSING_TRACES), saidOf(TRUNCATED_FILE)]
  const ofStore = {
    finding: `${traces.name} lacks traces that its store has: ${lacking.join('; ')}.`,
    answer: 'Fetch both periods again, or shorter ones.',
  }
  const ofFiles = {
    finding: `${traces.name}: ${counted(cut.length, 'file')} ${cut.length === 1 ? 'is' : 'are'} cut off in the middle, so an unknown number of traces is missing: ${firstOf(cut, { separator: '; ' })}.`,
    answer: 'Copy or export it again.',
  }
  return [
    ...(lacking.length === 0 ? [] : warning('missing-traces', { ...ofStore, effect })),
    ...(cut.length === 0 ? [] : warning('missing-traces', { ...ofFiles, effect })),
  ]
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
  const [wholes, parts] = divided<RecordedOnce>(
    operations.filter((one) => one.renamed === null),
    (one) => one.isWhole,
  )
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
          : 'though its work is done in both periods'
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
