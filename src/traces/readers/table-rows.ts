import { TraceFormatError } from '../../core/errors.ts'
import type { QualityLog } from '../quality.ts'
import type { CsvTimeUnit } from './csv.ts'
import { CsvRows } from './csv-rows.ts'
import type { EdgeTableColumns, EventTableColumns, TraceTableColumns } from './event-tables.ts'

/** A CSV file with a header line that is one of several tables. */
export interface TableFile {
  readonly name: string
  readonly chunks: AsyncIterable<Uint8Array>
}

interface TableShape {
  /** What the table is called in messages: `events`. */
  readonly table: string
  readonly delimiter: string
  /** The columns asked for, by their part; a part without a name has no column. */
  readonly columns: Readonly<Record<string, string | undefined>>
  /** A column that, as the last one, may hold delimiters that are not quoted. */
  readonly rest?: string | undefined
}

type TablePart = Exclude<
  keyof EventTableColumns | keyof EdgeTableColumns | keyof TraceTableColumns,
  'file' | 'attributes'
>

/** One row: the field of each part asked for, the empty string where it has no column. */
export type TableRow = { readonly [part in TablePart]?: string } & {
  readonly [attribute: `attribute ${string}`]: string
}

/**
 * Reads a table row by row. A row with too few fields, or too many where no last column takes the
 * rest, is noted and left out.
 *
 * @returns how many rows were handed over
 * @throws TraceFormatError for an empty file, a header line without a column asked for, an endless
 *   row
 */
export async function readTable(
  file: TableFile,
  shape: TableShape,
  { quality, onRow }: { quality: QualityLog; onRow: (row: TableRow, line: number) => void },
): Promise<number> {
  let header: TableHeader | undefined
  let count = 0
  const rows = new CsvRows(shape.delimiter, (fields, line) => {
    if (header === undefined) {
      header = new TableHeader(fields, shape, file.name)
      return
    }
    const row = header.rowOf(fields)
    if (row !== undefined) {
      count++
      onRow(row, line)
      return
    }
    const message = `A row has ${fields.length} fields where the header has ${header.width}`
    noteRow(message, quality, { file: file.name, line })
  })
  for await (const chunk of file.chunks) {
    const line = rows.push(chunk)
    if (line !== undefined) {
      throw new TraceFormatError(
        'A row is longer than 16 million characters',
        { file: file.name, line },
        'Look for a quote that is not closed',
      )
    }
  }
  const open = rows.end()
  if (open !== undefined) {
    noteRow('The file ends within a quoted field', quality, { file: file.name, line: open })
  }
  if (header === undefined) {
    throw new TraceFormatError(
      `The table of ${shape.table} is empty: it has no header line`,
      { file: file.name },
      'Copy or download it again',
    )
  }
  return count
}

/** Where the columns of one table stand. */
class TableHeader {
  readonly width: number
  readonly #at: readonly (readonly [part: string, at: number])[]
  readonly #delimiter: string
  readonly #takesRest: boolean

  constructor(fields: readonly string[], shape: TableShape, file: string) {
    const names = fields.map((name) => name.replace(/^\uFEFF/, '').trim())
    const wanted = Object.entries(shape.columns)
    const missing = wanted.filter(([, name]) => name !== undefined && !names.includes(name))
    if (missing.length > 0) {
      const lacking = missing.map(([part, name]) => `${name} (${part})`).join(', ')
      throw new TraceFormatError(
        `The header line of the table of ${shape.table} has no column ${lacking}; it has ${names.join(', ')}`,
        { file, line: 1 },
        `Name its columns: loadTraces(directory, { format: 'event-tables', tables: { ${shape.table}: { … } } })`,
      )
    }
    this.width = names.length
    this.#at = wanted.map(([part, name]) => [part, name === undefined ? -1 : names.indexOf(name)])
    this.#delimiter = shape.delimiter
    this.#takesRest = shape.rest !== undefined && names.indexOf(shape.rest) === names.length - 1
  }

  rowOf(fields: readonly string[]): TableRow | undefined {
    const last = this.width - 1
    if (fields.length < this.width || (fields.length > this.width && !this.#takesRest)) {
      return undefined
    }
    const row: Record<string, string> = {}
    for (const [part, at] of this.#at) {
      const whole = at < last || fields.length === this.width
      row[part] = (whole ? fields[at] : fields.slice(last).join(this.#delimiter)) ?? ''
    }
    return row
  }
}

function noteRow(
  message: string,
  quality: QualityLog,
  place: { readonly file: string; readonly line: number },
): void {
  quality.skip({
    code: 'bad-row',
    effect: 'span skipped',
    place,
    message,
    next: 'Correct the row, or load without `strict` to leave it out',
  })
}

/** Decimal places from a unit down to nanoseconds. */
const PLACES: Readonly<Record<CsvTimeUnit, number>> = { ns: 0, us: 3, ms: 6, s: 9 }

export function isTimeUnit(unit: string): unit is CsvTimeUnit {
  return Object.hasOwn(PLACES, unit)
}

/**
 * A time in decimal digits as digits of nanoseconds, which a double would not hold; the empty
 * string for anything else.
 */
export function nanosOfDigits(text: string, unit: CsvTimeUnit): string {
  const [, whole, fraction = ''] = /^\s*(\d+)(?:\.(\d*))?\s*$/.exec(text) ?? []
  if (whole === undefined) return ''
  const places = PLACES[unit]
  return whole + fraction.slice(0, places).padEnd(places, '0')
}
