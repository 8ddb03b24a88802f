/** An exception that a line of a log names. */
export interface ThrownException {
  readonly className: string
  /** `''` if it has none. */
  readonly message: string
}

const KINDS = '(?:Exception|Error|Throwable|Failure|Fault)'
const QUALIFIED = new RegExp(
  `(?<![\\w.$])(?:[A-Za-z_$][\\w$]*\\.)+[A-Z][\\w$]*${KINDS}(?![\\w$.])`,
  'g',
)
const BEGINNING = new RegExp(
  `^\\s*(?:(?:Caused by|Suppressed|Wrapped by): |Exception in thread "[^"]*" )?((?:[A-Za-z_$][\\w$]*\\.)*[A-Z][\\w$]*${KINDS})(?:: (.*)|:?\\s*$)`,
)
const MENTION = /Exception|Error|Throwable|Failure|Fault/

/** The exception that a further line of a message begins with, as the first line of a stack trace. */
export function thrownAtStart(line: string): ThrownException | undefined {
  const found = BEGINNING.exec(line)
  if (found === null) return undefined
  const [, className = '', message = ''] = found
  return lastMentioned(message) ?? { className, message: messageOf(message) }
}

/**
 * The exception that a message names; of several, as in
 * `FSError: java.io.IOException: No space left`, the last, which caused the others.
 */
export function lastMentioned(text: string): ThrownException | undefined {
  if (!MENTION.test(text)) return undefined
  let last: RegExpExecArray | undefined
  for (const found of text.matchAll(QUALIFIED)) last = found
  if (last === undefined) return undefined
  const rest = text.slice(last.index + last[0].length)
  return { className: last[0], message: rest.startsWith(':') ? messageOf(rest.slice(1)) : '' }
}

/** Behind a semicolon comes advice, such as where to read more; a bracket may have opened before. */
function messageOf(text: string): string {
  const end = text.search(/;(?:\s|$)/)
  const message = (end < 0 ? text : text.slice(0, end)).trim()
  return /[[(]/.test(message) ? message : message.replace(/[\])]+$/, '')
}
