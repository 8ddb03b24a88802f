import type { Table } from 'arquero'
import { tableHtml } from '../../../core/table-display.ts'
import { pageData } from '../../page/page-data.ts'
import { type TableData, tableData } from './table-data.ts'
import { livingTableHtml } from './table-widget.ts'

/** Rows that go along with a table nobody asked to explore. */
const MOST_ROWS = 100_000
/** Characters of data that go along, compressed: a notebook shows many tables. */
const MOST_CHARACTERS = 300_000
/** Rows by which the size of the others is estimated. */
const SAMPLE = 1000
const PAGE_SIZE = 20

/**
 * A table as notebooks show it: to sort and to filter, with as many rows as fit. Of tables with
 * nothing to sort, and of those whose rows are too large, only the plain table is left.
 */
export function explorableTableHtml(table: Table): string {
  if (table.numRows() < 2 || table.numCols() === 0) return tableHtml(table)
  const fitting = fittingData(table)
  return fitting === undefined ? tableHtml(table) : livingTableHtml(table, fitting)
}

interface Fitting {
  readonly data: TableData
  readonly packed: string
}

/** The data of as many rows as fit; fewer are tried until they do. */
function fittingData(table: Table): Fitting | undefined {
  let limit = Math.min(MOST_ROWS, table.numRows())
  if (limit > SAMPLE) limit = rowsThatFit(limit, packedRows(table, SAMPLE))
  while (limit >= 2) {
    const { data, packed } = packedRows(table, limit)
    if (packed.length <= MOST_CHARACTERS) return { data, packed }
    limit = Math.min(rowsThatFit(limit, { data, packed }), Math.floor(limit * 0.9))
  }
  return undefined
}

/** How many of `most` rows fit, as far as those that are packed tell. */
function rowsThatFit(most: number, { data, packed }: Fitting): number {
  return Math.min(most, Math.floor((0.95 * MOST_CHARACTERS * data.rows) / packed.length))
}

function packedRows(table: Table, limit: number): Fitting {
  const options = { title: 'Table', name: 'table', pageSize: PAGE_SIZE }
  const data = tableData(table, { ...options, limit })
  return { data, packed: pageData(data) }
}
