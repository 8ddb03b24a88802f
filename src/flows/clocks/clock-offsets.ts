// Runs once a span: the loops index with `!`.
import { getOrInsert } from '../../core/entries.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import { type CallsBetween, callsBetween, clocksOf } from './calls-between.ts'
import { type Corrections, type MovedClock, moveBack } from './moved-clock.ts'

/** Offset of one clock ahead of another during a stretch of time. */
export interface ClockOffset extends Omit<Stretch, 'first' | 'fromUs' | 'untilUs' | 'line'> {
  /** Host; where none was recorded, instance of a service, or service. */
  readonly clock: string
  /** Host whose clock is the reference. */
  readonly reference: string
  /** First and last call of the stretch, as ISO 8601 text. */
  readonly from: string
  readonly until: string
  /** Offset of `clock` ahead of `reference` in the middle of the stretch. */
  readonly offsetUs: number
  /** Growth of the offset, in µs per second (parts per million). */
  readonly driftPpm: number
  /** Bounds that the calls allow there. */
  readonly lowUs: number
  readonly highUs: number
}

export interface SpanClocks {
  readonly clock: Uint32Array
  /** Lead of the span's clock over its caller's, and its greatest possible error. */
  readonly aheadUs: Float64Array
  readonly doubtUs: Float64Array
}

/** NTP keeps clocks of one data center as close. */
const SYNCHRONIZED_US = 1000

/** A clock that moved between the periods. */
export interface ClockMove extends Pick<MovedClock, 'byUs'> {
  /** Host, instance or service. */
  readonly clock: string
  /** Whether it moved farther than clocks that are synchronized do, and no call lies outside its caller, which shows it. */
  readonly isTold: boolean
}

interface ClockColumns {
  readonly offsets: readonly ClockOffset[]
  /** The clock that moved against all others between the periods, whose times after are corrected; `null` for none. */
  readonly moved: ClockMove | null
  /** By period: traces with calls that begin before or end after their caller, once corrected. */
  readonly outsideTraces: readonly number[]
}

/** Offsets of clocks: one per pair of clocks and stretch of time. */
export class ClockOffsets extends columnarStage<ClockColumns>() {
  /** The offsets that times were corrected by. */
  get applied(): readonly ClockOffset[] {
    return this.offsets.filter(({ applied }) => applied)
  }

  /** Returns one row per pair of clocks and stretch of time. */
  table(): StageTable {
    return rowTable(this.offsets, {
      ...own('clock reference from until offsetUs driftPpm lowUs highUs residualUs calls'),
      ...own('outside outsideCorrected applied'),
    })
  }
}

/** Dates reach as far, ECMAScript says. */
const MAX_DATE_MS = 8.64e15

interface FoundOffsets {
  readonly clocks: ClockOffsets | undefined
  readonly bySpan: readonly (SpanClocks | undefined)[]
}

export const AS_RECORDED: FoundOffsets = { clocks: undefined, bySpan: [] }

/**
 * Estimates the lead of each callee's clock over its caller's from calls: a call cannot begin before its caller's span,
 * and if the caller waits, it cannot end after it. So every call bounds the offset from both sides, whatever share of
 * the way the network takes.
 *
 * Both periods are one timeline. A stretch lasts while one line, of at most 200 ppm, fits the bounds of the calls. One
 * row of 16 calls may contradict the line; with a second one, another stretch begins. The second period begins another
 * stretch if no level line fits both, because clocks may have been set. An offset is applied only if 0 is impossible,
 * at least 5 calls and 5 % of all lie outside their callers, and the correction brings half of them inside. A server
 * that ends its span after it has answered looks like a clock that is ahead, and is treated as one.
 *
 * Within these bounds a clock may still move between the periods: see `moveBack`.
 *
 * @param options.runs number of recordings of before
 *
 * Sources: O'Rourke 1981, "An on-line algorithm for fitting straight lines between data ranges";
 * Moon, Skelly and Towsley 1999, "Estimation and removal of clock skew from network delay
 * measurements".
 */
export function findClockOffsets(
  periods: readonly SpanTraces[],
  { runs }: { readonly runs: number },
): FoundOffsets {
  const names = new Dictionary()
  const clocks = periods.map((traces) => clocksOf(traces, names))
  const calls = callsBetween(periods, clocks, names.size)
  const stretches = calls.pairs.map((_, pair) => fitStretches(calls, pair))
  const iso = (us: number) => {
    const ms = Math.floor(calls.epochMs + us / 1000)
    return new Date(Math.max(-MAX_DATE_MS, Math.min(ms, MAX_DATE_MS))).toISOString()
  }
  const offsets = calls.pairs.flatMap(({ clock, reference }, pair) =>
    stretches[pair]!.map((stretch): ClockOffset => {
      const { first: _, line, fromUs, untilUs, ...own } = stretch
      const middleUs = (fromUs + untilUs) / 2
      const { low, high } = line.range(middleUs)
      return {
        clock: names.value(clock),
        reference: names.value(reference),
        from: iso(fromUs),
        until: iso(untilUs),
        offsetUs: line.at(middleUs),
        driftPpm: line.slope * 1e6,
        lowUs: low,
        highUs: high,
        ...own,
      }
    }),
  )
  const corrections = correctionsOf(calls, stretches)
  const moved = alignMoved(periods, calls, { clocks, names, runs, corrections })
  const { bySpan, outsideTraces } = spansCorrected(periods, { clocks, calls, corrections })
  return { clocks: new ClockOffsets({ offsets, outsideTraces, moved }), bySpan }
}

function correctionsOf(
  calls: CallsBetween,
  stretches: readonly (readonly Stretch[])[],
): Corrections {
  const offsetUs = new Float64Array(calls.span.length)
  const doubtUs = new Float64Array(calls.span.length)
  stretches.forEach((ofPair, pair) => {
    let at = 0
    for (let call = calls.firstOf[pair]!; call < calls.firstOf[pair + 1]!; call++) {
      while (at + 1 < ofPair.length && call >= ofPair[at + 1]!.first) at++
      const stretch = ofPair[at]
      if (!stretch?.applied) continue
      offsetUs[call] = stretch.line.at(calls.timeUs[call]!)
      doubtUs[call] = stretch.residualUs
    }
  })
  return { offsetUs, doubtUs }
}

/** Moves the clock that moved between the periods back, or else those of the service that did, and names it. */
function alignMoved(
  periods: readonly SpanTraces[],
  calls: CallsBetween,
  {
    clocks,
    names,
    ...other
  }: {
    readonly clocks: readonly Uint32Array[]
    readonly names: Dictionary
    readonly runs: number
    readonly corrections: Corrections
  },
): ClockColumns['moved'] {
  const ofServices = periods.map(({ spans, services }) => {
    const codes = services.values.map((name) => names.code(name))
    return spans.service.map((service) => codes[service]!)
  })
  for (const ends of areAlike(clocks, ofServices) ? [clocks] : [clocks, ofServices]) {
    const moved = moveBack(periods, calls, { ...other, ends })
    if (moved === null) continue
    const { end, byUs, isWithin } = moved
    return { clock: names.value(end), byUs, isTold: isWithin && Math.abs(byUs) > SYNCHRONIZED_US }
  }
  return null
}

/** Whether both number spans in the same groups. */
function areAlike(some: readonly Uint32Array[], others: readonly Uint32Array[]): boolean {
  const [forth, back] = [new Map<number, number>(), new Map<number, number>()]
  return some.every((numbers, period) =>
    numbers.every((one, span) => {
      const other = others[period]![span]!
      return (
        getOrInsert(forth, one, () => other) === other &&
        getOrInsert(back, other, () => one) === one
      )
    }),
  )
}

function spansCorrected(
  periods: readonly SpanTraces[],
  found: {
    readonly clocks: readonly Uint32Array[]
    readonly calls: CallsBetween
    readonly corrections: Corrections
  },
): Pick<FoundOffsets, 'bySpan'> & Pick<ClockColumns, 'outsideTraces'> {
  const { clocks, calls, corrections } = found
  const { offsetUs, doubtUs } = corrections
  const isCorrected = offsetUs.some((us) => us !== 0)
  const bySpan = periods.map(({ spans: { parent } }, period): SpanClocks | undefined => {
    if (!isCorrected) return undefined
    const [aheadUs, doubtUs] = [new Float64Array(parent.length), new Float64Array(parent.length)]
    return { clock: clocks[period]!, aheadUs, doubtUs }
  })
  const outside = periods.map(({ size }) => new Uint8Array(size))
  calls.pairs.forEach((_, pair) => {
    for (let call = calls.firstOf[pair]!; call < calls.firstOf[pair + 1]!; call++) {
      const period = calls.period[call]!
      // In whole nanoseconds, as times are.
      const offset = Math.round(offsetUs[call]! * 1000) / 1000
      if (offset !== 0) {
        const span = calls.span[call]!
        bySpan[period]!.aheadUs[span] = calls.direction[call]! * offset
        bySpan[period]!.doubtUs[span] = doubtUs[call]!
      }
      const isLate = calls.lateUs[call]! > calls.direction[call]! * offset
      if (isLate || beginsBefore(calls, call, offset)) outside[period]![calls.trace[call]!] = 1
    }
  })
  return {
    bySpan,
    outsideTraces: outside.map((traces) => traces.reduce((sum, one) => sum + one, 0)),
  }
}

/** Calls that are judged together; the tightest bound of each side may be wrong. */
const CALLS_IN_A_ROW = 16
/** Fewest rows that calls are divided into, so that few calls bound a drift as well. */
const MIN_ROWS = 4
/** Smallest number of calls of which some may be doubted; fewer are all believed. */
const MIN_CALLS_TO_DOUBT = 8

/**
 * Returns the second tightest bounds of some calls, seen along a line of such a slope; `undefined` where no line is
 * within them.
 */
function boundsOf(
  { timeUs, lowUs, highUs }: CallsBetween,
  [first, end]: readonly [number, number],
  slope: number,
): Bounds | undefined {
  const above = (us: Float64Array, call: number, other: number) =>
    us[call]! - us[other]! - slope * (timeUs[call]! - timeUs[other]!)
  let high = first
  let low = first
  let [highNext, lowNext] = [-1, -1]
  for (let call = first + 1; call < end; call++) {
    if (above(highUs, call, high) < 0) {
      highNext = high
      high = call
    } else if (highNext < 0 || above(highUs, call, highNext) < 0) highNext = call
    if (above(lowUs, call, low) > 0) {
      lowNext = low
      low = call
    } else if (lowNext < 0 || above(lowUs, call, lowNext) > 0) lowNext = call
  }
  if (end - first >= MIN_CALLS_TO_DOUBT) {
    high = highNext
    low = lowNext
  }
  const bounds = {
    lowUs: lowUs[low]!,
    lowAtUs: timeUs[low]!,
    highUs: highUs[high]!,
    highAtUs: timeUs[high]!,
  }
  const driftUs = MAX_DRIFT * Math.abs(bounds.highAtUs - bounds.lowAtUs)
  return bounds.lowUs > bounds.highUs + driftUs ? undefined : bounds
}

export interface Stretch {
  /** First call of the stretch. */
  readonly first: number
  readonly fromUs: number
  readonly untilUs: number
  readonly line: LinesBetween
  /** Greatest error of the offset anywhere in the stretch. */
  readonly residualUs: number
  readonly calls: number
  /** Calls that begin before or end after their caller, as recorded and once corrected. */
  readonly outside: number
  readonly outsideCorrected: number
  /** Whether times were corrected by it. */
  readonly applied: boolean
}

/** Smallest share of calls outside their callers that is worth a correction … */
const MIN_OUTSIDE = 0.05
/** … and smallest number of them. */
const MIN_OUTSIDE_CALLS = 5
/** The share of them that may stay outside. */
const MAX_LEFT = 0.5

/** Divides the calls of a pair of clocks, in order of time, into stretches that one line fits. */
function fitStretches(calls: CallsBetween, pair: number): Stretch[] {
  const [begin, end] = [calls.firstOf[pair]!, calls.firstOf[pair + 1]!]
  const inARow = Math.min(CALLS_IN_A_ROW, Math.ceil((end - begin) / MIN_ROWS))
  const begun: { since: number; until: number; line: LinesBetween }[] = []
  let last: LinesBetween | undefined
  let lastFit = begin
  let doubted: { first: number; bounds: Bounds } | undefined
  const secondPeriod = startOfSecond(calls, begin, end)
  const isNew = (first: number) => first >= secondPeriod && lastFit < secondPeriod
  for (let first = begin, next = begin; first < end; first = next) {
    next = Math.min(first + inARow, first < secondPeriod ? secondPeriod : end)
    const bounds = boundsOf(calls, [first, next], last?.settle().slope ?? 0)
    if (bounds === undefined) continue
    const isSecond = isNew(first)
    if (last?.narrow(bounds, isSecond)) {
      doubted = undefined
      lastFit = first
      continue
    }
    // Two rows in a row that contradict the stretch begin another one, or the first of a period.
    if (isSecond) doubted = undefined
    else if (last !== undefined && doubted === undefined) {
      doubted = { first, bounds }
      continue
    }
    const start = doubted?.first ?? first
    last = new LinesBetween(calls.timeUs[start]!)
    if (doubted !== undefined) last.narrow(doubted.bounds)
    begun.push({
      since: isSecond ? first : lastFit,
      until: Math.min(end, start + inARow),
      line: last,
    })
    doubted = last.narrow(bounds) ? undefined : { first, bounds }
    lastFit = first
  }
  for (const { line } of begun) line.settle()
  const firsts = begun.map((one, i) => (i === 0 ? begin : splitOf(calls, begun[i - 1]!.line, one)))
  return begun.map(({ line }, i) => judge(calls, [firsts[i]!, firsts[i + 1] ?? end], line))
}

/** Returns the first call of the later period where all of the other come before; `end` otherwise. */
function startOfSecond({ period }: CallsBetween, begin: number, end: number): number {
  const ofPair = period.subarray(begin, end)
  const changes = ofPair.findIndex((one) => one !== ofPair[0])
  const isOnce = changes > 0 && ofPair.lastIndexOf(ofPair[0]!) < changes
  return isOnce ? begin + changes : end
}

/** Returns the call at which the newer line begins to fit better than the older one. */
function splitOf(
  calls: CallsBetween,
  older: LinesBetween,
  { since, until, line: newer }: { since: number; until: number; line: LinesBetween },
): number {
  let [best, least, cost] = [since, 0, 0]
  for (let call = since; call < until; call++) {
    const timeUs = calls.timeUs[call]!
    cost += Number(isOutside(calls, call, older.at(timeUs)))
    cost -= Number(isOutside(calls, call, newer.at(timeUs)))
    if (cost < least) [best, least] = [call + 1, cost]
  }
  return best
}

function judge(
  calls: CallsBetween,
  [first, end]: readonly [number, number],
  line: LinesBetween,
): Stretch {
  const { timeUs } = calls
  let [outside, outsideCorrected] = [0, 0]
  let [fromUs, untilUs] = [Infinity, -Infinity]
  for (let call = first; call < end; call++) {
    const atUs = timeUs[call]!
    if (atUs < fromUs) fromUs = atUs
    if (atUs > untilUs) untilUs = atUs
    if (isOutside(calls, call, 0)) outside++
    if (isOutside(calls, call, line.at(atUs))) outsideCorrected++
  }
  const residualUs = Math.max(
    ...[fromUs, untilUs].flatMap((time) => {
      const { low, high } = line.range(time)
      return [line.at(time) - low, high - line.at(time)]
    }),
  )
  const isOften = outside >= Math.max(MIN_OUTSIDE_CALLS, MIN_OUTSIDE * (end - first))
  return {
    first,
    fromUs,
    untilUs,
    line,
    residualUs,
    calls: end - first,
    outside,
    outsideCorrected,
    applied: isOften && !line.mayBeZero && outsideCorrected <= MAX_LEFT * outside,
  }
}

/** Whether a call begins before its caller, its clock being ahead by `direction` · `offset`. */
function beginsBefore(calls: CallsBetween, call: number, offset: number): boolean {
  return calls.direction[call]! > 0 ? calls.highUs[call]! < offset : calls.lowUs[call]! > offset
}

/** Whether a call begins before its caller, or ends after a caller that is the call itself. */
function isOutside(calls: CallsBetween, call: number, offset: number): boolean {
  if (beginsBefore(calls, call, offset)) return true
  if (calls.isClient[call] === 0) return false
  return calls.direction[call]! > 0 ? calls.lowUs[call]! > offset : calls.highUs[call]! < offset
}

// Runs once for some calls: the loops index with `!`.
export interface Bounds {
  readonly lowUs: number
  readonly lowAtUs: number
  readonly highUs: number
  readonly highAtUs: number
}

/** A clock of quartz gains or loses less than 100 ppm, two of them twice as much against each other. */
const MAX_DRIFT = 200e-6
/** Offsets beyond, 115 days, are not bounds. */
const UNBOUNDED_US = 1e13

/** Lines a + b·t within all bounds so far, as a convex polygon in the plane of a and b. */
class LinesBetween {
  readonly #sinceUs: number
  #a: readonly number[]
  #b: readonly number[]
  /** The line that stands for all: level if there is one, in the middle of those. */
  #level = 0
  slope = 0

  constructor(sinceUs: number) {
    this.#sinceUs = sinceUs
    this.#a = [-UNBOUNDED_US, UNBOUNDED_US, UNBOUNDED_US, -UNBOUNDED_US]
    this.#b = [-MAX_DRIFT, -MAX_DRIFT, MAX_DRIFT, MAX_DRIFT]
  }

  /** Keeps the lines within the bounds of some calls; false, and all stay, if none, or none level, is. */
  narrow(bounds: Bounds, asksLevel = false): boolean {
    const [a, b] = [this.#a, this.#b]
    if (bounds.highUs < Infinity) this.#clip(bounds.highAtUs, bounds.highUs, 1)
    if (bounds.lowUs > -Infinity) this.#clip(bounds.lowAtUs, bounds.lowUs, -1)
    if (asksLevel ? this.#levels().length > 0 : this.#a.length > 0) return true
    this.#a = a
    this.#b = b
    return false
  }

  /** Keeps a + b·t ≤ bound with sign 1, ≥ with −1 (Sutherland and Hodgman's algorithm). */
  #clip(timeUs: number, bound: number, sign: 1 | -1): void {
    const since = timeUs - this.#sinceUs
    const beyond = this.#a.map((a, i) => sign * (a + this.#b[i]! * since - bound))
    if (beyond.every((by) => by <= 0)) return
    const [a, b]: [number[], number[]] = [[], []]
    beyond.forEach((by, i) => {
      const next = (i + 1) % beyond.length
      const nextBy = beyond[next]!
      if (by <= 0) {
        a.push(this.#a[i]!)
        b.push(this.#b[i]!)
      }
      if (by <= 0 === nextBy <= 0) return
      const share = by / (by - nextBy)
      a.push(this.#a[i]! + share * (this.#a[next]! - this.#a[i]!))
      b.push(this.#b[i]! + share * (this.#b[next]! - this.#b[i]!))
    })
    this.#a = a
    this.#b = b
  }

  settle(): this {
    const level = this.#levels()
    const mean = (values: readonly number[]) => values.reduce((x, y) => x + y, 0) / values.length
    this.slope = level.length > 0 ? 0 : mean(this.#b)
    const low = Math.min(...(level.length > 0 ? level : this.#a))
    const high = Math.max(...(level.length > 0 ? level : this.#a))
    // Bounded on one side only, the offset that moves times least.
    if (high > UNBOUNDED_US / 2) this.#level = low < -UNBOUNDED_US / 2 ? 0 : low
    else if (low < -UNBOUNDED_US / 2) this.#level = high
    else this.#level = level.length > 0 ? (low + high) / 2 : mean(this.#a)
    return this
  }

  /** Returns the points where the polygon crosses b = 0. */
  #levels(): number[] {
    return this.#b.flatMap((b, i) => {
      const next = (i + 1) % this.#b.length
      const nextB = this.#b[next]!
      if (b === 0) return [this.#a[i]!]
      if (b > 0 === nextB > 0 || nextB === 0) return []
      return [this.#a[i]! + (b / (b - nextB)) * (this.#a[next]! - this.#a[i]!)]
    })
  }

  get mayBeZero(): boolean {
    const level = this.#levels()
    return level.some((a) => a <= 0) && level.some((a) => a >= 0)
  }

  at(timeUs: number): number {
    return this.#level + this.slope * (timeUs - this.#sinceUs)
  }

  range(timeUs: number): { low: number; high: number } {
    const values = this.#a.map((a, i) => a + this.#b[i]! * (timeUs - this.#sinceUs))
    const [low, high] = [Math.min(...values), Math.max(...values)]
    return {
      low: low < -UNBOUNDED_US / 2 ? Number.NEGATIVE_INFINITY : low,
      high: high > UNBOUNDED_US / 2 ? Number.POSITIVE_INFINITY : high,
    }
  }
}
