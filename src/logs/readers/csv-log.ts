import { TraceFormatError } from '../../core/errors.ts'
import { CsvRows } from '../../traces/readers/csv-rows.ts'
import { FieldMessage } from './field-message.ts'
import type { LogClock } from './log-clock.ts'
import type { ReadSettings } from './log-read-options.ts'
import { type LogFile, SKIPPED } from './log-sink.ts'

const DELIMITERS = [',', ';', '\t']

/** The delimiter that divides a header line into most columns. */
export function delimiterOf(header: string): string {
  const columns = (delimiter: string) => header.split(delimiter).length
  return DELIMITERS.reduce((best, next) => (columns(next) > columns(best) ? next : best))
}

/** @throws TraceFormatError for a header line without the columns that are needed */
export async function readCsvLog(
  file: LogFile,
  settings: ReadSettings,
  { clock, head }: { readonly clock: LogClock; readonly head: string },
): Promise<void> {
  const { sink, name, chunks } = file
  const message = new FieldMessage(settings, clock, sink)
  const delimiter = delimiterOf(head.split('\n', 1)[0] ?? '')
  let header: readonly string[] | undefined
  let last = 0
  const rows = new CsvRows(delimiter, (fields, line) => {
    last = line
    if (header === undefined) {
      header = columnNames(fields, settings)
      requireColumns(header, settings, name)
      return
    }
    const text = fields.join(delimiter)
    if (fields.length !== header.length) {
      sink.skip(SKIPPED.broken, line, text)
      return
    }
    for (const [i, field] of fields.entries()) message.field(header[i] as string, field)
    message.finish(line, text)
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

/**
 * The names of columns; what is looked for and only written in other letters, `Time`, as it is looked
 * for.
 */
export function columnNames(
  fields: readonly string[],
  { time, name, instance, value, numbers }: ReadSettings,
): readonly string[] {
  const names = fields.map((field) => field.replace(/^\uFEFF/, '').trim())
  const wanted = [...time, ...name, ...numbers, instance, value]
  return names.map((column) => {
    const other = wanted.find((one) => one?.toLowerCase() === column.toLowerCase())
    return other === undefined || names.includes(other) ? column : other
  })
}

function requireColumns(header: readonly string[], settings: ReadSettings, file: string): void {
  const { time, name, instance } = settings
  const needed = {
    'fields.time': time,
    'fields.name': name,
    ...(instance !== undefined && { instance: [instance] }),
  }
  for (const [option, columns] of Object.entries(needed)) {
    if (columns.some((column) => header.includes(column))) continue
    throw new TraceFormatError(
      `The header line has no column ${columns.join(' or ')}; it has ${header.join(', ')}`,
      { file, line: 1 },
      `Name the column with \`${option}\``,
      { [option]: null },
    )
  }
}
