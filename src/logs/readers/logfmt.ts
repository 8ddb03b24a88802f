import { FieldMessage } from './field-message.ts'
import type { LogClock } from './log-clock.ts'
import type { ReadSettings } from './log-read-options.ts'
import { type LogFile, type LogSink, SKIPPED } from './log-sink.ts'
import { type LineTaker, readLines } from './text-log.ts'

/** Reads a log of `key=value` pairs, one message a line. */
export async function readLogfmt(
  file: LogFile,
  settings: ReadSettings,
  clock: LogClock,
): Promise<void> {
  const taker = new LogfmtLines(file.sink, new FieldMessage(settings, clock, file.sink))
  file.sink.countLines(await readLines(file.chunks, taker))
}

class LogfmtLines implements LineTaker {
  readonly #sink: LogSink
  readonly #message: FieldMessage
  // Filled anew by each line.
  readonly #keys: string[] = []
  readonly #values: string[] = []

  constructor(sink: LogSink, message: FieldMessage) {
    this.#sink = sink
    this.#message = message
  }

  line(text: string, line: number): void {
    const count = logfmtPairs(text, this.#keys, this.#values)
    if (count < 0) {
      if (text.trim() !== '') this.#sink.skip(SKIPPED.broken, line, text)
      return
    }
    for (let i = 0; i < count; i++) {
      this.#message.field(this.#keys[i] as string, this.#values[i])
    }
    this.#message.finish(line, text)
  }

  tooLong(beginning: string, line: number): void {
    this.#sink.skip(SKIPPED.tooLong, line, beginning)
  }
}

/**
 * The pairs of a logfmt line: `level=info msg="took long" flag`. A value may be in double quotes, with
 * `\"` and `\\`; a key without a value is `true`. Gives nothing for a line that is not made so.
 *
 * Writes to `keys` and `values` from their beginning; the number of pairs, −1 for no logfmt.
 */
export function logfmtPairs(line: string, keys: string[], values: string[]): number {
  let count = 0
  let at = 0
  let hasValue = false
  const { length } = line
  while (at < length) {
    const start = at
    let code = line.charCodeAt(at)
    if (code === SPACE || code === TAB) {
      at++
      continue
    }
    while (at < length && code !== EQUALS && code !== SPACE && code !== QUOTE) {
      code = line.charCodeAt(++at)
    }
    if (at === start || code === QUOTE) return -1
    keys[count] = line.slice(start, at)
    if (at === length || code === SPACE) {
      values[count++] = 'true'
      continue
    }
    hasValue = true
    at++
    if (line.charCodeAt(at) === QUOTE) {
      const end = closingQuote(line, at + 1)
      if (end < 0) return -1
      const text = line.slice(at + 1, end)
      values[count++] = text.includes('\\') ? unescaped(text) : text
      at = end + 1
    } else {
      const space = line.indexOf(' ', at)
      const end = space < 0 ? length : space
      values[count++] = line.slice(at, end)
      at = end
    }
  }
  return hasValue ? count : -1
}

const QUOTE = 34
const SPACE = 32
const TAB = 9
const EQUALS = 61
const BACKSLASH = 92

function closingQuote(line: string, from: number): number {
  let end = line.indexOf('"', from)
  while (end >= 0) {
    let backslashes = 0
    while (line.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return end
    end = line.indexOf('"', end + 1)
  }
  return -1
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, escaped: string) =>
    escaped === 'n' ? '\n' : escaped === 't' ? '\t' : escaped,
  )
}
