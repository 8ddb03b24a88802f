import { changePoint, constantLevel } from '../../stats/change-point.ts'

/** When a change began. */
export interface Onset {
  /** µs since 1970; since the after period's clock began, where the time of day is not known. */
  readonly timeUs: number
  /** 95 % confidence interval. */
  readonly lowUs: number
  readonly highUs: number
  readonly isTimeOfDay: boolean
  /** It was there from the first request after on. */
  readonly fromStart: boolean
}

export interface OnsetSeries {
  readonly before: readonly Timed[]
  readonly after: readonly Timed[]
  /** Whether after follows at once on before: the change may then have begun before. */
  readonly isJoined: boolean
  readonly isTimeOfDay: boolean
}

export interface Timed {
  readonly timeUs: number
  readonly value: number
}

const MIN_BEFORE = 5
const MIN_AFTER = 8
/** Fewest requests after a change, and the least part of the period. */
const MIN_LASTING = 5
const MIN_LASTING_SHARE = 0.05
/** Likelihood ratio from which on a change can be placed, and that of both periods as they are. */
const MIN_RATIO = 16
const MIN_PERIOD_RATIO = 4
const LEVEL = 0.05
/** A change is this many times as large as what the level before does by itself. */
const MIN_WANDER = 2
/** An interval this large, as a share of the after period, says nothing. */
const MAX_WIDTH = 0.5
/** What began within this share of the after period was there from the start. */
const MAX_START = 0.2

export interface OnsetTest {
  readonly onset: Onset
  readonly p: number
}

/**
 * The change point of a level, in after or both periods. `null` for too few requests, too small or
 * lasting too short a change, a level that wanders as much before, or too wide an interval.
 */
export function findOnset({ before, after, isJoined, isTimeOfDay }: OnsetSeries): OnsetTest | null {
  const [first, last] = [after[0], after.at(-1)]
  if (before.length < MIN_BEFORE || after.length < MIN_AFTER || !first || !last) return null
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
  if (!isClear || size < MIN_WANDER * wander || fallsBack(values.slice(at), found)) return null
  const timeOf = (position: number) => (both[position] as Timed).timeUs
  // It began after the last request that did not show it yet.
  const earliest = (position: number) =>
    position === start && !isJoined ? first.timeUs : timeOf(Math.max(0, position - 1))
  const [lowUs, highUs] = [earliest(low), timeOf(high)]
  const lengthUs = last.timeUs - first.timeUs
  const shared = { lowUs, highUs, isTimeOfDay }
  const p = pAt(start)
  const isAtStart = low <= start && high >= start
  const isNearStart = highUs - first.timeUs <= MAX_START * lengthUs
  if (isAtStart && isNearStart) {
    return { onset: { ...shared, timeUs: first.timeUs, fromStart: true }, p: 1 }
  }
  const isPlaced = highUs - lowUs <= MAX_WIDTH * lengthUs
  return isPlaced ? { onset: { ...shared, timeUs: timeOf(at), fromStart: false }, p } : null
}

function lastingOf(count: number): number {
  return Math.max(MIN_LASTING, Math.floor(MIN_LASTING_SHARE * count))
}

/** How far the level of a series moves by itself: from one part to another, if it moves at all. */
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
