// Runs once a request: the loops index with `!`.
import { greatest, mean, sum } from 'd3-array'
import { formatAmount } from '../../core/quantity.ts'
import {
  certaintyText,
  formatDuration,
  type Microseconds,
  percent,
  printable,
  shortNumber,
} from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { lengthUs, type Overlap, overlapInTime } from '../../flows/overlap.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { longRunVariance } from '../../stats/change-point.ts'
import { normalP } from '../../stats/distributions.ts'
import { midranks } from '../../stats/midranks.ts'
import { median } from '../../stats/quantile.ts'
import { groupRows } from '../../traces/group-rows.ts'
import { rootTypes } from '../steps/root-types.ts'
import {
  type ComparedPeriods,
  type ComparisonWarning,
  exactPercent,
  partOf,
  warning,
} from './comparison-warning.ts'

/** A period this much longer than the other is of another length. */
const OTHER_LENGTH = 2
/** Requests that arrive this much more often come at another rate. */
const OTHER_RATE = 1.5
/** Smallest difference, in standard errors, between the counts and those expected from the lengths. */
const LARGE_DEVIATION = 4

/** When the requests of both periods arrived, ascending. */
export type Arrivals = readonly [before: Float64Array, after: Float64Array]

/**
 * Whether periods stand in the wrong order, overlap, or came at another rate. Periods that cover
 * the same time, and stretches in turns, are as they should be.
 */
export function timeRanges(arrivals: Arrivals): ComparisonWarning[] {
  const overlap = overlapInTime(...arrivals)
  if (overlap === null) return []
  return [
    ...swapped(overlap, arrivals),
    ...overlapping(overlap, arrivals),
    ...otherLength(...arrivals),
  ]
}

/** Whether the after period came first: all of it, or all except an overlap with later times. */
function swapped({ kind }: Overlap, [before, after]: Arrivals): ComparisonWarning[] {
  const isApart = kind === 'apart' || kind === 'partly mixed'
  if (!isApart || !(median(after) < median(before))) return []
  const [first, last] = [before[0] as number, after.at(-1) as number]
  const aheadUs = first - (last < first ? last : (after[0] as number))
  // One period within the other is in no order.
  if (!(aheadUs > 0 && last < (before.at(-1) as number))) return []
  const ahead = `${formatDuration(aheadUs)} before the before period`
  return warning('time-ranges', {
    finding: `The after period ${last < first ? `ends ${ahead} begins` : `begins ${ahead}`}. Are they swapped?`,
    effect: 'If the files were swapped, every result is reversed: slower means faster.',
    answer: 'Swap before and after, unless you want to compare with a later period.',
  })
}

function overlapping(shared: Overlap, [before, after]: Arrivals) {
  if (shared.kind !== 'partly mixed') return []
  return warning('time-ranges', {
    finding:
      `The periods overlap for ${formatDuration(shared.sharedUs)}: ` +
      `${partOf(shared.before, before.length)} requests before and ` +
      `${partOf(shared.after, after.length)} after arrived in it.`,
    effect:
      'Both periods have requests from the overlap, so changes look smaller than they are, or are missed.',
    answer: 'Load files that do not overlap, or cut the flows by arrival with `selectRequests`.',
  })
}

function otherLength(before: Float64Array, after: Float64Array): ComparisonWarning[] {
  const [beforeUs, afterUs] = [busyUs(before), busyUs(after)]
  if (!(Math.max(beforeUs / afterUs, afterUs / beforeUs) > OTHER_LENGTH)) return []
  const rates = [(before.length - 1) / beforeUs, (after.length - 1) / afterUs] as const
  const ratio = rates[1] / rates[0]
  // A single request has no rate.
  if (!(Math.max(ratio, 1 / ratio) >= OTHER_RATE)) return []
  const all = before.length + after.length - 2
  const share = beforeUs / (beforeUs + afterUs)
  const deviation = (before.length - 1 - all * share) / Math.sqrt(all * share * (1 - share))
  if (Math.abs(deviation) < LARGE_DEVIATION) return []
  const [perSecondBefore, perSecondAfter] = rates.map((rate) => shortNumber(rate * 1e6))
  return warning('time-ranges', {
    finding:
      `The before period lasts ${lengthText(before)}, the after period ${lengthText(after)}, ` +
      `with ${perSecondBefore} and ${perSecondAfter} requests per second.`,
    effect:
      'The request rate changed, though the counts do not show it; queues and caches depend on it.',
    answer: 'Load periods of the same length and rate, or consider the rate as a cause.',
  })
}

/** Returns how long requests arrived: the period's length without gaps that random arrivals would hardly leave. */
function busyUs(arrivals: Float64Array): Microseconds {
  return lengthUs(arrivals) - sum(holesIn(arrivals), ({ fromUs, toUs }) => toUs - fromUs)
}

function lengthText(arrivals: Float64Array): string {
  const [allUs, ownUs] = [lengthUs(arrivals), busyUs(arrivals)]
  const gaps = ownUs < allUs ? ` without ${formatDuration(allUs - ownUs)} of gaps` : ''
  return formatDuration(ownUs) + gaps
}

const GAP_LEVEL = 1e-4
/** A gap that covers no more of its period does not matter. */
const MIN_GAP_SHARE = 0.05

interface Gap {
  readonly fromUs: number
  readonly toUs: number
}

type Excused = (gap: Gap) => boolean

/** Smallest part of a gap between stretches that the other period must fill for the periods to take turns. */
const MIN_FILLED = 0.25

/**
 * Whether a period has a gap that random arrivals would hardly leave; none are gaps that stretches
 * of the other period fill in turns, and those that both have at once.
 */
export function missingIntervals([before, after]: Arrivals): ComparisonWarning[] {
  const kind = overlapInTime(before, after)?.kind
  const excusedBy = (others: Float64Array): Excused => {
    if (kind === 'in turns') return (gap) => isFilled(gap, others)
    if (kind === 'side by side') return (gap) => !isBusyWithin(gap, others)
    return () => false
  }
  return [
    ...holeIn(before, 'before', excusedBy(after)),
    ...holeIn(after, 'after', excusedBy(before)),
  ]
}

function isFilled({ fromUs, toUs }: Gap, arrivals: Float64Array): boolean {
  const within = arrivals.filter((us) => us > fromUs && us < toUs)
  return lengthUs(within) > MIN_FILLED * (toUs - fromUs)
}

function isBusyWithin({ fromUs, toUs }: Gap, arrivals: Float64Array): boolean {
  const quarterUs = (toUs - fromUs) / 4
  return arrivals.some((us) => us > fromUs + quarterUs && us < toUs - quarterUs)
}

function holeIn(arrivals: Float64Array, name: 'before' | 'after', isExcused: Excused) {
  const gap = longestHole(arrivals, isExcused)
  if (gap === undefined) return []
  const gapUs = gap.toUs - gap.fromUs
  const share = gapUs / lengthUs(arrivals)
  const startUs = gap.fromUs - (arrivals[0] as number)
  return warning('missing-intervals', {
    finding:
      `No request of the ${name} period arrived for ${formatDuration(gapUs)} (${exactPercent(share)} of it), ` +
      `from ${formatDuration(startUs)} after its start.`,
    effect:
      'Traces may be missing, or the system stood still. Results leave that time out; counts are too low.',
    answer:
      'Load the missing files, or cut the flows to the time before or after the gap with `selectRequests`.',
  })
}

function longestHole(arrivals: Float64Array, isExcused: Excused): Gap | undefined {
  const holes = holesIn(arrivals).filter((gap) => !isExcused(gap))
  return greatest(holes, (a, b) => a.toUs - a.fromUs - (b.toUs - b.fromUs))
}

/** Returns the gaps that are too long for chance and a considerable part of the period. */
function holesIn(arrivals: Float64Array): Gap[] {
  const allUs = lengthUs(arrivals)
  const holes: Gap[] = []
  for (let i = 1; i < arrivals.length; i++) {
    const [fromUs, toUs] = [arrivals[i - 1] as number, arrivals[i] as number]
    const share = (toUs - fromUs) / allUs
    if (!(share > MIN_GAP_SHARE)) continue
    if (gapProbability(share, arrivals.length) < GAP_LEVEL) holes.push({ fromUs, toUs })
  }
  return holes
}

/**
 * Bounds the probability that `count` Poisson arrivals leave a gap of this share: (1 −
 * share)^(count − 2) for each. Source: Pyke 1965, "Spacings", Journal of the Royal Statistical
 * Society B 27(3):395-449, §2.1.
 */
function gapProbability(share: number, count: number): number {
  return (count - 1) * (1 - share) ** (count - 2)
}

/** Number of equally large parts of a period; few requests tell nothing. */
const PARTS = 20
const MIN_REQUESTS = 5 * PARTS
const STRETCHES = PARTS ** 2 / 2
/** Corrected for all stretches and measures. */
const LEVEL = 1e-4
/** Times that differ by this factor matter, and failures by this share of requests. */
const MIN_FACTOR = 1.25
const MIN_FAILING = 0.05
/** Smallest part of a change that the other period must show in the same stretch for both to count as similar. */
const ALIKE = 0.5

interface Measure {
  /** Kind of request whose response times these are; `null` for failures of all. */
  readonly name: string | null
  readonly requests: Uint32Array
  readonly values: Float64Array
}

/** Parts from `from` to `to`, with the measure there and elsewhere. */
type Stretch = ReturnType<typeof oddStretch>

/**
 * Warns if a stretch of the before period has other response times (by kind of request) or failures than the rest, and
 * the after period has no such stretch: an outage, a jump, or another load. The stretch has a twentieth to half of the
 * requests. Noise is the long-run variance, so drifting levels give no warning.
 */
export function unsteadyBefore({ flows }: Pick<ComparedPeriods, 'flows'>): ComparisonWarning[] {
  const measures = measuresOf(flows, BEFORE).filter(({ values }) => values.length >= MIN_REQUESTS)
  const odd = measures
    .map((measure) => ({ measure, stretch: oddStretch(measure.values) }))
    .filter(({ stretch }) => stretch.p * measures.length < LEVEL)
  if (odd.length === 0) return []
  const after = new Map(measuresOf(flows, AFTER).map((measure) => [measure.name, measure]))
  const found = odd.flatMap(({ measure, stretch }) => {
    const change = changeIn(measure, stretch)
    const least = measure.name === null ? MIN_FAILING : Math.log(MIN_FACTOR)
    const same = changeIn(after.get(measure.name), stretch)
    const isAlike = same.by / change.by >= ALIKE
    return Math.abs(change.by) < least || isAlike ? [] : [{ measure, stretch, change }]
  })
  const [first] = found.sort((a, b) => a.stretch.p - b.stretch.p)
  if (first === undefined) return []
  const { measure, stretch, change } = first
  const { requests, name } = measure
  const [from, last] = [boundOf(requests, stretch.from), boundOf(requests, stretch.to) - 1]
  const fromUs = flows.arrivalUs(requests[from]!)
  const afterStartUs = fromUs - flows.arrivalUs(requestsOf(flows, BEFORE)[0]!)
  const lastsUs = flows.arrivalUs(requests[last]!) - fromUs
  const start = afterStartUs > 0 ? `${formatDuration(afterStartUs)} after its start` : 'its start'
  const said = (level: number) =>
    name === null ? percent(level) : formatAmount(level, flows.quantity)
  const what =
    name === null
      ? `${said(change.inside)} of requests failed`
      : `the median of ${printable(name)} was ${said(change.inside)}`
  return warning('unsteady-before', {
    finding:
      `The before period is not steady: for ${formatDuration(lastsUs)} from ${start}, ${what}, ` +
      `otherwise ${said(change.outside)} (${certaintyText(stretch.p * measures.length)}).`,
    effect: 'Comparisons use the mix of both, so changes may look smaller or larger than they are.',
    answer: 'Select a steady stretch of it with `between` or `selectRequests`.',
  })
}

/** Returns the requests of a period in the order of their arrival. */
function requestsOf(flows: FlowSet, period: Period): Uint32Array {
  const first = period === BEFORE ? 0 : flows.count(BEFORE)
  const arrivals = new Float64Array(flows.count(period))
  for (let at = 0; at < arrivals.length; at++) arrivals[at] = flows.arrivalUs(first + at)
  return ascendingOrder(arrivals).map((at) => first + at)
}

function measuresOf(flows: FlowSet, period: Period): Measure[] {
  const all = requestsOf(flows, period)
  const { names, typeOf } = rootTypes(flows)
  const { outcomes, responseTimeUs } = flows
  const measured = all.filter((request) => responseTimeUs[request]! > 0)
  const types = measured.map((request) => typeOf[request]!)
  const { offsets, rows } = groupRows(types, names.length)
  return [
    {
      name: null,
      requests: all,
      values: Float64Array.from(all, (one) => (outcomes?.failed(one) ? 1 : 0)),
    },
    ...names.map((name, type) => {
      const requests = rows.subarray(offsets[type], offsets[type + 1]).map((at) => measured[at]!)
      return { name, requests, values: Float64Array.from(requests, (one) => responseTimeUs[one]!) }
    }),
  ]
}

function boundOf({ length }: ArrayLike<unknown>, part: number): number {
  return Math.round((part * length) / PARTS)
}

/** Returns the stretch whose mean rank is the most standard errors from that of the rest. */
function oddStretch(values: Float64Array) {
  const ranks = midranks(values)
  const count = ranks.length
  const bounds = Array.from({ length: PARTS + 1 }, (_, part) => boundOf(ranks, part))
  const center = (count + 1) / 2
  const sums = new Float64Array(count + 1)
  for (let i = 0; i < count; i++) sums[i + 1] = sums[i]! + ranks[i]! - center
  let [from, to, most] = [0, 1, 0]
  for (let i = 0; i < PARTS; i++) {
    for (let j = i + 1; j <= Math.min(PARTS, i + PARTS / 2); j++) {
      const inside = bounds[j]! - bounds[i]!
      const sum = Math.abs(sums[bounds[j]!]! - sums[bounds[i]!]!)
      const size = sum * Math.sqrt(count / (inside * (count - inside)))
      if (size > most) [from, to, most] = [i, j, size]
    }
  }
  if (most === 0) return { from, to, p: 1 }
  const [inside, outside] = [true, false].map((is) => mean(within(ranks, { from, to }, is)) ?? 0)
  const level = (i: number) => (i >= bounds[from]! && i < bounds[to]! ? inside! : outside!)
  const noise = longRunVariance(Array.from(ranks, (rank, i) => rank - level(i)))
  return { from, to, p: STRETCHES * normalP(most / Math.sqrt(noise), 'two-sided') }
}

/** Values within a stretch, or outside of it. */
function within(values: Float64Array, { from, to }: Pick<Stretch, 'from' | 'to'>, inside: boolean) {
  const [start, end] = [boundOf(values, from), boundOf(values, to)]
  return values.filter((_, i) => (i >= start && i < end) === inside)
}

/** Compares a measure inside a stretch with the rest; for times, by the logarithm of their medians. */
function changeIn(measure: Measure | undefined, stretch: Stretch) {
  const { name, values } = measure ?? { name: null, values: new Float64Array() }
  const [inside, outside] = [true, false].map((is) => {
    const part = within(values, stretch, is)
    return (name === null ? mean(part) : median(part)) ?? Number.NaN
  }) as [number, number]
  return { inside, outside, by: name === null ? inside - outside : Math.log(inside / outside) }
}
