import type { Table } from 'arquero'
import { decodeColumns, encodeColumns } from '../../../core/columns.ts'
import { columnFormat } from '../../../core/table-cells.ts'

const KINDS = {
  text: (value: unknown) => typeof value === 'string',
  number: (value: unknown) => typeof value === 'number',
  date: (value: unknown) => value instanceof Date,
  boolean: (value: unknown) => typeof value === 'boolean',
  other: () => true,
}

type ColumnKind = keyof typeof KINDS

export interface TableColumnData {
  readonly name: string
  readonly kind: ColumnKind
  /** Dates in milliseconds, others (lists, objects, big integers, mixtures) as text. */
  readonly values: readonly (number | string | boolean | null)[]
}

export type TableData = ReturnType<typeof tableData>

interface TableCall {
  readonly title: string
  readonly name: string
  readonly pageSize: number
  readonly limit: number
}

/** Returns the first `limit` rows of a table as plain JSON. */
export function tableData(table: Table, { limit, ...options }: TableCall) {
  const indices = table.indices()
  const chosen = indices.subarray(0, limit)
  const columns = table.columnNames().map((name): TableColumnData => {
    const column = table.column(name)
    const values = Array.from(chosen, (row): unknown => column?.at(row) ?? null)
    const present = values.filter((value) => value !== null)
    const kinds = Object.keys(KINDS) as ColumnKind[]
    const kind = kinds.find((each) => present.every(KINDS[each])) ?? 'other'
    const { text } = columnFormat(name, kind === 'other' ? values : [], 'data')
    const data = (value: unknown) => {
      if (kind === 'date') return Number(value)
      return kind === 'other' ? text(value) : (value as string | number | boolean)
    }
    return { name, kind, values: values.map((value) => (value === null ? null : data(value))) }
  })
  return {
    ...options,
    columns: encodeColumns(columns),
    totalColumns: columns.length,
    rows: chosen.length,
    totalRows: indices.length,
    isGrouped: table.isGrouped(),
    /** Place of each row in the unsorted table, by which Arquero orders equal ones; `null` for that order. */
    origin: table.isOrdered() && chosen.length === indices.length ? [...chosen] : null,
  }
}

export type TableColumn = ReturnType<typeof tableColumns>[number]

/** Values that decide how many decimals a column has. */
const SAMPLE = 1000

export function tableColumns({ columns }: Pick<TableData, 'columns'>) {
  return decodeColumns(columns).map(({ name, kind, values }) => {
    const numbers = values.filter((value) => typeof value === 'number')
    const largest = numbers
      .filter(Number.isFinite)
      .reduce((most, each) => (Math.abs(each) > Math.abs(most) ? each : most), 0)
    // The first values and the largest decide how numbers are written.
    const sample = kind === 'number' ? [...values.slice(0, SAMPLE), largest] : []
    return {
      ...{ name, kind, values },
      largest,
      hasNull: values.includes(null),
      hasNaN: numbers.some(Number.isNaN),
      isNumber: kind === 'number' || kind === 'date',
      isInteger: numbers.every((number) => Number.isNaN(number) || Number.isInteger(number)),
      format: columnFormat(name, sample, 'spoken'),
    }
  })
}

export function isSortable({ kind }: TableColumn): boolean {
  return kind !== 'other'
}

export function isFilterable({ kind }: TableColumn): boolean {
  return kind !== 'other' && kind !== 'date'
}

export function valueAt({ kind, values }: TableColumn, row: number): unknown {
  const value = values[row] ?? null
  return kind === 'date' && typeof value === 'number' ? new Date(value) : value
}

export function numberAt({ values }: TableColumn, row: number): number {
  return (values[row] ?? Number.NaN) as number
}
