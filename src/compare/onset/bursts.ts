import { max, pairs } from 'd3-array'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { median } from '../../stats/quantile.ts'
import type { Timed } from './onset.ts'

/** Bursts must hold most of the events, and these must be rare. */
const MAX_SHARE = 0.2
const MIN_IN_BURSTS = 2 / 3

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
  if (slow > MAX_SHARE * series.length) return null
  const starts = series.filter((_, i) => isSlow[i] && isSlow[i + 1] && !isSlow[i - 1]).length
  const follow = series.filter((_, i) => isSlow[i] && isSlow[i - 1]).length
  if (starts + follow < MIN_IN_BURSTS * slow) return null
  // Within a burst, some are not slow: the next one begins after a longer time than slow ones are apart.
  const usualUs = (timesUs.at(-1)! - timesUs[0]!) / (slow - 1)
  const isApart = (i: number) => !(timesUs[i]! - timesUs[i - 1]! <= usualUs)
  const beginUs = timesUs.filter((_, i) => isApart(i) && !isApart(i + 1))
  if (beginUs.length < least) return null
  const { pMore } = fisherExact(slow - follow, series.length - slow, follow, slow)
  const apartUs = median(pairs(beginUs, (a, b) => b - a))
  return { count: beginUs.length, beginUs, apartUs, p: pMore }
}
