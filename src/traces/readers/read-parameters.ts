import { TraceFormatError } from '../../core/errors.ts'
import { ParameterTables } from '../parameter-tables.ts'
import type { QualityLog } from '../quality.ts'
import { closeChunks, type OpenableSource } from '../trace-source.ts'
import { CsvRows } from './csv-rows.ts'
import { keyColumns, ParameterRows } from './parameter-rows.ts'
import { readSqlParameters } from './sql-parameters.ts'

const SQL =
  /^\uFEFF?\s*(?:--|\/\*|(?:PRAGMA|BEGIN|START\s+TRANSACTION|SET|USE|DROP|CREATE|INSERT|REPLACE|DELETE|LOCK)[\s;])/i

/** Reads the tables of parameters beside the traces of a period: SQL dumps or CSV. */
export async function readParameters(
  sources: readonly OpenableSource[],
  {
    quality,
    open,
  }: {
    readonly quality: QualityLog
    readonly open: (source: OpenableSource) => ReturnType<OpenableSource['open']>
  },
): Promise<ParameterTables> {
  const into = new ParameterTables(quality)
  for (const source of sources) {
    const { head, chunks } = await open(source)
    const text = new TextDecoder().decode(head)
    if (text.trim() === '') {
      await closeChunks(chunks)
      throw new TraceFormatError(
        'The file of parameters is empty',
        { file: source.name },
        'Leave it out',
      )
    }
    if (SQL.test(text)) await readSqlParameters(chunks, { into, quality }, source.name)
    else await readCsvParameters(chunks, into, source.name)
  }
  return into.close()
}

const NEXT_STEP =
  'Head the columns with spanId (and traceId) for spans or node for trace points; every other column is a parameter'

/** Parameters from CSV: the key columns of `keyColumns`, every other column a parameter. */
async function readCsvParameters(
  chunks: AsyncIterable<Uint8Array>,
  into: ParameterTables,
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
  { into, file, line }: { into: ParameterTables; file: string; line: number },
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
