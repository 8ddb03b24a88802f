// Features are copied once a variable, feature and test: the loops index with `!`.
import { ascending } from 'd3-array'
import { addAt, getOrInsert } from '../../core/entries.ts'
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
  readonly report: LogReport
}>() {
  static readonly madeBy: string = 'logs: what loadLogs returns'

  features(kind: VariableKind): VariableFeatures {
    return (kind === 'event' ? this.events : this.states) as VariableFeatures
  }

  /** Returns the unit of a state variable, if its name or its texts say it. */
  unitOf(state: string): Unit | undefined {
    return this.durations?.has(state) ? DURATION_UNIT : unitOfName(state)
  }

  get counts(): Readonly<Record<LogClass, number>> {
    const after = this.classOf.reduce((sum, code) => sum + code, 0)
    return { before: this.instances.length - after, after }
  }

  /** Returns one row per instance: its class, its run time, and how many events and states it has. */
  table(): StageTable {
    const sumsOf = (features: VariableFeatures, of: (count: number) => number) => {
      const sums = new Float64Array(this.instances.length)
      const rows = features.names.flatMap((_, variable) => features.rows(variable, ['count']))
      for (const { instance, count } of rows) addAt(sums, instance, of(count))
      return sums
    }
    return stageTable({
      instance: this.instances,
      class: Array.from(this.classOf, (code) => LOG_CLASSES[code as 0 | 1]),
      runTimeUs: this.runTimeUs,
      events: sumsOf(this.features('event'), (count) => Number(count > 0)),
      eventMessages: sumsOf(this.features('event'), (count) => count),
      states: sumsOf(this.features('state'), () => 1),
    })
  }
}

/** Returns the instances of each class; of `having`, those for which it is a number. */
export function membersOf({ instances, classOf }: LogSet, having?: ArrayLike<number>) {
  const kept = [...instances.keys()].filter((instance) => !Number.isNaN(having?.[instance]))
  const of = (code: Period) => kept.filter((instance) => classOf[instance] === code)
  return { before: of(BEFORE), after: of(AFTER) } as const
}

/** Features of one variable in one instance, in the order of the columns. */
export interface FeatureRow {
  readonly instance: number
  readonly features: readonly number[]
}

/** The features of all variables of one kind. Only instances that logged a variable take memory. */
export class VariableFeatures<F extends Feature = Feature> {
  /** Names of the variables, ascending. */
  readonly names: readonly string[]
  /** Features, which are tested; there may be columns of summaries, too. */
  readonly types: readonly F[]
  readonly #instances: number
  readonly #columns: ReadonlyMap<F | Summary, number>
  readonly #rows: readonly (readonly FeatureRow[])[]
  readonly #indexes: ReadonlyMap<string, number>

  /** @param rows of each variable, in the order of names: those of the instances that logged it, ascending */
  constructor({
    names,
    instances,
    columns,
    rows,
  }: {
    readonly names: readonly string[]
    readonly instances: number
    readonly columns: readonly (F | Summary)[]
    readonly rows: readonly (readonly FeatureRow[])[]
  }) {
    this.names = names
    this.types = columns.filter((type) => !SUMMARIES.has(type)) as F[]
    this.#instances = instances
    this.#columns = new Map(columns.map((type, i) => [type, i]))
    this.#rows = rows
    this.#indexes = new Map(names.map((each, index) => [each, index]))
  }

  /** Returns one feature of one variable, an instance each: NaN without a message, but 0 for their number. */
  of(
    variable: number,
    type: F | Summary,
    target = new Float64Array(this.#instances),
  ): Float64Array {
    const column = this.#columns.get(type) ?? Number.NaN
    const rows = this.#rows[variable]!
    target.fill(type === 'count' ? 0 : Number.NaN)
    for (const { instance, features } of rows) target[instance] = features[column] ?? Number.NaN
    return target
  }

  /** Returns some features of one variable, a row for each instance that logged it, ascending. */
  rows<T extends F | Summary>(
    variable: number,
    types: readonly T[],
  ): readonly Readonly<Record<T | 'instance', number>>[] {
    return this.#rows[variable]!.map(({ instance, features }) => {
      const row = { instance } as Record<T | 'instance', number>
      for (const type of types) {
        row[type] = features[this.#columns.get(type) ?? Number.NaN] ?? Number.NaN
      }
      return row
    })
  }

  indexOf(name: string): number | undefined {
    return this.#indexes.get(name)
  }
}

const SUMMARIES: ReadonlySet<Feature | Summary> = new Set([...EVENT_SUMMARIES, ...STATE_SUMMARIES])

/** Puts the features of single instances together, by variable, in the order of names. */
export function laidOut<F extends Feature>(
  names: readonly string[],
  columns: readonly (F | Summary)[],
  { all, dropped }: { readonly all: readonly InstanceFeatures[]; dropped: ReadonlySet<number> },
): VariableFeatures<F> {
  const rowsOf = new Map<number, FeatureRow[]>()
  for (const [instance, variables] of all.entries()) {
    for (const [code, features] of variables) {
      if (!dropped.has(code)) getOrInsert(rowsOf, code, () => []).push({ instance, features })
    }
  }
  const sorted = [...rowsOf].sort(([a], [b]) => ascending(names[a], names[b]))
  return new VariableFeatures({
    names: sorted.map(([code]) => names[code]!),
    instances: all.length,
    columns,
    rows: sorted.map(([, rows]) => rows),
  })
}
