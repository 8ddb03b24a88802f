import { TraceFormatError } from '../../core/errors.ts'
import type { ParameterTables } from '../parameter-tables.ts'
import type { QualityLog } from '../quality.ts'
import { keyColumns, type ParameterFields, ParameterRows } from './parameter-rows.ts'

const COPY = /^COPY\s[\s\S]*\sFROM\s+stdin\b/i

interface SqlSink {
  readonly into: ParameterTables
  readonly quality: QualityLog
}

/**
 * Parameters from an SQL dump of Spectroscope's programs: `CREATE TABLE
 * e10__t3__CACHE_HIT(breadcrumb INTEGER, timestamp INTEGER, …)` and `INSERT` rows, about node
 * `breadcrumb.timestamp`. Key columns are those of `keyColumns`, else the first two; strings are
 * standard SQL's. Other statements are ignored.
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
      readTuples(statement, head.end, {
        onRow: (fields, further) => rows.add(fields, line + further),
        noLiteral: (found, further) =>
          new TraceFormatError(
            `Found ${found} where a row of literal values should be in the table ${head.table}`,
            { file: this.#file, line: line + further },
            'Dump the values themselves (numbers, quoted strings, NULL), with quotes in strings doubled',
          ),
      })
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
      'not-parameters',
      { file: this.#file, line: this.#line },
      `The table ${table} has no columns of parameters, only ${names.join(', ')}; it is ignored`,
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

/** Characters. A quote that is never closed must not swallow a whole file. */
const MAX_STATEMENT = 1 << 27
/** What ends a statement, or begins what may hold a semicolon that ends none. */
const STOP = /[;'"`]|--|\/\*/g
/** Space and comments. No alternative begins as another does, so nothing is tried twice. */
const NOTHING = /(?:\s+|--[^\n]*|\/\*[\s\S]*?\*\/)*/y

/** Cuts SQL, chunk by chunk, at semicolons outside strings, quoted names and comments. */
export class SqlStatements {
  readonly #onStatement: (text: string, line: number) => void
  readonly #decoder = new TextDecoder()
  #text = ''
  #line = 1
  /** Up to here the text is known to hold no end of a statement. */
  #searched = 0

  /** `onStatement` gets each without its semicolon, and the line on which it begins. */
  constructor(onStatement: (text: string, line: number) => void) {
    this.#onStatement = onStatement
  }

  /** Reads on; gives the line of a statement that is too long to be one. */
  push(chunk: Uint8Array): number | undefined {
    this.#text += this.#decoder.decode(chunk, { stream: true })
    this.#cut()
    return this.#text.length > MAX_STATEMENT ? this.#line : undefined
  }

  end(): number | undefined {
    this.#text += this.#decoder.decode()
    this.#cut()
    const from = this.#skipNothing(0)
    return from === this.#text.length ? undefined : this.#line
  }

  #cut(): void {
    const text = this.#text
    let from = 0
    let at = this.#searched
    for (;;) {
      STOP.lastIndex = at
      const stop = STOP.exec(text)
      if (stop === null) {
        // The last character may be half of what begins a comment.
        at = Math.max(at, text.length - 1)
        break
      }
      if (stop[0] !== ';') {
        const end = endOf(stop[0], text, stop.index)
        at = end < 0 ? stop.index : end
        if (end < 0) break
        continue
      }
      from = this.#skipNothing(from)
      const statement = text.slice(from, stop.index)
      if (statement !== '') this.#onStatement(statement, this.#line)
      this.#line += lineEnds(text, from, stop.index)
      from = stop.index + 1
      at = from
    }
    this.#text = text.slice(from)
    this.#searched = at - from
  }

  #skipNothing(from: number): number {
    NOTHING.lastIndex = from
    const end = from + (NOTHING.exec(this.#text)?.[0].length ?? 0)
    this.#line += lineEnds(this.#text, from, end)
    return end
  }
}

function lineEnds(text: string, start: number, end: number): number {
  let count = 0
  for (let at = text.indexOf('\n', start); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) {
    count++
  }
  return count
}

/** Where what opens at `start` ends; -1 where it does not yet. */
function endOf(opening: string, text: string, start: number): number {
  if (opening === '--') return text.indexOf('\n', start)
  const closing = opening === '/*' ? '*/' : opening
  const close = text.indexOf(closing, start + opening.length)
  return close < 0 ? -1 : close + closing.length
}

const NAME = String.raw`(?:[\w$]+|"(?:[^"]|"")+"|\`[^\`]+\`|\[[^\]]+\])`
const DOTTED = String.raw`(?:${NAME}\.)*(${NAME})`
const CREATE_TABLE = new RegExp(
  String.raw`^CREATE\s+(?:\w+\s+){0,2}?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?${DOTTED}\s*\(`,
  'i',
)
const INSERT = new RegExp(
  String.raw`^(?:INSERT|REPLACE)\s+(?:OR\s+\w+\s+|IGNORE\s+)?INTO\s+${DOTTED}\s*(?:\(([^()]*)\)\s*)?VALUES\b`,
  'i',
)
const LEADING_NAME = new RegExp(String.raw`^\s*(${NAME})`)
/** What a table may declare besides columns. */
const CONSTRAINT = /^\s*(?:CONSTRAINT|PRIMARY|FOREIGN|UNIQUE|CHECK|EXCLUDE|KEY|INDEX)\b/i
/** A comma between columns, or what may hold commas that are none. */
const COLUMN_STOP = /[,()]|'[^']*'|"[^"]*"|`[^`]*`/g
const VALUE = /\s*(?:[nN]?'([^']*(?:''[^']*)*)'|([xX]'[\dA-Fa-f]*'|[^\s',()][^',()]*))\s*([,)])/y
const OPENING = /\s*,?\s*\(/y
const TAIL = /^\s*(?:(?:ON|RETURNING|AS)\b[\s\S]*)?$/i

/** Reads a statement as CREATE TABLE; `undefined` where it is another. */
function createdTable(statement: string) {
  const head = CREATE_TABLE.exec(statement)
  if (head === null) return undefined
  const columns: string[] = []
  for (const part of declarations(statement, head[0].length)) {
    const name = CONSTRAINT.test(part) ? undefined : LEADING_NAME.exec(part)?.[1]
    if (name !== undefined) columns.push(plainName(name))
  }
  return { table: plainName(head[1]!), columns }
}

/** Reads the beginning of a statement as INSERT INTO, up to `end`; `undefined` where it is another. */
function insertHead(statement: string) {
  const head = INSERT.exec(statement)
  if (head === null) return undefined
  const [whole, table = '', listed] = head
  const columns = listed?.split(',').map((name) => plainName(name.trim()))
  return { table: plainName(table), columns, end: whole.length }
}

/** Reads the rows of an INSERT statement from `at` on; throws for anything but literals. */
function readTuples(
  statement: string,
  at: number,
  {
    onRow,
    noLiteral,
  }: {
    readonly onRow: (fields: ParameterFields, line: number) => void
    readonly noLiteral: (found: string, line: number) => TraceFormatError
  },
): void {
  let line = lineEnds(statement, 0, at)
  const problem = (from: number) => {
    const found = statement.slice(from, from + 40).trim()
    return noLiteral(found === '' ? 'nothing' : JSON.stringify(found), line)
  }
  let from = at
  for (;;) {
    OPENING.lastIndex = from
    const opening = OPENING.exec(statement)
    if (opening === null) break
    const start = from + opening[0].length
    line += lineEnds(statement, from, start)
    from = start
    const fields: (string | null)[] = []
    for (let closing = ','; closing === ','; ) {
      VALUE.lastIndex = from
      const value = VALUE.exec(statement)
      if (value === null) throw problem(from)
      const [whole, text, token = ''] = value
      closing = value[3]!
      fields.push(text === undefined ? plainToken(token) : text.replaceAll("''", "'"))
      from += whole.length
    }
    onRow(fields, line)
    line += lineEnds(statement, start, from)
  }
  if (from === at || !TAIL.test(statement.slice(from, from + 200))) throw problem(from)
}

function plainToken(token: string): string | null {
  const text = token.trimEnd()
  return text.length === 4 && text.toUpperCase() === 'NULL' ? null : text
}

function plainName(name: string): string {
  const quote = name[0]
  if (quote !== '"' && quote !== '`' && quote !== '[') return name
  return name.slice(1, -1).replaceAll('""', '"')
}

function declarations(statement: string, start: number): string[] {
  const parts: string[] = []
  let from = start
  let depth = 0
  COLUMN_STOP.lastIndex = start
  for (let stop = COLUMN_STOP.exec(statement); stop !== null; stop = COLUMN_STOP.exec(statement)) {
    const [mark] = stop
    if (mark === '(') depth++
    else if (mark === ',' && depth > 0) continue
    else if (mark === ',' || (mark === ')' && depth === 0)) {
      parts.push(statement.slice(from, stop.index))
      from = stop.index + 1
      if (mark === ')') break
    } else if (mark === ')') depth--
  }
  return parts
}
