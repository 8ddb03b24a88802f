import { TraceFormatError } from '../../src/core/errors.ts'
import { keyColumns } from '../../src/traces/readers/read-parameters.ts'

const COPY = /^COPY\s[\s\S]*\sFROM\s+stdin\b/i

type Row = readonly (string | null)[]

/** Rows of one table of parameters, under the names that its CSV has for them. */
interface Rows {
  readonly names: readonly string[]
  readonly rows: Row[]
}

/**
 * Returns an SQL dump of Spectroscope's programs as CSV, as option `parameters` reads it: `CREATE
 * TABLE e10__t3__CACHE_HIT(breadcrumb INTEGER, timestamp INTEGER, …)` and `INSERT` rows, about node
 * `breadcrumb.timestamp`. Key columns are those of `keyColumns`, else the first two; strings are
 * standard SQL's. All tables become one, whose rows have what is theirs. Other statements, and
 * tables without parameters, are ignored.
 *
 * @throws TraceFormatError for what holds no literal rows, or is cut
 */
export function sqlAsCsv(sql: string, file: string): string {
  const dump = new SqlDump(file)
  for (const { text, line } of statementsIn(sql, file)) dump.read(text, line)
  return dump.csv()
}

class SqlDump {
  readonly #file: string
  readonly #columns = new Map<string, readonly string[]>()
  /** By table and the columns that the statement names; `undefined` for tables to pass over. */
  readonly #tables = new Map<string, Rows | undefined>()
  readonly #all: Rows[] = []

  constructor(file: string) {
    this.#file = file
  }

  read(statement: string, line: number): void {
    const head = insertHead(statement)
    if (head === undefined) this.#readOther(statement, line)
    else {
      const { table, columns, end } = head
      const name = columns === undefined ? table : `${table}(${columns.join()})`
      if (!this.#tables.has(name)) this.#tables.set(name, this.#rowsOf(table, columns, line))
      const into = this.#tables.get(name)
      if (into === undefined) return
      readTuples(statement, end, {
        onRow: (fields, further) => {
          const place = { file: this.#file, line: line + further }
          if (fields.length === into.names.length) into.rows.push(fields)
          else {
            throw new TraceFormatError(
              `A row has ${fields.length} fields where the table ${table} has ${into.names.length} columns`,
              place,
              'Correct the row or take it out',
            )
          }
        },
        noLiteral: (found, further) =>
          new TraceFormatError(
            `Found ${found} where a row of literal values should be in the table ${table}`,
            { file: this.#file, line: line + further },
            'Dump the values themselves (numbers, quoted strings, NULL), with quotes in strings doubled',
          ),
      })
    }
  }

  csv(): string {
    const names = [...new Set(this.#all.flatMap((table) => table.names))]
    const lines = this.#all.flatMap((table) => {
      const at = names.map((name) => table.names.indexOf(name))
      return table.rows.map((row) => at.map((place) => fieldOf(row[place] ?? null)).join(','))
    })
    return [names.map(fieldOf).join(','), ...lines, ''].join('\n')
  }

  #readOther(statement: string, line: number): void {
    const created = createdTable(statement)
    if (created !== undefined) {
      this.#columns.set(created.table, created.columns)
      this.#tables.clear()
    } else if (COPY.test(statement)) {
      throw new TraceFormatError(
        'The dump holds its rows as COPY data, which is not read',
        { file: this.#file, line },
        'Dump with INSERT statements (pg_dump --inserts), or export the table as CSV',
      )
    }
  }

  #rowsOf(table: string, listed: readonly string[] | undefined, line: number): Rows | undefined {
    // SQLite's own tables are in a dump without their columns.
    if (table.startsWith('sqlite_')) return undefined
    const columns = listed ?? this.#columns.get(table)
    if (columns === undefined) {
      throw new TraceFormatError(
        `Rows of the table ${table} come before its columns are known`,
        { file: this.#file, line },
        `Put CREATE TABLE ${table}(…) in front, or name the columns in INSERT INTO ${table}(…)`,
      )
    }
    const key = keyColumns(columns) ?? { kind: 'node', id: 0, half: 1, trace: -1 }
    const names = [...columns]
    const [id, half] = key.kind === 'span' ? ['spanId', ''] : ['breadcrumb', 'timestamp']
    names[key.id] = key.half < 0 && key.kind === 'node' ? 'node' : id
    if (key.half >= 0) names[key.half] = half
    if (key.trace >= 0) names[key.trace] = 'traceId'
    const keys = [key.id, key.half, key.trace].filter((at) => at >= 0).length
    if (names.length === keys) return undefined
    const rows = { names, rows: [] }
    this.#all.push(rows)
    return rows
  }
}

function fieldOf(value: string | null): string {
  if (value === null) return ''
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

/** What ends a statement, or begins what may hold a semicolon that ends none. */
const STOP = /[;'"`]|--|\/\*/g
/** Space and comments. No alternative begins as another does, so nothing is tried twice. */
const NOTHING = /(?:\s+|--[^\n]*|\/\*[\s\S]*?\*\/)*/y

/** Cuts SQL at semicolons outside strings, quoted names and comments. */
export function* statementsIn(
  sql: string,
  file: string,
): Generator<{ readonly text: string; readonly line: number }> {
  let line = 1
  let from = 0
  const skipNothing = () => {
    NOTHING.lastIndex = from
    const end = from + (NOTHING.exec(sql)?.[0].length ?? 0)
    line += lineEnds(sql, from, end)
    from = end
  }
  let at = 0
  for (;;) {
    STOP.lastIndex = at
    const stop = STOP.exec(sql)
    if (stop === null) break
    if (stop[0] !== ';') {
      at = endOf(stop[0], sql, stop.index)
      if (at < 0) break
      continue
    }
    skipNothing()
    const text = sql.slice(from, stop.index)
    if (text !== '') yield { text, line }
    line += lineEnds(sql, from, stop.index)
    from = stop.index + 1
    at = from
  }
  skipNothing()
  if (from === sql.length) return
  throw new TraceFormatError(
    'A statement of the SQL dump begins that does not end',
    { file, line },
    'End it with a semicolon, close its quotes, or copy the file again if it is cut short',
  )
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
    readonly onRow: (fields: Row, line: number) => void
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
