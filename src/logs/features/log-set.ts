// Features are copied once a variable, feature and test: the loops index with `!`.
import { sum } from 'd3-array'
import { addAt, getOrInsert } from '../../core/entries.ts'
import { describePlace, type Place } from '../../core/errors.ts'
import { columnarStage, own, rowTable, type StageTable, stageTable } from '../../core/stage.ts'
import { requireOneOf } from '../../stats/require-option.ts'
import { AFTER, BEFORE, type Period } from '../../traces/period.ts'
import { MS, type Unit, unitOfName } from './units.ts'

export { AFTER, BEFORE }

/** Events are summarized by their times since the start of their instance, and by their number. */
const EVENT_TEXTS = {
  firstAbsolute: 'first time',
  medianAbsolute: 'median time',
  lastAbsolute: 'last time',
  firstRelative: 'first time, as a share of the run',
  medianRelative: 'median time, as a share of the run',
  lastRelative: 'last time, as a share of the run',
  count: 'number',
}

/** State variables are summarized by their values. */
const STATE_TEXTS = {
  minimum: 'least value',
  mean: 'mean value',
  maximum: 'greatest value',
  final: 'final value',
  quarterAbsolute: 'value at ¼ of the run',
  halfAbsolute: 'value at ½ of the run',
  threeQuartersAbsolute: 'value at ¾ of the run',
  quarterRelative: 'value at ¼ of the run, from least to greatest',
  halfRelative: 'value at ½ of the run, from least to greatest',
  threeQuartersRelative: 'value at ¾ of the run, from least to greatest',
}

export const EVENT_FEATURES = Object.keys(EVENT_TEXTS) as readonly EventFeature[]
export const STATE_FEATURES = Object.keys(STATE_TEXTS) as readonly StateFeature[]

/** Further properties of an event, which are not tested: median gap between messages, and spread of the gaps. */
export const EVENT_SUMMARIES = ['gap', 'gapSpread'] as const

/** Further properties of a state variable, which are not tested: its records, their median and 99th percentile. */
export const STATE_SUMMARIES = ['records', 'median', 'p99'] as const

export type Summary = (typeof EVENT_SUMMARIES)[number] | (typeof STATE_SUMMARIES)[number]

/** The numbers of a variable in one instance, in their order. */
export const COLUMNS = {
  event: [...EVENT_FEATURES, ...EVENT_SUMMARIES],
  state: [...STATE_FEATURES, ...STATE_SUMMARIES],
} as const

/**
 * Features of the messages of one event in one instance. Absolute times are microseconds since the instance's start,
 * relative ones shares of its run time; both are NaN without a message. `count` is 0 then.
 */
export type EventFeature = keyof typeof EVENT_TEXTS

/**
 * Features of the values of one state variable in one instance; NaN without a message.
 *
 * `quarter`, `half` and `threeQuarters` are the value that held when that share of the instance's
 * own run had passed: the last one logged until then, NaN before the first. `Relative` is the same
 * on a scale from the instance's least value, 0, to its greatest, 1; NaN where it never changes.
 */
export type StateFeature = keyof typeof STATE_TEXTS

/** The two sets of logs to compare: Distalyzer's good and bad. Differences are after minus before. */
export const LOG_CLASSES = ['before', 'after'] as const
export type LogClass = (typeof LOG_CLASSES)[number]

/** Levels of messages, the least grave first. */
export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type Level = (typeof LEVELS)[number]

export const VARIABLE_KINDS = ['event', 'state'] as const
export type VariableKind = (typeof VARIABLE_KINDS)[number]

export type Feature = EventFeature | StateFeature

export function isEventTime(feature: Feature): boolean {
  return feature !== 'count' && (EVENT_FEATURES as readonly Feature[]).includes(feature)
}

/** Whether a feature is a time of an event as a share of the run. */
export function isShareOfRun(feature: Feature): boolean {
  return isEventTime(feature) && feature.endsWith('Relative')
}

export function featureText(feature: Feature): string {
  return { ...EVENT_TEXTS, ...STATE_TEXTS }[feature]
}

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
    return this.durations?.has(state) ? MS : unitOfName(state)
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

/** Returns the values of some instances, in their order. */
export function picked(values: Float64Array, members: readonly number[]): Float64Array {
  return Float64Array.from(members, (instance) => Number(values[instance]))
}

/** Features of one variable in one instance, in the order of the columns. */
export interface FeatureRow {
  readonly instance: number
  readonly features: readonly number[]
}

interface FeatureTable<F extends Feature> {
  readonly names: readonly string[]
  readonly instances: number
  readonly columns: readonly (F | Summary)[]
  /** Those of the instances that logged a variable, ascending, in the order of names. */
  readonly rows: readonly (readonly FeatureRow[])[]
}

/** The features of all variables of one kind. Only instances that logged a variable take memory. */
export class VariableFeatures<F extends Feature = Feature> {
  /** Names of the variables, ascending. */
  readonly names: readonly string[]
  /** Features, which are tested; there may be columns of summaries, too. */
  readonly types: readonly F[]
  readonly #given: FeatureTable<F>
  readonly #columns: ReadonlyMap<F | Summary, number>
  readonly #indexes: ReadonlyMap<string, number>

  constructor(given: FeatureTable<F>) {
    this.#given = given
    this.names = given.names
    this.types = given.columns.filter((type) => !SUMMARIES.has(type)) as F[]
    this.#columns = new Map(given.columns.map((type, i) => [type, i]))
    this.#indexes = new Map(given.names.map((each, index) => [each, index]))
  }

  /** Returns one feature of one variable, an instance each: NaN without a message, but 0 for their number. */
  of(
    variable: number,
    type: F | Summary,
    target = new Float64Array(this.#given.instances),
  ): Float64Array {
    const column = this.#columns.get(type) ?? Number.NaN
    const rows = this.#given.rows[variable]!
    target.fill(type === 'count' ? 0 : Number.NaN)
    for (const { instance, features } of rows) target[instance] = features[column] ?? Number.NaN
    return target
  }

  /** Returns some features of one variable, a row for each instance that logged it, ascending. */
  rows<T extends F | Summary>(
    variable: number,
    types: readonly T[],
  ): readonly Readonly<Record<T | 'instance', number>>[] {
    return this.#given.rows[variable]!.map(({ instance, features }) => {
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

export interface SkippedLine extends Place {
  /** Line, or enough of it to recognize it. */
  readonly text: string
}

export interface SkippedLines {
  readonly reason: string
  readonly count: number
  readonly first: readonly SkippedLine[]
}

/** A field that is no variable, and why. */
export interface FieldLeftOut {
  readonly field: string
  readonly reason: string
  readonly messages: number
  readonly example: string
  /** Some values of each class, for names of the run that the classes do not share. */
  readonly byClass?: Readonly<Record<LogClass, readonly string[]>>
}

/** Omissions and simplifications while reading two sets of logs. Counts are exact. */
export class LogReport extends columnarStage<
  ReadingNotes['data'] & {
    readonly messages: Readonly<Record<VariableKind, number>>
    readonly emptyInstances: readonly string[]
    /** Names of `exclude` that no variable has. */
    readonly notExcluded: readonly string[]
  }
>() {
  get skippedLines(): number {
    return sum(this.skipped, ({ count }) => count)
  }

  /** Returns one row per thing left out or simplified: what, how often, and the first example. */
  table(): StageTable {
    const onlyFirst = (issue: string, effect: string, examples: readonly string[]) =>
      examples.slice(0, 1).map((example) => ({ issue, effect, count: examples.length, example }))
    const rows = [
      ...this.skipped.map(({ reason, count, first: [first] }) => ({
        issue: reason,
        effect: reason.startsWith('ends') ? 'read in part' : 'line skipped',
        count,
        example: first === undefined ? '' : `${describePlace(first)}${first.text}`,
      })),
      ...this.fieldsLeftOut.map(({ field, reason, messages, example }) => ({
        issue: `field ${field} ${reason}`,
        effect: 'no variable',
        count: messages,
        example,
      })),
      ...onlyFirst('instance without messages', 'kept', this.emptyInstances),
      ...onlyFirst('file in no log format that is known', 'file skipped', this.unreadFiles),
      ...onlyFirst('excluded name that no variable has', 'nothing left out', this.notExcluded),
    ]
    return rowTable(rows, own('issue effect count example'))
  }
}

const LISTED_PER_REASON = 5
const SHOWN_CHARACTERS = 120

export class ReadingNotes {
  /** Lines read; 0 where messages came from code. */
  lines = 0
  /** Files in directories that are in no log format that is known. */
  readonly unreadFiles: string[] = []
  /** Files whose lines share windows. */
  readonly sharedFiles: string[] = []
  /** Fields of messages that are no variables, those of most messages first. */
  readonly fieldsLeftOut: FieldLeftOut[] = []
  readonly #skipped = new Map<string, { reason: string; count: number; first: SkippedLine[] }>()

  /** Notes lines that gave no message, by the first of them; the first few of each reason are kept. */
  skip(reason: string, line: SkippedLine, count = 1): void {
    const entry = getOrInsert(this.#skipped, reason, () => ({ reason, count: 0, first: [] }))
    entry.count += count
    if (entry.first.length === LISTED_PER_REASON) return
    const { text } = line
    const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
    // A slice keeps the whole text alive that it was cut from.
    entry.first.push({ ...line, text: ` ${shown}`.slice(1) })
  }

  get data() {
    const { lines, unreadFiles, sharedFiles, fieldsLeftOut } = this
    const skipped: readonly SkippedLines[] = [...this.#skipped.values()]
    return { lines, skipped, unreadFiles, sharedFiles, fieldsLeftOut } as const
  }
}
