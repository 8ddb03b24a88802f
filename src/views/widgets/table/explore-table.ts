import type { Table } from 'arquero'
import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { counted } from '../../../core/words.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import { tableData } from './table-data.ts'
import { TablePicture } from './table-picture.tsx'
import { TableWidget } from './table-widget.ts'

/** How a table is explored. */
export interface TableExplorerOptions {
  /** Rows of a page. Default 20. */
  readonly pageSize?: number
  /** What stands above it and is read out. Default `'Table'`. */
  readonly title?: string
  /** What the table is called in the line of code. Default `'table'`. */
  readonly name?: string
  /** Rows that go into the page, the first of the table's order. Default 100,000. */
  readonly limit?: number
}

/**
 * A table to sort, to filter (`read`, `> 100`, `> 1 ms`, `2..5`), to see column by column at a
 * glance, and to leaf through. What it shows is what its line of code gives in Arquero, imported
 * as `import * as aq from 'arquero'`.
 *
 * @param table any Arquero table: of a stage, or your own
 * @param options see {@link TableExplorerOptions}
 * @throws OptionError for a page size or limit below 1, FlowdeltaError for an unknown option
 *
 * @example
 * exploreTable(comparison.ranking.table(), { name: 'comparison.ranking.table()' }).view // 'table'
 */
export function exploreTable(table: Table, options: TableExplorerOptions = {}): TableWidget {
  rejectUnknownOptions(options, ['pageSize', 'title', 'name', 'limit'])
  const { pageSize = 20, title = 'Table', name = 'table', limit = 100_000 } = options
  for (const [option, value] of Object.entries({ pageSize, limit })) {
    if (!Number.isInteger(value) || value < 1) {
      throw new OptionError(option, value, 'a number of rows, 1 or more')
    }
  }
  const data = tableData(table, { title, name, pageSize, limit })
  return new TableWidget(table, {
    ...{ view: 'table', title, data },
    description:
      `${counted(table.numRows(), 'row')} of ${counted(table.numCols(), 'column')}; ` +
      'sort by a column’s name, write filters below it.',
    picture: () => renderSvg(TablePicture({ table, title })),
  })
}
