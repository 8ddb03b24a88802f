import { TraceFormatError } from '../../core/errors.ts'
import { isNumberText } from '../attribute-names.ts'
import type { AttributeValue } from '../attributes.ts'
import { ParameterTables } from '../parameter-tables.ts'
import type { QualityLog } from '../quality.ts'
import { closeChunks, type OpenableSource } from '../trace-source.ts'
import { CsvRows } from './csv-rows.ts'

const SQL =
  /^\uFEFF?\s*(?:--|\/\*|(?:PRAGMA|BEGIN|START\s+TRANSACTION|SET|USE|DROP|CREATE|INSERT)\s)/i
const CONVERT = 'Convert it with datasets/sql-parameters/convert.ts of the repository'
const NAME_COLUMNS =
  'Head the columns with spanId (and traceId) for spans or node for trace points; every other column is a parameter'
const CORRECT_ROW = 'Correct the row or take it out'

/** Reads the tables of parameters of a period's traces: the key columns of `keyColumns`, every other column a parameter. */
export async function readParameters(
  sources: readonly OpenableSource[],
  quality: QualityLog,
  open: (source: OpenableSource) => ReturnType<OpenableSource['open']>,
): Promise<ParameterTables> {
  const into = new ParameterTables(quality)
  for (const source of sources) {
    const file = source.name
    const { head, chunks } = await open(source)
    try {
      const text = new TextDecoder().decode(head)
      if (text.trim() === '') {
        throw new TraceFormatError('The file of parameters is empty', { file }, 'Leave it out')
      }
      if (SQL.test(text)) {
        const problem = 'The file of parameters is an SQL dump, not CSV'
        throw new TraceFormatError(problem, { file }, CONVERT)
      }
      let addRow: ReturnType<typeof rowsUnder> | undefined
      const rows = new CsvRows(',', (fields, line) => {
        if (addRow === undefined) addRow = rowsUnder(fields, into, { file, line })
        else addRow(fields, line)
      })
      const requireClosed = (line: number | undefined) => {
        if (line === undefined) return
        const next = 'Close the quote, or copy the file again if it is cut short'
        throw new TraceFormatError('A quoted field begins that does not end', { file, line }, next)
      }
      for await (const chunk of chunks) requireClosed(rows.push(chunk))
      requireClosed(rows.end())
    } finally {
      await closeChunks(chunks)
    }
  }
  return into
}

/** Returns what adds a row of a table with this header line. */
function rowsUnder(
  header: readonly string[],
  into: ParameterTables,
  place: { readonly file: string; readonly line: number },
): (fields: readonly string[], line: number) => void {
  const names = header.map((name) => name.replace(/^\uFEFF/, '').trim())
  const key = keyColumns(names)
  if (key === undefined) {
    const problem = `The header line of the parameters has no column spanId or node; it has ${shortened(names)}`
    throw new TraceFormatError(problem, place, NAME_COLUMNS)
  }
  const keys = [key.id, key.half, key.trace]
  const parameters = [...names.entries()].filter(([at]) => !keys.includes(at))
  if (parameters.length === 0) {
    const problem = `The header line has no columns of parameters, only ${shortened(names)}`
    throw new TraceFormatError(problem, place, NAME_COLUMNS)
  }
  return (fields, line) => {
    const wrong = (problem: string) =>
      new TraceFormatError(
        `A row of parameters has ${problem}`,
        { file: place.file, line },
        CORRECT_ROW,
      )
    if (fields.length !== names.length) {
      throw wrong(`${fields.length} fields where the header line has ${names.length} columns`)
    }
    const part = (at: number) => {
      const text = fields[at]?.trim()
      if (text) return text
      throw wrong(`no ${names[at]}, which says what it is about`)
    }
    const id = key.half < 0 ? part(key.id) : `${part(key.id)}.${part(key.half)}`
    const trace = key.trace < 0 ? undefined : part(key.trace)
    const entries = parameters.flatMap(([at, name]): [string, AttributeValue][] => {
      const value = parameterValue(fields[at] ?? '')
      return value === undefined ? [] : [[name, value]]
    })
    into.addRow({ kind: key.kind, id, trace }, entries, { file: place.file, line })
  }
}

/** Shortens the first line, which may be anything if the file is no CSV. */
function shortened(names: readonly string[]): string {
  const text = names.join(', ').replace(/[^\P{C}\s]|\uFFFD/gu, '·')
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** Positions of the columns that name a row's subject; -1 if there is none. */
interface KeyColumns {
  readonly kind: 'node' | 'span'
  readonly id: number
  readonly half: number
  readonly trace: number
}

/** Finds `spanId` or `node`, maybe with `traceId`, or the halves of a node id, `breadcrumb` and `timestamp`. */
export function keyColumns(names: readonly string[]): KeyColumns | undefined {
  const plain = names.map((name) => name.toLowerCase().replace(/[_\s-]/g, ''))
  const at = (...candidates: string[]) => plain.findIndex((name) => candidates.includes(name))
  const [breadcrumb, timestamp] = [at('breadcrumb'), at('timestamp')]
  const [trace, span, node] = [at('traceid'), at('spanid'), at('node', 'nodeid')]
  if (span >= 0) return { kind: 'span', id: span, half: -1, trace }
  if (breadcrumb >= 0 && timestamp >= 0) {
    return { kind: 'node', id: breadcrumb, half: timestamp, trace: -1 }
  }
  return node < 0 ? undefined : { kind: 'node', id: node, half: -1, trace }
}

/** Returns a field as number, truth value or text; `undefined` for empty or NULL. */
function parameterValue(field: string): AttributeValue | undefined {
  if (field === '' || field === 'NULL') return undefined
  if (isNumberText(field)) {
    const value = Number(field)
    const isExact = Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(field)
    return isExact && Number.isFinite(value) ? value : field
  }
  if (/^(true|false)$/i.test(field)) return field.toLowerCase() === 'true'
  return field
}
