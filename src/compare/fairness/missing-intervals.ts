import { formatDuration } from '../../core/units.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { arrivalsUs, epochShiftUs } from './arrivals.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'
import { percent } from './number-text.ts'
import { lengthUs, overlapOf } from './overlap.ts'

const LEVEL = 1e-4
/** A gap that covers no more of its period does not matter. */
const LEAST_SHARE = 0.05

interface Gap {
  readonly fromUs: number
  readonly toUs: number
}

/** Which gaps are no holes, by what the other period does in the middle of them. */
type Excused = (gap: Gap) => boolean

/**
 * Whether a period has a hole: a gap between arrivals that requests coming at random, at the
 * period's rate, would hardly ever leave. No holes are the stretches of the other period where two
 * were recorded in turns, and gaps that both have at once where they ran side by side.
 */
export function missingIntervals(periods: ComparedPeriods): ComparisonWarning[] {
  const shiftUs = epochShiftUs(periods)
  const before = arrivalsUs(periods.flows, BEFORE)
  const after = arrivalsUs(periods.flows, AFTER).map((startUs) => startUs + (shiftUs ?? 0))
  const kind = shiftUs === undefined ? 'apart' : overlapOf(before, after).kind
  const excusedBy = (others: Float64Array): Excused => {
    if (kind === 'in turns') return (gap) => isBusyWithin(gap, others)
    if (kind === 'side by side') return (gap) => !isBusyWithin(gap, others)
    return () => false
  }
  return [
    ...holeIn(before, 'before', excusedBy(after)),
    ...holeIn(after, 'after', excusedBy(before)),
  ]
}

/** Whether something arrived in the middle half of a gap. */
function isBusyWithin({ fromUs, toUs }: Gap, arrivals: Float64Array): boolean {
  const quarterUs = (toUs - fromUs) / 4
  return arrivals.some((us) => us > fromUs + quarterUs && us < toUs - quarterUs)
}

function holeIn(
  arrivals: Float64Array,
  name: 'before' | 'after',
  isExcused: Excused,
): ComparisonWarning[] {
  const gap = longestHole(arrivals, isExcused)
  if (gap === undefined) return []
  const gapUs = gap.toUs - gap.fromUs
  const share = gapUs / lengthUs(arrivals)
  const startUs = gap.fromUs - (arrivals[0] as number)
  return [
    warning('missing-intervals', {
      finding:
        `No request of the ${name} period arrived for ${formatDuration(gapUs)} (${percent(share)} of it), ` +
        `from ${formatDuration(startUs)} after its start.`,
      effect:
        'Traces may be missing, or the system stood still; what happened then is not in the results, and counts are too low.',
      answer:
        'Load the missing files, or cut the flows to the time before or after the hole with `selectRequests`.',
    }),
  ]
}

/** The longest gap that is too long for chance and not excused. */
function longestHole(arrivals: Float64Array, isExcused: Excused): Gap | undefined {
  const allUs = lengthUs(arrivals)
  let longest: Gap | undefined
  let longestUs = LEAST_SHARE * allUs
  for (let i = 1; i < arrivals.length; i++) {
    const gap = { fromUs: arrivals[i - 1] as number, toUs: arrivals[i] as number }
    const gapUs = gap.toUs - gap.fromUs
    if (!(gapUs > longestUs && gapProbability(gapUs / allUs, arrivals.length) < LEVEL)) continue
    if (isExcused(gap)) continue
    longest = gap
    longestUs = gapUs
  }
  return longest
}

/**
 * An upper bound of the probability that `count` arrivals of a Poisson process leave a gap of at
 * least this share between the first and the last: each of the count − 1 gaps does with (1 −
 * share)^(count − 2).
 *
 * Source: Pyke 1965, "Spacings", Journal of the Royal Statistical Society B 27(3):395-449, §2.1;
 * Boole's inequality over the gaps.
 */
function gapProbability(share: number, count: number): number {
  return (count - 1) * (1 - share) ** (count - 2)
}
