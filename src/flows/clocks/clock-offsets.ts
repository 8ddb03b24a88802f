// Runs once a span: the loops index with `!`.
import { group } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import {
  CLIENT,
  CONSUMER,
  INTERNAL,
  PRODUCER,
  SPAN_STATUSES,
  type SpanTraces,
} from '../../traces/span-traces.ts'
import { phaseOf } from './clock-resolution.ts'

/** Offset of one clock ahead of another in some recordings. */
export interface ClockOffset {
  /** Host; where none was recorded, instance of a service, or service. */
  readonly clock: string
  /** Host whose clock is the reference. */
  readonly reference: string
  /** Numbers of the recordings that it holds in, runs of before first. */
  readonly recordings: readonly number[]
  readonly offsetUs: number
  /** Bounds that the calls allow, and the greatest error that these leave. */
  readonly lowUs: number
  readonly highUs: number
  readonly residualUs: number
  readonly calls: number
  /** Calls that begin before or end after their caller, as recorded and once corrected. */
  readonly outside: number
  readonly outsideCorrected: number
  /** Whether times were corrected by it. */
  readonly applied: boolean
}

export interface SpanClocks {
  readonly clock: Uint32Array
  /** Lead of the span's clock over its caller's, and its greatest possible error. */
  readonly aheadUs: Float64Array
  readonly doubtUs: Float64Array
}

interface ClockColumns {
  readonly offsets: readonly ClockOffset[]
  /** By period: traces with calls that begin before or end after their caller, once corrected. */
  readonly outsideTraces: readonly number[]
}

/** Offsets of clocks: one per pair of clocks, or one per pair and recording where these differ. */
export class ClockOffsets extends columnarStage<ClockColumns>() {
  /** The offsets that times were corrected by. */
  get applied(): readonly ClockOffset[] {
    return this.offsets.filter(({ applied }) => applied)
  }

  /** Returns one row per offset. */
  table(): StageTable {
    return rowTable(this.offsets, {
      ...own('clock reference'),
      recordings: ({ recordings }) => recordings.join(' '),
      ...own('offsetUs lowUs highUs residualUs calls outside outsideCorrected applied'),
    })
  }
}

interface FoundOffsets {
  readonly clocks: ClockOffsets | undefined
  readonly bySpan: readonly (SpanClocks | undefined)[]
}

export const AS_RECORDED: FoundOffsets = { clocks: undefined, bySpan: [] }

/** Smallest share of calls outside their callers that is worth a correction … */
const MIN_OUTSIDE = 1 / 16
/** … and smallest number of them. */
const MIN_OUTSIDE_CALLS = 5
/** The share of them that may stay outside. */
const MAX_LEFT = 0.5

/**
 * Estimates the lead of each callee's clock over its caller's from calls: a call cannot begin before its caller's span,
 * and if the caller waits, it cannot end after it. So every call bounds the offset from both sides, whatever share of
 * the way the network takes; the offset is in the middle of where most calls allow it.
 *
 * An offset is one constant for all recordings, or one for each where that puts more calls outside. It is applied only
 * if 0 is not among what most calls allow, at least 5 calls and a sixteenth of all lie outside their callers, and the
 * correction brings half of them inside. A server that ends its span after it has answered looks like a clock that is ahead, and
 * is treated as one. Limits: a clock that drifts or is set within a recording.
 *
 * Source: Marzullo 1984, "Maintaining the time in a distributed system" (intersection of most intervals).
 */
export function findClockOffsets(recordings: readonly SpanTraces[]): FoundOffsets {
  const names = new Dictionary()
  const clocks = recordings.map((traces) => clocksOf(traces, names))
  const pairs = callsBetween(recordings, clocks)
  const fits = pairs.flatMap(({ reference, clock, calls }) =>
    fitPair(calls).map(({ calls: own, ...fit }) => ({
      own,
      offset: {
        clock: names.value(clock),
        reference: names.value(reference),
        recordings: [...new Set(own.map(({ recording }) => recording))].sort((a, b) => a - b),
        ...fit,
        calls: own.length,
      },
    })),
  )
  const isCorrected = fits.some(({ offset }) => offset.applied)
  const bySpan = recordings.map(({ spans: { parent } }, i): SpanClocks | undefined => {
    if (!isCorrected) return undefined
    const [aheadUs, doubtUs] = [new Float64Array(parent.length), new Float64Array(parent.length)]
    return { clock: clocks[i]!, aheadUs, doubtUs }
  })
  const outside = recordings.map(() => new Set<number>())
  for (const { own, offset } of fits) {
    // In whole nanoseconds, as times are.
    const us = offset.applied ? Math.round(offset.offsetUs * 1000) / 1000 : 0
    for (const call of own) {
      const { recording, span, trace, direction } = call
      if (offset.applied) {
        bySpan[recording]!.aheadUs[span] = direction * us
        bySpan[recording]!.doubtUs[span] = offset.residualUs
      }
      if (call.lateUs > direction * us || beginsBefore(call, us)) outside[recording]!.add(trace)
    }
  }
  const outsideTraces = outside.map(({ size }) => size)
  const offsets = fits.map(({ offset }) => offset)
  return { clocks: new ClockOffsets({ offsets, outsideTraces }), bySpan }
}

/** Attributes that distinguish instances of a service if no host is known, the best first. */
const INSTANCE_ATTRIBUTES = ['service.instance.id', 'k8s.pod.name', 'container.id', 'host.id']

const ERROR = SPAN_STATUSES.indexOf('error')

export function clocksOf(traces: SpanTraces, names: Dictionary): Uint32Array {
  const { spans, hosts, services, attributes } = traces
  const instanceKeys = INSTANCE_ATTRIBUTES.filter((key) => attributes.keys.find(key) !== undefined)
  const unknown = hosts.find('')
  const ofHosts = Array.from({ length: hosts.size }, (_, host) =>
    host === unknown ? 0 : names.code(hosts.value(host)),
  )
  const ofService = memoized((service: number) => names.code(services.value(service)))
  return spans.host.map((host, span) => {
    if (host !== unknown) return ofHosts[host]!
    for (const key of instanceKeys) {
      const instance = attributes.get(span, key)
      if (instance !== undefined) return names.code(String(instance))
    }
    return ofService(spans.service[span]!)
  })
}

/** A call between two clocks. */
interface CallBetween {
  readonly recording: number
  readonly span: number
  readonly trace: number
  /** 1 where the reference calls, −1 where it is called. */
  readonly direction: 1 | -1
  /** Whether the caller's span is the call itself, of kind client or with no other call. */
  readonly isClient: boolean
  readonly isLonger: boolean
  /** Time by which the callee's recorded end is later than the caller's; −∞ if the caller did not wait. */
  readonly lateUs: number
  /** Least and greatest possible lead of the clock over the reference; infinite if nobody waits. */
  lowUs: number
  highUs: number
}

/** Calls between two clocks; `reference` made the first of them. */
interface ClockPair {
  readonly reference: number
  readonly clock: number
  readonly calls: CallBetween[]
}

/** Limit above the number of clocks in any set of traces. */
const MAX_CLOCKS = 2 ** 26
/** Times are recorded to the microsecond or better, or to the millisecond. */
const ROUNDING_US = 1
const COARSE_ROUNDING_US = 1000
/** Share of calls longer than their callers above which callers do not wait for them. */
const MAX_LONGER = 0.05

function callsBetween(
  recordings: readonly SpanTraces[],
  clocks: readonly Uint32Array[],
): readonly ClockPair[] {
  const pairs = new Map<number, ClockPair>()
  recordings.forEach(({ spans, spanOffsets, epochNs }, recording) => {
    const [clock, phaseUs] = [clocks[recording]!, phaseOf(epochNs)]
    const { parent, startUs, durationUs, kind, status } = spans
    const isWhole = (span: number) => (phaseUs + startUs[span]!) % COARSE_ROUNDING_US === 0
    const children = new Uint32Array(parent.length)
    for (const caller of parent) if (caller >= 0) children[caller]!++
    let trace = 0
    for (let span = 0; span < parent.length; span++) {
      while (spanOffsets[trace + 1]! <= span) trace++
      const caller = parent[span]!
      if (caller < 0 || clock[caller] === clock[span]) continue
      const [from, to] = [clock[caller]!, clock[span]!]
      const key = Math.min(from, to) * MAX_CLOCKS + Math.max(from, to)
      const pair = getOrInsert(pairs, key, () => ({ reference: from, clock: to, calls: [] }))
      const roundingUs = isWhole(span) || isWhole(caller) ? COARSE_ROUNDING_US : ROUNDING_US
      const mayWait =
        spans.followsFrom[span] === 0 &&
        // Whoever fails though its callee does not may have given up.
        (status[caller] !== ERROR || status[span] === ERROR) &&
        kind[span] !== CONSUMER &&
        kind[caller] !== PRODUCER
      const overUs = durationUs[span]! - durationUs[caller]!
      const sinceUs = startUs[span]! - startUs[caller]!
      const isLonger = mayWait && overUs > ROUNDING_US
      // No clock error makes a call longer than its caller fit: the caller gave up, or never waited.
      const lateUs = mayWait && !isLonger ? sinceUs + overUs - roundingUs : -Infinity
      const highUs = sinceUs + roundingUs
      const isForward = pair.reference === from
      pair.calls.push({
        recording,
        span,
        trace,
        isLonger,
        lateUs,
        direction: isForward ? 1 : -1,
        isClient: kind[caller] === CLIENT || (kind[caller] === INTERNAL && children[caller] === 1),
        lowUs: isForward ? lateUs : -highUs,
        highUs: isForward ? highUs : -lateUs,
      })
    }
  })
  for (const { calls } of pairs.values()) {
    if (calls.filter(({ isLonger }) => isLonger).length <= MAX_LONGER * calls.length) continue
    for (const call of calls) {
      if (call.direction > 0) call.lowUs = -Infinity
      else call.highUs = Infinity
    }
  }
  return [...pairs.values()]
}

type Fit = Omit<ClockOffset, 'clock' | 'reference' | 'recordings' | 'calls'> & {
  readonly calls: readonly CallBetween[]
}

/** Returns the offset of a pair of clocks, or one for each recording where one alone fits fewer calls. */
function fitPair(calls: readonly CallBetween[]): readonly Fit[] {
  const all = fitCalls(calls)
  const each = Array.from(group(calls, ({ recording }) => recording).values(), fitCalls)
  const isAlike = each.every(({ calls: own, outsideCorrected }) => {
    const outside = own.filter((call) => isOutside(call, all.offsetUs)).length
    return outside <= outsideCorrected + MIN_OUTSIDE * own.length
  })
  return isAlike ? [all] : each
}

function fitCalls(calls: readonly CallBetween[]): Fit {
  const { lowUs, highUs } = mostAllowed(calls)
  // Bounded on one side only, the offset that moves times least.
  const isBounded = Number.isFinite(highUs - lowUs)
  const offsetUs = isBounded ? (lowUs + highUs) / 2 : Math.max(lowUs, Math.min(0, highUs))
  const outside = calls.filter((call) => isOutside(call, 0)).length
  const outsideCorrected = calls.filter((call) => isOutside(call, offsetUs)).length
  const isOften = outside >= Math.max(MIN_OUTSIDE_CALLS, MIN_OUTSIDE * calls.length)
  const mayBeZero = lowUs <= 0 && highUs >= 0
  return {
    calls,
    offsetUs,
    lowUs,
    highUs,
    residualUs: Math.max(offsetUs - lowUs, highUs - offsetUs),
    outside,
    outsideCorrected,
    applied: isOften && !mayBeZero && outsideCorrected <= MAX_LEFT * outside,
  }
}

/** Returns the offsets that most calls allow. */
function mostAllowed(calls: readonly CallBetween[]): Pick<Fit, 'lowUs' | 'highUs'> {
  const lows = Float64Array.from(calls, ({ lowUs }) => lowUs).sort()
  const highs = Float64Array.from(calls, ({ highUs }) => highUs).sort()
  let [ended, most, found] = [0, 0, { lowUs: -Infinity, highUs: Infinity }]
  lows.forEach((lowUs, begun) => {
    while (highs[ended]! < lowUs) ended++
    if (begun + 1 - ended <= most) return
    most = begun + 1 - ended
    found = { lowUs, highUs: highs[ended]! }
  })
  return found
}

/** Whether a call begins before its caller, the clock being ahead of the reference by `offset`. */
function beginsBefore({ direction, highUs, lowUs }: CallBetween, offset: number): boolean {
  return direction > 0 ? highUs < offset : lowUs > offset
}

/** Whether a call begins before its caller, or ends after a caller that is the call itself. */
function isOutside(call: CallBetween, offset: number): boolean {
  if (beginsBefore(call, offset)) return true
  if (!call.isClient) return false
  return call.direction > 0 ? call.lowUs > offset : call.highUs < offset
}
