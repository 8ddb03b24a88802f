import type { Table } from 'arquero'
import { type ColumnFormat, columnFormat } from '../../../core/table-cells.ts'

/**
 * A column as a page gets it. Numbers that JSON does not know are strings (`'NaN'`); words are
 * numbered, a missing one is -1. A `'date'` is in milliseconds; `'other'` can only be looked at:
 * lists, objects, big integers, mixtures.
 */
export type TableColumnData = { readonly name: string } & (
  | { readonly kind: 'number' | 'date'; readonly values: readonly (number | string | null)[] }
  | {
      readonly kind: 'text' | 'boolean' | 'other'
      readonly words: readonly string[]
      readonly codes: readonly number[]
    }
)

/** A table as a page gets it. */
export interface TableData {
  readonly title: string
  /** Name of the table in code. */
  readonly name: string
  readonly pageSize: number
  readonly columns: readonly TableColumnData[]
  /** Rows carried: the first of the table's own order and filter. */
  readonly rows: number
  readonly totalRows: number
  /**
   * Place of each row in the unsorted table, by which Arquero orders equal rows; `null` when they
   * come in that order.
   */
  readonly origin: readonly number[] | null
  readonly isGrouped: boolean
}

export interface TableDataOptions {
  readonly title: string
  readonly name: string
  readonly pageSize: number
  readonly limit: number
}

/** Returns the first `limit` rows of a table as plain JSON. */
export function tableData(table: Table, { limit, ...options }: TableDataOptions): TableData {
  const indices = table.indices()
  const rows = Math.min(limit, indices.length)
  const chosen = indices.subarray(0, rows)
  return {
    ...options,
    columns: table.columnNames().map((name) => {
      const column = table.column(name)
      return columnData(
        name,
        Array.from(chosen, (row): unknown => column?.at(row) ?? null),
      )
    }),
    rows,
    totalRows: indices.length,
    isGrouped: table.isGrouped(),
    origin: table.isOrdered() && rows === indices.length ? [...chosen] : null,
  }
}

function columnData(name: string, values: readonly unknown[]): TableColumnData {
  const present = values.filter((value) => value !== null)
  const isAll = (test: (value: unknown) => boolean) => present.length > 0 && present.every(test)
  if (isAll((value) => typeof value === 'number')) {
    return { name, kind: 'number', values: values.map((value) => numberData(value as number)) }
  }
  if (isAll((value) => value instanceof Date)) {
    const milliseconds = (value: unknown) => (value === null ? null : Number(value))
    return { name, kind: 'date', values: values.map((value) => numberData(milliseconds(value))) }
  }
  if (isAll((value) => typeof value === 'boolean')) {
    return { name, kind: 'boolean', ...numbered(values) }
  }
  if (present.every((value) => typeof value === 'string')) {
    return { name, kind: 'text', ...numbered(values) }
  }
  const { text } = columnFormat(name, values, 'data')
  const texts = values.map((value) => (value === null ? null : text(value)))
  return { name, kind: 'other', ...numbered(texts) }
}

function numberData(value: number | null): number | string | null {
  return value === null || Number.isFinite(value) ? value : String(value)
}

function numbered(values: readonly unknown[]) {
  const numbers = new Map<string, number>()
  const codes = values.map((value) => {
    if (value === null) return -1
    const word = String(value)
    const code = numbers.get(word) ?? numbers.size
    numbers.set(word, code)
    return code
  })
  return { words: [...numbers.keys()], codes }
}

/** A column in a page, in typed arrays: 100,000 rows are filtered and sorted without delay. */
export type TableColumn = {
  readonly name: string
  /** Number of values that are null or undefined. */
  readonly nulls: number
  readonly isNull: (row: number) => boolean
  readonly format: ColumnFormat
} & (
  | {
      readonly kind: 'number' | 'date'
      /** `NaN` for null too. */
      readonly numbers: Float64Array
      readonly hasNaN: boolean
      readonly isInteger: boolean
      /** The number furthest from 0. */
      readonly largest: number
    }
  | {
      readonly kind: 'text' | 'boolean' | 'other'
      readonly words: readonly string[]
      /** -1 for null. */
      readonly codes: Int32Array
    }
)

export type NumberColumn = Extract<TableColumn, { readonly numbers: Float64Array }>
export type WordColumn = Extract<TableColumn, { readonly codes: Int32Array }>

/** Values that decide how many decimals a column has. */
const SAMPLE = 1000

/** Restores the columns of a table in a page. */
export function tableColumns({ columns }: TableData): TableColumn[] {
  return columns.map((column) => ('values' in column ? numberColumn(column) : wordColumn(column)))
}

/** Returns whether rows can be sorted by a column, by Arquero too. */
export function isSortable({ kind }: TableColumn): boolean {
  return kind !== 'other'
}

/** Returns whether rows can be filtered by a column. */
export function isFilterable({ kind }: TableColumn): boolean {
  return kind !== 'other' && kind !== 'date'
}

/** Returns the value of a column in a row. */
export function valueAt(column: TableColumn, row: number): unknown {
  if (column.isNull(row)) return null
  if ('words' in column) return column.words[column.codes[row] as number]
  const number = column.numbers[row] as number
  return column.kind === 'date' ? new Date(number) : number
}

type NumberData = Extract<TableColumnData, { readonly values: unknown }>
type WordData = Exclude<TableColumnData, NumberData>

function numberColumn({ name, kind, values }: NumberData): NumberColumn {
  const numbers = Float64Array.from(values, (value) => (value === null ? Number.NaN : +value))
  const nulls = values.filter((value) => value === null).length
  const present = numbers.filter((number) => !Number.isNaN(number))
  const largest = present.reduce(
    (most, number) =>
      Number.isFinite(number) && Math.abs(number) > Math.abs(most) ? number : most,
    0,
  )
  return {
    name,
    kind,
    numbers,
    nulls,
    isNull: (row) => values[row] === null,
    hasNaN: present.length + nulls < values.length,
    isInteger: present.every(Number.isInteger),
    largest,
    // The first values and the largest decide how numbers are written.
    format: columnFormat(
      name,
      kind === 'date' ? [] : [...numbers.subarray(0, SAMPLE), largest],
      'spoken',
    ),
  }
}

function wordColumn({ name, kind, words, codes: given }: WordData): WordColumn {
  const codes = Int32Array.from(given)
  return {
    name,
    kind,
    words,
    codes,
    isNull: (row) => codes[row] === -1,
    nulls: codes.reduce((count, code) => count + (code < 0 ? 1 : 0), 0),
    format: columnFormat(name, [], 'spoken'),
  }
}
