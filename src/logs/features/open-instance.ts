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

  /** Adds a message: an event, or a state with its value. */
  add(code: number, timeUs: number, value?: number): void {
    const all = value === undefined ? this.#events : this.#states
    all[code] ??= new Series()
    all[code].add(timeUs, value)
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
    for (const [code, { times, stride }] of present(this.#events)) {
      // In a sample each time stands for several.
      for (const timeUs of times) for (let i = 0; i < stride; i++) at(timeUs)?.add(code, timeUs)
    }
    for (const [code, { times, values }] of present(this.#states)) {
      for (const [i, timeUs] of times.entries()) at(timeUs)?.add(code, timeUs, values[i]!)
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
    const messages = present(this.#events).flatMap(([event, { times, stride }]) => {
      const code = waitCode(event)
      return code < 0 ? [] : times.map((timeUs) => [timeUs, code, stride] as const)
    })
    if (messages.some(([, , stride]) => stride > 1)) return []
    messages.sort(([one, code], [other, otherCode]) => one - other || code - otherCode)
    const waits: Series[] = []
    messages.forEach(([timeUs, code], i) => {
      if (i === 0) return
      waits[code] ??= new Series()
      waits[code].add(timeUs, (timeUs - messages[i - 1]![0]) / 1000)
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

/**
 * Messages of one variable in one open instance: number, first and last time, least and greatest value and mean exactly;
 * times, and values of a state, for the median. Beyond 65,536 every second one is dropped, and of those to come only
 * every second is kept, and so on.
 */
class Series {
  times: number[] = []
  /** Value of each kept message of a state, parallel to `times`. */
  values: number[] = []
  /** Distance between kept messages: a power of two. */
  stride = 1
  count = 0
  first = Number.POSITIVE_INFINITY
  last = Number.NEGATIVE_INFINITY
  minimum = Number.POSITIVE_INFINITY
  maximum = Number.NEGATIVE_INFINITY
  /** The value of the latest message; of several at one time, the one that came last. */
  final = Number.NaN
  #origin = Number.NaN
  #sum = 0

  add(timeUs: number, value?: number): void {
    if (value !== undefined) this.#addValue(timeUs, value)
    if (timeUs > this.last) this.last = timeUs
    if (timeUs < this.first) this.first = timeUs
    if ((this.count++ & (this.stride - 1)) !== 0) return
    if (this.times.length === MAX_KEPT) {
      this.times = this.times.filter((_, i) => i % 2 === 0)
      this.values = this.values.filter((_, i) => i % 2 === 0)
      this.stride *= 2
    }
    this.times.push(timeUs)
    if (value !== undefined) this.values.push(value)
  }

  #addValue(timeUs: number, value: number): void {
    if (this.count === 0) this.#origin = value
    if (timeUs >= this.last) this.final = value
    if (value < this.minimum) this.minimum = value
    if (value > this.maximum) this.maximum = value
    this.#sum += value - this.#origin
  }

  /** Mean of all messages. For a variable that never changes it is exactly its value, whatever its count. */
  get mean(): number {
    return this.#origin + this.#sum / this.count
  }
}

interface Run {
  readonly startUs: number
  readonly runTimeUs: number
}

/** Returns the numbers of one event in one instance, in the order of `COLUMNS`. */
function eventFeatures(series: Series, { startUs, runTimeUs }: Run): number[] {
  const times = Float64Array.from(series.times).sort()
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
  const { minimum, mean, maximum, final, count } = series
  // Stable: of messages at one time the last one logged is the one that holds.
  const order = ascendingOrder(Float64Array.from(series.times))
  const [times, values] = [series.times, series.values].map((all) =>
    Float64Array.from(order, (i) => all[i]!),
  ) as [Float64Array, Float64Array]
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
