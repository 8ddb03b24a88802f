import { parsedJson } from '../../traces/readers/json-values.ts'

/**
 * Returns a JSON object; `undefined` for text that is none. `NaN` and `Infinity`, which Python writes though JSON does
 * not have them, are texts: no numbers, and the line's other fields can be read. Fluent Bit writes `{"key"=>value}`.
 */
export function parsedObject(text: string): Record<string, unknown> | undefined {
  const value =
    parsedJson(text) ??
    (NOT_FINITE.test(text) ? parsedJson(quotedNumbers(text)) : undefined) ??
    (text.startsWith('{"') && text.includes('"=>')
      ? parsedJson(text.replaceAll('"=>', '":'))
      : undefined)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return value as Record<string, unknown>
}

const NOT_FINITE = /[:[,]\s*(?:NaN|-?Infinity)\s*[,}\]]/
/** A text, which stays as it is, or a number that is not finite. */
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g

function quotedNumbers(text: string): string {
  return text.replace(TEXT_OR_NUMBER, (found) => (found.startsWith('"') ? found : `"${found}"`))
}
