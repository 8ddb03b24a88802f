import { TraceFormatError } from '../../core/errors.ts'
import { CsvRows } from '../../traces/readers/csv-rows.ts'
import { roleOf } from './field-roles.ts'
import type { LineReader } from './line-reader.ts'
import type { ReadSettings } from './log-read-options.ts'
import { type LogFile, SKIPPED } from './log-sink.ts'

const DELIMITERS = [',', ';', '\t']

/** Returns the delimiter that divides a header line into most columns. */
export function delimiterOf(header: string): string {
  const columns = (delimiter: string) => header.split(delimiter).length
  return DELIMITERS.reduce((best, next) => (columns(next) > columns(best) ? next : best))
}

/** @throws TraceFormatError for a row that does not end */
export async function readCsvLog(
  { sink, name, chunks }: LogFile,
  reader: LineReader,
  head: string,
): Promise<void> {
  const delimiter = delimiterOf(head.split('\n', 1)[0] ?? '')
  let header: readonly string[] | undefined
  let last = 0
  const rows = new CsvRows(delimiter, (fields, line) => {
    last = line
    if (header === undefined) {
      header = columnNames(fields)
      return
    }
    const text = () => fields.join(delimiter)
    if (fields.length !== header.length) sink.skip(SKIPPED.broken, line, text())
    else {
      reader.object(Object.fromEntries(header.map((key, i) => [key, fields[i]])), { line, text })
    }
  })
  for await (const chunk of chunks) {
    const endless = rows.push(chunk)
    if (endless === undefined) continue
    throw new TraceFormatError(
      'A row is longer than 16 MB',
      { file: name, line: endless },
      'Close the quoted field in it',
    )
  }
  const open = rows.end()
  if (open !== undefined) sink.skip(SKIPPED.broken, open, 'the file ends within a quoted field')
  sink.countLines(Math.max(last, open ?? 0))
}

/** Returns the names of columns, without the zone that Azure puts behind `TimeGenerated [UTC]`. */
export function columnNames(fields: readonly string[]): readonly string[] {
  return fields.map((field) => field.replace(/^\uFEFF|"| \[\w+\]"?$/g, '').trim())
}

/** Whether there are columns for the time and the event, by their names or by the options. */
export function hasColumn(
  header: readonly string[],
  wanted: 'time' | 'name',
  settings: ReadSettings,
): boolean {
  const given = settings[wanted]?.toLowerCase()
  if (given !== undefined) return header.some((column) => column.toLowerCase() === given)
  const roles = header.map((column) => roleOf(column).role)
  return wanted === 'time'
    ? roles.includes('time')
    : roles.some((role) => role !== undefined && SAYS_WHAT.has(role))
}

const SAYS_WHAT = new Set(['event', 'message', 'line', 'name', 'path'])
