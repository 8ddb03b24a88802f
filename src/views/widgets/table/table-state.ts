import { fieldLiteral, textLiteral } from '../../../core/code-literals.ts'
import { isSortable, type TableColumn } from './table-columns.ts'
import type { TableData } from './table-data.ts'
import { columnFilter, type RowFilter, searchFilter } from './table-filter.ts'

/** What a reader has set; columns are called by their number. */
export interface TableState {
  /** Looked for in every column. */
  readonly search: string
  /** What is written for each column. */
  readonly filters: readonly string[]
  /** By what rows are ordered, the most important first; the table's own order if empty. */
  readonly sort: readonly SortKey[]
  readonly hidden: readonly number[]
}

export interface SortKey {
  readonly column: number
  readonly descending: boolean
}

/** A table as it stands at first: its own order and all of its rows. */
export function untouched(columns: readonly TableColumn[]): TableState {
  return { search: '', filters: columns.map(() => ''), sort: [], hidden: [] }
}

/** The filters of a state that can be understood. */
export function stateFilters(
  columns: readonly TableColumn[],
  { search, filters }: Pick<TableState, 'search' | 'filters'>,
): RowFilter[] {
  const found = [
    ...columns.map((column, i) => columnFilter(column, filters[i] ?? '')),
    searchFilter(columns, search),
  ]
  return found.filter((filter) => filter !== null && 'test' in filter)
}

/** The rows that stay, in the table's own order. */
export function keptRows(rows: number, filters: readonly RowFilter[]): Uint32Array {
  const kept = new Uint32Array(rows)
  let count = 0
  for (let row = 0; row < rows; row++) {
    if (filters.every((filter) => filter.test(row))) kept[count++] = row
  }
  return kept.subarray(0, count)
}

type Order = (a: number, b: number) => number

/** Rows as they are sorted; missing values last, what is equal as Arquero leaves it. */
export function sortedRows(
  kept: Uint32Array,
  columns: readonly TableColumn[],
  { sort, origin }: { sort: readonly SortKey[]; origin: readonly number[] | null },
): Uint32Array {
  const orders = sort.flatMap(({ column, descending }) => {
    const known = columns[column]
    return known === undefined || !isSortable(known) ? [] : [columnOrder(known, descending)]
  })
  if (orders.length === 0) return kept
  const [first, ...others] = orders as [Order, ...Order[]]
  const tie: Order =
    origin === null ? (a, b) => a - b : (a, b) => (origin[a] as number) - (origin[b] as number)
  const rest = [...others, tie]
  return kept.slice().sort((a, b) => {
    const order = first(a, b)
    if (order !== 0) return order
    for (const next of rest) {
      const other = next(a, b)
      if (other !== 0) return other
    }
    return 0
  })
}

/** Arquero's own order, except that missing values come last both ways. */
function columnOrder(column: TableColumn, descending: boolean): Order {
  const places = 'words' in column ? placesOfWords(column) : column.numbers
  const sign = descending ? -1 : 1
  return (a, b) => {
    const u = places[a] as number
    const v = places[b] as number
    if (u < v) return -sign
    if (u > v) return sign
    if (u === v) return 0
    const missing = Number(Number.isNaN(u)) - Number(Number.isNaN(v))
    if (missing !== 0) return missing
    return sign * (Number(column.isNull(b)) - Number(column.isNull(a)))
  }
}

function placesOfWords({ words, codes }: Extract<TableColumn, { readonly codes: Int32Array }>) {
  const order = words.map((_, code) => code)
  const byWord = (a: number, b: number) => ((words[a] as string) < (words[b] as string) ? -1 : 1)
  const places = new Float64Array(words.length)
  for (const [place, code] of order.sort(byWord).entries()) places[code] = place
  return Float64Array.from(codes, (code) => places[code] ?? Number.NaN)
}

/**
 * An Arquero expression for what is shown:
 * `table.filter(d => d.requests > 100).orderby(aq.desc('contributionUs'))`.
 */
export function tableCode(
  { name, rows, totalRows, isGrouped }: TableData,
  columns: readonly TableColumn[],
  state: TableState,
): string {
  const filters = stateFilters(columns, state).map(({ code }) => code)
  const all = filters.length > 1 ? filters.map(inParentheses) : filters
  const keys = state.sort.flatMap(({ column, descending }) => sortCode(columns[column], descending))
  const shown = columns.filter((_, i) => !state.hidden.includes(i))
  return [
    name,
    rows < totalRows ? `${isGrouped ? '.ungroup()' : ''}.slice(0, ${rows})` : '',
    all.length === 0 ? '' : `.filter(d => ${all.join(' && ')})`,
    keys.length === 0 ? '' : `.orderby(${keys.join(', ')})`,
    shown.length === columns.length
      ? ''
      : `.select(${shown.map((column) => textLiteral(column.name)).join(', ')})`,
  ].join('')
}

function inParentheses(code: string): string {
  return code.includes(' || ') ? `(${code})` : code
}

function sortCode(column: TableColumn | undefined, descending: boolean): string[] {
  if (column === undefined || !isSortable(column)) return []
  const name = textLiteral(column.name)
  if (descending) return [`aq.desc(${name})`]
  const field = fieldLiteral(column.name)
  // Arquero puts what is missing first; only NaN is not itself.
  const missing = [
    ...(column.nulls > 0 ? [`${field} == null`] : []),
    ...('numbers' in column && column.hasNaN ? [`${field} !== ${field}`] : []),
  ]
  return [...(missing.length > 0 ? [`d => ${missing.join(' || ')}`] : []), name]
}
