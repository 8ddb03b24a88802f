import { greatest, sum } from 'd3-array'
import { formatDuration, type Microseconds, shortNumber } from '../../core/words.ts'
import { lengthUs, type Overlap, overlapInTime } from '../../flows/overlap.ts'
import { median } from '../../stats/quantile.ts'
import { type ComparisonWarning, exactPercent, partOf, warning } from './comparison-warning.ts'

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
