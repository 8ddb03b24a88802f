import { ascending, descending } from 'd3-array'
import { type ComponentChildren, Fragment, type JSX } from 'preact'
import { useState } from 'preact/hooks'
import { grouped } from '../../core/words.ts'
import { Button } from './controls.tsx'
import { type StillCell, type StillColumn, StillTable } from './figure.tsx'
import { useIsStill } from './medium.ts'

export interface DataColumn<Row> {
  readonly title: string
  /** Explanation of the title, on hover. */
  readonly hint?: string
  /** Numbers stand at the right. */
  readonly isNumber?: boolean
  /** Whether its cells name their rows. */
  readonly isHead?: boolean
  readonly cell: (row: Row) => ComponentChildren
  /** Cell of the still where the page's is not a text; `null` leaves the column out. */
  readonly still?: ((row: Row) => StillCell) | null
  /** Title in the still, where that is a drawing. */
  readonly stillTitle?: StillColumn['title']
  /** Content of the head instead of the title, such as a drawing. */
  readonly head?: ComponentChildren
  /** The whole head, a `<th>` of its own. */
  readonly th?: ComponentChildren
  /** What a click on the head sorts by; `NaN` for none. */
  readonly value?: (row: Row) => number | string
}

interface DataTableProps<Row> {
  readonly label?: string
  readonly columns: readonly DataColumn<Row>[]
  readonly rows: readonly Row[]
  /** Number of all rows and heads, where only some are drawn. */
  readonly rowCount?: number
  /** `'treegrid'` for rows that open. */
  readonly role?: 'treegrid'
  /** Tells rows apart where they come and go; by place otherwise. */
  readonly rowKey?: (row: Row) => number | string
  readonly rowProps?: (row: Row, place: number) => JSX.HTMLAttributes<HTMLTableRowElement>
  /** Rows between the heads and the first row. */
  readonly under?: ComponentChildren
  /** What a row has opened into, across all columns below it; `null` while it is closed. */
  readonly opened?: (row: Row) => ComponentChildren
  /** Classes beside `fd-scroll`. */
  readonly class?: string
  /** Attributes of the element that scrolls. */
  readonly scroller?: JSX.HTMLAttributes<HTMLDivElement>
  /** Rows of the still at most. */
  readonly max?: number
  /** Rows of the page until a reader asks for all. */
  readonly few?: number
}

/** Shows rows as a table, in a page and in a still. */
export function DataTable<Row>({
  label,
  columns,
  rows: given,
  rowCount,
  role,
  rowKey,
  rowProps,
  under,
  opened,
  class: className = '',
  scroller,
  max = 12,
  few = Number.POSITIVE_INFINITY,
}: DataTableProps<Row>) {
  const isStill = useIsStill()
  const [order, setOrder] = useState<SortOrder | null>(null)
  const [isWhole, setWhole] = useState(false)
  const rows = sortedRows(given, columns, order)
  // A button for one row more would need as much room as the row.
  const isLong = rows.length > few + 1
  const shown = isLong && !isWhole ? rows.slice(0, few) : rows
  const drawn = isStill ? columns.filter(({ still }) => still !== null) : []
  const stillCell = (row: Row, { still, cell }: DataColumn<Row>): StillCell =>
    still ? still(row) : String(cell(row) ?? '')
  return (
    <StillTable
      columns={drawn.map(({ title, stillTitle = title, isNumber }) => ({
        title: stillTitle,
        align: isNumber ? 'end' : 'start',
      }))}
      rows={rows.slice(0, max).map((row) => drawn.map((column) => stillCell(row, column)))}
      max={max}
      total={rows.length}
    >
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
    </StillTable>
  )
}

interface SortOrder {
  readonly title: string
  readonly descending: boolean
}

/** Sorts rows; those without a value last, whichever way, and ties as they were. */
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

/** Names a column; where it has values a click sorts by them, numbers the largest first. */
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

/** Draws a share, from 0 to 1, as a bar within a cell. */
export function CellBar({ share, width, color }: { share: number; width: number; color: string }) {
  return (
    <svg width={width} height="10" aria-hidden="true">
      <rect width={share * width} height="10" style={`fill:${color}`} />
    </svg>
  )
}
