import { formatDuration } from '../../core/units.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { arrivalsUs, epochShiftUs } from './arrivals.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'
import { partOf } from './number-text.ts'
import { lengthUs, overlapOf } from './overlap.ts'

/** A period this much longer than the other is of another length. */
const OTHER_LENGTH = 2
/** Requests that arrive this much more often come at another rate. */
const OTHER_RATE = 1.5
/** By how many standard errors the counts must be off what the lengths would give. */
const LARGE_DEVIATION = 4

/**
 * Whether the periods stand in the wrong order, overlap in time, or one lasts much longer than the other and the counts do
 * not say so: then requests came at another rate. Only where the time of day was recorded. Periods
 * that cover the same time were told apart by something else (two versions side by side), and
 * stretches in turns share nothing: both are as they should be.
 */
export function timeRanges(periods: ComparedPeriods): ComparisonWarning[] {
  const shiftUs = epochShiftUs(periods)
  if (shiftUs === undefined) return []
  const before = arrivalsUs(periods.flows, BEFORE)
  const after = arrivalsUs(periods.flows, AFTER).map((startUs) => startUs + shiftUs)
  return [...swapped(before, after), ...overlapping(before, after), ...otherLength(before, after)]
}

function swapped(before: Float64Array, after: Float64Array): ComparisonWarning[] {
  const aheadUs = (before[0] ?? Number.NaN) - (after.at(-1) ?? Number.NaN)
  if (!(aheadUs > 0)) return []
  return [
    warning('time-ranges', {
      finding: `The after period ends ${formatDuration(aheadUs)} before the before period begins.`,
      effect:
        'If the files were swapped, everything is told the wrong way round: what is called slower became faster.',
      answer: 'Swap before and after, unless an earlier period is what you ask about.',
    }),
  ]
}

function overlapping(before: Float64Array, after: Float64Array): ComparisonWarning[] {
  const shared = overlapOf(before, after)
  if (shared.kind !== 'partly mixed') return []
  return [
    warning('time-ranges', {
      finding:
        `The periods overlap for ${formatDuration(shared.sharedUs)}: ` +
        `${partOf(shared.before, before.length)} requests before and ` +
        `${partOf(shared.after, after.length)} after arrived in it.`,
      effect:
        'What changed during the overlap is in both periods, and the change is found smaller than it is, or not at all.',
      answer: 'Load files that do not overlap, or cut the flows by arrival with `selectRequests`.',
    }),
  ]
}

function otherLength(before: Float64Array, after: Float64Array): ComparisonWarning[] {
  const beforeUs = lengthUs(before)
  const afterUs = lengthUs(after)
  if (!(Math.max(beforeUs / afterUs, afterUs / beforeUs) > OTHER_LENGTH)) return []
  const rates = [(before.length - 1) / beforeUs, (after.length - 1) / afterUs] as const
  const ratio = rates[1] / rates[0]
  if (Math.max(ratio, 1 / ratio) < OTHER_RATE) return []
  const all = before.length + after.length - 2
  const share = beforeUs / (beforeUs + afterUs)
  const deviation = (before.length - 1 - all * share) / Math.sqrt(all * share * (1 - share))
  if (Math.abs(deviation) < LARGE_DEVIATION) return []
  const [perSecondBefore, perSecondAfter] = rates.map((rate) => Number((rate * 1e6).toPrecision(3)))
  return [
    warning('time-ranges', {
      finding:
        `The before period lasts ${formatDuration(beforeUs)}, the after period ${formatDuration(afterUs)}, ` +
        `with ${perSecondBefore} and ${perSecondAfter} requests per second.`,
      effect:
        'Requests came at another rate, which the counts alone do not show: what depends on load (queues, caches) differs with it.',
      answer: 'Load periods of one length and rate, or keep the rate in mind as a cause.',
    }),
  ]
}
