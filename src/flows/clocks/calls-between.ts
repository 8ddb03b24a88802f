// Runs once a span: the loops index with `!`.

import { getOrInsert } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
import type { Dictionary } from '../../traces/dictionary.ts'
import { groupRows } from '../../traces/group-rows.ts'
import { gatherColumns, growingColumns, growingUint32 } from '../../traces/growing-columns.ts'
import { CLIENT, CONSUMER, INTERNAL, PRODUCER, SPAN_STATUSES } from '../../traces/span-columns.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import { isOn } from './clock-resolution.ts'

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

/** Calls between clocks: those of a pair one after the other, in order of time. */
export interface CallsBetween {
  readonly epochMs: number
  /** Numbers of the clocks of each pair; the first call between them was made by `reference`. */
  readonly pairs: readonly { readonly reference: number; readonly clock: number }[]
  /** Calls of pair `p` are entries `firstOf[p]` to `firstOf[p + 1]`. */
  readonly firstOf: Uint32Array
  readonly period: Uint8Array
  readonly span: Uint32Array
  readonly trace: Uint32Array
  readonly timeUs: Float64Array
  /** 1 where `reference` calls, −1 where it is called. */
  readonly direction: Float64Array
  /** 1 where the caller's span is the call itself, of kind client or with no other call. */
  readonly isClient: Uint8Array
  /** Time by which the callee's recorded end is later than the caller's; −∞ if the caller did not wait. */
  readonly lateUs: Float64Array
  /** Least and greatest possible lead of `clock` over `reference`; infinite if nobody waits. */
  readonly lowUs: Float64Array
  readonly highUs: Float64Array
}

const MS_NS = 1_000_000n
/** Times are recorded to the microsecond or better, or to the millisecond. */
const ROUNDING_US = 1
const COARSE_ROUNDING_US = 1000

/** Share of calls longer than their callers above which callers do not wait for them. */
const MAX_LONGER = 0.05

export function callsBetween(
  periods: readonly SpanTraces[],
  clocks: readonly Uint32Array[],
  clockCount: number,
): CallsBetween {
  const epochMs = periods.reduce((least, { epochNs }) => {
    const ms = epochNs / MS_NS
    return ms < least ? ms : least
  }, periods[0]!.epochNs / MS_NS)
  const phaseUs = periods.map(({ epochNs }) => Number(epochNs - epochMs * MS_NS) / 1000)
  const pairs: { reference: number; clock: number }[] = []
  const numbers = new Map<number, number>()
  const pairOf = (calling: number, called: number) =>
    getOrInsert(numbers, calling * clockCount + called, () => {
      const pair = pairs.push({ reference: calling, clock: called }) - 1
      numbers.set(called * clockCount + calling, pair)
      return pair
    })
  const pairOfCall = growingUint32()
  const found = growingColumns({
    period: 'u8',
    span: 'u32',
    trace: 'u32',
    timeUs: 'f64',
    direction: 'f64',
    isClient: 'u8',
    isLonger: 'u8',
    lateUs: 'f64',
    lowUs: 'f64',
    highUs: 'f64',
  })
  const children = periods.map(({ spans: { parent } }) => {
    const counts = new Uint32Array(parent.length)
    for (let span = 0; span < parent.length; span++) {
      if (parent[span]! >= 0) counts[parent[span]!]!++
    }
    return counts
  })
  const traces = tracesByTime(periods, phaseUs)
  for (const at of traces.order) {
    const period = traces.period[at]!
    const trace = traces.trace[at]!
    const { spans, spanOffsets } = periods[period]!
    const clock = clocks[period]!
    const { parent, startUs, durationUs } = spans
    const phase = phaseUs[period]!
    for (let span = spanOffsets[trace]!; span < spanOffsets[trace + 1]!; span++) {
      const caller = parent[span]!
      if (caller < 0 || clock[caller] === clock[span]) continue
      const pair = pairOf(clock[caller]!, clock[span]!)
      const [start, callerStart] = [phase + startUs[span]!, phase + startUs[caller]!]
      const isCoarse = isOn(start, COARSE_ROUNDING_US) || isOn(callerStart, COARSE_ROUNDING_US)
      const rounding = isCoarse ? COARSE_ROUNDING_US : ROUNDING_US
      const mayWait =
        spans.followsFrom[span] === 0 &&
        // Whoever fails though its callee does not may have given up.
        (spans.status[caller] !== ERROR || spans.status[span] === ERROR) &&
        spans.kind[span] !== CONSUMER &&
        spans.kind[caller] !== PRODUCER
      const isLonger = durationUs[span]! > durationUs[caller]! + ROUNDING_US
      const isClient =
        spans.kind[caller] === CLIENT ||
        (spans.kind[caller] === INTERNAL && children[period]![caller] === 1)
      const isForward = pairs[pair]!.reference === clock[caller]
      const high = start - callerStart + rounding
      // No clock error makes a call longer than its caller fit: the caller gave up, or never waited.
      const late =
        mayWait && !isLonger
          ? start + durationUs[span]! - callerStart - durationUs[caller]! - rounding
          : Number.NEGATIVE_INFINITY
      pairOfCall.push(pair)
      found.period.push(period)
      found.span.push(span)
      found.trace.push(trace)
      found.timeUs.push(callerStart)
      found.direction.push(isForward ? 1 : -1)
      found.isClient.push(isClient ? 1 : 0)
      found.isLonger.push(mayWait && isLonger ? 1 : 0)
      found.lateUs.push(late)
      found.lowUs.push(isForward ? late : -high)
      found.highUs.push(isForward ? high : -late)
    }
  }
  const { offsets: firstOf, rows } = groupRows(pairOfCall.finish(), pairs.length)
  const { isLonger, ...calls } = gatherColumns(found, rows)
  pairs.forEach((_, pair) => {
    const [first, end] = [firstOf[pair]!, firstOf[pair + 1]!]
    const longer = isLonger.subarray(first, end).reduce((sum, one) => sum + one, 0)
    if (longer <= MAX_LONGER * (end - first)) return
    for (let call = first; call < end; call++) {
      if (calls.direction[call]! > 0) calls.lowUs[call] = Number.NEGATIVE_INFINITY
      else calls.highUs[call] = Number.POSITIVE_INFINITY
    }
  })
  return { epochMs: Number(epochMs), pairs, firstOf, ...calls }
}

function tracesByTime(periods: readonly SpanTraces[], phaseUs: readonly number[]) {
  const count = periods.reduce((sum, { size }) => sum + size, 0)
  const period = new Uint8Array(count)
  const trace = new Uint32Array(count)
  const startUs = new Float64Array(count)
  let at = 0
  let isSorted = true
  periods.forEach(({ size, spans, spanOffsets }, i) => {
    for (let own = 0; own < size; own++, at++) {
      period[at] = i
      trace[at] = own
      startUs[at] = phaseUs[i]! + spans.startUs[spanOffsets[own]!]!
      if (at > 0 && startUs[at]! < startUs[at - 1]!) isSorted = false
    }
  })
  const order = Uint32Array.from(trace.keys())
  if (!isSorted) order.sort((a, b) => startUs[a]! - startUs[b]! || a - b)
  return { order, period, trace }
}
