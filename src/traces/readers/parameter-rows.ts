import { TraceFormatError } from '../../core/errors.ts'
import { isNumberText } from '../attribute-names.ts'
import type { AttributeValue } from '../attributes.ts'
import type { ParameterOwner, ParameterTables } from '../parameter-tables.ts'

export type ParameterFields = readonly (string | null)[]

/** Where the columns stand that say what a row is about; -1 where there is none. */
interface KeyColumns {
  readonly kind: 'node' | 'span'
  readonly id: number
  readonly half: number
  readonly trace: number
}

interface ParameterTable {
  readonly title: string
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

export class ParameterRows {
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

  add(fields: ParameterFields, line: number): void {
    const { file, title, names } = this.#table
    if (fields.length !== names.length) {
      throw new TraceFormatError(
        `A row of parameters has ${fields.length} fields where ${title} has ${names.length} columns`,
        { file, line },
        'Correct the row or take it out',
      )
    }
    this.#into.addRow(this.#owner(fields, line), file, line)
    for (const [name, at] of this.#parameters) {
      const value = parameterValue(fields[at] as string | null)
      if (value !== undefined) this.#into.add(name, value)
    }
  }

  #owner(fields: ParameterFields, line: number): ParameterOwner {
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

/** A field as number, truth value or text; `undefined` for empty or NULL. */
function parameterValue(field: string | null): AttributeValue | undefined {
  if (field === null || field === '' || field === 'NULL') return undefined
  if (isNumberText(field)) {
    const value = Number(field)
    const isExact = Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(field)
    return isExact && Number.isFinite(value) ? value : field
  }
  if (/^(true|false)$/i.test(field)) return field.toLowerCase() === 'true'
  return field
}
