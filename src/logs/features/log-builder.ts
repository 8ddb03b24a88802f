import { sum } from 'd3-array'
import { patternSource } from '../../core/code-literals.ts'
import { at, getOrInsert } from '../../core/entries.ts'
import { FlowdeltaError, OptionError, show } from '../../core/errors.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import type { Period } from '../../traces/period.ts'
import {
  COLUMNS,
  type Feature,
  LEVELS,
  type Level,
  STATE_FEATURES,
  type VariableKind,
  WAIT_NAME,
} from './features.ts'
import { LogReport, ReadingNotes } from './log-report.ts'
import { codeOfClass, LOG_CLASSES, type LogClass, LogSet, laidOut } from './log-set.ts'
import { type ClosedInstance, cutWindows, OpenInstance, type Row } from './open-instance.ts'

interface BuilderOptions {
  readonly derive?: DerivedStates | undefined
  /** Variables to leave out, by their names, in which `*` stands for anything. */
  readonly exclude?: readonly string[] | undefined
  /** Whether how long after the message before it each event came is a state, `ms until EVENT`. */
  readonly hasWaits?: boolean
}

interface Instance extends Omit<Row, 'closed'> {
  classCode: Period
  facets: number
  isLeftOut: boolean
  /** Messages, until it is closed. */
  open: OpenInstance | undefined
  closed: ClosedInstance | undefined
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
  /** Metric of performance, unless something else is asked for. */
  metric: LogSet['metric']
  #current = -1
  readonly #facetCodes = new Set<number>()
  readonly #durations = new Set<number>()
  readonly #options: BuilderOptions
  readonly #levels: number[] = []
  readonly #dropped = { event: new Set<number>(), state: new Set<number>() }

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

  /** Returns the number of an instance, which is added if it is new; see `setInstance`. */
  instanceCode(logClass: LogClass, id: string): number {
    const classCode = codeOfClass(logClass)
    return getOrInsert(this.#codes, `${classCode} ${id}`, () => {
      const open = new OpenInstance()
      const added = { id, classCode, facets: 0, isLeftOut: false, open, closed: undefined }
      return this.#instances.push(added) - 1
    })
  }

  eventCode(name: string): number {
    return this.#names.event.code(name)
  }

  stateCode(name: string): number {
    return this.#names.state.code(name)
  }

  /** Adds an event message, by numbers; keeps the gravest of an event's levels. */
  event(instance: number, code: number, timeUs: number, level?: Level): void {
    if (level !== undefined) {
      const rank = LEVELS.indexOf(level)
      if (rank > (this.#levels[code] ?? -1)) this.#levels[code] = rank
    }
    if (Number.isFinite(timeUs)) this.#openOf(instance).add(code, timeUs)
    else this.#refuse(`event ${this.#names.event.value(code)} at ${timeUs}`, instance)
  }

  /** Adds a state message, by numbers. */
  state(instance: number, code: number, timeUs: number, value: number): void {
    if (Number.isFinite(timeUs) && Number.isFinite(value)) {
      this.#openOf(instance).add(code, timeUs, value)
    } else {
      this.#refuse(`state ${this.#names.state.value(code)} is ${value} at ${timeUs}`, instance)
    }
  }

  /** Numbers an event that only distinguishes messages of another one. */
  facetCode(name: string): number {
    const code = this.eventCode(name)
    this.#facetCodes.add(code)
    return code
  }

  /** Adds a message that only distinguishes a message of another event: it does not count as one. */
  facet(instance: number, code: number, timeUs: number): void {
    this.event(instance, code, timeUs)
    if (Number.isFinite(timeUs)) at(this.#instances, instance).facets++
  }

  /** Takes variables back that turned out to be none. */
  drop(kind: VariableKind, codes: readonly number[]): void {
    for (const code of codes) this.#dropped[kind].add(code)
  }

  noteDuration(code: number): void {
    this.#durations.add(code)
  }

  /** Sets when an instance started; default, and at the latest: its first message. */
  startAt(instance: number, startUs: number): void {
    if (!Number.isFinite(startUs)) throw new OptionError('startUs', startUs, 'microseconds')
    this.#openOf(instance).startUs = startUs
  }

  /** Says of which class an instance is, whatever was said before. */
  setClass(instance: number, logClass: LogClass): void {
    at(this.#instances, instance).classCode = codeOfClass(logClass)
  }

  /** Returns the class of an instance; undefined if it is left out. */
  classOf(instance: number): LogClass | undefined {
    const { isLeftOut, classCode } = at(this.#instances, instance)
    return isLeftOut ? undefined : LOG_CLASSES[classCode]
  }

  dropInstance(instance: number): void {
    at(this.#instances, instance).isLeftOut = true
  }

  /** Says that an instance is complete: its features are computed, its messages freed. */
  close(instance: number): void {
    const own = this.#instances[instance]
    if (own?.open === undefined) return
    own.closed = this.#close(own.open)
    own.open = undefined
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
    const rows = kept.flatMap((one) => {
      const closed = one.closed ?? (one.open && this.#close(one.open))
      return closed === undefined ? [] : { ...one, closed }
    })
    const logs = kept.flatMap(({ open }) => open ?? [])
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
      const dropped = new Set(this.#dropped[kind])
      for (const [code, name] of names[kind].entries()) {
        if (excluded.some(({ has }) => has.test(name))) dropped.add(code)
      }
      const all = instances.map((instance) => instance[kind])
      return laidOut(names[kind], COLUMNS[kind], { all, dropped })
    }
    const states = columnsOf('state') as LogSet['states']
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
      durations: new Set(Array.from(this.#durations, (code) => names.state[code] ?? '')),
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
          event: sum(rows, ({ closed, facets }) => closed.messages.event - facets),
          state: sum(instances, ({ messages }) => messages.state),
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
    if (own?.open !== undefined) return own.open
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
