import { rollup, sum } from 'd3-array'
import { counted, formatDuration, grouped, printable } from '../../core/words.ts'
import type { ClockMove, ClockOffset } from '../../flows/clocks/clock-offsets.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { median } from '../../stats/quantile.ts'
import { twoProportionsTest } from '../../stats/two-proportions.ts'
import { missingSpans, partTops } from '../../traces/missing-spans.ts'
import { spansOutsideParents } from '../../traces/note-doubts.ts'
import { NO_PARENT } from '../../traces/span-columns.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import {
  type ComparedPeriods,
  type ComparisonWarning,
  partOf,
  warning,
} from './comparison-warning.ts'

/** A problem of more traces than this can matter to the results. */
const MIN_AFFECTED = 0.005
const AFFECTED_LEVEL = 0.001
/** The test of two shares is trusted from this many expected cases a period on. */
const MIN_EXPECTED_CASES = 5

type TwoPeriods = Pick<ComparedPeriods, 'before' | 'after'>

export type AffectedTraces = ReturnType<typeof affectedIn>

/** Whether the problem is frequent enough in a period, or differs between them (z test at 0.001). */
export function isConsiderable(affected: AffectedTraces, leastShare = MIN_AFFECTED): boolean {
  const { before, after, ofBefore, ofAfter } = affected
  return before > leastShare * ofBefore || after > leastShare * ofAfter || differsInShare(affected)
}

function differsInShare({ before, after, ofBefore, ofAfter }: AffectedTraces): boolean {
  const pooled = (before + after) / (ofBefore + ofAfter)
  if (!(pooled * Math.min(ofBefore, ofAfter) >= MIN_EXPECTED_CASES)) return false
  return twoProportionsTest(before, ofBefore, after, ofAfter).p < AFFECTED_LEVEL
}

function affectedIn({ before, after }: TwoPeriods, countIn: (traces: TraceSet) => number) {
  const [ofBefore, ofAfter] = [before.size, after.size]
  return { before: countIn(before), after: countIn(after), ofBefore, ofAfter }
}

function affectedText({ before, after, ofBefore, ofAfter }: AffectedTraces): string {
  return `${partOf(before, ofBefore)} traces before and ${partOf(after, ofAfter)} after`
}

const CUT_LEVEL = 0.001
/** A trace with fewer than this part of the usual number of spans of its type is small. */
const SMALL = 0.5
/** Types with fewer spans than this have no small traces. */
const MIN_SPANS = 4
/** Largest share of traces at a border; with more, there is no inside to compare with. */
const MAX_AT_BORDER = 0.5

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
  if (inside.length < (1 - MAX_AT_BORDER) * rooted.length) return 0
  const usual = usualSpans(inside)
  const isSmall = ({ type, spans }: RootedTrace) => {
    const typical = usual.get(type) ?? 0
    return typical >= MIN_SPANS && spans < SMALL * typical
  }
  const smallInside = inside.filter(isSmall).length
  const small = rooted.filter(isSmall).length - smallInside
  const atBorder = rooted.length - inside.length
  const isMore = small * inside.length > smallInside * atBorder
  const { p } = fisherExact(smallInside, inside.length, small, atBorder)
  return isMore && p < CUT_LEVEL ? small : 0
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

function usualSpans(traces: readonly RootedTrace[]): Map<number, number> {
  const typical = (own: readonly RootedTrace[]) => median(own.map(({ spans }) => spans))
  return rollup(traces, typical, ({ type }) => type)
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

/** Share of traces without a root, in both periods, from which callers were never traced. */
const NEVER_TRACED = 0.9

/** Whether traces have no root, or are cut at a border of their period. */
export function truncatedTraces(periods: ComparedPeriods): ComparisonWarning[] {
  const both = [periods.before, periods.after]
  const rootless = (traces: TraceSet) => missingSpans(traces).rootless
  const isWhole = both.every((traces) => rootless(traces) > NEVER_TRACED * traces.size)
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

/** Fewest characters of an id that is unique: shorter ones number the traces of a file. */
const MIN_ID_LENGTH = 8

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
  return id.length >= MIN_ID_LENGTH
}
