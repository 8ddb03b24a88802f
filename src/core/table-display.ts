import type { Table } from 'arquero'
import { visibleText } from './errors.ts'
import { escapeHtml } from './escape.ts'
import { spokenName, type TableCells, tableCells } from './table-cells.ts'
import { counted, spoken } from './words.ts'

export interface TableDisplayOptions {
  readonly limit?: number
}

/** Characters of one cell in {@link tableText}, so that rows stay on one line. */
const TEXT_CELL_WIDTH = 60

const HTML_CELL_LENGTH = 400

/** Longer cells of {@link tableHtml} may be broken into lines. */
const LONGEST_LINE = 72

const TABLE_STYLE =
  'border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px;margin:0'

/** Returns an HTML table of the first rows, escaped; durations in their unit, with µs on hover. */
export function tableHtml(table: Table, { limit = 20 }: TableDisplayOptions = {}): string {
  const cells = tableCells(table, limit, 'spoken')
  const columns = counted(cells.names.length, 'column')
  const title = escapeHtml(`${counted(cells.totalRows, 'row')}, ${columns}`)
  const head = cells.names
    .map((name, column) => {
      const tag =
        spokenName(name) === name ? 'th scope="col"' : `th scope="col" title="${escapeHtml(name)}"`
      return htmlCell(tag, spokenName(name), cells.numeric[column] === true)
    })
    .join('')
  const body = cells.rows.map((_, row) => htmlRow(cells, row)).join('')
  const more = moreRows(cells)
  return (
    `<div class="flowdelta-table" style="overflow-x:auto;max-width:100%">` +
    `<table title="${title}" style="${TABLE_STYLE}">` +
    `<thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>` +
    `${more === '' ? '' : `<div style="font-size:12px;opacity:0.75">${more}</div>`}</div>`
  )
}

/** Returns the first rows as aligned text, numbers as they are in the data. */
export function tableText(table: Table, { limit = 20 }: TableDisplayOptions = {}): string {
  const cells = tableCells(table, limit)
  const lines = [cells.names, ...cells.rows].map((row) =>
    row.map((cell) => shorten(visibleText(cell).replace(/\s+/g, ' '), TEXT_CELL_WIDTH)),
  )
  const aligned = alignedLines(lines, (column) => cells.numeric[column] === true)
  return spoken([...aligned, moreRows(cells)]).join('\n')
}

/** Rows of cells as lines of text, whose columns are aligned left, or right where `isRight` says so. */
export function alignedLines(
  rows: readonly (readonly string[])[],
  isRight: (column: number) => boolean,
): string[] {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const widths = (rows[0] ?? []).map((_, column) => widthOf(column))
  const padded = (cell: string, column: number) =>
    isRight(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  return rows.map((row) => row.map(padded).join('  ').trimEnd())
}

function htmlRow({ rows, exact, numeric }: TableCells, row: number): string {
  const cells = (rows[row] ?? []).map((cell, column) => {
    const whole = exact[row]?.[column] ?? ''
    const tag = whole === '' ? 'td' : `td title="${escapeHtml(whole)}"`
    return htmlCell(tag, cell, numeric[column] === true)
  })
  return `<tr>${cells.join('')}</tr>`
}

function htmlCell(tag: string, text: string, numeric: boolean): string {
  const align = `text-align:${numeric ? 'right' : 'left'}`
  const wrap = text.length > LONGEST_LINE ? '' : ';white-space:nowrap'
  const style = `padding:2px 8px;${align}${wrap}`
  const name = tag.split(' ')[0]
  return `<${tag} style="${style}">${escapeHtml(shorten(text, HTML_CELL_LENGTH))}</${name}>`
}

function moreRows({ rows, totalRows }: TableCells): string {
  const hidden = totalRows - rows.length
  if (totalRows === 0) return 'no rows'
  return hidden > 0 ? counted(hidden, 'more row') : ''
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}
