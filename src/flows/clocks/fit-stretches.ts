// Runs once a span: the loops index with `!`.
import type { CallsBetween } from './calls-between.ts'
import { type Bounds, LinesBetween } from './lines-between.ts'

/** Calls that are judged together; the tightest bound of each side may be wrong. */
const CALLS_IN_A_ROW = 16
/** Few calls make so many rows, so that they bound a drift as well. */
const MIN_ROWS = 4
/** Of fewer, all are believed. */
const MIN_CALLS_TO_DOUBT = 8

/** The second tightest bounds of some calls; `undefined` where they contradict each other. */
function boundsOf({ timeUs, lowUs, highUs }: CallsBetween, rows: Uint32Array): Bounds | undefined {
  let high = rows[0]!
  let low = high
  let [highNext, lowNext] = [-1, -1]
  for (let i = 1; i < rows.length; i++) {
    const call = rows[i]!
    if (highUs[call]! < highUs[high]!) {
      highNext = high
      high = call
    } else if (highNext < 0 || highUs[call]! < highUs[highNext]!) highNext = call
    if (lowUs[call]! > lowUs[low]!) {
      lowNext = low
      low = call
    } else if (lowNext < 0 || lowUs[call]! > lowUs[lowNext]!) lowNext = call
  }
  if (rows.length >= MIN_CALLS_TO_DOUBT) {
    high = highNext
    low = lowNext
  }
  const bounds = {
    ...{ lowUs: lowUs[low]!, lowAtUs: timeUs[low]! },
    ...{ highUs: highUs[high]!, highAtUs: timeUs[high]! },
  }
  return bounds.lowUs > bounds.highUs ? undefined : bounds
}

export interface Stretch {
  readonly first: number
  readonly fromUs: number
  readonly untilUs: number
  readonly line: LinesBetween
  readonly residualUs: number
  readonly calls: number
  readonly outside: number
  readonly outsideCorrected: number
  readonly applied: boolean
}

/** Correcting is worth it from this share of calls on that lie outside their callers … */
const MIN_OUTSIDE = 0.05
/** … and of so many. */
const MIN_OUTSIDE_CALLS = 5
/** The share of them that may stay outside. */
const MAX_LEFT = 0.5

/** Divides the calls of a pair of clocks, in order of time, into stretches that one line fits. */
export function fitStretches(calls: CallsBetween, rows: Uint32Array): Stretch[] {
  const inARow = Math.min(CALLS_IN_A_ROW, Math.ceil(rows.length / MIN_ROWS))
  const begun: { since: number; until: number; line: LinesBetween }[] = []
  let last: LinesBetween | undefined
  let lastFit = 0
  let doubted: { first: number; bounds: Bounds } | undefined
  for (let first = 0; first < rows.length; first += inARow) {
    const bounds = boundsOf(calls, rows.subarray(first, first + inARow))
    if (bounds === undefined) continue
    if (last?.narrow(bounds)) {
      doubted = undefined
      lastFit = first
      continue
    }
    // Two rows in a row that contradict the stretch begin another one.
    if (last !== undefined && doubted === undefined) {
      doubted = { first, bounds }
      continue
    }
    const start = doubted?.first ?? first
    last = new LinesBetween(calls.timeUs[rows[start]!]!)
    if (doubted !== undefined) last.narrow(doubted.bounds)
    begun.push({ since: lastFit, until: start + inARow, line: last })
    doubted = last.narrow(bounds) ? undefined : { first, bounds }
    lastFit = first
  }
  for (const { line } of begun) line.settle()
  const firsts = begun.map(({ since, until, line }, i) =>
    i === 0 ? 0 : since + splitOf(calls, rows.subarray(since, until), [begun[i - 1]!.line, line]),
  )
  return begun.map(({ line }, i) =>
    judge(calls, rows.subarray(firsts[i], firsts[i + 1]), firsts[i]!, line),
  )
}

/** From which of some calls on the newer line fits them better. */
function splitOf(
  calls: CallsBetween,
  rows: Uint32Array,
  [older, newer]: readonly [LinesBetween, LinesBetween],
): number {
  let [best, least, cost] = [0, 0, 0]
  rows.forEach((call, i) => {
    const timeUs = calls.timeUs[call]!
    cost += Number(isOutside(calls, call, older.at(timeUs)))
    cost -= Number(isOutside(calls, call, newer.at(timeUs)))
    if (cost < least) [best, least] = [i + 1, cost]
  })
  return best
}

function judge(calls: CallsBetween, rows: Uint32Array, first: number, line: LinesBetween): Stretch {
  const { timeUs } = calls
  let [outside, outsideCorrected] = [0, 0]
  let [fromUs, untilUs] = [Infinity, -Infinity]
  for (const call of rows) {
    fromUs = Math.min(fromUs, timeUs[call]!)
    untilUs = Math.max(untilUs, timeUs[call]!)
    const offset = line.at(timeUs[call]!)
    if (isOutside(calls, call, 0)) outside++
    if (isOutside(calls, call, offset)) outsideCorrected++
  }
  const residualUs = Math.max(
    ...[fromUs, untilUs].flatMap((time) => {
      const { low, high } = line.range(time)
      return [line.at(time) - low, high - line.at(time)]
    }),
  )
  const isOften = outside >= Math.max(MIN_OUTSIDE_CALLS, MIN_OUTSIDE * rows.length)
  return {
    ...{ first, fromUs, untilUs, line, residualUs, calls: rows.length, outside, outsideCorrected },
    applied: isOften && !line.mayBeZero && outsideCorrected <= MAX_LEFT * outside,
  }
}

/** Whether a call begins before its caller, its clock being ahead by `direction` · `offset`. */
export function beginsBefore(calls: CallsBetween, call: number, offset: number): boolean {
  return calls.direction[call]! > 0 ? calls.highUs[call]! < offset : calls.lowUs[call]! > offset
}

/** Whether a call begins before its caller, or ends after a caller that is the call itself. */
function isOutside(calls: CallsBetween, call: number, offset: number): boolean {
  if (beginsBefore(calls, call, offset)) return true
  if (calls.isClient[call] === 0) return false
  return calls.direction[call]! > 0 ? calls.lowUs[call]! > offset : calls.highUs[call]! < offset
}
