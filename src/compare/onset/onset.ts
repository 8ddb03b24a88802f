import { max, pairs } from 'd3-array'
import {
  changePoint,
  constantLevel,
  type GradualChangeResult,
  gradualChange,
  passingChange,
} from '../../stats/change-point.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { moments } from '../../stats/moments.ts'
import { median } from '../../stats/quantile.ts'
import {
  LARGE,
  LEVEL,
  MAX_KEPT,
  MIN_KNOWN,
  MIN_PERIOD_RATIO,
  MIN_RATIO,
  MIN_SEEN,
  MIN_TAIL,
  MOST,
  NEGLIGIBLE,
  PART,
  SIDE_LEVEL,
  SMALL,
  TWICE,
} from '../thresholds.ts'

/** Start of a change. */
export interface Onset {
  /** µs since 1970; since the after period's clock began, where the time of day is not known. */
  readonly timeUs: number
  /** 95 % confidence interval. */
  readonly lowUs: number
  readonly highUs: number
  readonly isTimeOfDay: boolean
  /** Whether it was there from the first request after on. */
  readonly fromStart: boolean
  /** Whether it grows from then on, instead of being there at once. */
  readonly gradual: boolean
  /** Whether it may grow; `lowUs` and `highUs` then hold if it was sudden. */
  readonly perhapsGradual: boolean
  /** End of the change, with a 95 % confidence interval; `null` if it lasts. */
  readonly until: Pick<Onset, 'timeUs' | 'lowUs' | 'highUs'> | null
}

interface OnsetSeries {
  readonly before: readonly Timed[]
  readonly after: readonly Timed[]
  /** Whether after follows at once on before: the change may then have begun before. */
  readonly isJoined: boolean
  readonly isTimeOfDay: boolean
}

export interface Timed {
  readonly timeUs: number
  readonly value: number
  /** The value in its own unit, where it is a rank: growth is even there. */
  readonly amount?: number
}

interface OnsetTest {
  readonly onset: Onset
  readonly p: number
}

/**
 * Finds the change point of a level, in after or both periods, or the start of its growth; and its end, if there is
 * one. Returns `null` for too few requests, too small or too short a change, a level that drifts as much before, one
 * that changes repeatedly, or too wide an interval.
 */
export function findOnset(series: OnsetSeries): OnsetTest | null {
  const over = endOf(series)
  if (over === null) return beginningOf(series)
  const found = beginningOf({ ...series, after: series.after.slice(0, over.at) })
  return found && { ...found, onset: { ...found.onset, until: over.until } }
}

/** Returns when a change is over, in the after period; `null` where it lasts or comes again. */
function endOf({ before, after, isJoined }: OnsetSeries) {
  const [start, lasting] = [before.length, lastingOf(after.length)]
  const both = [...before, ...after]
  const values = both.map(({ value }) => value)
  const from = isJoined ? Math.ceil(start / 2) : start
  const { at, end, size, ratioOfEnd } = passingChange(values, { from, until: start + 1, lasting })
  if (ratioOfEnd < MIN_RATIO) return null
  const parts = [values.slice(0, at), values.slice(at, end), values.slice(end)]
  const [usual, other, later] = parts.map((own) => moments(own).mean) as [number, number, number]
  const [changed, left] = [other - usual, later - usual]
  const isOver =
    Math.abs(left) <= PART * Math.abs(changed) &&
    Math.abs(left) * (values.length - end) < Math.abs(changed) * (end - at)
  const isAgain = [parts[0]!, parts[2]!].some((own) => {
    const again = passingChange(own, { lasting: Math.ceil(PART * (end - at)) })
    return again.ratio >= MIN_RATIO && again.size / size > 1 / TWICE
  })
  if (!isOver || isAgain) return null
  const within = { from: Math.max(lasting, start + 1 - at), to: values.length - at - lasting }
  const found = changePoint(values.slice(at), within)
  const timeOf = (position: number) => (both[at + position] as Timed).timeUs
  const [timeUs, lowUs, highUs] = [found.at, found.low - 1, found.high].map(timeOf)
  return { at: at + found.at - start, until: { timeUs, lowUs, highUs } as Onset['until'] }
}

function beginningOf(series: OnsetSeries): OnsetTest | null {
  const { before, after, isJoined, isTimeOfDay } = series
  const [first, last] = [after[0], after.at(-1)]
  if (before.length < MIN_SEEN || after.length < MIN_KNOWN || !first || !last) return null
  const start = before.length
  const both = [...before, ...after]
  const values = both.map(({ value }) => value)
  const found = changePoint(values, {
    from: isJoined ? Math.ceil(start / 2) : start,
    to: both.length - lastingOf(after.length),
  })
  const { at, low, high, pAt, ratioAt } = found
  const isClear = ratioAt(at) >= MIN_RATIO && ratioAt(start) >= MIN_PERIOD_RATIO
  const size = Math.abs(found.after - found.before)
  const wander = wanderOf(values.slice(0, Math.min(start, at)))
  if (!isClear || size < TWICE * wander || fallsBack(values.slice(at), found)) return null
  const timeOf = (position: number) => (both[position] as Timed).timeUs
  // It began after the last request that did not show it yet.
  const earliest = (position: number) =>
    position === start && !isJoined ? first.timeUs : timeOf(Math.max(0, position - 1))
  const step = { timeUs: timeOf(at), lowUs: earliest(low), highUs: timeOf(high), p: pAt(start) }
  const { p, ...interval } = withGrowth(step, growthIn(series))
  const { lowUs, highUs } = interval
  const lengthUs = last.timeUs - first.timeUs
  const shared = { ...interval, isTimeOfDay, until: null }
  const isAtStart = lowUs <= first.timeUs && highUs >= first.timeUs
  if (isAtStart && highUs - first.timeUs <= PART * lengthUs) {
    // Growth that takes time is not found to begin there.
    const onset = { ...shared, timeUs: first.timeUs, fromStart: true, perhapsGradual: false }
    return { onset, p: 1 }
  }
  const isPlaced = highUs - lowUs <= MOST * lengthUs
  return isPlaced ? { onset: { ...shared, fromStart: false }, p } : null
}

interface Start extends Pick<Onset, 'timeUs' | 'lowUs' | 'highUs'> {
  /** p of the hypothesis that the onset is the start of after. */
  readonly p: number
}

function withGrowth(
  step: Start,
  growth: (Start & { readonly pOfStep: number; readonly mayLast: boolean }) | null,
) {
  if (growth === null) return { ...step, gradual: false, perhapsGradual: true }
  const { pOfStep, mayLast, ...start } = growth
  if (pOfStep < NEGLIGIBLE && mayLast) return { ...start, gradual: true, perhapsGradual: false }
  const told = { gradual: false, perhapsGradual: mayLast }
  if (pOfStep >= SIDE_LEVEL) return { ...step, ...told }
  return {
    timeUs: step.timeUs,
    lowUs: Math.min(step.lowUs, start.lowUs),
    highUs: Math.max(step.highUs, start.highUs),
    p: Math.max(step.p, start.p),
    ...told,
  }
}

/** Finds growth of amounts, or else of other values: with few slow requests, amounts say little. */
function growthIn({ before, after, isJoined }: OnsetSeries) {
  const size = partSize(before.length + after.length)
  const startUs = (after[0] as Timed).timeUs
  // Nothing is known of the time between periods.
  const gapUs = isJoined ? 0 : startUs - (before.at(-1) as Timed).timeUs
  const limit = (us: number) => (isJoined ? us : Math.max(us, startUs))
  for (const of of ['amount', 'value'] as const) {
    const earlier = partsOf(before, { size, of })
    const later = partsOf(after, { size, of })
    const start = earlier.length
    const found = growthOf(
      [...earlier.map((one) => ({ ...one, timeUs: one.timeUs + gapUs })), ...later],
      { from: isJoined ? Math.ceil(start / 2) : start, to: start + later.length - 2 },
    )
    if (found === null || found.ratio < MIN_RATIO) continue
    return {
      timeUs: limit(found.begins),
      lowUs: limit(found.low),
      highUs: limit(found.high),
      p: found.pAt(start),
      pOfStep: found.p,
      mayLast: found.longest > (1 - LARGE) * (after.at(-1)!.timeUs - found.begins),
    }
  }
  return null
}

/** Returns the number of requests in one part of a series of a given length. */
export function partSize(count: number): number {
  return Math.max(MIN_SEEN, Math.ceil(count / MAX_KEPT))
}

/** Parts of a series, of as many requests each: the middle of their times and of amounts or values. */
export function partsOf(
  series: readonly Timed[],
  { size, of }: { readonly size: number; readonly of: 'amount' | 'value' },
): Timed[] {
  const amounts = series.map((one) => one[of] ?? one.value)
  // Single requests may be very slow, and a median of yes and no says little.
  const isCount = new Set(amounts).size < MIN_TAIL
  const level = (own: readonly number[]) => (isCount ? moments(own).mean : median(own))
  const parts = Math.floor(series.length / size)
  const bound = (part: number) => Math.floor((part * series.length) / parts)
  return Array.from({ length: parts }, (_, part) => {
    const [from, to] = [bound(part), bound(part + 1)]
    const timesUs = series.slice(from, to).map(({ timeUs }) => timeUs)
    return { timeUs: median(timesUs), value: level(amounts.slice(from, to)) }
  })
}

/** Returns when the level of parts begins to grow; `null` for too few. */
export function growthOf(
  parts: readonly Timed[],
  range: { readonly from: number; readonly to: number },
): GradualChangeResult | null {
  if (parts.length < MIN_TAIL) return null
  return gradualChange(
    parts.map(({ timeUs }) => timeUs),
    parts.map(({ value }) => value),
    range,
  )
}

function lastingOf(count: number): number {
  return Math.max(MIN_SEEN, Math.floor(SMALL * count))
}

/** Returns how far a series' level moves by itself from one part to another; 0 if it does not move. */
function wanderOf(values: readonly number[]): number {
  if (!(constantLevel(values).p < LEVEL)) return 0
  const edge = Math.ceil(values.length / 10)
  const { before, after } = changePoint(values, { from: edge, to: values.length - edge })
  return Math.abs(after - before) || 0
}

/** Whether less than half of a change is left of it later. */
export function fallsBack(
  values: readonly number[],
  { before: usual }: { readonly before: number },
): boolean {
  const lasting = lastingOf(values.length)
  const { at, before, after, ratioAt } = changePoint(values, {
    from: lasting,
    to: values.length - lasting,
  })
  return ratioAt(at) >= MIN_RATIO && Math.abs(after - usual) < Math.abs(before - usual) / 2
}

/** Stretches of one slow request after another. */
export interface Bursts {
  readonly count: number
  readonly beginUs: readonly number[]
  /** Median time from the beginning of one to that of the next. */
  readonly apartUs: number
  /** p of slow requests following each other no more often than they follow others: Fisher's exact test. */
  readonly p: number
}

/** Bursts of the few high values of a series; `null` for fewer than the `least`, or most alone. */
export function burstsOf(series: readonly Timed[], { least = 3 } = {}): Bursts | null {
  const high = (max(series, ({ value }) => value) ?? 0) / 2
  const isSlow = series.map(({ value }) => value > high)
  const timesUs = series.flatMap(({ timeUs }, i) => (isSlow[i] ? timeUs : []))
  const slow = timesUs.length
  if (slow > PART * series.length) return null
  const starts = series.filter((_, i) => isSlow[i] && isSlow[i + 1] && !isSlow[i - 1]).length
  const follow = series.filter((_, i) => isSlow[i] && isSlow[i - 1]).length
  if (starts + follow < MOST * slow) return null
  // Within a burst, some are not slow: the next one begins after a longer time than slow ones are apart.
  const usualUs = (timesUs.at(-1)! - timesUs[0]!) / (slow - 1)
  const isApart = (i: number) => !(timesUs[i]! - timesUs[i - 1]! <= usualUs)
  const beginUs = timesUs.filter((_, i) => isApart(i) && !isApart(i + 1))
  if (beginUs.length < least) return null
  const { pMore } = fisherExact(slow - follow, series.length - slow, follow, slow)
  const apartUs = median(pairs(beginUs, (a, b) => b - a))
  return { count: beginUs.length, beginUs, apartUs, p: pMore }
}
