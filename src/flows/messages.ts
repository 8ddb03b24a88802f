// Runs once a span or message: the loops index with `!`.

import { group, max, range, rollup } from 'd3-array'
import { getOrInsert } from '../core/entries.ts'
import { stratifiedShift } from '../stats/hodges-lehmann.ts'
import { mannWhitney } from '../stats/mann-whitney.ts'
import { quantile } from '../stats/quantile.ts'
import { Dictionary } from '../traces/dictionary.ts'
import { entriesWithin } from '../traces/group-rows.ts'
import { finishColumns, gather, growingColumns } from '../traces/growing-columns.ts'
import { CONSUMER, PRODUCER } from '../traces/span-columns.ts'
import type { SpanTraces } from '../traces/span-traces.ts'
import { clocksOf } from './clocks/calls-between.ts'
import type { ClockOffset, ClockOffsets } from './clocks/clock-offsets.ts'

/** Messages that requests received: one entry a message, those of a request next to each other. */
export interface MessageColumns {
  /** Labels of the receiving call, and of the sending one, in any request. */
  readonly receiver: Uint32Array
  readonly sender: Uint32Array
  /** From the end of sending to the start of receiving, 0 at least; NaN where clocks disagree. */
  readonly waitUs: Float64Array
  /** When each was received, in µs since its recording began. */
  readonly receivedUs: Float64Array
  /** The messages of request `i` are entries `offsets[i]` to `offsets[i + 1]`. */
  readonly offsets: Uint32Array
}

/** Clocks disagree where more than this share of messages is received before it is sent. */
const MAX_TOO_EARLY = 0.05
/** Smallest number of messages between two clocks from which the shortest wait tells their offset. */
const MIN_TO_ANCHOR = 50
/** Rank of a wait: the shortest errs by more than its distance to it once in 2 to the power of this rank. */
const DOUBTED = 6
/** Rate of false alarms for a difference of waits between two clocks. */
const SEEN_BY_CHANCE = 0.01

/** Messages from one clock to another in one recording, and how long they waited by these clocks. */
interface Way {
  readonly number: number
  readonly recording: number
  readonly from: string
  readonly to: string
  readonly receiver: string
  readonly waitsUs: number[]
  /** Received before they were sent: while the receiver asked for them, and by clocks that are off. */
  tooEarly: number
  isOff: boolean
}

/**
 * Finds what consumers received from producers that are their parents or linked in the recording. Of
 * a message that an operation receives again, the first time counts. Waits are corrected as clocks
 * are. Where no calls bound the clocks and these may have moved against each other, or are others
 * than in the other period, waits of a receiver are reported beyond the shortest that the two clocks can
 * have had. They are not known where consumers begin to ask before messages are sent.
 *
 * Source: Robson and Whitlock 1964, "Estimation of a truncation point", for the shortest wait.
 */
export function flowMessages(
  recordings: readonly SpanTraces[],
  flows: { readonly [Name in 'recordedIn' | 'spanRows' | 'spanOffsets']: Uint32Array | Uint8Array },
  { labels, clocks }: { labels: readonly Uint32Array[]; clocks: ClockOffsets | undefined },
): MessageColumns | undefined {
  const sendersOf = recordings.map(firstReceipts)
  if (sendersOf.every(({ size }) => size === 0)) return undefined
  const names = new Dictionary()
  const clockOf = recordings.map((traces) => clocksOf(traces, names))
  const ahead = clocksAhead(clocks?.offsets ?? [])
  const columns = growingColumns({
    receiver: 'u32',
    sender: 'u32',
    way: 'u32',
    waitUs: 'f64',
    receivedUs: 'f64',
  })
  const offsets = new Uint32Array(flows.recordedIn.length + 1)
  const ways = new Map<string, Way>()
  flows.recordedIn.forEach((recording, request) => {
    const { epochNs, spans, services, operations } = recordings[recording]!
    const [label, clock] = [labels[recording]!, clockOf[recording]!]
    for (let at = flows.spanOffsets[request]!; at < flows.spanOffsets[request + 1]!; at++) {
      const receiver = flows.spanRows[at]!
      const startUs = spans.startUs[receiver]!
      for (const [, sender] of sendersOf[recording]!.get(receiver) ?? []) {
        const [from, to] = [names.value(clock[sender]!), names.value(clock[receiver]!)]
        const aheadUs = ahead(from, to, Number(epochNs) / 1e6 + startUs / 1e3)
        const sinceUs = startUs - spans.startUs[sender]! - (aheadUs || 0)
        const waitUs = sinceUs - spans.durationUs[sender]!
        const service = services.value(spans.service[receiver]!)
        const name = JSON.stringify([service, operations.value(spans.operation[receiver]!)])
        const way = getOrInsert(ways, `${recording} ${JSON.stringify([from, to])} ${name}`, () => {
          const of = { number: ways.size, recording, from, to, receiver: name }
          return { ...of, waitsUs: [], tooEarly: 0, isOff: false }
        })
        way.waitsUs.push(waitUs)
        if (Number.isNaN(aheadUs) || sinceUs + spans.durationUs[receiver]! < 0) way.isOff = true
        else if (sinceUs < 0) way.tooEarly++
        columns.receiver.push(label[receiver]!)
        columns.sender.push(label[sender]!)
        columns.way.push(way.number)
        columns.waitUs.push(waitUs)
        columns.receivedUs.push(startUs)
      }
    }
    offsets[request + 1] = columns.sender.length
  })
  const { way, waitUs, ...others } = finishColumns(columns)
  const leastUs = leastWaits([...ways.values()], clocks?.offsets ?? [])
  return { ...others, waitUs: waitUs.map((us, i) => Math.max(0, us - leastUs[way[i]!]!)), offsets }
}

/** Returns the wait of each way that is subtracted: 0 for clocks that agree, NaN if none is known. */
function leastWaits(ways: readonly Way[], offsets: readonly ClockOffset[]): number[] {
  const keyOf = (one: string, other: string) => JSON.stringify([one, other].sort())
  // Largest offset between clocks that calls between them leave possible.
  const boundUs = rollup(
    offsets.filter(({ lowUs, highUs }) => Number.isFinite(highUs - lowUs)),
    (own) => max(own, ({ lowUs, highUs }) => highUs - lowUs)!,
    ({ reference, clock }) => keyOf(reference, clock),
  )
  for (const { waitsUs } of ways) waitsUs.sort((a, b) => a - b)
  const boundOf = ({ from, to }: Way) =>
    from === to ? 0 : (boundUs.get(keyOf(from, to)) ?? Number.POSITIVE_INFINITY)
  const othersOf = ({ from, to, receiver, recording }: Way, first = false) => {
    const others = ways.filter((one) => one.receiver === receiver && one.recording !== recording)
    const asked = first ? others.filter((one) => one.recording === 0) : others
    const same = asked.filter((one) => one.from === from && one.to === to)
    const waitsUs = (same.length > 0 ? same : asked).flatMap((one) => one.waitsUs)
    return { isSame: same.length > 0, waitsUs: waitsUs.sort((a, b) => a - b) }
  }
  const hasMoved = (way: Way): boolean => {
    if (boundOf(way) < Number.POSITIVE_INFINITY) return false
    const { isSame, waitsUs } = othersOf(way)
    if (way.isOff || !isSame) return way.isOff || waitsUs.length > 0
    return movedAlike(way.waitsUs, waitsUs, boundOf(way)) !== 0
  }
  /** Returns how much a way differs from the first recording, if clocks bounded by calls may differ. */
  const movedWithin = (way: Way): number => {
    const mostUs = boundOf(way)
    if (mostUs === 0 || mostUs === Number.POSITIVE_INFINITY || way.recording === 0) return 0
    const { waitsUs } = othersOf(way, true)
    return waitsUs.length === 0 ? 0 : movedAlike(way.waitsUs, waitsUs, mostUs)
  }
  const isEnough = ({ waitsUs }: Way) => waitsUs.length >= MIN_TO_ANCHOR
  const moved = new Set(ways.filter(hasMoved))
  const beyond = new Set([...moved].filter(isEnough).map(({ receiver }) => receiver))
  const leastOf = (way: Way) => {
    const { receiver, waitsUs, tooEarly } = way
    if (tooEarly > MAX_TOO_EARLY * waitsUs.length) return Number.NaN
    if (!moved.has(way) && !beyond.has(receiver)) return movedWithin(way)
    return isEnough(way) ? 2 * waitsUs[0]! - waitsUs[1]! : Number.NaN
  }
  const known = ways.filter((way) => beyond.has(way.receiver) && !Number.isNaN(leastOf(way)))
  const apartUs = rollup(
    known,
    (of) => {
      const told = [...group(of, ({ recording }) => recording)]
      const [one, other] = told.map(([, own]) => {
        return own
          .flatMap((way) => way.waitsUs.map((us) => us - leastOf(way)))
          .sort((a, b) => a - b)
      })
      if (one === undefined || other === undefined) return new Map<number, number>()
      const apart = stratifiedShift([{ before: one, after: other }], { sorted: true }).shift / 2
      return new Map(told.map(([recording], i) => [recording, i === 0 ? -apart : apart]))
    },
    ({ receiver }) => receiver,
  )
  return ways.map((way) => {
    // Both periods give way to each other as far as the shortest waits may be wrong.
    const apart = apartUs.get(way.receiver)?.get(way.recording) ?? 0
    const mayBeOff = way.waitsUs[DOUBTED]! - way.waitsUs[0]!
    return leastOf(way) + (apart && Math.max(-mayBeOff, Math.min(apart, mayBeOff)))
  })
}

/**
 * Returns how much typical waits differ, if by no more than clocks may, and the shortest waits by about as much: less
 * than twice, more than 0. Else 0.
 */
function movedAlike(one: readonly number[], other: readonly number[], mostUs: number): number {
  const shortest = one[0]! - other[0]!
  const typical = quantile(one, 0.5) - quantile(other, 0.5)
  const isAlike =
    Math.abs(typical) <= mostUs &&
    Math.abs(typical - shortest) < Math.abs(shortest) &&
    mannWhitney(other, one, { sorted: true }).p < SEEN_BY_CHANCE
  return isAlike ? typical : 0
}

/** Returns, by the row of each receiver, the first messages that its operation received there. */
function firstReceipts({ spans, links }: SpanTraces) {
  const firsts = new Map<string, readonly [receiver: number, sender: number]>()
  const add = (receiver: number, sender: number) => {
    const key = `${sender} ${spans.service[receiver]} ${spans.operation[receiver]}`
    const [known = -1] = firsts.get(key) ?? []
    if (!(spans.startUs[receiver]! >= spans.startUs[known]!)) firsts.set(key, [receiver, sender])
  }
  for (const at of range(0, links?.length ?? 0, 2)) add(links![at]!, links![at + 1]!)
  spans.parent.forEach((parent, span) => {
    if (spans.kind[span] === CONSUMER && spans.kind[parent] === PRODUCER) add(span, parent)
  })
  return group(firsts.values(), ([receiver]) => receiver)
}

/** Returns the lead of one clock over another; NaN if either is off by an unknown amount. */
function clocksAhead(offsets: readonly ClockOffset[]) {
  const keyOf = (one: string, other: string) => JSON.stringify([one, other])
  const between = group(offsets, ({ reference, clock }) => keyOf(reference, clock))
  const off = new Set(offsets.flatMap((one) => (one.applied ? [one.reference, one.clock] : [])))
  return (from: string, to: string, atMs: number): number => {
    if (from === to || off.size === 0) return 0
    const forward = between.get(keyOf(from, to))
    const own = forward ?? between.get(keyOf(to, from)) ?? []
    const offset = own.find(({ until }) => atMs <= Date.parse(until)) ?? own.at(-1)
    if (offset === undefined) return off.has(from) || off.has(to) ? Number.NaN : 0
    if (!offset.applied) return 0
    // An offset bounded on one side only may have any size.
    if (!Number.isFinite(offset.residualUs)) return Number.NaN
    const middleMs = (Date.parse(offset.from) + Date.parse(offset.until)) / 2
    const aheadUs = offset.offsetUs + (atMs - middleMs) * (offset.driftPpm / 1e3)
    return forward === undefined ? -aheadUs : aheadUs
  }
}

export function selectMessages(messages: MessageColumns, requests: Uint32Array): MessageColumns {
  const { offsets, entries } = entriesWithin(messages.offsets, requests)
  return {
    receiver: gather(messages.receiver, entries),
    sender: gather(messages.sender, entries),
    waitUs: gather(messages.waitUs, entries),
    receivedUs: gather(messages.receivedUs, entries),
    offsets,
  }
}
