import type { Table } from 'arquero'
import { codeText, fieldLiteral, patternSource } from '../../../core/code-literals.ts'
import { decodeColumns, encodeColumns } from '../../../core/columns.ts'
import { columnFormat, isDuration } from '../../../core/table-cells.ts'
import { UNITS_US } from '../../../core/words.ts'

const KINDS = {
  text: (value: unknown) => typeof value === 'string',
  number: (value: unknown) => typeof value === 'number',
  date: (value: unknown) => value instanceof Date,
  boolean: (value: unknown) => typeof value === 'boolean',
  other: () => true,
}

type ColumnKind = keyof typeof KINDS

export type TableData = ReturnType<typeof tableData>

interface TableCall {
  readonly title: string
  readonly name: string
  readonly pageSize: number
  readonly limit: number
}

export function tableData(table: Table, { limit, ...options }: TableCall) {
  const indices = table.indices()
  const chosen = indices.subarray(0, limit)
  const columns = table.columnNames().map((name) => {
    const column = table.column(name)
    const values = Array.from(chosen, (row): unknown => column?.at(row) ?? null)
    const present = values.filter((value) => value !== null)
    const kinds = Object.keys(KINDS) as ColumnKind[]
    const kind = kinds.find((each) => present.every(KINDS[each])) ?? 'other'
    const { text } = columnFormat(name, kind === 'other' ? values : [], 'data')
    // Dates are milliseconds, others (lists, objects, big integers, mixtures) text.
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
      name,
      kind,
      values,
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

/** A test of rows, and the same as an Arquero expression of the row `d`. */
export interface RowFilter {
  readonly test: (row: number) => boolean
  readonly code: string
}

const AMOUNT = String.raw`([-−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(µs|μs|us|ms|s|min|h)?`
/** `> 100`, `2..5 ms`, `12`. */
const NUMBERS = new RegExp(
  `^(?:(>=|≥|<=|≤|!=|≠|=|>|<)\\s*)?${AMOUNT}(?:\\s*\\.\\.\\s*${AMOUNT})?$`,
  'i',
)
const COMPARE = {
  '>': (a: number, b: number) => a > b,
  '>=': (a: number, b: number) => a >= b,
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
  '===': (a: number, b: number) => a === b,
  '!==': (a: number, b: number) => a !== b,
}
type Sign = keyof typeof COMPARE
const SIGNS: Readonly<Record<string, Sign>> = {
  '≥': '>=',
  '≤': '<=',
  '=': '===',
  '!=': '!==',
  '≠': '!==',
}

export function columnFilter(
  column: TableColumn,
  written: string,
): RowFilter | { readonly problem: string } | null {
  const text = written.trim()
  if (text === '' || !isFilterable(column)) return null
  if (!column.isNumber) return wordFilter(column, text)
  const example = isDuration(column.name) ? '> 1 ms' : '> 100'
  return numberFilter(column, text) ?? { problem: `Write a number, ${example}, or 2..5.` }
}

/** Reads the search of all columns, which keeps rows where any of them fits; `null` for none. */
export function searchFilter(columns: readonly TableColumn[], written: string): RowFilter | null {
  const text = written.trim()
  if (text === '') return null
  const [, sign, , , end] = NUMBERS.exec(text) ?? []
  const isComparison = sign !== undefined || end !== undefined
  const filters = columns.filter(isFilterable).flatMap((column) => {
    if (column.isNumber) return numberFilter(column, text) ?? []
    return isComparison || column.kind === 'boolean' ? [] : containsFilter(column, text)
  })
  return {
    test: (row) => filters.some((filter) => filter.test(row)),
    code: filters.length === 0 ? 'false' : filters.map(({ code }) => code).join(' || '),
  }
}

function wordFilter(column: TableColumn, text: string): RowFilter {
  const [, sign, rest = ''] = /^(!?=)\s*(.*)$/s.exec(text) ?? []
  const isBoolean = column.kind === 'boolean'
  if (sign === undefined && !isBoolean) return containsFilter(column, text)
  const word = isBoolean ? (rest || text) === 'true' : rest
  const isEqual = sign !== '!='
  return {
    test: (row) => (column.values[row] === word) === isEqual,
    code: `${fieldLiteral(column.name)} ${isEqual ? '===' : '!=='} ${codeText(word)}`,
  }
}

function containsFilter({ name, values }: TableColumn, text: string): RowFilter {
  const source = patternSource(text)
  const pattern = new RegExp(source, 'i')
  return {
    test: (row) => pattern.test((values[row] ?? '') as string),
    code: `aq.op.match(${fieldLiteral(name)}, /${source}/i, 0)`,
  }
}

function numberFilter(column: TableColumn, text: string): RowFilter | null {
  const [, written, size = '', unit, endSize, endUnit] = NUMBERS.exec(text) ?? []
  const amount = amountOf(column, size, unit ?? endUnit)
  const end = endSize === undefined ? Number.NaN : amountOf(column, endSize, endUnit)
  if (amount === null || end === null || (written !== undefined && endSize !== undefined)) {
    return null
  }
  if (endSize !== undefined) return compared(column, { '>=': amount, '<=': end })
  if (written !== undefined) return compared(column, { [SIGNS[written] ?? written]: amount })
  if (column.isInteger && unit === undefined) return compared(column, { '===': amount })
  // A plain number finds values that look like it with the same number of decimals.
  const [, decimals = '', exponent = '0'] = /^[^.e]*\.?(\d*)(?:e(.*))?$/i.exec(size) ?? []
  const step = stepOf(unit) ?? 1
  const half = (step * 10 ** (Number(exponent) - decimals.length)) / 2
  const clean = (value: number) => Number(value.toPrecision(12))
  return compared(column, { '>=': clean(amount - half), '<': clean(amount + half) })
}

function compared(column: TableColumn, conditions: Partial<Record<Sign, number>>): RowFilter {
  const field = fieldLiteral(column.name)
  const all = Object.entries(conditions) as [Sign, number][]
  const isOrder = all.every(([sign]) => sign !== '===' && sign !== '!==')
  // In JavaScript null > -1; a missing value is not.
  const guard = column.hasNull && isOrder ? [`${field} != null`] : []
  const code = [...guard, ...all.map(([sign, amount]) => `${field} ${sign} ${amount}`)]
  return {
    test: (row) => all.every(([sign, amount]) => COMPARE[sign](numberAt(column, row), amount)),
    code: code.length === 1 ? (code[0] as string) : `(${code.join(' && ')})`,
  }
}

/** Returns an amount in the unit of the column; `null` for no number, and a unit that it has not. */
function amountOf({ name }: TableColumn, size: string, unit: string | undefined): number | null {
  const number = size === '' ? Number.NaN : Number(size.replaceAll(',', '').replace('−', '-'))
  if (!Number.isFinite(number)) return null
  if (unit === undefined) return number
  const step = stepOf(unit)
  return isDuration(name) && step !== undefined ? Number((number * step).toPrecision(15)) : null
}

function stepOf(unit: string | undefined): number | undefined {
  return UNITS_US.get(unit?.toLowerCase() ?? '')
}
