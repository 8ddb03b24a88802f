import { FieldMessage } from './field-message.ts'
import type { LogClock } from './log-clock.ts'
import type { ReadSettings } from './log-read-options.ts'
import { type LogFile, type LogSink, SKIPPED } from './log-sink.ts'
import { logfmtPairs } from './logfmt-pairs.ts'
import { type LineTaker, readLines } from './text-lines.ts'

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
