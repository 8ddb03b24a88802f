import { useMemo, useState } from 'preact/hooks'
import { type TableColumn, type TableData, tableColumns } from './table-columns.ts'
import {
  keptRows,
  nextSort,
  sortedRows,
  stateFilters,
  type TableState,
  tableCode,
  untouched,
} from './table-query.ts'

/** A table in the state its reader has brought it to. */
export interface UsedTable {
  readonly columns: readonly TableColumn[]
  readonly state: TableState
  /** Rows that the filters leave, in the table's own order. */
  readonly kept: Uint32Array
  /** The same rows, sorted. */
  readonly sorted: Uint32Array
  readonly code: string
  readonly isUntouched: boolean
  change(changes: Partial<TableState>): void
  filter(column: number, text: string): void
  /** Sorts by a column: the useful way first, then the other, then not at all. */
  sortBy(column: number, options: { readonly andThen: boolean }): void
  reset(): void
}

/** Keeps the state of a table; filters and sorts again only when they change. */
export function useTable(data: TableData): UsedTable {
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
    change,
    code: tableCode(data, columns, state),
    isUntouched: search === '' && sort.length === 0 && filters.every((text) => text === ''),
    filter: (column, text) => change({ filters: filters.with(column, text) }),
    sortBy: (column, { andThen }) => {
      const known = columns[column]
      if (known !== undefined) change({ sort: nextSort(sort, { column, known, andThen }) })
    },
    reset: () => setState({ ...untouched(columns), hidden: state.hidden }),
  }
}
