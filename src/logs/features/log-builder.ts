// Runs once a message, and there may be hundreds of millions: the loops index with `!`.

import { bisector, max, min, sort, sum } from 'd3-array'
import { patternSource } from '../../core/code-literals.ts'
import { at, getOrInsert } from '../../core/entries.ts'
import { FlowdeltaError, OptionError, show } from '../../core/errors.ts'
import { ascendingOrder, sortAscending } from '../../stats/ascending-order.ts'
import { quantile } from '../../stats/quantile.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import type { Period } from '../../traces/period.ts'
import {
  COLUMNS,
  codeOfClass,
  type Feature,
  type FeatureRow,
  LEVELS,
  type Level,
  LOG_CLASSES,
  type LogClass,
  LogReport,
  LogSet,
  ReadingNotes,
  STATE_FEATURES,
  VariableFeatures,
  type VariableKind,
} from './log-set.ts'
import { WAIT_NAME } from './units.ts'

interface BuilderOptions {
  readonly derive?: DerivedStates | undefined
  readonly exclude?: readonly string[] | undefined
  /** Whether how long after the message before it each event came is a state, `ms until EVENT`. */
  readonly hasWaits?: boolean
}

interface Instance extends Omit<Row, 'closed'> {
  classCode: Period
  isLeftOut: boolean
  /** Its messages, and once it is closed their features. */
  content: OpenInstance | ClosedInstance
}

/**
 * Takes log messages one by one: for logs that flowdelta has no reader for.
 *
 * An instance is the thing to compare: a node, a request or a run, before or after. An event message says that
 * something happened, a state message what value a variable had. Times are µs on any clock that one instance agrees on,
 * in any order. Readers use the numbered methods: `instanceCode`, `eventCode` and `stateCode` once for each name,
 * `event` and `state` for each message, `close` when an instance is complete.
 *
 * An open instance keeps at most 65,536 messages of each variable; beyond that it drops every second one, and medians
 * and snapshots come from those kept. Everything else is exact. A closed instance keeps only its
 * features. Messages without a finite time or value are left out and counted in the report.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, figure 2 and §3.1.
 *
 * @example
 * const builder = new LogBuilder()
 * builder.setInstance('before', 'node 1')
 * builder.logEvent(1_000, 'request received')
 * builder.logState(1_500, 'queue length', 3)
 * builder.setInstance('after', 'node 2')
 * builder.logEvent(2_000, 'request received')
 * builder.build().counts // { before: 1, after: 1 }
 */
export class LogBuilder {
  readonly #instances: Instance[] = []
  readonly #codes = new Map<string, number>()
  readonly #names: Names = { event: new Dictionary(), state: new Dictionary() }
  readonly notes = new ReadingNotes()
  metric: LogSet['metric']
  #current = -1
  readonly #facetCodes = new Set<number>()
  /** States that text says with a unit. */
  readonly durations = new Set<number>()
  readonly #options: BuilderOptions
  readonly #levels: number[] = []
  /** Variables that turned out to be none. */
  readonly dropped = { event: new Set<number>(), state: new Set<number>() }

  constructor(options: BuilderOptions = {}) {
    this.#options = options
  }

  /**
   * Sets the instance of the following messages. May be called again for an instance, to continue it; the same id in
   * the other class is another instance.
   *
   * @param options.startUs when the instance started; default, and at the latest: its first message
   * @throws OptionError for an unknown class or a start that is no finite number
   */
  setInstance(logClass: LogClass, id: string, { startUs }: { startUs?: number } = {}): void {
    this.#current = this.instanceCode(logClass, id)
    if (startUs !== undefined) this.startAt(this.#current, startUs)
  }

  /**
   * Logs an event in the instance set last.
   *
   * @throws FlowdeltaError before any instance was set, or when it is closed
   */
  logEvent(timeUs: number, name: string): void {
    this.event(this.#requireCurrent(name), this.eventCode(name), timeUs)
  }

  /**
   * Logs the value of a variable in the instance set last.
   *
   * @throws FlowdeltaError before any instance was set, or when it is closed
   */
  logState(timeUs: number, name: string, value: number): void {
    this.state(this.#requireCurrent(name), this.stateCode(name), timeUs, value)
  }

  instanceCode(logClass: LogClass, id: string): number {
    const classCode = codeOfClass(logClass)
    return getOrInsert(this.#codes, `${classCode} ${id}`, () => {
      const content = new OpenInstance()
      return this.#instances.push({ id, classCode, isLeftOut: false, content }) - 1
    })
  }

  eventCode(name: string): number {
    return this.#names.event.code(name)
  }

  stateCode(name: string): number {
    return this.#names.state.code(name)
  }

  event(instance: number, code: number, timeUs: number, level?: Level): void {
    if (level !== undefined) {
      const rank = LEVELS.indexOf(level)
      if (rank > (this.#levels[code] ?? -1)) this.#levels[code] = rank
    }
    if (Number.isFinite(timeUs)) this.#openOf(instance).add(code, timeUs)
    else this.#refuse(`event ${this.#names.event.value(code)} at ${timeUs}`, instance)
  }

  state(instance: number, code: number, timeUs: number, value: number): void {
    if (Number.isFinite(timeUs) && Number.isFinite(value)) {
      this.#openOf(instance).add(code, timeUs, value)
    } else {
      this.#refuse(`state ${this.#names.state.value(code)} is ${value} at ${timeUs}`, instance)
    }
  }

  /** Numbers an event that only distinguishes messages of another one, and does not count as one. */
  facetCode(name: string): number {
    const code = this.eventCode(name)
    this.#facetCodes.add(code)
    return code
  }

  startAt(instance: number, startUs: number): void {
    if (!Number.isFinite(startUs)) throw new OptionError('startUs', startUs, 'microseconds')
    this.#openOf(instance).startUs = startUs
  }

  setClass(instance: number, logClass: LogClass): void {
    at(this.#instances, instance).classCode = codeOfClass(logClass)
  }

  classOf(instance: number): LogClass | undefined {
    const { isLeftOut, classCode } = at(this.#instances, instance)
    return isLeftOut ? undefined : LOG_CLASSES[classCode]
  }

  dropInstance(instance: number): void {
    at(this.#instances, instance).isLeftOut = true
  }

  close(instance: number): void {
    const own = this.#instances[instance]
    if (own?.content instanceof OpenInstance) own.content = this.#close(own.content)
  }

  #close(open: OpenInstance): ClosedInstance {
    const waitCode = (event: number) =>
      this.#facetCodes.has(event)
        ? -1
        : this.stateCode(`${WAIT_NAME}${this.#names.event.value(event)}`)
    const closed = open.close(this.#options.hasWaits ? waitCode : undefined)
    return withDerived(closed, this.#options.derive ?? {}, this.#names)
  }

  kept(): number[] {
    return [...this.#instances.keys()].filter((i) => !this.#instances[i]?.isLeftOut)
  }

  /** Returns the features of all instances. Messages may still be added afterwards, to open instances. */
  build(): LogSet {
    const kept = this.#instances.filter(({ isLeftOut }) => !isLeftOut)
    const isOpen = (one: Instance['content']) => one instanceof OpenInstance
    const rows = kept.map(({ id, classCode, content }) => {
      return { id, classCode, closed: isOpen(content) ? this.#close(content) : content }
    })
    const logs = kept.map(({ content }) => content).filter(isOpen)
    const cut = cutWindows(rows, logs, (window) => this.#close(window))
    return this.#logSet(rows, cut && { lengthUs: cut.lengthUs, logs: this.#logSet(cut.rows) })
  }

  #logSet(rows: readonly Row[], windows?: LogSet['windows']): LogSet {
    const ids = rows.map(({ id }) => id)
    const instances = rows.map(({ closed }) => closed)
    const names = { event: this.#names.event.values, state: this.#names.state.values }
    const excluded = (this.#options.exclude ?? []).map((name) => ({ name, has: namedAs(name) }))
    const variables = [...names.event, ...names.state]
    const columnsOf = <K extends VariableKind>(kind: K) => {
      const dropped = new Set(this.dropped[kind])
      for (const [code, name] of names[kind].entries()) {
        if (excluded.some(({ has }) => has.test(name))) dropped.add(code)
      }
      const rowsOf = new Map<number, FeatureRow[]>()
      for (const [instance, closed] of instances.entries()) {
        for (const [code, features] of closed[kind]) {
          if (!dropped.has(code)) getOrInsert(rowsOf, code, () => []).push({ instance, features })
        }
      }
      const sorted = sort(rowsOf, ([code]) => String(names[kind][code]))
      return new VariableFeatures({
        names: sorted.map(([code]) => String(names[kind][code])),
        instances: instances.length,
        columns: COLUMNS[kind],
        rows: sorted.map(([, own]) => own),
      })
    }
    const states = columnsOf('state') as LogSet['states']
    const { derive = {} } = this.#options
    const messagesOf = (kind: VariableKind, isOwn: (name: string, code: number) => boolean) => {
      const column = COLUMNS[kind].findIndex((type) => type === 'count' || type === 'records')
      const own = instances.flatMap((instance) => instance[kind])
      return sum(own, ([code, all]) => (isOwn(names[kind][code] ?? '', code) ? all[column] : 0))
    }
    const { metric } = this
    // A condition may be on a number that is no state, such as a status.
    const isKnown =
      typeof metric !== 'object' ||
      states.names.some((name) => `.${name}`.endsWith(`.${metric.variable}`))
    return new LogSet({
      instances: ids,
      met: names.event,
      metric: isKnown ? metric : undefined,
      windows,
      durations: new Set(Array.from(this.durations, (code) => names.state[code] ?? '')),
      classOf: Uint8Array.from(rows, ({ classCode }) => classCode),
      levels: new Map(
        this.#levels.flatMap((rank, code) => [
          [names.event[code] ?? '', at(LEVELS, rank)] as const,
        ]),
      ),
      runTimeUs: Float64Array.from(instances, ({ runTimeUs }) => runTimeUs),
      events: columnsOf('event') as LogSet['events'],
      states,
      report: new LogReport({
        ...this.notes.data,
        messages: {
          event: messagesOf('event', (_, code) => !this.#facetCodes.has(code)),
          state: messagesOf('state', (name) => !name.startsWith(WAIT_NAME) && !(name in derive)),
        },
        emptyInstances: ids.filter((_, i) => Number.isNaN(instances[i]?.runTimeUs)),
        notExcluded: excluded.flatMap(({ name, has }) =>
          variables.some((each) => has.test(each)) ? [] : name,
        ),
      }),
    })
  }

  #openOf(instance: number): OpenInstance {
    const own = this.#instances[instance]
    if (own?.content instanceof OpenInstance) return own.content
    throw new FlowdeltaError(
      `Instance ${show(own?.id)} got a message after it was closed. Close an instance when all its messages are read.`,
    )
  }

  #requireCurrent(name: string): number {
    if (this.#current >= 0) return this.#current
    throw new FlowdeltaError(
      `Message ${show(name)} belongs to no instance. Call setInstance(class, id) first.`,
    )
  }

  #refuse(what: string, instance: number): void {
    this.notes.skip(NOT_FINITE, { text: `${what} in instance ${this.#instances[instance]?.id}` })
  }
}

const NOT_FINITE = 'has a time or a value that is not finite'

type Names = Readonly<Record<VariableKind, Dictionary>>

function namedAs(name: string): RegExp {
  return new RegExp(`^${name.split('*').map(patternSource).join('.*')}$`, 's')
}

/** States by name, as functions of features, by default a state's mean and an event's number; NaN if absent. */
export type DerivedStates = Readonly<
  Record<string, (of: (variable: string, feature?: Feature) => number) => number>
>

/** Adds states that are computed from the features of an instance; other features of theirs are NaN. */
function withDerived(closed: ClosedInstance, derived: DerivedStates, names: Names): ClosedInstance {
  const of = (variable: string, given?: Feature) => {
    const isState =
      given === undefined
        ? closed.state.some(([code]) => names.state.value(code) === variable)
        : (STATE_FEATURES as readonly Feature[]).includes(given)
    const kind = isState ? 'state' : 'event'
    const [, features] = closed[kind].find(([code]) => names[kind].value(code) === variable) ?? []
    const feature = given ?? (isState ? 'mean' : 'count')
    const column = (COLUMNS[kind] as readonly string[]).indexOf(feature)
    return features?.[column] ?? (given === 'count' ? 0 : Number.NaN)
  }
  const added = Object.entries(derived).flatMap(([name, compute]) => {
    const value: Readonly<Record<string, number>> = { mean: compute(of), records: 1 }
    const features = COLUMNS.state.map((type) => value[type] ?? Number.NaN)
    return Number.isFinite(value['mean']) ? [[names.state.code(name), features] as const] : []
  })
  return { ...closed, state: [...closed.state, ...added] }
}

/** The variables of one kind in one instance: their codes, and their features in the order of `COLUMNS`. */
export type InstanceFeatures = readonly (readonly [code: number, features: readonly number[]])[]

export interface ClosedInstance extends Run {
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
      event: event.map(([code, series]) => [code, eventFeatures(series, run)]),
      state: [
        ...state.map(([code, series]) => [code, stateFeatures(series, run, true)] as const),
        ...waits.map(([code, series]) => [code, stateFeatures(series, run, false)] as const),
      ],
    }
  }

  /** Returns the time between each message and the one before it, in ms; none if only a sample was kept. */
  #waits(waitCode: (event: number) => number): Coded {
    const messages = present(this.#events).flatMap(([event, { times, stride }]) => {
      const code = waitCode(event)
      return code < 0 ? [] : Array.from(times, (timeUs) => [timeUs, code, stride] as const)
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

export const MAX_KEPT = 65_536

/**
 * Messages of one variable in one open instance: number, first and last time, least and greatest value and mean exactly;
 * times, and values of a state, for the median. Beyond 65,536 every second one is dropped, and of those to come only
 * every second is kept, and so on.
 */
class Series {
  #times = new Float64Array(4)
  /** Value of each kept message of a state. */
  #values = new Float64Array()
  #kept = 0
  stride = 1
  count = 0
  first = Number.POSITIVE_INFINITY
  last = Number.NEGATIVE_INFINITY
  minimum = Number.POSITIVE_INFINITY
  maximum = Number.NEGATIVE_INFINITY
  final = Number.NaN
  #origin = Number.NaN
  #sum = 0

  get times(): Float64Array {
    return this.#times.subarray(0, this.#kept)
  }

  get values(): Float64Array {
    return this.#values.subarray(0, this.#kept)
  }

  add(timeUs: number, value?: number): void {
    if (value !== undefined) this.#addValue(timeUs, value)
    if (timeUs > this.last) this.last = timeUs
    if (timeUs < this.first) this.first = timeUs
    if ((this.count++ & (this.stride - 1)) !== 0) return
    if (this.#kept === MAX_KEPT) this.#keepHalf()
    if (this.#kept === this.#times.length) this.#times = grown(this.#times, 4 * this.#kept)
    this.#times[this.#kept] = timeUs
    if (value !== undefined) {
      if (this.#kept >= this.#values.length) this.#values = grown(this.#values, this.#times.length)
      this.#values[this.#kept] = value
    }
    this.#kept++
  }

  #keepHalf(): void {
    for (const all of [this.#times, this.#values]) {
      for (let i = 0; 2 * i < all.length; i++) all[i] = all[2 * i]!
    }
    this.#kept = MAX_KEPT / 2
    this.stride *= 2
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

function grown(values: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const longer = new Float64Array(length)
  longer.set(values)
  return longer
}

type Run = Readonly<Record<'startUs' | 'runTimeUs', number>>

/** Returns the numbers of one event in one instance, in the order of `COLUMNS`. */
function eventFeatures(series: Series, { startUs, runTimeUs }: Run): number[] {
  const times = series.times.slice().sort()
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
  const order = ascendingOrder(series.times.slice())
  const [times, values] = [series.times, series.values].map((all) =>
    new Float64Array(order).map((i) => all[i]!),
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
  readonly closed: ClosedInstance
}

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
      return { id: `${id} ${k + 1}`, classCode, closed: close(window) }
    }),
  )
  return { lengthUs, rows: cut }
}
