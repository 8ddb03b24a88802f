// Runs once a message, and there may be hundreds of millions: the loops index with `!`.
import { bisector, max, min, sum } from 'd3-array'
import { ascendingOrder, sortAscending } from '../../stats/ascending-order.ts'
import { quantile } from '../../stats/quantile.ts'
import type { Period } from '../../traces/period.ts'
import type { VariableKind } from './features.ts'

/** The variables of one kind in one instance: their codes, and their features in the order of `COLUMNS`. */
export type InstanceFeatures = readonly (readonly [code: number, features: readonly number[]])[]

export interface ClosedInstance extends Run {
  readonly messages: Readonly<Record<VariableKind, number>>
  readonly event: InstanceFeatures
  readonly state: InstanceFeatures
}

export class OpenInstance {
  // Indexed by code: codes that come first in one instance come early in most.
  readonly #events: Series[] = []
  readonly #states: Series[] = []
  /** When it is known to have started; its first message may have been earlier. */
  startUs = Number.POSITIVE_INFINITY
  #firstUs = Number.POSITIVE_INFINITY
  #lastUs = Number.NEGATIVE_INFINITY

  event(code: number, timeUs: number): void {
    this.#events[code] ??= new Series()
    this.#events[code].add(timeUs)
    this.#lastsTo(timeUs)
  }

  state(code: number, timeUs: number, value: number): void {
    this.#states[code] ??= new Series()
    this.#states[code].addValue(timeUs, value)
    this.#lastsTo(timeUs)
  }

  #lastsTo(timeUs: number): void {
    if (timeUs < this.#firstUs) this.#firstUs = timeUs
    if (timeUs > this.#lastUs) this.#lastUs = timeUs
  }

  get spanUs(): number {
    return this.#lastUs - this.#startedUs
  }

  get #startedUs(): number {
    return Math.min(this.startUs, this.#firstUs)
  }

  /** Returns the same messages as instances of a given length, without an incomplete last one. */
  windows(lengthUs: number): readonly OpenInstance[] {
    const windows = Array.from({ length: Math.floor(this.spanUs / lengthUs) }, (_, i) => {
      const window = new OpenInstance()
      window.startUs = this.#startedUs + i * lengthUs
      return window
    })
    const at = (timeUs: number) => windows[Math.floor((timeUs - this.#startedUs) / lengthUs)]
    for (const [code, { times, kept, stride }] of present(this.#events)) {
      // In a sample each time stands for several.
      for (let i = 0; i < kept * stride; i++) {
        const timeUs = times[Math.floor(i / stride)]!
        at(timeUs)?.event(code, timeUs)
      }
    }
    for (const [code, { times, values, kept }] of present(this.#states)) {
      for (let i = 0; i < kept; i++) at(times[i]!)?.state(code, times[i]!, values[i]!)
    }
    return windows
  }

  /** @param waitCode code of the state that waits for an event are; absent for no waits, −1 for none */
  close(waitCode?: (event: number) => number): ClosedInstance {
    const isEmpty = this.#lastUs < this.#firstUs
    const startUs = this.#startedUs
    const run: Run = { startUs, runTimeUs: isEmpty ? Number.NaN : this.#lastUs - startUs }
    const event = present(this.#events)
    const state = present(this.#states)
    const waits = waitCode === undefined ? [] : this.#waits(waitCode)
    return {
      ...run,
      messages: { event: total(event), state: total(state) },
      event: event.map(([code, series]) => [code, eventFeatures(series, run)]),
      state: [
        ...state.map(([code, series]) => [code, stateFeatures(series, run, true)] as const),
        // Waits are no state that holds for a while.
        ...waits.map(([code, series]) => [code, stateFeatures(series, run, false)] as const),
      ],
    }
  }

  /** Returns the time between each message and the one before it, in ms; none if only a sample was kept. */
  #waits(waitCode: (event: number) => number): Coded {
    const messages = present(this.#events).flatMap(([event, { times, kept, stride }]) => {
      const code = waitCode(event)
      return code < 0 ? [] : Array.from(times.subarray(0, kept), (timeUs) => [timeUs, code, stride])
    }) as [timeUs: number, code: number, stride: number][]
    if (messages.some(([, , stride]) => stride > 1)) return []
    messages.sort(([one, code], [other, otherCode]) => one - other || code - otherCode)
    const waits: Series[] = []
    messages.forEach(([timeUs, code], i) => {
      if (i === 0) return
      waits[code] ??= new Series()
      waits[code].addValue(timeUs, (timeUs - messages[i - 1]![0]) / 1000)
    })
    return present(waits)
  }
}

type Coded = readonly (readonly [code: number, series: Series])[]

/** Variables that have messages; the array has holes, which `flatMap` passes over. */
function present(series: readonly Series[]): Coded {
  return series.flatMap((each, code) => [[code, each] as const])
}

function total(series: Coded): number {
  return sum(series, ([, { count }]) => count)
}

/** Most messages of one name that are kept in one instance; with more, every second, fourth, … one. */
export const MAX_KEPT = 65_536

const FIRST_CAPACITY = 4

/**
 * Messages of one variable in one open instance: number, first and last time, least and greatest value and mean exactly;
 * times, and values of a state, for the median. Beyond 65,536 every second one is dropped, and of those to come only
 * every second is kept, and so on.
 */
class Series {
  times = new Float64Array(FIRST_CAPACITY)
  /** Value of each kept message of a state, parallel to `times`. */
  values = NO_VALUES
  kept = 0
  /** Distance between kept messages: a power of two. */
  stride = 1
  count = 0
  first = Number.POSITIVE_INFINITY
  last = Number.NEGATIVE_INFINITY
  /** Whether times came in ascending order. */
  ascending = true
  minimum = Number.POSITIVE_INFINITY
  maximum = Number.NEGATIVE_INFINITY
  /** The value of the latest message; of several at one time, the one that came last. */
  final = Number.NaN
  #origin = Number.NaN
  #sum = 0

  /** Takes a message, and gives its place among those kept, or −1. */
  add(timeUs: number): number {
    if (timeUs < this.last) this.ascending = false
    else this.last = timeUs
    if (timeUs < this.first) this.first = timeUs
    const order = this.count++
    if ((order & (this.stride - 1)) !== 0) return -1
    if (this.kept === this.times.length) this.#makeRoom()
    const place = this.kept++
    this.times[place] = timeUs
    return place
  }

  addValue(timeUs: number, value: number): void {
    if (this.count === 0) this.#origin = value
    if (timeUs >= this.last) this.final = value
    if (value < this.minimum) this.minimum = value
    if (value > this.maximum) this.maximum = value
    this.#sum += value - this.#origin
    const place = this.add(timeUs)
    if (place < 0) return
    if (place >= this.values.length) this.values = grown(this.values, this.times.length)
    this.values[place] = value
  }

  /** Mean of all messages. For a variable that never changes it is exactly its value, whatever its count. */
  get mean(): number {
    return this.#origin + this.#sum / this.count
  }

  #makeRoom(): void {
    if (this.kept < MAX_KEPT) {
      this.times = grown(this.times, 2 * this.kept)
      return
    }
    for (const all of [this.times, this.values]) {
      for (let i = 0; 2 * i < all.length; i++) all[i] = all[2 * i]!
    }
    this.kept = MAX_KEPT / 2
    this.stride *= 2
  }
}

const NO_VALUES = new Float64Array(0)

function grown(values: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(length)
  larger.set(values)
  return larger
}

interface Run {
  readonly startUs: number
  readonly runTimeUs: number
}

/** Returns the numbers of one event in one instance, in the order of `COLUMNS`. */
function eventFeatures(series: Series, { startUs, runTimeUs }: Run): number[] {
  const kept = series.times.subarray(0, series.kept)
  const times = series.ascending ? kept : kept.toSorted()
  const median = quantile(times, 0.5)
  const absolute = [series.first, median, series.last].map((timeUs) => timeUs - startUs)
  const shares = absolute.map((timeUs) => timeUs / runTimeUs)
  return [...absolute, ...shares, series.count, ...gapsOf(series, times)]
}

/** Fewest gaps that show their spread. */
const MIN_GAPS = 3
const MAX_GAPS = 256

/** Returns the median gap between the first messages, and the middle half of gaps as a share of it. */
function gapsOf({ stride }: Series, times: Float64Array): [gap: number, spread: number] {
  if (times.length <= MIN_GAPS || stride > 1) return [Number.NaN, Number.NaN]
  const gaps = times
    .slice(1, MAX_GAPS + 1)
    .map((timeUs, i) => timeUs - times[i]!)
    .sort()
  const gap = quantile(gaps, 0.5)
  return [gap, gap > 0 ? (quantile(gaps, 0.75) - quantile(gaps, 0.25)) / gap : Number.NaN]
}

const SNAPSHOTS = [0.25, 0.5, 0.75]

/** Returns the numbers of one state variable in one instance, in the order of `COLUMNS`. */
function stateFeatures(series: Series, { startUs, runTimeUs }: Run, holds: boolean): number[] {
  const { minimum, mean, maximum, final, count, kept } = series
  // Stable: of messages at one time the last one logged is the one that holds.
  const order = series.ascending ? undefined : ascendingOrder(series.times.subarray(0, kept))
  const inOrder = (all: Float64Array) =>
    order === undefined ? all.slice(0, kept) : Float64Array.from(order, (i) => all[i]!)
  const [times, values] = [inOrder(series.times), inOrder(series.values)]
  const snapshots = SNAPSHOTS.map((share) => {
    if (!holds) return Number.NaN
    // Differences of epoch times are exact where the sum with a share of the run is not.
    const passed = bisector((timeUs: number) => timeUs - startUs).right(times, share * runTimeUs)
    return values[passed - 1] ?? Number.NaN
  })
  const range = maximum - minimum
  const scale = (value: number) => (range > 0 ? (value - minimum) / range : Number.NaN)
  const sorted = sortAscending(values)
  const records = [count, quantile(sorted, 0.5), quantile(sorted, 0.99)]
  return [minimum, mean, maximum, final, ...snapshots, ...snapshots.map(scale), ...records]
}

/** An instance that is to be part of a set of logs. */
export interface Row {
  readonly id: string
  readonly classCode: Period
  /** Messages that only tell others apart. */
  readonly facets: number
  readonly closed: ClosedInstance
}

/** Windows that the shorter of two logs is cut into, at least. */
const MIN_WINDOWS = 20
/** Windows that the longer one is cut into, at most: beyond, one time in it is decades off. */
const MAX_WINDOWS = 100_000
/** Lengths that a person would ask for, in seconds. */
const LENGTHS_S = [
  ...[0.001, 0.01, 0.1, 1].flatMap((s) => [s, 2 * s, 5 * s]),
  ...[10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400],
]

/** Returns windows of both classes, if each is one log that is kept and they are neither too short nor far too long. */
export function cutWindows(
  rows: readonly Row[],
  logs: readonly OpenInstance[],
  close: (window: OpenInstance) => ClosedInstance,
): { readonly lengthUs: number; readonly rows: readonly Row[] } | undefined {
  const isOneEach = rows.length === 2 && rows[0]?.classCode !== rows[1]?.classCode
  if (!isOneEach || logs.length < 2) return undefined
  const shortestUs = min(logs, ({ spanUs }) => spanUs) ?? 0
  const seconds = LENGTHS_S.findLast((length) => length * 1e6 * MIN_WINDOWS <= shortestUs)
  if (seconds === undefined) return undefined
  const lengthUs = seconds * 1e6
  const longestUs = max(logs, ({ spanUs }) => spanUs) ?? 0
  if (longestUs > MAX_WINDOWS * lengthUs) return undefined
  const cut = rows.flatMap(({ id, classCode }, i) =>
    (logs[i]?.windows(lengthUs) ?? []).map((window, k): Row => {
      return { id: `${id} ${k + 1}`, classCode, facets: 0, closed: close(window) }
    }),
  )
  return { lengthUs, rows: cut }
}
