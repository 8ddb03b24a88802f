import { FieldMessage } from './field-message.ts'
import type { LogClock } from './log-clock.ts'
import type { ReadSettings } from './log-read-options.ts'
import { type LogFile, SKIPPED } from './log-sink.ts'
import { readLines } from './text-log.ts'

/** Reads a log of `key=value` pairs, one message a line. */
export async function readLogfmt(
  file: LogFile,
  settings: ReadSettings,
  clock: LogClock,
): Promise<void> {
  const message = new FieldMessage(settings, clock, file.sink)
  // Filled anew by each line.
  const keys: string[] = []
  const values: string[] = []
  await readLines(file, (text, line) => {
    const count = logfmtPairs(text, keys, values)
    if (count < 0) {
      if (text.trim() !== '') file.sink.skip(SKIPPED.broken, line, text)
      return
    }
    for (let i = 0; i < count; i++) message.field(keys[i] as string, values[i])
    message.finish(line, text)
  })
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
