import type { Table } from 'arquero'
import { defineOptions, most, text } from '../../../core/options.ts'
import { counted } from '../../../core/words.ts'
import { defineWidget, STAGE_NAME } from '../define-widget.ts'
import { type TableData, tableData } from './table-columns.ts'
import { TABLE_STYLE } from './table-head.tsx'
import { TableView } from './table-view.tsx'

export const TABLE_OPTIONS = defineOptions({
  pageSize: most(10, 'rows', 'Rows of a page'),
  title: text({ default: 'Table', sentence: 'Title, which screen readers say' }),
  limit: most(100_000, 'rows', 'Rows that the page carries, the first of the table’s order'),
  name: STAGE_NAME,
})

/** A table to sort, to filter (`read`, `> 100`, `> 1 ms`, `2..5`), to summarize and to page through. */
export const tableWidget = defineWidget({
  name: 'table',
  title: ({ title }: TableData) => title,
  description: ({ totalRows, totalColumns }) =>
    `${counted(totalRows, 'row')} of ${counted(totalColumns, 'column')}; ` +
    'sort by a column’s name, write filters below it.',
  options: TABLE_OPTIONS,
  data: (table: Table, { pageSize, title, limit, name }) =>
    tableData(table, { pageSize, title, limit, name: name ?? 'table' }),
  view: TableView,
  style: TABLE_STYLE,
})
