import type { ParameterFields } from './parameter-rows.ts'
import { lineEnds } from './sql-statements.ts'

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

/** What `CREATE TABLE` says: the table's name and its columns. */
interface CreatedTable {
  readonly table: string
  readonly columns: readonly string[]
}

/** Where `INSERT INTO` puts its rows; `columns` where it names them. */
interface InsertHead {
  readonly table: string
  readonly columns: readonly string[] | undefined
  /** Where the rows begin. */
  readonly end: number
}

/** What is wrong with a statement, and on which of its lines (0 is the first). */
export class SqlProblem extends Error {
  readonly line: number

  constructor(message: string, line: number) {
    super(message)
    this.line = line
  }
}

/** Reads a statement as CREATE TABLE; `undefined` where it is another. */
export function createdTable(statement: string): CreatedTable | undefined {
  const head = CREATE_TABLE.exec(statement)
  if (head === null) return undefined
  const columns: string[] = []
  for (const part of declarations(statement, head[0].length)) {
    const name = CONSTRAINT.test(part) ? undefined : LEADING_NAME.exec(part)?.[1]
    if (name !== undefined) columns.push(plainName(name))
  }
  return { table: plainName(head[1] as string), columns }
}

/** Reads the beginning of a statement as INSERT INTO; `undefined` where it is another. */
export function insertHead(statement: string): InsertHead | undefined {
  const head = INSERT.exec(statement)
  if (head === null) return undefined
  const [whole, table = '', listed] = head
  const columns = listed?.split(',').map((name) => plainName(name.trim()))
  return { table: plainName(table), columns, end: whole.length }
}

/**
 * Reads the rows of an INSERT statement from `at` on; `line` counts from its beginning.
 *
 * @throws SqlProblem for anything but literals
 */
export function readTuples(
  statement: string,
  at: number,
  onRow: (fields: ParameterFields, line: number) => void,
): void {
  let line = lineEnds(statement, 0, at)
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
      if (value === null) throw noLiteral(statement, from, line)
      const [whole, text, token = ''] = value
      closing = value[3] as string
      fields.push(text === undefined ? plainToken(token) : text.replaceAll("''", "'"))
      from += whole.length
    }
    onRow(fields, line)
    line += lineEnds(statement, start, from)
  }
  if (from === at || !TAIL.test(statement.slice(from, from + 200))) {
    throw noLiteral(statement, from, line)
  }
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

/** The parts between the parentheses of CREATE TABLE, from behind the first on. */
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

function noLiteral(statement: string, at: number, line: number): SqlProblem {
  const found = statement.slice(at, at + 40).trim()
  const shown = found === '' ? 'nothing' : JSON.stringify(found)
  return new SqlProblem(`Found ${shown} where a row of literal values should be`, line)
}
