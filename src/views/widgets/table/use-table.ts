import { ascending } from 'd3-array'
import { useMemo, useState } from 'preact/hooks'
import { fieldLiteral, textLiteral } from '../../../core/code-literals.ts'
import {
  columnFilter,
  isSortable,
  type RowFilter,
  searchFilter,
  type TableColumn,
  type TableData,
  tableColumns,
} from './table-columns.ts'

export interface TableState {
  readonly search: string
  readonly filters: readonly string[]
  readonly sort: readonly SortKey[]
  readonly hidden: readonly number[]
}

interface SortKey {
  readonly column: number
  readonly descending: boolean
}

export type UsedTable = ReturnType<typeof useTable>

export function useTable(data: TableData) {
  const columns = useMemo(() => tableColumns(data), [data])
  const [state, setState] = useState(() => untouched(columns))
  const { search, filters, sort } = state
  const kept = useMemo(
    () => keptRows(data.rows, stateFilters(columns, { search, filters })),
    [data, columns, search, filters],
  )
  const sorted = useMemo(
    () => sortedRows(kept, columns, { sort, origin: data.origin }),
    [data, columns, kept, sort],
  )
  const change = (changes: Partial<TableState>) => setState({ ...state, ...changes })
  return {
    columns,
    state,
    kept,
    sorted,
    code: tableCode(data, columns, state),
    isUntouched: search === '' && sort.length === 0 && filters.every((text) => text === ''),
    change,
    filter: (column: number, text: string) => change({ filters: filters.with(column, text) }),
    /** Sorts by a column: the useful way first, then the other, then not at all. */
    sortBy: (column: number, { andThen }: { readonly andThen: boolean }) => {
      // Numbers begin with the largest, words with A.
      const first = columns[column]?.isNumber ?? false
      const before = sort.find((key) => key.column === column)
      const isSecond = before?.descending === first
      const next =
        before === undefined || isSecond ? [{ column, descending: first !== isSecond }] : []
      if (!andThen) change({ sort: next })
      else if (before === undefined) change({ sort: [...sort, ...next] })
      else change({ sort: sort.flatMap((key) => (key === before ? next : [key])) })
    },
    reset: () => setState({ ...untouched(columns), hidden: state.hidden }),
  }
}

export function untouched(columns: readonly TableColumn[]): TableState {
  return { search: '', filters: columns.map(() => ''), sort: [], hidden: [] }
}

/** Returns the filters of a state, without those that cannot be understood. */
export function stateFilters(
  columns: readonly TableColumn[],
  { search, filters }: Pick<TableState, 'search' | 'filters'>,
): RowFilter[] {
  const found = columns.map((column, i) => columnFilter(column, filters[i] ?? ''))
  return [...found, searchFilter(columns, search)].filter(
    (filter) => filter !== null && 'test' in filter,
  )
}

export function keptRows(rows: number, filters: readonly RowFilter[]): Uint32Array {
  return Uint32Array.from({ length: rows }, (_, row) => row).filter((row) =>
    filters.every((filter) => filter.test(row)),
  )
}

export function sortedRows(
  kept: Uint32Array,
  columns: readonly TableColumn[],
  { sort, origin }: Pick<TableState, 'sort'> & Pick<TableData, 'origin'>,
): Uint32Array {
  const orders = sort.flatMap(({ column, descending }) => {
    const known = columns[column]
    return known === undefined || !isSortable(known) ? [] : [columnOrder(known, descending)]
  })
  if (orders.length === 0) return kept
  const place = (row: number) => origin?.[row] ?? row
  orders.push((a, b) => place(a) - place(b))
  return kept.slice().sort((a, b) => orders.reduce((found, order) => found || order(a, b), 0))
}

/** Compares as Arquero does, except that missing values come last both ways. */
function columnOrder(column: TableColumn, descending: boolean): (a: number, b: number) => number {
  const { values } = column
  const sign = descending ? -1 : 1
  const isMissing = (value: unknown) => value === null || Number.isNaN(value)
  return (a, b) => {
    const [u, v] = [values[a] ?? null, values[b] ?? null]
    if (isMissing(u) || isMissing(v)) {
      const missing = Number(isMissing(u)) - Number(isMissing(v))
      return missing !== 0 ? missing : sign * (Number(v === null) - Number(u === null))
    }
    return sign * ascending(u ?? undefined, v ?? undefined)
  }
}

/** Returns the Arquero expression for the rows shown: `table.filter(d => d.requests > 100)`. */
export function tableCode(
  { name, rows, totalRows, isGrouped }: TableData,
  columns: readonly TableColumn[],
  state: TableState,
): string {
  const filters = stateFilters(columns, state).map(({ code }) => code)
  const all = filters.map((code) =>
    filters.length > 1 && code.includes(' || ') ? `(${code})` : code,
  )
  const keys = state.sort.flatMap(({ column, descending }) => sortCode(columns[column], descending))
  const shown = columns.filter((_, i) => !state.hidden.includes(i))
  const names = shown.map((column) => textLiteral(column.name))
  return [
    name,
    rows < totalRows ? `${isGrouped ? '.ungroup()' : ''}.slice(0, ${rows})` : '',
    all.length === 0 ? '' : `.filter(d => ${all.join(' && ')})`,
    keys.length === 0 ? '' : `.orderby(${keys.join(', ')})`,
    shown.length === columns.length ? '' : `.select(${names.join(', ')})`,
  ].join('')
}

function sortCode(column: TableColumn | undefined, descending: boolean): string[] {
  if (column === undefined || !isSortable(column)) return []
  const name = textLiteral(column.name)
  if (descending) return [`aq.desc(${name})`]
  const field = fieldLiteral(column.name)
  // Arquero puts missing values first; only NaN differs from itself.
  const missing = [
    ...(column.hasNull ? [`${field} == null`] : []),
    ...(column.hasNaN ? [`${field} !== ${field}`] : []),
  ]
  return [...(missing.length > 0 ? [`d => ${missing.join(' || ')}`] : []), name]
}
