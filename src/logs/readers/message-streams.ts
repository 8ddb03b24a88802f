import { getOrInsert } from '../../core/entries.ts'
import { LineBytes } from './line-bytes.ts'
import { type LinePlan, recordOf, type Said, valueIn } from './line-plans.ts'
import type { LogClock } from './log-clock.ts'
import type { LogDraft, LogRecord } from './log-draft.ts'
import type { LogFormat, ReadSettings } from './log-read-options.ts'
import { type LogSink, SKIPPED, type Taker } from './log-sink.ts'
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
  /** The beginning of a line that was cut. */
  partial = ''
  /** The first of two lines that make one message. */
  head = ''
  #message: LogRecord | undefined
  /** Plan, line and time of a message that nothing has asked for yet. */
  #plan: LinePlan | undefined
  readonly #line = new LineBytes()
  #timeUs = Number.NaN

  /** Message that further lines belong to. */
  get message(): LogRecord | undefined {
    if (this.#plan !== undefined) {
      this.message = recordOf(this.#plan, this.#line, { timeUs: this.#timeUs, value: undefined })
      this.stack.begin(this.#message?.isText ? this.#message.name : '')
    }
    return this.#message
  }

  set message(message: LogRecord | undefined) {
    this.#message = message
    this.#plan = undefined
  }

  /** Makes a line of a plan, which names no exception, the message. */
  follow(plan: LinePlan, line: LineBytes, timeUs: number): void {
    this.#plan = plan
    this.#line.set(line.bytes, line.start, line.end)
    this.#timeUs = timeUs
  }

  /** Whether a line belongs to a message that is not complete yet. */
  get isOpen(): boolean {
    return this.head !== '' || this.partial !== '' || this.stack.isOpen
  }
}

export interface Place {
  readonly line: number
  readonly text: () => string
}

/** Formats of which each line is a record. */
export const RECORDS: ReadonlySet<LogFormat> = new Set(['jsonl', 'logfmt'])
/**
 * Hands on messages and the exceptions that they and later lines name; a line that begins no message belongs to
 * the previous one of its stream. A thrown exception is an event of its own, `threw IOException: No space left`, once a
 * message, whoever reports it.
 */
export class MessageStreams {
  readonly #options: LineOptions
  readonly #streams = new Map<string, Stream>()
  #name: string | undefined
  #stream = new Stream()
  readonly #takers: Taker[] = []
  #lastUs = Number.NaN
  #messages = 0
  /** Lines that begin no message, and look like no stack either. */
  #unread = 0
  /** The first of these that do not count as skipped yet, and their number. */
  #doubtful = { line: 0, text: '', count: 0 }

  constructor(options: LineOptions) {
    this.#options = options
  }

  of(name: string): Stream {
    // Most lines belong to the stream of the line before.
    if (name !== this.#name) {
      this.#name = name
      this.#stream = getOrInsert(this.#streams, name, () => new Stream())
    }
    return this.#stream
  }

  /** Takes a complete message. If `isTimeless`, it gets the time of the one before it. */
  take(draft: LogDraft, { line, text }: Place): void {
    const { sink } = this.#options
    if (draft.isPartial) {
      sink.skip(SKIPPED.continuation, line, text())
      return
    }
    const timeUs = draft.time === undefined && draft.isTimeless ? this.#lastUs : this.#timeUs(draft)
    const record = draft.record(line, timeUs ?? Number.NaN)
    if (draft.name === undefined) sink.skip(SKIPPED.noName, line, text())
    else if (timeUs === undefined) sink.skip(SKIPPED.noTime, line, text())
    else if (Number.isNaN(record.value)) sink.skip(SKIPPED.noNumber, line, text())
    else {
      const stream = this.of(draft.stream)
      stream.message = record
      this.#messages++
      sink.record(record)
      // A line without a time is one skipped line, whatever else it says.
      if (Number.isNaN(timeUs)) return
      const end = draft.isText ? draft.name.indexOf('\n') : -1
      this.#threw(stream, line, stream.stack.begin(draft.isText ? record.name : ''))
      this.#thrown(stream, draft, { line, more: end < 0 ? '' : draft.name.slice(end + 1) })
    }
  }

  /** Takes a line of a plan; whether its time and its value could be read. */
  replay(plan: LinePlan, line: LineBytes): boolean {
    const { sink } = this.#options
    const stream = this.of(plan.stream)
    if (stream.isOpen) return false
    const timeUs = sink.isTimeless === true ? 0 : this.#timeIn(line, plan.time)
    const value = plan.record.value === undefined ? undefined : Number(valueIn(line, plan.value))
    if (Number.isNaN(timeUs) || Number.isNaN(value)) return false
    this.#lastUs = timeUs
    this.#messages++
    stream.follow(plan, line, timeUs)
    if (sink.taker === undefined) sink.record(recordOf(plan, line, { timeUs, value }))
    else {
      const take = this.#takers[plan.id] ?? sink.taker(plan)
      this.#takers[plan.id] = take
      take(line, timeUs, value)
    }
    return true
  }

  #timeIn(line: LineBytes, time: Said): number {
    const { clock } = this.#options
    const { at, text } = time
    if (at !== undefined && typeof text === 'string') return clock.onLine(line, at[0], at[1])
    const said = valueIn(line, time)
    return typeof said === 'number' ? clock.number(said) : clock.text(String(said))
  }

  /** Ends the bytes that lines are read from: what others may ask of them is read now. */
  endBytes(): void {
    for (const stream of this.#streams.values()) stream.message
  }

  /** Tells what fields of its own and the stack in it say was thrown. */
  #thrown(stream: Stream, draft: LogDraft, { line, more }: { line: number; more: string }): void {
    const { said, thrown, thrownType, thrownMessage = '' } = draft
    const { stack } = stream
    for (const text of [said, thrown, more]) {
      const lines = text ? text.trimEnd().split('\n') : []
      for (const one of lines) this.#threw(stream, line, stack.follow(one).thrown)
    }
    stack.close()
    if (thrownType !== undefined && !stack.knows(thrownType)) {
      const [message = ''] = thrownMessage.split('\n', 1)
      this.#threw(stream, line, stack.add({ className: thrownType, message }))
    }
    // An error without a type.
    if (thrown === undefined || stack.knows()) return
    this.#threw(stream, line, stack.add(thrownIn(thrown.split('\n', 1)[0] ?? '')))
  }

  #threw({ message }: Stream, line: number, thrown: readonly Thrown[] = []): void {
    if (message === undefined) return
    for (const { className, message: name } of thrown) {
      this.#options.sink.record({
        ...message,
        line,
        name,
        component: `threw ${className}`,
        isText: true,
        value: undefined,
        level: 'error',
        fields: [['level', 'error']],
        of: message.fields,
      })
    }
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
    if (thrown.length > 0) this.#threw(stream, line, thrown)
    else if (isStack || (/^\s/.test(inner) && format !== 'jsonl')) {
      sink.skip(SKIPPED.continuation, line, text())
    } else if (settings.template.length > 0) sink.skip(SKIPPED.notMatched, line, text())
    else if (isRecords) sink.skip(SKIPPED.broken, line, text())
    else {
      this.#unread++
      if (this.#doubtful.count === 0) this.#doubtful = { line, text: text(), count: 0 }
      this.#doubtful.count++
    }
  }

  /** Ends after the last line. If most lines begin no message, they do not belong to messages either. */
  end(): void {
    const { line, text, count } = this.#doubtful
    const reason = this.#unread > this.#messages ? SKIPPED.unread : SKIPPED.continuation
    if (count > 0) this.#options.sink.skip(reason, line, text, count)
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
