// Runs once a variable, instance and feature: the loops index with `!`.
import { ascending, greatest, group, max, sum } from 'd3-array'
import { FlowdeltaError, OptionError, show } from '../../core/errors.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import {
  EVENT_FEATURES,
  type Feature,
  LEVELS,
  type Level,
  STATE_FEATURES,
  type StateFeature,
  type VariableKind,
  WAIT_NAME,
} from './features.ts'
import {
  type FieldLeftOut,
  LogReport,
  ReadingNotes,
  type SkippedLine,
  type ThinnedVariable,
} from './log-report.ts'
import { codeOfClass, type LogClass, LogSet, VariableFeatures } from './log-set.ts'
import { type ClosedInstance, type InstanceFeatures, OpenInstance } from './open-instance.ts'

/**
 * States by name, and how each is computed: from features of variables, by default a
 * state's mean and an event's number; NaN for what an instance has not, but for `'count'`.
 */
export type DerivedStates = Readonly<
  Record<string, (of: (variable: string, feature?: Feature) => number) => number>
>

/**
 * Takes log messages one by one: for logs that flowdelta has no reader for.
 *
 * An instance is the thing to compare: a node, a request or a run, before or after. An event message
 * says that something happened, a state message what value a variable had. Times are µs on any clock
 * that one instance agrees on, in any order. Readers use the numbered methods: `instanceCode`,
 * `eventCode` and `stateCode` once for each name, `event` and `state` for each message, `close` when
 * an instance is complete.
 *
 * An open instance keeps at most 65,536 messages of each variable; beyond that it drops every second
 * one, and medians and snapshots come from those kept (see `LogSet.report`). Everything else is exact.
 * A closed instance keeps only its features. Messages without a finite time or value are left out and
 * counted in the report.
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
  readonly #classOf: number[] = []
  readonly #ids: string[] = []
  readonly #codes = new Map<string, number>()
  /** An instance that is closed is replaced by its features. */
  readonly #instances: (OpenInstance | ClosedInstance)[] = []
  readonly #names: Record<VariableKind, Dictionary> = {
    event: new Dictionary(),
    state: new Dictionary(),
  }
  readonly #notes = new ReadingNotes()
  #current = -1
  #facets = 0
  readonly #facetCodes = new Set<number>()
  #hasWaits = false
  #badBy: { readonly field: string; readonly feature: StateFeature } | undefined
  /** By event, as ranks. */
  readonly #levels: number[] = []
  readonly #dropped = new Set<number>()
  #excluded: readonly { readonly name: string; readonly pattern: RegExp }[] = []
  #derived: readonly (readonly [string, DerivedStates[string]])[] = []
  readonly #droppedInstances = new Set<number>()

  /**
   * Says what the messages to come are of. May be called again for an instance, which then goes on;
   * the same id in the other class is another instance.
   *
   * @param options.startUs when the instance started; default, and at the latest: its first message
   * @throws OptionError for an unknown class or a start that is no finite number
   */
  setInstance(logClass: LogClass, id: string, { startUs }: { startUs?: number } = {}): void {
    this.#current = this.instanceCode(logClass, id)
    if (startUs !== undefined) this.startAt(this.#current, startUs)
  }

  /**
   * Something happened in the instance set last.
   *
   * @throws FlowdeltaError before any instance was set, or when it is closed
   */
  logEvent(timeUs: number, name: string): void {
    this.event(this.#requireCurrent(name), this.eventCode(name), timeUs)
  }

  /**
   * What a variable was in the instance set last.
   *
   * @throws FlowdeltaError before any instance was set, or when it is closed
   */
  logState(timeUs: number, name: string, value: number): void {
    this.state(this.#requireCurrent(name), this.stateCode(name), timeUs, value)
  }

  /** The number of an instance, which is added if it is new; see `setInstance`. */
  instanceCode(logClass: LogClass, id: string): number {
    const key = `${codeOfClass(logClass)} ${id}`
    const known = this.#codes.get(key)
    if (known !== undefined) return known
    const code = this.#ids.length
    this.#codes.set(key, code)
    this.#ids.push(id)
    this.#classOf.push(codeOfClass(logClass))
    this.#instances.push(new OpenInstance())
    return code
  }

  eventCode(name: string): number {
    return this.#names.event.code(name)
  }

  stateCode(name: string): number {
    return this.#names.state.code(name)
  }

  /** An event message, by numbers; of an event's levels the gravest is kept. */
  event(instance: number, code: number, timeUs: number, level?: Level): void {
    if (level !== undefined) {
      const rank = LEVELS.indexOf(level)
      if (rank > (this.#levels[code] ?? -1)) this.#levels[code] = rank
    }
    if (Number.isFinite(timeUs)) this.#open(instance).event(code, timeUs)
    else this.#refuse('event', { instance, code }, `time ${timeUs}`)
  }

  /** A state message, by numbers. */
  state(instance: number, code: number, timeUs: number, value: number): void {
    if (Number.isFinite(timeUs) && Number.isFinite(value)) {
      this.#open(instance).state(code, timeUs, value)
    } else this.#refuse('state', { instance, code }, `time ${timeUs}, value ${value}`)
  }

  /** An event message that only tells a message of another event apart: it is not counted as one. */
  facet(instance: number, code: number, timeUs: number): void {
    this.event(instance, code, timeUs)
    this.#facetCodes.add(code)
    if (Number.isFinite(timeUs)) this.#facets++
  }

  /** Takes events back that turned out to be none. */
  dropEvents(codes: readonly number[]): void {
    for (const code of codes) this.#dropped.add(code)
  }

  /** Notes fields that are no variables. */
  noteLeftOut(fields: readonly FieldLeftOut[]): void {
    this.#notes.fieldsLeftOut.push(...fields)
  }

  /** Sets when an instance started; default, and at the latest: its first message. */
  startAt(instance: number, startUs: number): void {
    if (!Number.isFinite(startUs)) throw new OptionError('startUs', startUs, 'microseconds')
    this.#open(instance).startUs = startUs
  }

  /** Says of which class an instance is, whatever was said before. */
  setClass(instance: number, logClass: LogClass): void {
    this.#classOf[instance] = codeOfClass(logClass)
  }

  /** Leaves an instance out. */
  dropInstance(instance: number): void {
    this.#droppedInstances.add(instance)
  }

  /** Says that an instance is complete: its features are computed, its messages freed. */
  close(instance: number): void {
    const open = this.#instances[instance]
    if (open instanceof OpenInstance) this.#instances[instance] = this.#close(open)
  }

  /** Makes how long after the message before it each event came a state, `ms until EVENT`. */
  addWaits(): void {
    this.#hasWaits = true
  }

  /** Adds states that are computed from the features of an instance. */
  derive(derived: DerivedStates): void {
    this.#derived = Object.entries(derived)
  }

  #close(open: OpenInstance): ClosedInstance {
    const closed = this.#closeWithWaits(open)
    const { codes, values } = closed.states
    const added = this.#derived.flatMap(([name, compute]) => {
      const value = compute((variable, feature) => this.#featureOf(closed, variable, feature))
      return Number.isFinite(value) ? [{ code: this.stateCode(name), value }] : []
    })
    const features = added.flatMap(({ value }) =>
      STATE_FEATURES.map((feature) => (feature === 'mean' ? value : Number.NaN)),
    )
    const states = {
      codes: Int32Array.from([...codes, ...added.map(({ code }) => code)]),
      values: Float64Array.from([...values, ...features]),
    }
    return added.length === 0 ? closed : { ...closed, states }
  }

  #featureOf({ events, states }: ClosedInstance, variable: string, given?: Feature): number {
    const isState =
      given === undefined
        ? states.codes.includes(this.stateCode(variable))
        : (STATE_FEATURES as readonly Feature[]).includes(given)
    const { codes, values } = isState ? states : events
    const types: readonly Feature[] = isState ? STATE_FEATURES : EVENT_FEATURES
    const at = codes.indexOf(isState ? this.stateCode(variable) : this.eventCode(variable))
    if (at < 0) return given === 'count' ? 0 : Number.NaN
    const feature = given ?? (isState ? 'mean' : 'count')
    return values[at * types.length + types.indexOf(feature)]!
  }

  #closeWithWaits(open: OpenInstance): ClosedInstance {
    if (!this.#hasWaits) return open.close()
    return open.close((event) =>
      this.#facetCodes.has(event)
        ? -1
        : this.stateCode(`${WAIT_NAME}${this.#names.event.value(event)}`),
    )
  }

  /** Says which field of messages makes instances bad, and by which of its values. */
  classedBy(field: string, feature: StateFeature): void {
    this.#badBy = { field, feature }
  }

  /** Leaves variables out by their names, in which `*` stands for anything. */
  exclude(names: readonly string[]): void {
    this.#excluded = names.map((name) => {
      const pattern = name.replace(/[\\^$.|?+()[\]{}]/g, '\\$&').replaceAll('*', '.*')
      return { name, pattern: new RegExp(`^${pattern}$`, 's') }
    })
  }

  /** Counts lines that were read. */
  countLines(count: number): void {
    this.#notes.lines += count
  }

  /** Notes lines that gave no message, by the first of them; the first few of each reason are kept. */
  skipLine(reason: string, line: SkippedLine, count = 1): void {
    this.#notes.skip(reason, line, count)
  }

  /** Notes a file that is in no log format that is known. */
  skipFile(file: string): void {
    this.#notes.unreadFiles.push(file)
  }

  /** Notes paths that were given for both classes. */
  noteBoth(paths: readonly string[]): void {
    this.#notes.inBothClasses.push(...paths)
  }

  /** The features of all instances. Messages may still be added afterwards, to open instances. */
  build(): LogSet {
    const kept = [...this.#ids.keys()].filter((i) => !this.#droppedInstances.has(i))
    const ids = kept.map((i) => this.#ids[i]!)
    const instances = kept.map((i) => {
      const each = this.#instances[i]!
      return each instanceof OpenInstance ? this.#close(each) : each
    })
    const names = { event: this.#names.event.values, state: this.#names.state.values }
    const [events, states] = [
      instances.map((instance) => instance.events),
      instances.map((instance) => instance.states),
    ]
    const isExcluded = (name: string) => this.#excluded.some(({ pattern }) => pattern.test(name))
    const droppedOf = (all: readonly string[], more: Iterable<number> = []) =>
      new Set([...more, ...all.flatMap((name, code) => (isExcluded(name) ? code : []))])
    const variables = [...names.event, ...names.state]
    const unknown = this.#excluded.filter(({ pattern }) => !variables.some((v) => pattern.test(v)))
    const stateFeatures = laidOut(names.state, STATE_FEATURES, states, droppedOf(names.state))
    const variable = greatest(
      [...stateFeatures.names.keys()].filter((each) =>
        stateFeatures.names[each]!.endsWith(`.${this.#badBy?.field}`),
      ),
      (each) => stateFeatures.entries(each).instances.length,
    )
    return new LogSet({
      instances: ids,
      ...(this.#badBy !== undefined &&
        variable !== undefined && {
          metric: { variable: stateFeatures.names[variable]!, feature: this.#badBy.feature },
        }),
      classOf: Uint8Array.from(kept, (i) => this.#classOf[i]!),
      levels: new Map(
        this.#levels.flatMap((rank, code) => [[names.event[code]!, LEVELS[rank]!] as const]),
      ),
      runTimeUs: Float64Array.from(instances, ({ runTimeUs }) => runTimeUs),
      events: laidOut(names.event, EVENT_FEATURES, events, droppedOf(names.event, this.#dropped)),
      states: stateFeatures,
      report: new LogReport({
        ...this.#notes.data,
        messages: {
          event: sum(instances, ({ messages }) => messages.event) - this.#facets,
          state: sum(instances, ({ messages }) => messages.state),
        },
        thinned: thinnedVariables(instances, names),
        emptyInstances: ids.filter((_, i) => Number.isNaN(instances[i]?.runTimeUs)),
        notExcluded: unknown.map(({ name }) => name),
      }),
    })
  }

  #open(instance: number): OpenInstance {
    const found = this.#instances[instance]
    if (found instanceof OpenInstance) return found
    if (found === undefined) {
      throw new RangeError(`There is no instance ${instance}. Ask instanceCode for numbers.`)
    }
    throw new FlowdeltaError(
      `Instance ${show(this.#ids[instance])} got a message after it was closed. Close an instance when all its messages are read.`,
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
    this.#notes.refuse(kind, name, () => `${found} in instance ${this.#ids[instance]}`)
  }
}

/** Lays the features of single instances out by feature and variable, in the order of names. */
function laidOut<F extends Feature>(
  names: readonly string[],
  types: readonly F[],
  instances: readonly InstanceFeatures[],
  dropped: ReadonlySet<number>,
): VariableFeatures<F> {
  const logged = new Int32Array(names.length)
  for (const { codes } of instances) for (const code of codes) logged[code] = logged[code]! + 1
  // A name may have been numbered without ever having a message: all of them were refused.
  const order = [...names.keys()]
    .filter((code) => logged[code]! > 0 && !dropped.has(code))
    .sort((a, b) => ascending(names[a], names[b]))
  const starts = new Int32Array(order.length + 1)
  const next = new Int32Array(names.length)
  for (const [row, code] of order.entries()) {
    next[code] = starts[row]!
    starts[row + 1] = starts[row]! + logged[code]!
  }
  const entries = starts[order.length]!
  const places = { starts, instances: new Int32Array(entries) }
  const columns = types.map(() => new Float64Array(entries))
  for (const [instance, { codes, values }] of instances.entries()) {
    for (const [i, code] of codes.entries()) {
      if (dropped.has(code)) continue
      const entry = next[code]!
      next[code] = entry + 1
      places.instances[entry] = instance
      for (const [feature, column] of columns.entries()) {
        column[entry] = values[i * types.length + feature]!
      }
    }
  }
  return new VariableFeatures(
    order.map((code) => names[code]!),
    instances.length,
    new Map(types.map((type, feature) => [type, columns[feature]!])),
    places,
  )
}

function thinnedVariables(
  instances: readonly ClosedInstance[],
  names: Readonly<Record<VariableKind, readonly string[]>>,
): ThinnedVariable[] {
  const all = instances.flatMap(({ thinned }) => thinned)
  return [...group(all, ({ kind, code }) => `${kind} ${code}`).values()].map((alike) => {
    const [{ kind, code }] = alike as [(typeof all)[0]]
    const stride = max(alike, (each) => each.stride) ?? 1
    return { kind, name: names[kind][code] as string, instances: alike.length, stride }
  })
}
