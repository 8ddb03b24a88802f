// Runs once a span: the loops index with `!`.
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import { type CallsBetween, callsBetween, clocksOf } from './calls-between.ts'
import { beginsBefore, fitStretches, type Stretch } from './fit-stretches.ts'

/** How far one clock is ahead of another during a stretch of time. */
export interface ClockOffset extends Omit<Stretch, 'first' | 'fromUs' | 'untilUs' | 'line'> {
  /** Host; where none was recorded, instance of a service, or service. */
  readonly clock: string
  /** Host by whose clock times are told. */
  readonly reference: string
  /** First and last call of the stretch, as ISO 8601 text. */
  readonly from: string
  readonly until: string
  /** How far `clock` is ahead of `reference` in the middle of the stretch. */
  readonly offsetUs: number
  /** How much that grows, in µs a second (parts per million). */
  readonly driftPpm: number
  /** What the calls allow there. */
  readonly lowUs: number
  readonly highUs: number
}

export interface SpanClocks {
  readonly clock: Uint32Array
  /** How far the span's clock is ahead of its caller's, and how far that may be wrong. */
  readonly aheadUs: Float64Array
  readonly doubtUs: Float64Array
}

interface ClockColumns {
  readonly offsets: readonly ClockOffset[]
  /** By period: traces with calls that begin before or end after their caller, once corrected. */
  readonly outsideTraces: readonly number[]
}

/** How far clocks are apart: one offset a pair of clocks and stretch of time. */
export class ClockOffsets extends columnarStage<ClockColumns>() {
  /** The offsets that times were corrected by. */
  get applied(): readonly ClockOffset[] {
    return this.offsets.filter(({ applied }) => applied)
  }

  /** One row a pair of clocks and stretch of time. */
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
 * Estimates how far the clock of each callee is ahead of its caller's, from calls there and back: a
 * call cannot begin before its caller's span, and where the caller waits, not end after it. Every
 * call so bounds the offset from both sides, whatever share of the way the network takes.
 *
 * Both periods are one timeline. A stretch is as long as one line, of at most 200 ppm, lies within
 * the bounds of the calls; a row of 16 calls may contradict it before another stretch begins. The
 * second period begins another one where no level line fits both: whoever sets clocks moves them.
 * An offset is applied only where 0 is not possible, 5 calls and 5 % or more of all lie outside their
 * callers, and the correction brings half of them inside. A server that ends its span after it has
 * answered looks like a clock that is ahead, and is treated as one.
 *
 * Sources: O'Rourke 1981, "An on-line algorithm for fitting straight lines between data ranges";
 * Moon, Skelly and Towsley 1999, "Estimation and removal of clock skew from network delay
 * measurements".
 */
export function findClockOffsets(periods: readonly SpanTraces[]): FoundOffsets {
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
      const { line, fromUs, untilUs } = stretch
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
        residualUs: stretch.residualUs,
        calls: stretch.calls,
        outside: stretch.outside,
        outsideCorrected: stretch.outsideCorrected,
        applied: stretch.applied,
      }
    }),
  )
  const found = { clocks, calls, stretches }
  const { bySpan, outsideTraces } = spansCorrected(periods, found)
  return { clocks: new ClockOffsets({ offsets, outsideTraces }), bySpan }
}

function spansCorrected(
  periods: readonly SpanTraces[],
  found: {
    readonly clocks: readonly Uint32Array[]
    readonly calls: CallsBetween
    readonly stretches: readonly (readonly Stretch[])[]
  },
): Pick<FoundOffsets, 'bySpan'> & Pick<ClockColumns, 'outsideTraces'> {
  const { clocks, calls, stretches } = found
  const isCorrected = stretches.some((ofPair) => ofPair.some(({ applied }) => applied))
  const bySpan = periods.map(({ spans: { parent } }, period): SpanClocks | undefined => {
    if (!isCorrected) return undefined
    const [aheadUs, doubtUs] = [new Float64Array(parent.length), new Float64Array(parent.length)]
    return { clock: clocks[period]!, aheadUs, doubtUs }
  })
  const outside = periods.map(({ size }) => new Uint8Array(size))
  stretches.forEach((ofPair, pair) => {
    let at = 0
    for (let call = calls.firstOf[pair]!; call < calls.firstOf[pair + 1]!; call++) {
      while (at + 1 < ofPair.length && call >= ofPair[at + 1]!.first) at++
      const stretch = ofPair[at]
      const period = calls.period[call]!
      let offset = 0
      if (stretch?.applied) {
        // In whole nanoseconds, as times are.
        offset = Math.round(stretch.line.at(calls.timeUs[call]!) * 1000) / 1000
        const span = calls.span[call]!
        bySpan[period]!.aheadUs[span] = calls.direction[call]! * offset
        bySpan[period]!.doubtUs[span] = stretch.residualUs
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
