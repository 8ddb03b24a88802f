import { getOrInsert } from '../../core/entries.ts'
import { LEVELS, type Level } from '../features/features.ts'
import type { LogField } from '../features/field-variables.ts'
import type { LineBytes } from './line-bytes.ts'
import { closestLayout } from './line-layouts.ts'
import { classOf, type LinePlan, type Said } from './line-plans.ts'
import type { LogClock } from './log-clock.ts'
import type { LogDraft } from './log-draft.ts'
import type { LogFormat, ReadSettings } from './log-read-options.ts'
import { type LogRecord, type LogSink, SKIPPED } from './log-sink.ts'
import { StackFollower, type Thrown, thrownIn } from './thrown.ts'

export interface LineOptions {
  readonly sink: LogSink
  readonly settings: ReadSettings
  readonly clock: LogClock
  /** Format of the lines: any, or only JSON, pairs, or text. */
  readonly format: LogFormat
}

/** Lines of one origin, such as a container, among those of others. */
export class Stream {
  readonly stack = new StackFollower()
  /** Message that further lines belong to. */
  message: Pick<LogRecord, 'timeUs' | 'instance' | 'origin' | 'fields'> | undefined
  /** The beginning of a line that was cut. */
  partial = ''
  /** The first of two lines that make one message. */
  head = ''
}

/** A line, and where it stood. */
export interface Place {
  readonly line: number
  readonly text: () => string
}

/** Formats of which each line is a record. */
export const RECORDS: ReadonlySet<LogFormat> = new Set(['jsonl', 'logfmt'])
const MAX_EXAMPLES = 5
const NO_FIELDS: readonly LogField[] = []
const NOWHERE = [0, 0] as const
/** A message of which only the plan is known. */
const NEVER = { timeUs: 0, instance: undefined, fields: NO_FIELDS }

/** Levels as fields, which most messages have alone. */
const ONLY_LEVEL = new Map(LEVELS.map((level) => [level, [['level', level] as const]]))

function withLevel(fields: readonly LogField[], level: Level | undefined): readonly LogField[] {
  if (level === undefined) return fields
  const only = ONLY_LEVEL.get(level) ?? []
  return fields.length === 0 ? only : [...fields, ...only]
}

/**
 * Hands on the content of a file's lines: messages, and the exceptions that these and the lines after them name. A line
 * that begins no message belongs to the previous message in its stream. Each thrown exception in a message or its stack
 * trace is an event of its own, once per message: `threw java.io.IOException: No space left`. So one cause has one
 * name, whoever reports it.
 */
export class MessageStreams {
  readonly #options: LineOptions
  readonly #streams = new Map<string, Stream>()
  #lastUs = Number.NaN
  #messages = 0
  /** Lines that begin no message, and look like no stack either. */
  #unread = 0
  /** Number of these that do not count as skipped yet. */
  #doubtful = 0
  readonly #examples: { readonly line: number; readonly text: string }[] = []

  constructor(options: LineOptions) {
    this.#options = options
  }

  of(name: string): Stream {
    return getOrInsert(this.#streams, name, () => new Stream())
  }

  /** Takes a complete message. If `isTimeless`, it gets the time of the one before it. */
  take(draft: LogDraft, { line, text }: Place): void {
    const { sink, settings } = this.#options
    const { instance, isText, name, level, logger, fields } = draft
    if (draft.isPartial) {
      sink.skip(SKIPPED.continuation, line, text())
      return
    }
    const timeUs = draft.time === undefined && draft.isTimeless ? this.#lastUs : this.#timeUs(draft)
    // In free text, a value is a field like others.
    const isState = draft.value !== undefined && (!isText || settings.value !== 'value')
    const value = isState ? numberOf(draft.value) : undefined
    if (!isState && draft.value !== undefined) fields.push(['value', String(draft.value)])
    if (name === undefined) sink.skip(SKIPPED.noName, line, text())
    else if (timeUs === undefined) sink.skip(SKIPPED.noTime, line, text())
    else if (Number.isNaN(value)) sink.skip(SKIPPED.noNumber, line, text())
    else {
      const end = isText ? name.indexOf('\n') : -1
      const said = end < 0 ? name : name.slice(0, end).trimEnd()
      const component = logger === undefined ? '' : classOf(logger)
      const stream = this.of(draft.stream)
      const of = { line, timeUs, instance, origin: draft.stream + component, component }
      const record = { ...of, name: said, isText, value, level, fields: withLevel(fields, level) }
      stream.message = record
      this.#messages++
      sink.record(record)
      // A line without a time is one skipped line, whatever else it says.
      if (Number.isNaN(timeUs)) return
      this.#threw(stream, stream.stack.begin(isText ? said : ''), line)
      this.#thrown(stream, draft, { line, more: end < 0 ? '' : name.slice(end + 1) })
    }
  }

  /** Takes a message that a plan tells; whether it could be told so. */
  replay(plan: LinePlan, bytes: LineBytes, line: number): boolean {
    const { sink, settings, clock } = this.#options
    const { isText, component, level } = plan
    const stream = this.of(plan.stream)
    if (stream.head !== '' || stream.partial !== '' || stream.stack.isOpen) return false
    if (sink.count !== undefined) {
      stream.stack.beginPlain(isText ? bytes : undefined, plan.name.at ?? NOWHERE)
      stream.message = NEVER
      this.#messages++
      sink.count(plan)
      return true
    }
    const { at, text, isNumber } = plan.time
    const time = isNumber ? valueIn(bytes, plan.time) : text
    const timeUs =
      typeof time === 'number'
        ? clock.number(time)
        : at === undefined
          ? clock.text(String(time))
          : clock.onLine(bytes, at[0], at[1])
    const given = plan.value === undefined ? undefined : valueIn(bytes, plan.value)
    const isState = given !== undefined && (!isText || settings.value !== 'value')
    const value = isState ? numberOf(given) : undefined
    if (Number.isNaN(timeUs) || Number.isNaN(value)) return false
    const fields = plan.fields.length === 0 ? NO_FIELDS : fieldsIn(bytes, plan)
    const all =
      given === undefined || isState ? fields : [...fields, ['value', String(given)] as const]
    const instance = plan.instance === undefined ? undefined : String(valueIn(bytes, plan.instance))
    stream.stack.beginPlain(isText ? bytes : undefined, plan.name.at ?? NOWHERE)
    this.#lastUs = timeUs
    this.#messages++
    const hasReplay = sink.replay !== undefined
    const name = hasReplay ? String(plan.name.text) : String(valueIn(bytes, plan.name))
    const record: LogRecord = {
      line,
      timeUs,
      instance,
      origin: plan.stream + component,
      name,
      isText,
      component,
      value,
      level,
      fields: withLevel(all, level),
    }
    stream.message = record
    if (hasReplay) sink.replay?.(plan, record, bytes)
    else sink.record(record)
    return true
  }

  /** Tells what fields of its own and the stack in it say was thrown. */
  #thrown(stream: Stream, draft: LogDraft, { line, more }: { line: number; more: string }): void {
    const { said, thrown, thrownType, thrownMessage = '' } = draft
    const { stack } = stream
    for (const text of [said, thrown, more]) {
      const lines = text ? text.trimEnd().split('\n') : []
      for (const one of lines) this.#threwAll(stream, stack.follow(one).thrown, line)
    }
    stack.close()
    if (thrownType !== undefined && !stack.knows(thrownType)) {
      const [message = ''] = thrownMessage.split('\n', 1)
      this.#threw(stream, stack.add({ className: thrownType, message }), line)
    }
    // An error without a type.
    if (thrown === undefined || stack.hasFound) return
    this.#threw(stream, stack.add(thrownIn(thrown.split('\n', 1)[0] ?? '')), line)
  }

  #threwAll(stream: Stream, thrown: readonly Thrown[] | undefined, line: number): void {
    for (const one of thrown ?? []) this.#threw(stream, one, line)
  }

  #threw({ message }: Stream, thrown: Thrown | undefined, line: number): void {
    if (thrown === undefined || message === undefined) return
    const { className, message: name } = thrown
    const component = `threw ${className}`
    const { timeUs, instance, origin, fields: of } = message
    const record = { line, timeUs, instance, origin, name, isText: true, component, of }
    this.#options.sink.record({ ...record, level: 'error', fields: withLevel([], 'error') })
  }

  /** Takes a line that begins no message, with its text `inner` in its stream. */
  goOn(stream: Stream, inner: string, { line, text }: Place): void {
    const { sink, format, settings } = this.#options
    const isRecords = RECORDS.has(format)
    if (stream.message === undefined) {
      this.#unread++
      sink.skip(isRecords ? SKIPPED.broken : SKIPPED.beforeFirst, line, text())
      return
    }
    const { isStack, thrown = [] } = stream.stack.follow(inner)
    if (thrown.length > 0) this.#threwAll(stream, thrown, line)
    else if (isStack || (/^\s/.test(inner) && format !== 'jsonl')) {
      sink.skip(SKIPPED.continuation, line, text())
    } else if (settings.template.length > 0) sink.skip(SKIPPED.notMatched, line, text())
    else if (isRecords) sink.skip(SKIPPED.broken, line, text())
    else {
      this.#unread++
      this.#doubtful++
      if (this.#examples.length < MAX_EXAMPLES) this.#examples.push({ line, text: text() })
    }
  }

  /** Ends after the last line. If most lines begin no message, they do not belong to messages either. */
  end(): void {
    const { sink, settings } = this.#options
    const examples = this.#examples
    const isMost = this.#unread > this.#messages
    const texts = isMost ? examples.map(({ text }) => text) : []
    const closest = closestLayout(texts, settings.dateFormat)
    const unread = closest === undefined ? SKIPPED.unread : `${SKIPPED.unread}; ${closest}`
    const reason = isMost ? unread : SKIPPED.continuation
    for (const [i, { line, text }] of examples.entries()) {
      sink.skip(reason, line, text, i < examples.length - 1 ? 1 : this.#doubtful - i)
    }
  }

  /** Returns the time of a message; `undefined` if it has none, NaN if that cannot be read. */
  #timeUs({ time, outerTime }: LogDraft): number | undefined {
    if (time === undefined) return undefined
    const { clock } = this.#options
    const usOf = (one: unknown) =>
      typeof one === 'number' ? clock.number(one) : clock.text(String(one))
    const timeUs = usOf(time)
    this.#lastUs = Number.isNaN(timeUs) && outerTime !== undefined ? usOf(outerTime) : timeUs
    return this.#lastUs
  }
}

function fieldsIn(bytes: LineBytes, { fields }: LinePlan): LogField[] {
  return fields.map(([key, said]) => [key, valueIn(bytes, said)])
}

function valueIn(bytes: LineBytes, { at, isNumber, text }: Said): Said['text'] {
  if (at === undefined) return text
  return isNumber ? bytes.number(at[0], at[1]) : bytes.text(at[0], at[1])
}

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}
