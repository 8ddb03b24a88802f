import { TraceFormatError } from '../../core/errors.ts'
import type { ParameterTablesBuilder } from '../parameter-tables-builder.ts'
import { CsvRows } from './csv-rows.ts'
import { keyColumns, ParameterRows } from './parameter-rows.ts'

const NEXT_STEP =
  'Head the columns with spanId (and traceId) for spans or node for trace points; every other column is a parameter'

/**
 * Parameters from CSV with a header line: the key columns of `keyColumns`, every other column a
 * parameter, empty fields missing.
 *
 * @throws TraceFormatError for a header line without key or parameters, or a row that does not fit it
 */
export async function readCsvParameters(
  chunks: AsyncIterable<Uint8Array>,
  into: ParameterTablesBuilder,
  file: string,
): Promise<void> {
  let table: ParameterRows | undefined
  const rows = new CsvRows(',', (fields, line) => {
    if (table === undefined) table = tableUnder(fields, { into, file, line })
    else table.add(fields, line)
  })
  for await (const chunk of chunks) {
    const line = rows.push(chunk)
    if (line !== undefined) throw openQuote(file, line)
  }
  const open = rows.end()
  if (open !== undefined) throw openQuote(file, open)
}

function tableUnder(
  header: readonly string[],
  { into, file, line }: { into: ParameterTablesBuilder; file: string; line: number },
): ParameterRows {
  const names = header.map((name) => name.replace(/^\uFEFF/, '').trim())
  const title = 'the header line'
  const key = keyColumns(names)
  if (key === undefined) {
    throw new TraceFormatError(
      `The header line of the parameters has no column spanId or node; it has ${shortened(names)}`,
      { file, line },
      NEXT_STEP,
    )
  }
  const rows = new ParameterRows({ title, names, file }, key, into)
  if (rows.hasParameters) return rows
  throw new TraceFormatError(
    `The header line has no columns of parameters, only ${shortened(names)}`,
    { file, line },
    NEXT_STEP,
  )
}

/** What is no CSV may have anything for a first line. */
function shortened(names: readonly string[]): string {
  const text = names.join(', ').replace(/[^\P{C}\s]|\uFFFD/gu, '·')
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

function openQuote(file: string, line: number): TraceFormatError {
  return new TraceFormatError(
    'A quoted field begins that does not end',
    { file, line },
    'Close the quote, or copy the file again if it is cut short',
  )
}
