import { TraceFormatError } from '../../core/errors.ts'
import type { ParameterTablesBuilder } from '../parameter-tables-builder.ts'
import type { QualityLog } from '../quality.ts'
import { keyColumns, ParameterRows } from './parameter-rows.ts'
import { SqlStatements } from './sql-statements.ts'
import { createdTable, insertHead, readTuples, SqlProblem } from './sql-syntax.ts'

const COPY = /^COPY\s[\s\S]*\sFROM\s+stdin\b/i

interface SqlSink {
  readonly into: ParameterTablesBuilder
  readonly quality: QualityLog
}

/**
 * Parameters from an SQL dump as Spectroscope's programs wrote it: a table for each trace point,
 *
 * ```
 * CREATE TABLE e10__t3__CACHE_HIT(breadcrumb INTEGER, timestamp INTEGER, tid INTEGER, qlen INTEGER);
 * INSERT INTO e10__t3__CACHE_HIT VALUES(2586230585719673,2586230585949084,1,81);
 * ```
 *
 * whose rows are about node `2586230585719673.2586230585949084`. Key columns are those of
 * `keyColumns`, else the first two are the halves of a node id; every other column is a parameter.
 * Strings are standard SQL's: a quote is doubled, a backslash is itself. Statements other than
 * CREATE TABLE and INSERT are passed over; tables without parameters are passed over and noted.
 *
 * @throws TraceFormatError for rows that are no literals or do not fit their table, rows of a table
 *   whose columns are not known, a file that ends within a statement
 */
export async function readSqlParameters(
  chunks: AsyncIterable<Uint8Array>,
  sink: SqlSink,
  file: string,
): Promise<void> {
  const dump = new SqlDump(sink, file)
  const statements = new SqlStatements((text, line) => dump.read(text, line))
  for await (const chunk of chunks) {
    const line = statements.push(chunk)
    if (line !== undefined) throw openStatement(file, line)
  }
  const open = statements.end()
  if (open !== undefined) throw openStatement(file, open)
}

/** One file: its tables so far. */
class SqlDump {
  readonly #sink: SqlSink
  readonly #file: string
  readonly #columns = new Map<string, readonly string[]>()
  /** By table and the columns that the statement names; `undefined` for tables to pass over. */
  readonly #rows = new Map<string, ParameterRows | undefined>()
  #line = 0

  constructor(sink: SqlSink, file: string) {
    this.#sink = sink
    this.#file = file
  }

  read(statement: string, line: number): void {
    this.#line = line
    const head = insertHead(statement)
    if (head === undefined) this.#readOther(statement)
    else {
      const rows = this.#rowsOf(head.table, head.columns)
      if (rows === undefined) return
      try {
        readTuples(statement, head.end, (fields, further) => rows.add(fields, line + further))
      } catch (problem) {
        if (!(problem instanceof SqlProblem)) throw problem
        throw new TraceFormatError(
          `${problem.message} in the table ${head.table}`,
          { file: this.#file, line: line + problem.line },
          'Dump the values themselves (numbers, quoted strings, NULL), with quotes in strings doubled',
        )
      }
    }
  }

  #readOther(statement: string): void {
    const created = createdTable(statement)
    if (created !== undefined) {
      this.#columns.set(created.table, created.columns)
      this.#rows.clear()
    } else if (COPY.test(statement)) {
      throw new TraceFormatError(
        'The dump holds its rows as COPY data, which is not read',
        { file: this.#file, line: this.#line },
        'Dump with INSERT statements (pg_dump --inserts), or export the table as CSV',
      )
    }
  }

  #rowsOf(table: string, listed: readonly string[] | undefined): ParameterRows | undefined {
    const name = listed === undefined ? table : `${table}(${listed.join()})`
    if (!this.#rows.has(name)) this.#rows.set(name, this.#makeRows(table, listed))
    return this.#rows.get(name)
  }

  #makeRows(table: string, listed: readonly string[] | undefined): ParameterRows | undefined {
    // SQLite's own tables are in a dump without their columns.
    if (table.startsWith('sqlite_')) return undefined
    const names = listed ?? this.#columns.get(table)
    if (names === undefined) {
      throw new TraceFormatError(
        `Rows of the table ${table} come before its columns are known`,
        { file: this.#file, line: this.#line },
        `Put CREATE TABLE ${table}(…) in front, or name the columns in INSERT INTO ${table}(…)`,
      )
    }
    const key = keyColumns(names) ?? { kind: 'node', id: 0, half: 1, trace: -1 }
    const title = `the table ${table}`
    const rows = new ParameterRows({ title, names, file: this.#file }, key, this.#sink.into)
    if (rows.hasParameters) return rows
    this.#sink.quality.note(
      {
        code: 'not-parameters',
        effect: 'kept',
        place: { file: this.#file, line: this.#line },
        message: `The table ${table} has no columns of parameters, only ${names.join(', ')}; it is passed over`,
      },
      '',
    )
    return undefined
  }
}

function openStatement(file: string, line: number): TraceFormatError {
  return new TraceFormatError(
    'A statement of the SQL dump begins that does not end',
    { file, line },
    'End it with a semicolon, close its quotes, or copy the file again if it is cut short',
  )
}
