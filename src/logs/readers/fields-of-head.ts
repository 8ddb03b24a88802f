import { delimiterOf } from './csv-log.ts'
import { parsedObject } from './json-lines.ts'
import type { LogFormat } from './log-read-options.ts'
import { logfmtPairs } from './logfmt-pairs.ts'

const MOST_FIELDS = 20

/** Names of the fields that a file has by its beginning; none in text. */
export function fieldsOfHead(head: string, format: LogFormat | undefined): readonly string[] {
  const lines = head.replace(/^\uFEFF/, '').split(/\r?\n/)
  const [first = ''] = lines.filter((line) => line.trim() !== '')
  return [...new Set(fieldsOf(format, { head, first }))].slice(0, MOST_FIELDS)
}

function fieldsOf(
  format: LogFormat | undefined,
  { head, first }: { readonly head: string; readonly first: string },
): readonly string[] {
  switch (format) {
    case 'jsonl':
      return Object.keys(parsedObject(first) ?? {})
    case 'csv':
      return first.split(delimiterOf(first)).map((name) => name.trim().replace(/^"|"$/g, ''))
    case 'logfmt': {
      const keys: string[] = []
      const count = logfmtPairs(first, keys, [])
      return keys.slice(0, Math.max(0, count))
    }
    case 'otlp':
      return Array.from(head.matchAll(/"key"\s*:\s*"([^"\\]+)"/g), ([, key]) => String(key))
    default:
      return []
  }
}
