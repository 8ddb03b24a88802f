import type { Table } from 'arquero'
import { formatDuration } from './words.ts'

/** `'data'`: in microseconds, ready for code; `'spoken'`: in fitting units, thousands apart. */
export type NumberStyle = 'data' | 'spoken'

export interface TableCells {
  readonly names: readonly string[]
  /** Per column: whether its cells are numbers, to be aligned right. */
  readonly numeric: readonly boolean[]
  readonly rows: readonly (readonly string[])[]
  /** Value of each cell to the last digit; empty if the cell already shows it. */
  readonly exact: readonly (readonly string[])[]
  readonly totalRows: number
}

export interface ColumnFormat {
  readonly numeric: boolean
  text(value: unknown): string
  /** A value to the last digit; empty where its text says as much. */
  exact(value: unknown): string
}

/** Significant digits the largest number of a column keeps. */
const DIGITS: Readonly<Record<NumberStyle, number>> = { data: 5, spoken: 4 }

/** Below this, numbers that a column's decimals cannot hold are written with an exponent. */
const SMALLEST_PLAIN = 0.001

/** Returns the first `limit` rows of `table` in its own order and filter, formatted column by column. */
export function tableCells(table: Table, limit: number, style: NumberStyle = 'data'): TableCells {
  const indices = firstIndices(table, limit)
  const names = table.columnNames()
  const columns = names.map((name) => {
    const column = table.column(name)
    const values = indices.map((index): unknown => column?.at(index))
    return { values, format: columnFormat(name, values, style) }
  })
  const cells = (text: (column: (typeof columns)[number], row: number) => string) =>
    indices.map((_, row) => columns.map((column) => text(column, row)))
  return {
    names,
    numeric: columns.map(({ format }) => format.numeric),
    rows: cells(({ values, format }, row) => format.text(values[row])),
    exact: cells(({ values, format }, row) => format.exact(values[row])),
    totalRows: table.numRows(),
  }
}

export function isDuration(name: string): boolean {
  return /(^|[a-z\d])Us$/.test(name)
}

/** Returns the name of a column as it is said where cells carry their unit: `contribution` of `contributionUs`. */
export function spokenName(name: string): string {
  return isDuration(name) && name !== 'Us' ? name.slice(0, -2) : name
}

/** Returns the format of a column, from its name and its values. */
export function columnFormat(
  name: string,
  values: readonly unknown[],
  style: NumberStyle,
): ColumnFormat {
  const present = values.filter((value) => value !== null && value !== undefined)
  const numeric = present.length > 0 && present.every(isNumeric)
  const number = numeric && style === 'spoken' ? spokenNumber(name, present) : plainNumber(present)
  const text = (value: unknown) => formatCell(value, number)
  return {
    numeric,
    text,
    exact: (value) => {
      if (!isNumber(value) || !Number.isFinite(value) || style === 'data') return ''
      const whole = isDuration(name) ? `${value} µs` : String(value)
      return whole === text(value).replaceAll(',', '').replace('−', '-') ? '' : whole
    },
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

type NumberText = (value: number | bigint) => string

/** Numbers with the decimals their column needs and no separators. */
function plainNumber(values: readonly unknown[]): NumberText {
  const decimals = decimalsFor(values.filter(isNumber), DIGITS.data)
  return (value) =>
    typeof value === 'bigint'
      ? String(value)
      : fittingNumber(value, decimals, (number) =>
          number.toFixed(decimals).replace(/^-(0(\.0+)?)$/, '$1'),
        )
}

/** Durations in their unit; p and q with two digits; other numbers with thousands set apart from five digits on. */
function spokenNumber(name: string, values: readonly unknown[]): NumberText {
  if (isDuration(name)) {
    return (value) => {
      const durationUs = Number(value)
      return Number.isNaN(durationUs) ? '–' : formatDuration(durationUs).replace('-', '−')
    }
  }
  if (name === 'p' || name === 'q') return (value) => probabilityText(Number(value))
  const decimals = decimalsFor(values.filter(isNumber), DIGITS.spoken)
  const spoken = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
    useGrouping: 'min2',
    signDisplay: 'negative',
  })
  return (value) => {
    if (typeof value === 'bigint') return spoken.format(value).replace('-', '−')
    if (Number.isNaN(value)) return '–'
    // Without decimals: 0 is exactly nothing, not something very small.
    if (value === 0) return '0'
    return fittingNumber(value, decimals, (number) => spoken.format(number)).replace(/^-/, '−')
  }
}

/** Writes a p or q with two digits; below a millionth, its size says nothing. */
function probabilityText(p: number): string {
  if (Number.isNaN(p)) return '–'
  if (p < 1e-6) return '< 1e-6'
  const short = Number(p.toPrecision(2))
  return short < SMALLEST_PLAIN ? short.toExponential() : String(short)
}

/** Numbers that the decimals of their column would falsify are written with three digits. */
function fittingNumber(value: number, decimals: number, text: (value: number) => string): string {
  if (!Number.isFinite(value)) return String(value)
  const size = Math.abs(value)
  const isLost = Math.abs(size - Number(size.toFixed(decimals))) > size * 0.05
  if (!isLost) return text(value)
  const short = Number(value.toPrecision(3))
  return size < SMALLEST_PLAIN ? short.toExponential() : String(short)
}

/** Returns the number of decimals that the largest number needs for its digits, without meaningless ones. */
function decimalsFor(numbers: readonly number[], digits: number): number {
  const finite = numbers.filter(Number.isFinite)
  if (finite.every(Number.isInteger)) return 0
  const largest = finite.reduce((most, number) => Math.max(most, Math.abs(number)), 0)
  const most = Math.max(0, Math.min(8, digits - 1 - Math.floor(Math.log10(largest))))
  const used = finite.map(
    (number) => (number.toFixed(most).split('.')[1] ?? '').replace(/0+$/, '').length,
  )
  return Math.max(...used)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint'
}

function formatCell(value: unknown, number: NumberText): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'bigint') return number(value)
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  }
  if (ArrayBuffer.isView(value)) return formatObject(Array.from(value as unknown as number[]))
  return typeof value === 'object' ? formatObject(value) : String(value)
}

function formatObject(value: object): string {
  return JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : inner))
}
