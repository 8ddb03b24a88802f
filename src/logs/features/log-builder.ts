// Runs once a variable, instance and feature: the loops index with `!`.
import { sum } from 'd3-array'
import { patternSource } from '../../core/code-literals.ts'
import { at, getOrInsert } from '../../core/entries.ts'
import { FlowdeltaError, OptionError, show } from '../../core/errors.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import type { Period } from '../../traces/period.ts'
import { joinAsked } from './asked-field.ts'
import {
  COLUMNS,
  type Feature,
  LEVELS,
  type Level,
  STATE_FEATURES,
  type StateFeature,
  type VariableKind,
  WAIT_NAME,
} from './features.ts'
import { LogReport, ReadingNotes, thinnedVariables } from './log-report.ts'
import { codeOfClass, LOG_CLASSES, type LogClass, LogSet, laidOut } from './log-set.ts'
import {
  type ClosedInstance,
  cutWindows,
  OpenInstance,
  type Row,
  withStates,
} from './open-instance.ts'

/** Further variables that a builder makes. */
interface BuilderOptions {
  /** States that are computed from the features of an instance. */
  readonly derive?: DerivedStates | undefined
  /** Variables to leave out, by their names, in which `*` stands for anything. */
  readonly exclude?: readonly string[] | undefined
  /** Whether how long after the message before it each event came is a state, `ms until EVENT`. */
  readonly hasWaits?: boolean
}

function namedAs(name: string): RegExp {
  return new RegExp(`^${name.split('*').map(patternSource).join('.*')}$`, 's')
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
 * and snapshots come from those kept (see `LogSet.report`). Everything else is exact. A closed instance keeps only its
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
  readonly #names: Record<VariableKind, Dictionary> = {
    event: new Dictionary(),
    state: new Dictionary(),
  }
  /** Omissions of the reading, for the report. */
  readonly notes = new ReadingNotes()
  #current = -1
  readonly #facetCodes = new Set<number>()
  readonly #durations = new Set<number>()
  readonly #options: BuilderOptions
  #badBy: { readonly field: string; readonly feature: StateFeature } | undefined
  #metric: string | undefined
  /** Levels by event, as ranks. */
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
    if (Number.isFinite(timeUs)) this.#openOf(instance).event(code, timeUs)
    else this.#refuse('event', { instance, code }, `time ${timeUs}`)
  }

  /** Adds a state message, by numbers. */
  state(instance: number, code: number, timeUs: number, value: number): void {
    if (Number.isFinite(timeUs) && Number.isFinite(value)) {
      this.#openOf(instance).state(code, timeUs, value)
    } else this.#refuse('state', { instance, code }, `time ${timeUs}, value ${value}`)
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

  /** Says that a state is a duration in ms. */
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

  /** Leaves an instance out. */
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

  /** Says which field of messages makes instances bad, and by which of its values. */
  classedBy(field: string, feature: StateFeature): void {
    this.#badBy = { field, feature }
  }

  /** Sets the metric of performance, unless something else does. */
  performanceIs(metric: string): void {
    this.#metric = metric
  }

  /** Returns the instances that are not left out. */
  kept(): number[] {
    return [...this.#instances.keys()].filter((i) => !this.#instances[i]?.isLeftOut)
  }

  /** Returns the features of all instances. Messages may still be added afterwards, to open instances. */
  build(): LogSet {
    const kept = this.#instances.filter(({ isLeftOut }) => !isLeftOut)
    const rows = kept.map((one) => ({ ...one, closed: one.closed ?? this.#close(one.open!) }))
    const logs = kept.flatMap(({ open }) => open ?? [])
    const cut = cutWindows(rows, logs, (window) => this.#close(window))
    return this.#logSet(rows, cut && { lengthUs: cut.lengthUs, logs: this.#logSet(cut.rows) })
  }

  #logSet(rows: readonly Row[], windows?: LogSet['windows']): LogSet {
    const ids = rows.map(({ id }) => id)
    const instances = rows.map(({ closed }) => closed)
    const names = { event: this.#names.event.values, state: this.#names.state.values }
    const given = instances.map((instance) => instance.states)
    const asked = this.#badBy && joinAsked(given, this.#names.state, this.#badBy)
    const { states = given, variable, left = [] } = asked ?? {}
    const excluded = (this.#options.exclude ?? []).map((name) => ({ name, has: namedAs(name) }))
    const isExcluded = (name: string) => excluded.some(({ has }) => has.test(name))
    const droppedOf = (kind: VariableKind, more: readonly number[] = []) => {
      const byName = names[kind].flatMap((name, code) => (isExcluded(name) ? code : []))
      return new Set([...this.#dropped[kind], ...byName, ...more])
    }
    const variables = [...names.event, ...names.state]
    const unknown = excluded.filter(({ has }) => !variables.some((name) => has.test(name)))
    const events = instances.map((instance) => instance.events)
    const isBadBy = variable !== undefined && !isExcluded(variable)
    return new LogSet({
      instances: ids,
      met: names.event,
      metric: this.#badBy && isBadBy ? { variable, feature: this.#badBy.feature } : this.#metric,
      windows,
      durations: new Set(Array.from(this.#durations, (code) => names.state[code]!)),
      classOf: Uint8Array.from(rows, ({ classCode }) => classCode),
      levels: new Map(
        this.#levels.flatMap((rank, code) => [[names.event[code]!, LEVELS[rank]!] as const]),
      ),
      runTimeUs: Float64Array.from(instances, ({ runTimeUs }) => runTimeUs),
      events: laidOut(names.event, COLUMNS.event, events, droppedOf('event')),
      states: laidOut(names.state, COLUMNS.state, states, droppedOf('state', left)),
      report: new LogReport({
        ...this.notes.data,
        messages: {
          event: sum(rows, ({ closed, facets }) => closed.messages.event - facets),
          state: sum(instances, ({ messages }) => messages.state),
        },
        thinned: thinnedVariables(instances, names),
        emptyInstances: ids.filter((_, i) => Number.isNaN(instances[i]?.runTimeUs)),
        notExcluded: unknown.map(({ name }) => name),
      }),
    })
  }

  #openOf(instance: number): OpenInstance {
    const own = this.#instances[instance]
    if (own?.open !== undefined) return own.open
    if (own === undefined) {
      throw new RangeError(`There is no instance ${instance}. Ask instanceCode for numbers.`)
    }
    throw new FlowdeltaError(
      `Instance ${show(own.id)} got a message after it was closed. Close an instance when all its messages are read.`,
    )
  }

  #requireCurrent(name: string): number {
    if (this.#current >= 0) return this.#current
    throw new FlowdeltaError(
      `Message ${show(name)} belongs to no instance. Call setInstance(class, id) first.`,
    )
  }

  #refuse(
    kind: VariableKind,
    { instance, code }: { readonly instance: number; readonly code: number },
    found: string,
  ): void {
    const name = this.#names[kind].value(code)
    this.notes.refuse(kind, name, () => `${found} in instance ${this.#instances[instance]?.id}`)
  }
}

/** States by name, as functions of features, by default a state's mean and an event's number; NaN if absent. */
export type DerivedStates = Readonly<
  Record<string, (of: (variable: string, feature?: Feature) => number) => number>
>

/** Adds states that are computed from the features of an instance. */
function withDerived(
  closed: ClosedInstance,
  derived: DerivedStates,
  names: Readonly<Record<VariableKind, Dictionary>>,
): ClosedInstance {
  const added = Object.entries(derived).flatMap(([name, compute]) => {
    const value = compute((variable, feature) => featureOf(closed, names, { variable, feature }))
    return Number.isFinite(value) ? [{ code: names.state.code(name), mean: value, records: 1 }] : []
  })
  return added.length === 0 ? closed : { ...closed, states: withStates(closed.states, added) }
}

function featureOf(
  { events, states }: ClosedInstance,
  names: Readonly<Record<VariableKind, Dictionary>>,
  asked: { readonly variable: string; readonly feature: Feature | undefined },
): number {
  const { variable, feature: given } = asked
  const state = names.state.code(variable)
  const isState =
    given === undefined
      ? states.codes.includes(state)
      : (STATE_FEATURES as readonly Feature[]).includes(given)
  const { codes, values } = isState ? states : events
  const types: readonly string[] = isState ? COLUMNS.state : COLUMNS.event
  const row = codes.indexOf(isState ? state : names.event.code(variable))
  if (row < 0) return given === 'count' ? 0 : Number.NaN
  const feature = given ?? (isState ? 'mean' : 'count')
  return Number(values[row * types.length + types.indexOf(feature)])
}
