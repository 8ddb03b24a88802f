import { parsedJson } from '../../traces/readers/json-values.ts'

export type Pair = readonly [key: string, value: string]

const QUOTED = '"((?:[^"\\\\]|\\\\.)*)"'
const LOGFMT = new RegExp(`[ \\t]*([^= "]+)(=(?:${QUOTED}|([^ "][^ ]*))?)?`, 'sy')

/**
 * Returns the pairs of a logfmt line: `level=info msg="took long" flag`. A value may be in double quotes, with `\"` and
 * `\\`; a key without a value is `true`. Undefined for a line that is not made so.
 */
export function logfmtPairs(line: string): readonly Pair[] | undefined {
  const pairs: Pair[] = []
  const { length } = line.replace(/[ \t]+$/, '')
  let hasValue = false
  for (let at = 0; at < length; at = LOGFMT.lastIndex) {
    LOGFMT.lastIndex = at
    const found = LOGFMT.exec(line)
    if (found === null) return undefined
    const [, key = '', sign, quoted, plain = ''] = found
    hasValue ||= sign !== undefined
    const value = quoted === undefined ? plain : unescaped(quoted)
    pairs.push([key, sign === undefined ? 'true' : value])
  }
  return hasValue ? pairs : undefined
}

const WITH_PAIRS =
  /^(.*?\S)[ \t]*:?((?:[ \t]+[A-Za-z_][\w.@/-]*=(?:"(?:[^"\\]|\\.)*"|[^\s"]*))+)[ \t]*$/

/** Takes the pairs off the end of a message, as `logfmtPairs` does; quotes around the message go too. */
export function trailingPairs(text: string) {
  const [, message = text, behind = ''] = WITH_PAIRS.exec(text) ?? []
  const quoted = new RegExp(`^${QUOTED}$`).exec(message)?.[1]
  const said = quoted === undefined ? message : unescaped(quoted)
  return { message: said, pairs: logfmtPairs(behind) ?? [] }
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, escaped: string) =>
    escaped === 'n' ? '\n' : escaped === 't' ? '\t' : escaped,
  )
}

/**
 * Returns a JSON object; `undefined` for text that is none. `NaN` and `Infinity`, which Python writes though JSON does
 * not have them, are texts: no numbers, and the line's other fields can be read. Fluent Bit writes `{"key"=>value}`.
 */
export function parsedObject(text: string): Record<string, unknown> | undefined {
  const quoted = (found: string) => (found.startsWith('"') ? found : `"${found}"`)
  const value =
    parsedJson(text) ??
    (NOT_FINITE.test(text) ? parsedJson(text.replace(TEXT_OR_NUMBER, quoted)) : undefined) ??
    (text.startsWith('{"') && text.includes('"=>')
      ? parsedJson(text.replaceAll('"=>', '":'))
      : undefined)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return value as Record<string, unknown>
}

const NOT_FINITE = /[:[,]\s*(?:NaN|-?Infinity)\s*[,}\]]/
/** A text, which stays as it is, or a number that is not finite. */
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g
