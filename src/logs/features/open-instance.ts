import { bisector, max, min, sum } from 'd3-array'
import { ascendingOrder, sortAscending } from '../../stats/ascending-order.ts'
import { quantile } from '../../stats/quantile.ts'
import type { Period } from '../../traces/period.ts'
import { COLUMNS, type VariableKind } from './features.ts'

// Runs once a message, of which there may be hundreds of millions: the loops index with `!`.

/** The features of an instance's variables of one kind: codes, and for each its features in a row. */
export interface InstanceFeatures {
  readonly codes: Int32Array
  readonly values: Float64Array
}

/** Adds states to the features of an instance; other features of theirs are NaN. */
export function withStates(
  { codes, values }: InstanceFeatures,
  added: readonly (Readonly<Record<string, number>> & { readonly code: number })[],
): InstanceFeatures {
  const features = added.flatMap((one) => COLUMNS.state.map((type) => one[type] ?? Number.NaN))
  return {
    codes: Int32Array.from([...codes, ...added.map(({ code }) => code)]),
    values: Float64Array.from([...values, ...features]),
  }
}

export interface ClosedInstance extends Run {
  readonly messages: Readonly<Record<VariableKind, number>>
  readonly events: InstanceFeatures
  readonly states: InstanceFeatures
  /** Variables of which only a sample was kept: every stride-th message. */
  readonly thinned: readonly { kind: VariableKind; code: number; stride: number }[]
}

export class OpenInstance {
  // Indexed by code: codes that come first in one instance come early in most.
  readonly #events: EventSeries[] = []
  readonly #states: StateSeries[] = []
  /** When it is known to have started; its first message may have been earlier. */
  startUs = Number.POSITIVE_INFINITY
  #firstUs = Number.POSITIVE_INFINITY
  #lastUs = Number.NEGATIVE_INFINITY

  event(code: number, timeUs: number): void {
    let series = this.#events[code]
    if (series === undefined) {
      series = new EventSeries()
      this.#events[code] = series
    }
    series.add(timeUs)
    this.#lastsTo(timeUs)
  }

  state(code: number, timeUs: number, value: number): void {
    let series = this.#states[code]
    if (series === undefined) {
      series = new StateSeries()
      this.#states[code] = series
    }
    series.add(timeUs, value)
    this.#lastsTo(timeUs)
  }

  #lastsTo(timeUs: number): void {
    if (timeUs < this.#firstUs) this.#firstUs = timeUs
    if (timeUs > this.#lastUs) this.#lastUs = timeUs
  }

  /** Time from its start to its last message. */
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
    for (const [code, { moments, values }] of present(this.#states)) {
      for (let i = 0; i < moments.kept; i++) {
        at(moments.times[i]!)?.state(code, moments.times[i]!, values[i]!)
      }
    }
    return windows
  }

  /** @param waitCode code of the state that waits for an event are; absent for no waits, −1 for none */
  close(waitCode?: (event: number) => number): ClosedInstance {
    const isEmpty = this.#lastUs < this.#firstUs
    const startUs = this.#startedUs
    const run: Run = { startUs, runTimeUs: isEmpty ? Number.NaN : this.#lastUs - startUs }
    const events = present(this.#events)
    const states = present(this.#states)
    const moments = states.map(([code, series]) => [code, series.moments] as const)
    return {
      ...run,
      messages: { event: total(events), state: total(moments) },
      events: featuresOf(events, (series) => eventFeatures(series, run)),
      states: featuresOf(
        waitCode === undefined ? states : [...states, ...this.#waits(waitCode)],
        // Waits are no state that holds for a while.
        (series, i) => stateFeatures(series, run, i < states.length ? SNAPSHOTS : []),
      ),
      thinned: [...thinned('event', events), ...thinned('state', moments)],
    }
  }

  /** Returns the time between each message and the one before it, in ms; none if only a sample was kept. */
  #waits(waitCode: (event: number) => number): Coded<StateSeries> {
    const messages = present(this.#events).flatMap(([event, { times, kept, stride }]) => {
      const code = waitCode(event)
      return code < 0 ? [] : Array.from(times.subarray(0, kept), (timeUs) => [timeUs, code, stride])
    }) as [timeUs: number, code: number, stride: number][]
    if (messages.some(([, , stride]) => stride > 1)) return []
    messages.sort(([one, code], [other, otherCode]) => one - other || code - otherCode)
    const waits: StateSeries[] = []
    messages.forEach(([timeUs, code], i) => {
      if (i === 0) return
      waits[code] ??= new StateSeries()
      waits[code].add(timeUs, (timeUs - messages[i - 1]![0]) / 1000)
    })
    return present(waits)
  }
}

type Coded<S> = readonly (readonly [code: number, series: S])[]

/** Variables that have messages; the array has holes, which `flatMap` passes over. */
function present<S>(series: readonly S[]): Coded<S> {
  return series.flatMap((each, code) => [[code, each] as const])
}

function total(series: Coded<EventSeries>): number {
  return sum(series, ([, { count }]) => count)
}

function thinned(kind: VariableKind, series: Coded<EventSeries>): ClosedInstance['thinned'] {
  return series.flatMap(([code, { stride }]) => (stride > 1 ? [{ kind, code, stride }] : []))
}

function featuresOf<S>(series: Coded<S>, features: (series: S, i: number) => number[]) {
  return {
    codes: Int32Array.from(series, ([code]) => code),
    values: Float64Array.from(series.flatMap(([, each], i) => features(each, i))),
  }
}

/** Most messages of one name that are kept in one instance; with more, every second, fourth, … one. */
export const MAX_KEPT = 65_536

const FIRST_CAPACITY = 4

/**
 * When one event happened in one open instance: number, first and last time exactly, and times for the median; beyond
 * 65,536 every second one is dropped, and of those to come only every second is kept, and so on.
 */
class EventSeries {
  times = new Float64Array(FIRST_CAPACITY)
  /** Number of `times` in use. */
  kept = 0
  /** Distance between kept messages: a power of two. */
  stride = 1
  count = 0
  first = Number.POSITIVE_INFINITY
  last = Number.NEGATIVE_INFINITY
  /** Whether times came in ascending order. */
  ascending = true

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

  #makeRoom(): void {
    if (this.kept < MAX_KEPT) {
      this.times = grown(this.times)
      return
    }
    keepEverySecond(this.times)
    this.kept = MAX_KEPT / 2
    this.stride *= 2
  }
}

/** Values of one state variable in one open instance, and their times. */
class StateSeries {
  readonly moments = new EventSeries()
  /** Value of each kept message, parallel to `moments.times`. */
  values = new Float64Array(FIRST_CAPACITY)
  minimum = Number.POSITIVE_INFINITY
  maximum = Number.NEGATIVE_INFINITY
  /** The value of the latest message; of several at one time, the one that came last. */
  final = Number.NaN
  #origin = Number.NaN
  #sum = 0

  add(timeUs: number, value: number): void {
    const { moments } = this
    if (moments.count === 0) this.#origin = value
    if (timeUs >= moments.last) this.final = value
    if (value < this.minimum) this.minimum = value
    if (value > this.maximum) this.maximum = value
    this.#sum += value - this.#origin
    const { stride } = moments
    const place = moments.add(timeUs)
    if (moments.stride !== stride) keepEverySecond(this.values)
    if (place < 0) return
    if (place >= this.values.length) this.values = grown(this.values)
    this.values[place] = value
  }

  /** Mean of all messages. For a variable that never changes it is exactly its value, whatever its count. */
  get mean(): number {
    return this.#origin + this.#sum / this.moments.count
  }
}

function grown(values: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(values.length * 2)
  larger.set(values)
  return larger
}

function keepEverySecond(values: Float64Array): void {
  for (let i = 0; 2 * i < values.length; i++) values[i] = values[2 * i]!
}

interface Run {
  readonly startUs: number
  readonly runTimeUs: number
}

/** Returns the numbers of one event in one instance, in the order of `COLUMNS`. */
function eventFeatures(series: EventSeries, { startUs, runTimeUs }: Run): number[] {
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
function gapsOf({ stride }: EventSeries, times: Float64Array): [gap: number, spread: number] {
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
function stateFeatures(
  series: StateSeries,
  { startUs, runTimeUs }: Run,
  shares: readonly number[],
): number[] {
  const { minimum, mean, maximum, final } = series
  const { times, values } = inOrder(series)
  const snapshots = SNAPSHOTS.map((share, i) => {
    if (i >= shares.length) return Number.NaN
    // Differences of epoch times are exact where the sum with a share of the run is not.
    const passed = bisector((timeUs: number) => timeUs - startUs).right(times, share * runTimeUs)
    return values[passed - 1] ?? Number.NaN
  })
  const range = maximum - minimum
  const scale = (value: number) => (range > 0 ? (value - minimum) / range : Number.NaN)
  const sorted = sortAscending(values.slice(0, times.length))
  const records = [series.moments.count, quantile(sorted, 0.5), quantile(sorted, 0.99)]
  return [minimum, mean, maximum, final, ...snapshots, ...snapshots.map(scale), ...records]
}

function inOrder({ moments, values }: StateSeries) {
  const { kept, ascending, times } = moments
  if (ascending) return { times: times.subarray(0, kept), values }
  // Stable: of messages at one time the last one logged is the one that holds.
  const order = ascendingOrder(times.subarray(0, kept))
  return {
    times: Float64Array.from(order, (i) => Number(times[i])),
    values: Float64Array.from(order, (i) => Number(values[i])),
  }
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
