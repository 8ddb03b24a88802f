// Features are copied once a variable, feature and test: the loops index with `!`.
import { ascending } from 'd3-array'
import { addAt } from '../../core/entries.ts'
import { InternalError } from '../../core/errors.ts'
import { columnarStage, type StageTable, stageTable } from '../../core/stage.ts'
import { requireOneOf } from '../../stats/require-option.ts'
import { AFTER, BEFORE, type Period } from '../../traces/period.ts'
import {
  EVENT_SUMMARIES,
  type EventFeature,
  type Feature,
  type Level,
  LOG_CLASSES,
  type LogClass,
  STATE_SUMMARIES,
  type StateFeature,
  type Summary,
  type VariableKind,
} from './features.ts'
import type { LogReport } from './log-report.ts'
import type { InstanceFeatures } from './open-instance.ts'
import { DURATION_UNIT, type Unit, unitOfName } from './units.ts'

export { AFTER, BEFORE, LOG_CLASSES, type LogClass }

/** @throws OptionError for any other class */
export function codeOfClass(logClass: LogClass): Period {
  requireOneOf('logClass', logClass, LOG_CLASSES)
  return logClass === 'before' ? BEFORE : AFTER
}

/** Two sets of logs as features, a few numbers a variable and instance; `LogBuilder` and the readers make it. */
export class LogSet extends columnarStage<{
  /** Ids, in the order in which the instances were first named. */
  readonly instances: readonly string[]
  /** `BEFORE` or `AFTER`, an instance each. */
  readonly classOf: Uint8Array
  /** Time from its start to its last message, one per instance; NaN without messages. */
  readonly runTimeUs: Float64Array
  /** Numeric measure that divided instances of one source into good and bad; the default measure of performance. */
  readonly metric?:
    | string
    | { readonly variable: string; readonly feature: StateFeature }
    | undefined
  /** The same messages in windows, where each class is one long log. */
  readonly windows?: { readonly lengthUs: number; readonly logs: LogSet } | undefined
  /** States that text says with a unit, read in ms. */
  readonly durations?: ReadonlySet<string>
  /** Names of events as they were met first: of messages at one time, which came before. */
  readonly met?: readonly string[]
  /** The gravest level of each event that has any. */
  readonly levels?: ReadonlyMap<string, Level>
  readonly events: VariableFeatures<EventFeature>
  readonly states: VariableFeatures<StateFeature>
  /** Omissions and simplifications. */
  readonly report: LogReport
}>() {
  static readonly madeBy: string = 'logs: what loadLogs returns'
  /** Returns the class of an instance. */
  classNameOf(instance: number): LogClass {
    return LOG_CLASSES[this.classOf[instance] as 0 | 1]
  }

  features(kind: VariableKind): VariableFeatures {
    return (kind === 'event' ? this.events : this.states) as VariableFeatures
  }

  /** Returns the unit of a state variable, if its name or its texts say it. */
  unitOf(state: string): Unit | undefined {
    return this.durations?.has(state) ? DURATION_UNIT : unitOfName(state)
  }

  /** Number of instances of each class. */
  get counts(): Readonly<Record<LogClass, number>> {
    const after = this.classOf.reduce((sum, code) => sum + code, 0)
    return { before: this.instances.length - after, after }
  }

  /** Returns one row per instance: its class, its run time, and how many events and states it has. */
  table(): StageTable {
    const sums = () => new Float64Array(this.instances.length)
    const [events, eventMessages, states] = [sums(), sums(), sums()]
    for (const variable of this.events.names.keys()) {
      for (const { instance, count } of this.events.rows(variable, ['count'])) {
        addAt(events, instance, Number(count > 0))
        addAt(eventMessages, instance, count)
      }
    }
    for (const variable of this.states.names.keys()) {
      for (const { instance, final } of this.states.rows(variable, ['final'])) {
        addAt(states, instance, Number(!Number.isNaN(final)))
      }
    }
    return stageTable({
      instance: this.instances,
      class: this.instances.map((_, instance) => this.classNameOf(instance)),
      runTimeUs: this.runTimeUs,
      events,
      eventMessages,
      states,
    })
  }

  /** Returns one row per instance and event variable, with all its features. */
  eventTable(): StageTable {
    return this.#featureTable(this.events)
  }

  /** Returns one row per instance and state variable, with all its features. */
  stateTable(): StageTable {
    return this.#featureTable(this.states)
  }

  #featureTable<F extends Feature>(features: VariableFeatures<F>): StageTable {
    const { names } = features
    const n = this.instances.length
    const rows = Array.from({ length: names.length * n }, (_, row) => row)
    return stageTable({
      variable: rows.map((row) => names[Math.floor(row / n)]),
      instance: rows.map((row) => this.instances[row % n]),
      class: rows.map((row) => this.classNameOf(row % n)),
      ...Object.fromEntries(features.types.map((type) => [type, features.values(type)])),
    })
  }
}

interface EntryPlaces {
  /** The entries of variable v are those from `starts[v]` to before `starts[v + 1]`. */
  readonly starts: Int32Array
  /** An entry each, ascending within a variable. */
  readonly instances: Int32Array
}

/** Returns the instances of each class; of `having`, those for which it is a number. */
export function membersOf({ instances, classOf }: LogSet, having?: ArrayLike<number>) {
  const kept = [...instances.keys()].filter((instance) => !Number.isNaN(having?.[instance]))
  const of = (code: Period) => kept.filter((instance) => classOf[instance] === code)
  return { before: of(BEFORE), after: of(AFTER) } as const
}

/** The features of all variables of one kind. Only instances that logged a variable take memory. */
export class VariableFeatures<F extends Feature = Feature> {
  /** Names of the variables, ascending. */
  readonly names: readonly string[]
  /** Features, which are tested; columns may be there of summaries, too. */
  readonly types: readonly F[]
  readonly instances: number
  readonly #places: EntryPlaces
  readonly #columns: ReadonlyMap<Feature | Summary, Float64Array>
  #indexes: ReadonlyMap<string, number> | undefined

  /** Without `places`, columns have an entry for every variable and instance: v in i at `v * instances + i`. */
  constructor(
    names: readonly string[],
    instances: number,
    columns: ReadonlyMap<F | Summary, Float64Array>,
    places: EntryPlaces = everywhere(names.length, instances),
  ) {
    const entries = places.instances.length
    for (const [type, values] of columns) {
      if (values.length === entries) continue
      throw new InternalError(`${values.length} values of ${type} for ${entries} entries`)
    }
    this.names = names
    this.types = [...columns.keys()].filter((type) => !SUMMARIES.has(type)) as F[]
    this.instances = instances
    this.#places = places
    this.#columns = columns
  }

  /** Returns one feature of all variables anew: that of variable v in instance i at `v * instances + i`. */
  values(type: F): Float64Array {
    const all = new Float64Array(this.names.length * this.instances)
    for (const variable of this.names.keys()) {
      all.set(this.of(variable, type), variable * this.instances)
    }
    return all
  }

  /** Returns one feature of one variable, an instance each: NaN without a message, but 0 for their number. */
  of(variable: number, type: F | Summary): Float64Array {
    const found = new Float64Array(this.instances)
    this.copy(variable, type, found)
    return found
  }

  /** Works as `of`, but writes into a given array, for callers that go through all variables. */
  copy(variable: number, type: F | Summary, target: Float64Array): void {
    const { starts, instances } = this.#places
    const values = this.#column(type)
    const end = starts[variable + 1]!
    target.fill(type === 'count' ? 0 : Number.NaN)
    for (let at = starts[variable]!; at < end; at++) target[instances[at]!] = values[at]!
  }

  /** Returns the instances that logged a variable, ascending, and its features there; views, no copies. */
  entries(variable: number) {
    const { starts, instances } = this.#places
    const [start, end] = [starts[variable], starts[variable + 1]]
    return {
      instances: instances.subarray(start, end),
      values: (type: F | Summary) => this.#column(type).subarray(start, end),
    }
  }

  /** Returns some features of one variable, a row for each instance that logged it. */
  rows<T extends F | Summary>(
    variable: number,
    types: readonly T[],
  ): readonly Readonly<Record<T | 'instance', number>>[] {
    const { instances, values } = this.entries(variable)
    const columns = types.map((type) => [type, values(type)] as const)
    return Array.from(instances, (instance, i) => {
      const row = { instance } as Record<T | 'instance', number>
      for (const [type, own] of columns) row[type] = own[i]!
      return row
    })
  }

  /** Returns the number of the variable called `name`; undefined where there is none. */
  indexOf(name: string): number | undefined {
    this.#indexes ??= new Map(this.names.map((each, index) => [each, index]))
    return this.#indexes.get(name)
  }

  #column(type: F | Summary): Float64Array {
    const values = this.#columns.get(type)
    if (values === undefined && SUMMARIES.has(type)) {
      return new Float64Array(this.#places.instances.length).fill(Number.NaN)
    }
    if (values === undefined) throw new RangeError(`There is no feature ${type} of this kind.`)
    return values
  }
}

const SUMMARIES: ReadonlySet<Feature | Summary> = new Set([...EVENT_SUMMARIES, ...STATE_SUMMARIES])

function everywhere(variables: number, instances: number): EntryPlaces {
  return {
    starts: Int32Array.from({ length: variables + 1 }, (_, variable) => variable * instances),
    instances: Int32Array.from({ length: variables * instances }, (_, at) => at % instances),
  }
}

/** Lays the features of single instances out by feature and variable, in the order of names. */
export function laidOut<F extends Feature>(
  names: readonly string[],
  types: readonly (F | Summary)[],
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
