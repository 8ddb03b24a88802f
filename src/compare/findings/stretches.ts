// Runs once a request or message: the loops index with `!`.
import { least, sort, sum } from 'd3-array'
import { fisherExact } from '../../stats/fisher-exact.ts'

/**
 * A stretch of time in which slow requests come close together, as they did at no time before; or else
 * messages that wait long, which are counted then, by when they were sent.
 */
export interface SlowStretch {
  readonly of: 'requests' | 'messages'
  /** First and last of its slow requests, in µs since 1970, or on the clock of after. */
  readonly fromUs: number
  readonly untilUs: number
  readonly isTimeOfDay: boolean
  /** Counts in the stretch, in the rest of after, and before. */
  readonly inside: SlowCounts
  readonly outside: SlowCounts
  readonly before: SlowCounts
  /**
   * Number of slow requests inside, including those that take longer at `where` than that share of similar calls
   * before.
   */
  readonly affected: number
  /**
   * Excess over the median of the type before, at `where` or else in all: the median of the stretch's requests, and
   * their sum.
   */
  readonly typicalUs: number
  readonly excessUs: number
  /** Step that holds most of that; `null` where none does. */
  readonly where: string | null
  /** Trace ids of the slowest. */
  readonly examples: readonly string[]
  /** Probability of so many slow requests so close together by chance, corrected for all stretches of after. */
  readonly p: number
}

export interface SlowCounts {
  readonly slow: number
  readonly requests: number
}

/** Slow requests take longer than this share of those of their type before, of which there are some. */
export const SLOW = 0.999
export const MIN_BEFORE = 50
/** Evidence against chance is this many times that of any stretch before, by requests beyond a lower share. */
const MIN_EVIDENCE = 2
export const SLOW_BEFORE = 0.99
const LEVEL = 0.001
/** Shares of slow requests that a stretch may have; the smallest is required. */
const RATES = [0.1, 0.2, 0.4, 0.8]
/** Fewest slow requests in a row: fewer are usual if requests wait for each other. */
const MIN_SLOW = 10
const MAX_EXAMPLES = 3
/** Factor over the slowest of its kind before from which a request is far slower. */
export const FAR = 2

/** Excess of a request, or message, over a limit. */
export type OverUsual = (request: number) => number

interface Limits {
  readonly overLimit: OverUsual
  readonly overLower: OverUsual
}

/** Returns the stretch of the last series, one of `several`; `null` if chance or the stretches before explain it. */
export function stretchOf(
  series: readonly Uint32Array[],
  { overLimit, overLower, several = 1 }: Limits & { readonly several?: number },
) {
  const [runs, after] = [series.slice(0, -1), series.at(-1)!]
  const { from, to, p } = densest(after, overLimit)
  const usual = Math.min(...runs.map((run) => densest(run, overLower).p))
  if (!(p * several < LEVEL && p < usual ** MIN_EVIDENCE)) return null
  const slowOf = (rows: Uint32Array) => rows.filter((row) => overLimit(row) > 0)
  const count = (...parts: readonly Uint32Array[]) => ({
    slow: sum(parts, (rows) => slowOf(rows).length),
    requests: sum(parts, ({ length }) => length),
  })
  const rows = after.subarray(from, to)
  const told = {
    inside: count(rows),
    outside: count(after.subarray(0, from), after.subarray(to)),
    before: count(...runs),
    p: p * several,
  }
  return { rows, slow: slowOf(rows), told }
}

/** Returns the part of a series from one slow request to another that chance explains least; p is corrected. */
function densest(rows: Uint32Array, overLimit: (request: number) => number) {
  const isSlow = Uint8Array.from(rows, (request) => Number(overLimit(request) > 0))
  const [all, slow] = [rows.length, sum(isSlow)]
  const stretches = (slow * (slow - 1)) / 2
  const none = { from: 0, to: 0, p: 1 }
  const found = RATES.filter((rate) => rate > (2 * slow) / all).map((rate) => {
    const scores = [Math.log((1 - rate) / (1 - slow / all)), Math.log((rate * all) / slow)] as const
    const { from, to } = heaviest(isSlow, scores)
    const own = sum(isSlow.subarray(from, to))
    if (own < Math.max(MIN_SLOW, RATES[0]! * (to - from))) return none
    // A stretch begins with a slow request by construction, so the test leaves it out.
    const { pMore } = fisherExact(slow - own, all - (to - from), own - 1, to - from - 1)
    return { from, to, p: Math.min(1, pMore * stretches) }
  })
  return least([none, ...found], ({ p }) => p)!
}

/** Returns the part of a series whose scores, one of usual and one of slow requests, have the largest sum. */
function heaviest(isSlow: Uint8Array, scores: readonly [usual: number, slow: number]) {
  let best = { from: 0, to: 0, sum: 0 }
  let [from, total] = [0, 0]
  for (let i = 0; i < isSlow.length; i++) {
    if (total <= 0) [from, total] = [i, 0]
    total += scores[isSlow[i]!]!
    if (total > best.sum) best = { from, to: i + 1, sum: total }
  }
  return best
}

export function slowest(requests: Iterable<number>, excess: OverUsual): number[] {
  return sort(requests, (one) => -excess(one)).slice(0, MAX_EXAMPLES)
}
