import type { Table } from 'arquero'

/** The rows of a table that are shown, as text, and what was left out. */
export interface TableCells {
  readonly names: readonly string[]
  /** Per column: whether its cells are numbers, to be aligned right. */
  readonly numeric: readonly boolean[]
  readonly rows: readonly (readonly string[])[]
  readonly totalRows: number
}

/** Significant digits the largest number of a column keeps. */
const DIGITS = 5

/** The first `limit` rows of `table` in its own order and filter, formatted column by column. */
export function tableCells(table: Table, limit: number): TableCells {
  const indices = firstIndices(table, limit)
  const names = table.columnNames()
  const columns = names.map((name) => {
    const column = table.column(name)
    return formatColumn(indices.map((index) => column?.at(index)))
  })
  return {
    names,
    numeric: columns.map((column) => column.numeric),
    rows: indices.map((_, row) => columns.map((column) => column.cells[row] ?? '')),
    totalRows: table.numRows(),
  }
}

function firstIndices(table: Table, limit: number): number[] {
  const indices: number[] = []
  table.scan((row, _data, stop) => {
    if (indices.length < limit && row !== undefined) indices.push(row)
    if (indices.length >= limit) stop?.()
  }, true)
  return indices
}

function formatColumn(values: readonly unknown[]): { numeric: boolean; cells: string[] } {
  const present = values.filter((value) => value !== null && value !== undefined)
  const numeric =
    present.length > 0 &&
    present.every((value) => typeof value === 'number' || typeof value === 'bigint')
  const decimals = decimalsFor(present.filter(isNumber))
  return { numeric, cells: values.map((value) => formatCell(value, decimals)) }
}

/** As many decimals as the largest number needs for {@link DIGITS}, and no more than say something. */
function decimalsFor(numbers: readonly number[]): number {
  const finite = numbers.filter(Number.isFinite)
  if (finite.every(Number.isInteger)) return 0
  const largest = finite.reduce((most, number) => Math.max(most, Math.abs(number)), 0)
  const most = Math.max(0, Math.min(8, DIGITS - 1 - Math.floor(Math.log10(largest))))
  const used = finite.map(
    (number) => (number.toFixed(most).split('.')[1] ?? '').replace(/0+$/, '').length,
  )
  return Math.max(...used)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

function formatCell(value: unknown, decimals: number): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return formatNumber(value, decimals)
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  }
  if (ArrayBuffer.isView(value)) return formatObject(Array.from(value as unknown as number[]))
  return typeof value === 'object' ? formatObject(value) : String(value)
}

function formatNumber(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return String(value)
  const fixed = value.toFixed(decimals)
  const lost = value !== 0 && Math.abs(value - Number(fixed)) > Math.abs(value) * 0.05
  return lost ? value.toExponential(2) : fixed.replace(/^-(0(\.0+)?)$/, '$1')
}

function formatObject(value: object): string {
  return JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : inner))
}
