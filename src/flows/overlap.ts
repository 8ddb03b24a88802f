import { remembered } from '../core/remembered.ts'
import { sortAscending } from '../stats/ascending-order.ts'
import { isTimeOfDay } from '../traces/epoch-clock.ts'
import { BEFORE, type FlowSet } from './flow-set.ts'

/** Returns when the requests of each period arrived, on the clock that `arrivalUs` tells, ascending. */
export const arrivals = remembered((flows: FlowSet): readonly [Float64Array, Float64Array] => {
  const arrivalUs = flows.startUs.map((_, request) => flows.arrivalUs(request))
  const split = flows.count(BEFORE)
  const ascending = (times: Float64Array) => sortAscending(times.filter(Number.isFinite))
  return [ascending(arrivalUs.subarray(0, split)), ascending(arrivalUs.subarray(split))]
})

/** Returns how both periods lie in time; `null` unless their clocks tell the time of day. */
export const periodOverlap = remembered((flows: FlowSet): Overlap | null => {
  return overlapInTime(...arrivals(flows))
})

/**
 * Returns the overlap of two lists of ascending times, µs since 1970; `null` if a clock does not tell the time of day.
 */
export function overlapInTime(before: Float64Array, after: Float64Array): Overlap | null {
  const tellTime = isTimeOfDay(before[0] ?? 0) && isTimeOfDay(after[0] ?? 0)
  return tellTime ? overlapOf(before, after) : null
}

/** Periods that share less than this part of the shorter one are apart. */
const MIN_SHARED = 0.01
/** Periods that change places this much less often than at random take turns. */
const TURNS = 0.1

/** Periods with this share of requests in the time of both were divided by something else than time. */
const SIDE_BY_SIDE = 0.9
/** Unless as many of one period in a row, before or behind the other, could be chance. */
const STREAK_LEVEL = 1e-4

/** Position in time of the arrivals of two periods. */
export interface Overlap {
  /** `'in turns'`: stretches alternate; `'side by side'`: nearly always both. */
  readonly kind: 'apart' | 'in turns' | 'partly mixed' | 'side by side'
  readonly sharedUs: number
  /** From the end of one period to the start of the other; 0 where they overlap. */
  readonly gapUs: number
  /** Length of the shorter period. */
  readonly shorterUs: number
  readonly share: number
  readonly before: number
  readonly after: number
}

/**
 * Returns how periods overlap, by runs in their merged arrivals: a random mix of m and n has 1 + 2mn / (m + n) runs.
 * Source: Wald and Wolfowitz 1940, "On a test whether two samples are from the same population", Annals of Mathematical
 * Statistics 11(2):147-162, for the expected number of runs.
 */
function overlapOf(before: Float64Array, after: Float64Array): Overlap {
  const fromUs = Math.max(before[0] ?? Infinity, after[0] ?? Infinity)
  const toUs = Math.min(before.at(-1) ?? -Infinity, after.at(-1) ?? -Infinity)
  const sharedUs = Math.max(0, toUs - fromUs)
  const shorterUs = Math.min(lengthUs(before), lengthUs(after))
  const isShared = (arrivalUs: number) => arrivalUs >= fromUs && arrivalUs <= toUs
  const ofBefore = before.filter(isShared)
  const ofAfter = after.filter(isShared)
  const share = sharedUs / Math.max(lengthUs(before), lengthUs(after)) || 0
  const gapUs = Math.max(0, fromUs - toUs)
  const counts = {
    sharedUs,
    gapUs,
    shorterUs,
    share,
    before: ofBefore.length,
    after: ofAfter.length,
  }
  if (!(sharedUs > MIN_SHARED * shorterUs)) return { kind: 'apart', ...counts }
  const expected = (2 * counts.before * counts.after) / (counts.before + counts.after)
  const isMixed = expected > 0 && countRuns(ofBefore, ofAfter) > TURNS * (1 + expected)
  if (!isMixed) return { kind: 'in turns', ...counts }
  const leastShare = Math.min(counts.before / before.length, counts.after / after.length)
  const isPartial =
    leastShare < SIDE_BY_SIDE &&
    [before, after].some((arrivals) => {
      const part = arrivals.length / (before.length + after.length)
      const early = arrivals.filter((us) => us < fromUs).length
      const late = arrivals.filter((us) => us > toUs).length
      return part ** (Math.max(early, late) - 1) < STREAK_LEVEL
    })
  return { kind: isPartial ? 'partly mixed' : 'side by side', ...counts }
}

export function lengthUs(arrivals: Float64Array): number {
  return (arrivals.at(-1) ?? Number.NaN) - (arrivals[0] ?? Number.NaN)
}

/** Counts the stretches of one period only that the merged arrivals fall into. */
function countRuns(before: Float64Array, after: Float64Array): number {
  let runs = 0
  let last: 'before' | 'after' | undefined
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    const next = (before[i] ?? Infinity) <= (after[j] ?? Infinity) ? 'before' : 'after'
    if (next === 'before') i++
    else j++
    if (next !== last) runs++
    last = next
  }
  return runs
}
