import { HEAD_BYTES } from '../../traces/readers/recognize-format.ts'
import { columnNames, delimiterOf } from './csv-log.ts'
import { parsedObject } from './json-lines.ts'
import { log4jLayout, textLayout } from './line-layouts.ts'
import type { LogFormat, ReadSettings } from './log-read-options.ts'
import { logfmtPairs } from './logfmt-pairs.ts'

const LINES = 50

/** The format of a file that begins with `head`, `undefined` if it is in none that is known. */
export function recogniseLogFormat(head: string, settings: ReadSettings): LogFormat | undefined {
  const text = head.replace(/^\uFEFF/, '')
  if (/^[\s[]*\{\s*"resourceLogs"/.test(text)) return 'otlp'
  // The last line may be cut off in the middle; not if this is less than would have been read.
  const end = text.length * 4 < HEAD_BYTES ? -1 : text.lastIndexOf('\n')
  const whole = (end < 0 ? text : text.slice(0, end))
    .split('\n', LINES)
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line.trim() !== '')
  const [header = ''] = whole
  const most = (fits: (line: string) => boolean) => whole.filter(fits).length * 2 > whole.length
  if (most((line) => parsedObject(line) !== undefined)) return 'jsonl'
  const fields = header.split(delimiterOf(header)).map((name) => name.replace(/"/g, ''))
  const columns = columnNames(fields, settings)
  const has = (names: readonly string[]) => names.some((name) => columns.includes(name))
  const { time, name } = settings
  // Where a column was named that is not there, the error should be that, and not another format's.
  const isNamed = time.length === 1 || name.length === 1
  if (isNamed ? has(time) || has(name) : has(time) && has(name)) return 'csv'
  if (most((line) => logfmtPairs(line, [], []) > 1)) return 'logfmt'
  const log4j = log4jLayout(settings)
  const plain = textLayout(settings)
  const log4jLines = whole.filter((line) => log4j(line) !== undefined).length
  const timed = whole.filter((line) => plain(line) !== undefined).length
  if (timed === 0) return undefined
  return log4jLines * 2 > timed ? 'log4j' : 'text'
}
