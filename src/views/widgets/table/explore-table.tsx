import type { Table } from 'arquero'
import type { MimeBundle } from '../../../core/display.ts'
import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { fingerprint } from '../../../core/fingerprint.ts'
import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { tableCells } from '../../../core/table-cells.ts'
import { tableHtml, tableText } from '../../../core/table-display.ts'
import { counted } from '../../../core/words.ts'
import { textWidth } from '../../charts/text-width.ts'
import { PICTURE_INK as INK } from '../../drawing/ink.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import { pageData } from '../../page/page-data.ts'
import { pagePromise, RUNTIME_MARKS } from '../../page/page-promise.ts'
import { Widget, type WidgetParts } from '../widget.ts'
import { type TableData, tableData } from './table-columns.ts'

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

/** A table to explore. Where scripts do not run it is a plain table, whose text can be selected. */
export class TableWidget extends Widget {
  readonly #table: Table

  constructor(table: Table, parts: WidgetParts) {
    super(parts)
    this.#table = table
  }

  override displayText(): string {
    return tableText(this.#table)
  }

  override mimeBundle(): MimeBundle {
    return {
      'text/plain': this.displayText(),
      'text/html': livingTableHtml(this.#table, { data: this.data, packed: pageData(this.data) }),
    }
  }
}

/**
 * A plain table, and a script that brings it to life once the runtime is there. `packed` is what
 * `pageData` makes of `data`.
 */
export function livingTableHtml(
  table: Table,
  { data, packed }: { readonly data: unknown; readonly packed: string },
): string {
  // Not of what is packed: compressors differ, and committed outputs must not.
  const id = fingerprint(`table${JSON.stringify(data)}`)
  const upgrade = `${pagePromise('widgets')}.then((page)=>page.showWidget("${id}","table",${packed}))`
  return `<div ${RUNTIME_MARKS.widgets}="${id}">${tableHtml(table)}</div><script type="module">${upgrade}</script>`
}

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

const ROWS = 10
const ROW_HEIGHT = 20
const SIZE = 12
const GAP = 18
const LONGEST_CELL = 32

/** The first rows of a table as a picture. */
export function TablePicture({ table, title }: { readonly table: Table; readonly title: string }) {
  const { names, numeric, rows, totalRows } = tableCells(table, ROWS, 'spoken')
  const lines = [names, ...rows]
  const short = (text: string) => shortText(text, LONGEST_CELL)
  const widths = names.map((_, column) =>
    Math.max(...lines.map((line) => textWidth(short(line[column] ?? ''), SIZE))),
  )
  const lefts = widths.map((_, column) =>
    widths.slice(0, column).reduce((sum, width) => sum + width + GAP, 12),
  )
  const hidden = totalRows - rows.length
  const width = Math.ceil(widths.reduce((sum, next) => sum + next + GAP, 12))
  const height = ROW_HEIGHT * (lines.length + (hidden > 0 ? 1 : 0)) + 12
  return (
    <svg
      {...{ width, height, viewBox: `0 0 ${width} ${height}`, 'font-size': SIZE }}
      font-family="system-ui, sans-serif"
    >
      <title>{title}</title>
      <rect width={width} height={height} fill={INK.back} />
      <line x1={8} x2={width - 8} y1={ROW_HEIGHT + 4} y2={ROW_HEIGHT + 4} stroke={INK.line} />
      {lines.map((line, row) =>
        line.map((cell, column) => (
          <text
            key={`${row} ${names[column]}`}
            x={(lefts[column] as number) + (numeric[column] ? (widths[column] as number) : 0)}
            y={ROW_HEIGHT * row + 18}
            text-anchor={numeric[column] ? 'end' : 'start'}
            font-weight={row === 0 ? 600 : 400}
            fill={INK.text}
          >
            {short(cell)}
            {short(cell) === cell ? null : <title>{tooltipText(cell)}</title>}
          </text>
        )),
      )}
      {hidden > 0 ? (
        <text x={12} y={height - 8} fill={INK.soft}>
          {counted(hidden, 'more row')}
        </text>
      ) : null}
    </svg>
  )
}
