import { TraceFormatError } from '../../core/errors.ts'
import { isNumberText } from '../attribute-names.ts'
import type { AttributeValue } from '../attributes.ts'
import { type ParameterOwner, ParameterTables } from '../parameter-tables.ts'
import type { QualityLog } from '../quality.ts'
import { closeChunks, type OpenableSource } from '../trace-source.ts'
import { CsvRows } from './csv-rows.ts'

const SQL =
  /^\uFEFF?\s*(?:--|\/\*|(?:PRAGMA|BEGIN|START\s+TRANSACTION|SET|USE|DROP|CREATE|INSERT)\s)/i

/** Reads the tables of parameters of a period's traces. */
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
    if (SQL.test(text)) {
      await closeChunks(chunks)
      throw new TraceFormatError(
        'The file of parameters is an SQL dump, not CSV',
        { file: source.name },
        'Convert it with datasets/sql-parameters/convert.ts of the repository',
      )
    }
    await readCsvParameters(chunks, into, source.name)
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
  const key = keyColumns(names)
  if (key === undefined) {
    throw new TraceFormatError(
      `The header line of the parameters has no column spanId or node; it has ${shortened(names)}`,
      { file, line },
      NEXT_STEP,
    )
  }
  const rows = new ParameterRows({ names, file }, key, into)
  if (rows.hasParameters) return rows
  throw new TraceFormatError(
    `The header line has no columns of parameters, only ${shortened(names)}`,
    { file, line },
    NEXT_STEP,
  )
}

/** Shortens the first line, which may be anything if the file is no CSV. */
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

/** Positions of the columns that name a row's subject; -1 if there is none. */
interface KeyColumns {
  readonly kind: 'node' | 'span'
  readonly id: number
  readonly half: number
  readonly trace: number
}

interface ParameterTable {
  readonly names: readonly string[]
  readonly file: string
}

/**
 * Finds key columns, in whatever capitals: `spanId` or `node`, alone or with `traceId`; or the
 * halves of a node id, `breadcrumb` and `timestamp`.
 */
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

class ParameterRows {
  readonly #table: ParameterTable
  readonly #key: KeyColumns
  readonly #parameters: readonly (readonly [name: string, at: number])[]
  readonly #into: ParameterTables

  constructor(table: ParameterTable, key: KeyColumns, into: ParameterTables) {
    this.#table = table
    this.#key = key
    this.#into = into
    const { id, half, trace } = key
    this.#parameters = table.names
      .map((name, at) => [name, at] as const)
      .filter(([, at]) => at !== id && at !== half && at !== trace)
  }

  get hasParameters(): boolean {
    return this.#parameters.length > 0
  }

  add(fields: readonly string[], line: number): void {
    const { file, names } = this.#table
    if (fields.length !== names.length) {
      throw new TraceFormatError(
        `A row of parameters has ${fields.length} fields where the header line has ${names.length} columns`,
        { file, line },
        'Correct the row or take it out',
      )
    }
    this.#into.addRow(this.#owner(fields, line), file, line)
    for (const [name, at] of this.#parameters) {
      const value = parameterValue(fields[at] ?? '')
      if (value !== undefined) this.#into.add(name, value)
    }
  }

  #owner(fields: readonly string[], line: number): ParameterOwner {
    const { kind, id, half, trace } = this.#key
    const part = (at: number) => fields[at]?.trim() || this.#missing(at, line)
    return {
      kind,
      id: half < 0 ? part(id) : `${part(id)}.${part(half)}`,
      trace: trace < 0 ? undefined : part(trace),
    }
  }

  #missing(at: number, line: number): never {
    throw new TraceFormatError(
      `A row of parameters has no ${this.#table.names[at]}, which says what it is about`,
      { file: this.#table.file, line },
      'Correct the row or take it out',
    )
  }
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
