import { describePlace, type OptionAdvice } from '../../core/errors.ts'
import { memoized } from '../../core/remembered.ts'
import { grouped } from '../../core/words.ts'
import type {
  EventFields,
  FieldColumns,
  FieldMessage,
  FieldVariables,
  LogField,
} from '../features/field-variables.ts'
import type { LogBuilder } from '../features/log-builder.ts'
import type { LogClass, SkippedLines } from '../features/log-set.ts'
import type { DividedLogs } from './divided-logs.ts'
import { type TemplateMatcher, templateName } from './drain/log-templates.ts'
import type { LineBytes, Span } from './line-bytes.ts'
import { type LinePlan, recordOf, type Said, valueIn } from './line-plans.ts'
import type { LogRecord } from './log-draft.ts'

export type Taker = (line: LineBytes, timeUs: number, value: number | undefined) => void

export interface LogSink {
  record(record: LogRecord): void
  /** Returns the function that takes the messages of a plan; without it, `record` takes them. */
  taker?(plan: LinePlan): Taker
  /** Whether it does not ask when messages of plans came. */
  readonly isTimeless?: true
  skip(reason: string, line: number, text: string, count?: number): void
  skipFile(): void
  countLines(count: number): void
}

export function onlyMessages(record: LogSink['record']): LogSink {
  return { record, skip() {}, skipFile() {}, countLines() {} }
}

export interface LogFile {
  readonly name: string
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  readonly sink: LogSink
}

/** Why lines give no message; the report counts by these. */
export const SKIPPED = {
  continuation: 'belongs to the message before it (stack trace, further line)',
  beforeFirst: 'stands before the first line with a time',
  noTime: 'has no time that can be read',
  noName: 'has no name',
  noInstance: 'does not say which instance it is of',
  noNumber: 'has a value that is no number',
  noTemplate: 'is text that no template matches',
  broken: 'is not in the format of its file',
  unread: 'is in no form that is known',
  half: 'ends in no form that is known',
  tooLong: 'is longer than 16 MB',
} as const

const ADVICE: Readonly<Record<string, string>> = {
  [SKIPPED.beforeFirst]: 'Say how times are written with `dateFormat`',
  [SKIPPED.noTime]:
    'Name the field of times with `fields.time`, or say how they are written with `dateFormat`',
  [SKIPPED.noName]: 'Name the field of names with `fields.name`',
  [SKIPPED.noInstance]: 'Name a field that lines have with `instance`',
  [SKIPPED.noNumber]: 'Name a field of numbers with `fields.value`',
  [SKIPPED.noTemplate]: 'Mine templates from these logs too, and give them as `templates`',
  [SKIPPED.unread]: 'Say how times are written with `dateFormat`',
  [SKIPPED.broken]: 'Look at the line, or give another `format`',
}

export function skipAdvice(reason: string): string {
  return ADVICE[reason] ?? ''
}

export function optionsIn(text: string): OptionAdvice {
  return Object.fromEntries(
    Array.from(text.matchAll(/`([\w.]+)`/g), ([, name = '']) => [name, null]),
  )
}

/** Returns why lines were skipped, how many, and which was the first: `has no time … (3, as in a.log:7)`. */
export function skipText({ reason, count, first }: SkippedLines): string {
  const place = describePlace({ ...first[0] }).replace(/: $/, '')
  return `a line ${reason} (${grouped(count)}${place === '' ? '' : `, as in ${place}`})`
}

export function isLost(reason: string): boolean {
  return reason !== SKIPPED.continuation && reason !== SKIPPED.half
}

interface WriterOptions {
  readonly builder: LogBuilder
  readonly fields: FieldVariables
  /** Rule for the instance of a message, if the path or a field is not enough. */
  readonly divided?: DividedLogs | undefined
  readonly id?: string
  readonly source?: string
  readonly logClass: LogClass
  readonly file: string
  readonly pathInstance: number
  /** Absent where text is a name as it stands. */
  readonly matcher: TemplateMatcher | undefined
}

interface Kind {
  readonly code: number
  readonly fields: EventFields
  /** States of the masks of the text, −1 for those without. */
  readonly states: readonly number[]
  /** Columns of the fields of its messages, in their order, once it has taken one. */
  columns?: FieldColumns
}

interface Message extends FieldMessage, Pick<LogRecord, 'value' | 'level'> {
  readonly numberAt: (i: number) => number
}

export class LogWriter implements LogSink {
  readonly #options: WriterOptions
  readonly #instanceCode: (id: string) => number

  constructor(options: WriterOptions) {
    this.#options = options
    const { builder, logClass } = options
    this.#instanceCode = memoized((id) => builder.instanceCode(logClass, id))
  }

  /** Returns the function that takes messages of a plan: names are looked up now, not for each message. */
  taker(plan: LinePlan): Taker {
    const { name: said, instance: whose, record, free } = plan
    const { divided, pathInstance } = this.#options
    const kindOf = memoized((name: string) => this.#kindOf({ ...record, name }))
    const kind = kindOf(String(said.text))
    // Divisions go by the fields of records, and text that no template has is told.
    if (divided !== undefined || kind === undefined) {
      return (line, timeUs, value) => this.record(recordOf(plan, line, { timeUs, value }))
    }
    const [start] = said.at ?? [0]
    const isOneName = kind.hasTemplate || said.at === undefined
    const isOfPath = pathInstance >= 0 || record.instance === undefined
    const keys = record.fields.map(([key]) => key)
    let current: LineBytes
    // One object for all messages of the plan: nobody keeps it.
    const message = {
      instance: pathInstance,
      timeUs: 0,
      value: undefined as number | undefined,
      level: record.level,
      keys,
      valueAt: (i: number) => valueIn(current, plan.fields[i] as Said),
      numberAt(i: number) {
        const [from, to] = free[i] as Span
        return current.number(start + from, start + to)
      },
    }
    return (line, timeUs, value) => {
      if (!isOfPath) message.instance = this.#instanceCode(String(valueIn(line, whose)))
      const own = isOneName ? kind : kindOf(String(valueIn(line, said)))
      current = line
      message.timeUs = timeUs
      message.value = value
      if (own !== undefined && message.instance >= 0) this.#put(own, message)
      else this.record(recordOf(plan, line, { timeUs, value }))
    }
  }

  record(record: LogRecord): void {
    const { timeUs, fields, line, name } = record
    const { source } = this.#options
    const kind = this.#kindOf(record)
    const instance = kind === undefined || Number.isNaN(timeUs) ? -1 : this.#instanceOf(record)
    if (kind === undefined || instance < 0) {
      const reason = kind === undefined ? SKIPPED.noTemplate : SKIPPED.noInstance
      this.skip(Number.isNaN(timeUs) ? SKIPPED.noTime : reason, line, name)
      return
    }
    const all = source === undefined ? fields : [...fields, ['source', source] as const]
    const keys = all.map(([key]) => key)
    const valueAt = (i: number) => (all[i] as LogField)[1]
    this.#put(kind, { ...record, instance, keys, valueAt, numberAt: (i) => Number(kind.values[i]) })
  }

  skip(reason: string, line: number, text: string, count = 1): void {
    const { builder, file } = this.#options
    builder.notes.skip(reason, line > 0 ? { file, line, text } : { file, text }, count)
  }

  skipFile(): void {
    this.#options.builder.notes.unreadFiles.push(this.#options.file)
  }

  countLines(count: number): void {
    this.#options.builder.notes.lines += count
  }

  #put(kind: Kind, message: Message): void {
    const { builder, fields } = this.#options
    const { instance, timeUs, value, level, keys, numberAt } = message
    if (value === undefined) builder.event(instance, kind.code, timeUs, level)
    else builder.state(instance, kind.code, timeUs, value)
    for (let i = 0; i < kind.states.length; i++) {
      const code = kind.states[i] as number
      if (code >= 0) builder.state(instance, code, timeUs, numberAt(i))
    }
    if (keys.length === 0) return
    kind.columns ??= fields.columnsOf(kind.fields, message)
    fields.take(kind.fields, kind.columns, message)
  }

  /** Returns the variables that messages of a kind belong to; undefined for text that no template has. */
  #kindOf({ name, isText, component, value }: LogRecord) {
    const { builder, matcher } = this.#options
    const { match, values = [] } = (isText && matcher?.match(component, name)) || {}
    if (isText && matcher !== undefined && match === undefined) return undefined
    const full = match?.name ?? templateName(component, name)
    const code = value === undefined ? builder.eventCode(full) : builder.stateCode(full)
    // The states of a template get their numbers with its event, when it is first met.
    if (match !== undefined && match.states.length < match.wildcards.length) {
      match.states.push(
        ...match.wildcards.map((place) =>
          place === 0 ? -1 : builder.stateCode(`${match.name} #${place}`),
        ),
      )
    }
    const fields = this.#options.fields.of(full)
    return { code, fields, values, states: match?.states ?? [], hasTemplate: match !== undefined }
  }

  #instanceOf(record: LogRecord): number {
    const { pathInstance, divided, id = '', logClass } = this.#options
    if (divided === undefined && pathInstance >= 0) return pathInstance
    const whose = pathInstance >= 0 ? id : record.instance
    if (whose === undefined) return -1
    return divided?.instanceOf(whose, logClass, record) ?? this.#instanceCode(whose)
  }
}
