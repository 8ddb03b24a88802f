import type { Table } from 'arquero'
import { columnFormat } from '../../../core/table-cells.ts'

/**
 * A column as it travels into a page. Numbers that JSON does not know are strings (`'NaN'`);
 * words are numbered, a missing one is -1. Of a `'date'` the milliseconds go along; `'other'` is
 * what can only be looked at: lists, objects, big integers, mixtures.
 */
export type TableColumnData = { readonly name: string } & (
  | { readonly kind: 'number' | 'date'; readonly values: readonly (number | string | null)[] }
  | {
      readonly kind: 'text' | 'boolean' | 'other'
      readonly words: readonly string[]
      readonly codes: readonly number[]
    }
)

/** A table as it travels into a page. */
export interface TableData {
  readonly title: string
  /** What the table is called in code. */
  readonly name: string
  readonly pageSize: number
  readonly columns: readonly TableColumnData[]
  /** How many rows go along: the first of the table's own order and filter. */
  readonly rows: number
  readonly totalRows: number
  /**
   * Which row of the unsorted table each row is, by which Arquero orders what is equal; `null`
   * when they come in that order.
   */
  readonly origin: readonly number[] | null
  readonly isGrouped: boolean
}

/** What a table's data is taken with. */
export interface TableDataOptions {
  readonly title: string
  readonly name: string
  readonly pageSize: number
  readonly limit: number
}

/** The first `limit` rows of a table as plain JSON. */
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
    ...{ rows, totalRows: indices.length, isGrouped: table.isGrouped() },
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
