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

/** A message, and the pairs behind it. */
const WITH_PAIRS =
  /^(.*?\S)[ \t]*:?((?:[ \t]+[A-Za-z_][\w.@/-]*=(?:"(?:[^"\\]|\\.)*"|[^\s"]*))+)[ \t]*$/

/** Takes the pairs off the end of a message, as `logfmtPairs` does; quotes around the message go too. */
export function trailingPairs(
  text: string,
  keys: string[],
  values: string[],
): { readonly message: string; readonly count: number } {
  const [, message = text, pairs] = WITH_PAIRS.exec(text) ?? []
  const count = pairs === undefined ? 0 : logfmtPairs(pairs, keys, values)
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(message)?.[1]
  return { message: quoted === undefined ? message : unescaped(quoted), count }
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
