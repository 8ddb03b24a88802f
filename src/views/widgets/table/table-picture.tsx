import type { Table } from 'arquero'
import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { tableCells } from '../../../core/table-cells.ts'
import { counted } from '../../../core/words.ts'
import { textWidth } from '../../charts/text-width.ts'
import { PICTURE_INK as INK } from '../../drawing/ink.ts'

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
