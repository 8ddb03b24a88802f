import { TraceFormatError } from '../../core/errors.ts'
import type { ParameterTables } from '../parameter-tables.ts'
import { ParameterTablesBuilder } from '../parameter-tables-builder.ts'
import type { QualityLog } from '../quality.ts'
import type { OpenableSource } from '../trace-source.ts'
import { readCsvParameters } from './csv-parameters.ts'
import { readSqlParameters } from './sql-parameters.ts'

const SQL =
  /^\uFEFF?\s*(?:--|\/\*|(?:PRAGMA|BEGIN|START\s+TRANSACTION|SET|USE|DROP|CREATE|INSERT|REPLACE|DELETE|LOCK)[\s;])/i

/**
 * Reads the tables of parameters that stand beside the traces of one period: SQL dumps or CSV,
 * recognised by content.
 *
 * @throws TraceFormatError for a file that is neither, or a row that cannot be read
 */
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
  const into = new ParameterTablesBuilder()
  for (const source of sources) {
    const { head, chunks } = await open(source)
    const text = new TextDecoder().decode(head)
    if (text.trim() === '') {
      throw new TraceFormatError(
        'The file of parameters is empty',
        { file: source.name },
        'Leave it out',
      )
    }
    if (SQL.test(text)) await readSqlParameters(chunks, { into, quality }, source.name)
    else await readCsvParameters(chunks, into, source.name)
  }
  return into.finish(quality)
}
