import type { LineLayout, LineParts } from './line-layouts.ts'
import type { LogClock } from './log-clock.ts'
import { type LogFile, type LogSink, SKIPPED } from './log-sink.ts'
import { type LineTaker, readLines } from './text-lines.ts'
import { lastMentioned, type ThrownException, thrownAtStart } from './thrown-exception.ts'

interface TextOptions {
  readonly layout: LineLayout
  readonly clock: LogClock
  /** Whether any line that the layout does not know goes on with the message before it. */
  readonly isOpen: boolean
}

/**
 * Messages that are lines of text, and what follows them: a stack trace belongs to the message before
 * it. An exception that the message or its stack trace names is an event of its own, once a message:
 * `threw java.io.IOException: No space left`. So one cause has one name, whoever tells of it.
 */
export async function readTextMessages(file: LogFile, options: TextOptions): Promise<void> {
  file.sink.countLines(await readLines(file.chunks, new TextMessages(file.sink, options)))
}

class TextMessages implements LineTaker {
  readonly #sink: LogSink
  readonly #options: TextOptions
  /** The message that further lines belong to. */
  #head: LineParts | undefined
  #timeUs = Number.NaN
  /** Exceptions that the message has named. */
  #thrown: string[] = []

  constructor(sink: LogSink, options: TextOptions) {
    this.#sink = sink
    this.#options = options
  }

  line(text: string, line: number): void {
    const parts = this.#options.layout(text)
    if (parts !== undefined) this.#begin(parts, line)
    else if (text.trim() !== '') this.#goOn(text, line)
  }

  tooLong(beginning: string, line: number): void {
    this.#sink.skip(SKIPPED.tooLong, line, beginning)
  }

  #begin(parts: LineParts, line: number): void {
    const { time, name, isText, component, instance, value, numbers } = parts
    this.#head = parts
    if (this.#thrown.length > 0) this.#thrown = []
    const timeUs = this.#options.clock.text(time)
    this.#timeUs = timeUs
    const number = value === undefined || value.trim() === '' ? undefined : Number(value)
    if (Number.isNaN(number)) {
      this.#sink.skip(SKIPPED.noNumber, line, `${name} ${value}`)
      return
    }
    this.#sink.record({
      line,
      timeUs,
      instance,
      name,
      isText,
      component,
      value: number,
      numbers,
    })
    // A line without a time is one skipped line, whatever else it says.
    const thrown = isText && !Number.isNaN(timeUs) ? lastMentioned(name) : undefined
    if (thrown !== undefined) this.#throw(thrown, line)
  }

  #goOn(text: string, line: number): void {
    const thrown = thrownAtStart(text)
    if (this.#head === undefined) {
      this.#sink.skip(SKIPPED.beforeFirst, line, text)
      return
    }
    if (thrown !== undefined && this.#throw(thrown, line)) return
    const isFurther = this.#options.isOpen || thrown !== undefined || /^\s/.test(text)
    this.#sink.skip(isFurther ? SKIPPED.continuation : SKIPPED.notMatched, line, text)
  }

  /** Whether the message had not named it before. */
  #throw({ className, message }: ThrownException, line: number): boolean {
    const key = `${className}: ${message}`
    if (this.#thrown.includes(key)) return false
    this.#thrown.push(key)
    this.#sink.record({
      ...{ line, timeUs: this.#timeUs, instance: this.#head?.instance },
      ...{ name: message, isText: true, component: `threw ${className}` },
    })
    return true
  }
}
