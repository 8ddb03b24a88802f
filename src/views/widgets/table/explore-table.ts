import type { Table } from 'arquero'
import type { MimeBundle } from '../../../core/display.ts'
import { fingerprint } from '../../../core/fingerprint.ts'
import type { OptionsOf } from '../../../core/options.ts'
import { tableHtml, tableText } from '../../../core/table-display.ts'
import { pageData } from '../../page/page-data.ts'
import { type ViewProps, type WidgetCall, widgetProps } from '../define-widget.ts'
import { Widget } from '../widget.ts'
import type { TableData } from './table-columns.ts'
import { TABLE_OPTIONS, tableWidget } from './table-widget.tsx'

/**
 * Makes a table to explore. Its line of code gives the rows shown in Arquero, imported as
 * `import * as aq from 'arquero'`.
 *
 * @param table any Arquero table: of a stage, or your own
 * @throws OptionError for a page size or limit below 1, FlowdeltaError for an unknown option
 *
 * @example
 * exploreTable(comparison.ranking.table(), { name: 'comparison.ranking.table()' }).view // 'table'
 */
export function exploreTable(
  table: Table,
  options: Partial<OptionsOf<typeof TABLE_OPTIONS>> = {},
  call: WidgetCall = { name: 'table', kind: null },
): TableWidget {
  return new TableWidget(table, widgetProps(tableWidget, table, options, call))
}
exploreTable.options = TABLE_OPTIONS

export class TableWidget extends Widget {
  readonly #table: Table

  /** @internal */
  constructor(table: Table, props: ViewProps<TableData, unknown>) {
    super(tableWidget, props)
    this.#table = table
  }

  override displayText(): string {
    return tableText(this.#table)
  }

  override mimeBundle(): MimeBundle {
    return { 'text/plain': this.displayText(), 'text/html': this.tableHtml(pageData(this.data)) }
  }

  /** Writes a plain table, and a script that brings it to life once the runtime is there. */
  tableHtml(packed: string): string {
    // Not an id of the packed data: compressors differ, and committed outputs must not.
    const id = fingerprint(`table${JSON.stringify(this.data)}`)
    return this.livingHtml(tableHtml(this.#table), packed, id)
  }
}

const MAX_ROWS = 100_000
/** Characters of compressed data in a notebook's output: a notebook shows many tables. */
const MAX_CHARACTERS = 300_000
/** Rows by which the size of the whole is estimated. */
const SAMPLE = 1000

/** Shows a table to sort and to filter, with as many rows as fit; plain if rows are too large. */
export function explorableTableHtml(table: Table): string {
  if (table.numRows() < 2 || table.numCols() === 0) return tableHtml(table)
  const fitting = (rows: number, characters: number) =>
    Math.floor((0.95 * MAX_CHARACTERS * rows) / characters)
  let limit = Math.min(MAX_ROWS, table.numRows())
  if (limit > SAMPLE) {
    const { data } = exploreTable(table, { limit: SAMPLE })
    limit = Math.min(limit, fitting(SAMPLE, pageData(data).length))
  }
  while (limit >= 2) {
    const widget = exploreTable(table, { limit })
    const packed = pageData(widget.data)
    if (packed.length <= MAX_CHARACTERS) return widget.tableHtml(packed)
    limit = Math.min(fitting(limit, packed.length), Math.floor(limit * 0.9))
  }
  return tableHtml(table)
}
