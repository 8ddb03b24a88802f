import { ascending, descending, sum } from 'd3-array'
import { type ComponentChildren, Fragment, type JSX } from 'preact'
import { useContext, useState } from 'preact/hooks'
import { counted, grouped, spoken } from '../../core/words.ts'
import { fittedText, textWidth } from '../charts/text-width.ts'
import { Button } from './controls.tsx'
import { INK, MediumContext, type StillPart, TEXT_SIZE } from './figure.tsx'

/** A cell of a still: text, or a drawing of its own that is at most a row high. */
type StillCell =
  | string
  | { readonly text: string; readonly color?: string; readonly isBold?: boolean }
  | CellDrawing

interface CellDrawing {
  readonly width: number
  readonly drawing: ComponentChildren
}

export interface DataColumn<Row> {
  readonly title: string
  readonly hint?: string
  readonly isNumber?: boolean
  readonly isHead?: boolean
  readonly cell: (row: Row) => ComponentChildren
  /** Cell of the still where the page's is not a text; `null` leaves the column out. */
  readonly still?: ((row: Row) => StillCell) | null
  readonly stillTitle?: string | CellDrawing
  readonly head?: ComponentChildren
  readonly th?: ComponentChildren
  /** Value that a click on the head sorts by; `NaN` for none. */
  readonly value?: (row: Row) => number | string
}

type ColumnLook<Row> = Omit<DataColumn<Row>, 'title' | 'cell' | 'isNumber'>

export function textColumn<Row>(
  title: string,
  cell: DataColumn<Row>['cell'],
  look: ColumnLook<Row> = {},
): DataColumn<Row> {
  return { title, cell, ...look }
}

/** Numbers rows by their rank, which opens and closes them; `thing` names a row. */
export function rankColumn<Row extends { readonly rank: number }>(
  thing: string,
  isOpen: (row: Row) => boolean,
  onToggle: (row: Row) => void,
): DataColumn<Row> {
  return {
    title: '#',
    isNumber: true,
    still: ({ rank }) => String(rank),
    cell: (row) => (
      <Button
        aria-expanded={isOpen(row)}
        aria-label={`${thing} ${row.rank}`}
        onClick={() => onToggle(row)}
      >
        <span aria-hidden="true">{isOpen(row) ? '▾' : '▸'}</span> {row.rank}
      </Button>
    ),
  }
}

export function numberColumn<Row>(...column: Parameters<typeof textColumn<Row>>): DataColumn<Row> {
  return { ...textColumn(...column), isNumber: true }
}

/** Shows a share as a bar beside its text. */
export function barColumn<Row>(
  title: string,
  textOf: (row: Row) => string,
  shareOf: (row: Row) => number,
  colorOf: (row: Row) => string = () => 'var(--fd-change)',
): DataColumn<Row> {
  const cell = (row: Row) =>
    textOf(row) !== '' && (
      <span class="fd-with-bar">
        <span>{textOf(row)}</span>
        <CellBar share={Math.max(0, Math.min(1, shareOf(row)))} width={BAR} color={colorOf(row)} />
      </span>
    )
  return numberColumn(title, cell, { still: textOf })
}

const BAR = 50

interface DataTableProps<Row> {
  readonly label?: string
  readonly columns: readonly DataColumn<Row>[]
  readonly rows: readonly Row[]
  readonly rowCount?: number
  readonly role?: 'treegrid'
  readonly rowKey?: (row: Row) => number | string
  readonly rowProps?: (row: Row, place: number) => JSX.HTMLAttributes<HTMLTableRowElement>
  readonly under?: ComponentChildren
  /** Details of an opened row, across all columns below it; `null` while it is closed. */
  readonly opened?: (row: Row) => ComponentChildren
  readonly class?: string
  readonly scroller?: JSX.HTMLAttributes<HTMLDivElement>
  readonly max?: number
  readonly few?: number
}

export function DataTable<Row>({ columns, rows: given, ...props }: DataTableProps<Row>) {
  const { label, rowCount, role, rowKey, rowProps, under, opened, scroller } = props
  const { class: className = '', max = 12, few = Number.POSITIVE_INFINITY } = props
  const { parts, width } = useContext(MediumContext)
  const [order, setOrder] = useState<SortOrder | null>(null)
  const [isWhole, setWhole] = useState(false)
  const rows = sortedRows(given, columns, order)
  // A button for one row more would need as much room as the row.
  const isLong = rows.length > few + 1
  const shown = isLong && !isWhole ? rows.slice(0, few) : rows
  if (parts !== null) {
    parts.push(stillTable(columns, rows, { max, width }))
    return null
  }
  return (
    <>
      <div class={`fd-scroll ${className}`} {...scroller}>
        <table role={role} aria-label={label} aria-rowcount={rowCount}>
          <thead>
            <tr>
              {columns.map(
                (column) =>
                  column.th ?? (
                    <Head key={column.title} {...column} order={order} onSort={setOrder} />
                  ),
              )}
            </tr>
            {under}
          </thead>
          <tbody>
            {shown.map((row, place) => {
              const content = opened?.(row) ?? null
              return (
                <Fragment key={rowKey?.(row) ?? place}>
                  <tr {...rowProps?.(row, place)}>
                    {columns.map(({ title, isNumber, isHead, cell }) =>
                      isHead ? (
                        <th key={title} scope="row" class="fd-name">
                          {cell(row)}
                        </th>
                      ) : (
                        <td key={title} class={isNumber ? 'fd-amount' : ''}>
                          {cell(row)}
                        </td>
                      ),
                    )}
                  </tr>
                  {content === null ? null : (
                    <tr class="fd-open">
                      <td colSpan={columns.length}>{content}</td>
                    </tr>
                  )}
                </Fragment>
              )
            })}
          </tbody>
        </table>
      </div>
      {isLong ? (
        <Button class="fd-more" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? `Only the first ${few}` : `${grouped(rows.length - few)} more`}
        </Button>
      ) : null}
    </>
  )
}

interface SortOrder {
  readonly title: string
  readonly descending: boolean
}

export function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly Pick<DataColumn<Row>, 'title' | 'value'>[],
  order: SortOrder | null,
): readonly Row[] {
  const value = columns.find(({ title }) => title === order?.title)?.value
  if (value === undefined) return rows
  const compare = order?.descending ? descending : ascending
  const isNone = (row: Row) => Number(Number.isNaN(value(row)))
  return [...rows].sort((a, b) => isNone(a) - isNone(b) || compare(value(a), value(b)))
}

interface HeadProps extends Omit<DataColumn<never>, 'cell' | 'still' | 'stillTitle' | 'th'> {
  readonly order: SortOrder | null
  readonly onSort: (order: SortOrder) => void
}

function Head({ title, hint, isNumber = false, head, value, order, onSort }: HeadProps) {
  const known = order?.title === title ? order : null
  const sort = known?.descending ? 'descending' : 'ascending'
  const next = { title, descending: known === null ? isNumber : !known.descending }
  return (
    <th
      scope="col"
      class={isNumber ? 'fd-amount' : ''}
      title={hint}
      aria-sort={value && (known === null ? 'none' : sort)}
    >
      {value === undefined ? (
        (head ?? title)
      ) : (
        <Button class="fd-sort" onClick={() => onSort(next)}>
          {title}
          <span aria-hidden="true">{known === null ? '' : known.descending ? ' ▾' : ' ▴'}</span>
        </Button>
      )}
    </th>
  )
}

export function CellBar({ share, width, color }: { share: number; width: number; color: string }) {
  return (
    <svg width={width} height="10" aria-hidden="true">
      <rect width={share * width} height="10" style={`fill:${color}`} />
    </svg>
  )
}

const ROW = 21
const GAP = 14
/** Narrower than this, a text is little but its ends; the last columns then give way. */
const MIN_COLUMN = 96
const MIN_COLUMNS = 6

function stillTable<Row>(
  all: readonly DataColumn<Row>[],
  rows: readonly Row[],
  { max, width, without = 0 }: { max: number; width: number; without?: number },
): StillPart {
  const columns = all.filter(({ still }) => still !== null)
  const head = columns.map(
    ({ title, stillTitle = title }): StillCell =>
      typeof stillTitle === 'string' ? { text: stillTitle, isBold: true } : stillTitle,
  )
  const cells = [
    head,
    ...rows
      .slice(0, max)
      .map((row) => columns.map(({ still, cell }) => still?.(row) ?? String(cell(row) ?? ''))),
  ]
  const widths = columnWidths(cells, width)
  const across = sum(widths) + GAP * (widths.length - 1)
  if (across > width && columns.length > MIN_COLUMNS) {
    return stillTable(columns.slice(0, -1), rows, { max, width, without: without + 1 })
  }
  const left = rows.length - (cells.length - 1)
  const more = spoken([left > 0 && `${left} more`, without > 0 && counted(without, 'more column')])
  const height = (cells.length + (more.length === 0 ? 0 : 1)) * ROW
  return {
    width: across,
    height,
    children: (
      <g font-size={TEXT_SIZE}>
        {cells.map((row, i) => (
          <g key={i} transform={`translate(0 ${i * ROW})`}>
            {i === 0 ? null : <line x2={across} y1="0.5" y2="0.5" stroke={INK.light.line} />}
            {row.map((cell, column) => {
              const left = sum(widths.slice(0, column)) + GAP * column
              if (isDrawing(cell)) {
                return (
                  <g key={column} transform={`translate(${left} 0)`}>
                    {cell.drawing}
                  </g>
                )
              }
              const width = widths[column] ?? 0
              const isNumber = columns[column]?.isNumber ?? false
              const said = typeof cell === 'string' ? { text: cell } : cell
              const { text, color = INK.light.text, isBold = false } = said
              // Fitting would take leading no-break spaces away.
              const indent = /^\u00a0*/.exec(text)?.[0] ?? ''
              return (
                <text
                  key={column}
                  x={isNumber ? left + width : left}
                  y={ROW - 6}
                  text-anchor={isNumber ? 'end' : 'start'}
                  font-weight={isBold ? 600 : 400}
                  style={`fill:${color}`}
                >
                  {indent}
                  {fittedText(text, width - textWidth(indent, TEXT_SIZE), TEXT_SIZE)}
                </text>
              )
            })}
          </g>
        ))}
        {more.length === 0 ? null : (
          <text y={(cells.length + 1) * ROW - 6} style={`fill:${INK.light.soft}`}>
            … and {more.join(', ')}
          </text>
        )}
      </g>
    ),
  }
}

function columnWidths(rows: readonly (readonly StillCell[])[], available: number): number[] {
  const columns = (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]))
  let widths = columns.map((column) => Math.ceil(Math.max(...column.map(cellWidth))))
  const isWide = () => sum(widths) + GAP * (columns.length - 1) > available
  // Text gives way, the widest columns first, as it can lose its middle; drawings cannot.
  const isText = columns.map((column) => !column.some(isDrawing))
  for (let most = Math.max(...widths); isWide() && most >= MIN_COLUMN; most--) {
    widths = widths.map((width, column) => (isText[column] ? Math.min(width, most) : width))
  }
  return widths
}

function isDrawing(cell: StillCell | undefined): cell is CellDrawing {
  return typeof cell === 'object' && 'drawing' in cell
}

function cellWidth(cell: StillCell | undefined): number {
  if (cell === undefined) return 0
  if (isDrawing(cell)) return cell.width
  return 1.08 * textWidth(typeof cell === 'string' ? cell : cell.text, TEXT_SIZE)
}
