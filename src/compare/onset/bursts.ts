import { max, pairs } from 'd3-array'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { median } from '../../stats/quantile.ts'
import type { Timed } from './onset.ts'

/** What comes in bursts is rare, and most of it comes in them. */
const MAX_SHARE = 0.2
const MIN_IN_BURSTS = 2 / 3
const MIN_BURSTS = 3

/** Stretches of one slow request after another. */
export interface Bursts {
  readonly count: number
  /** Median time from the beginning of one to that of the next. */
  readonly apartUs: number
  /** Of slow requests following each other no more often than they follow others: Fisher's exact test. */
  readonly p: number
}

/** Bursts of the few high values of a series; `null` for fewer than three, or most alone. */
export function burstsOf(series: readonly Timed[]): Bursts | null {
  const high = (max(series, ({ value }) => value) ?? 0) / 2
  const isSlow = series.map(({ value }) => value > high)
  const slow = isSlow.filter(Boolean).length
  if (slow > MAX_SHARE * series.length) return null
  const starts = series.filter((_, i) => isSlow[i] && isSlow[i + 1] && !isSlow[i - 1])
  const follow = series.filter((_, i) => isSlow[i] && isSlow[i - 1]).length
  if (starts.length < MIN_BURSTS || starts.length + follow < MIN_IN_BURSTS * slow) return null
  const { pMore } = fisherExact(slow - follow, series.length - slow, follow, slow)
  const apartUs = median(pairs(starts, (a, b) => b.timeUs - a.timeUs))
  return { count: starts.length, apartUs, p: pMore }
}
