import type { ComponentChildren, JSX } from 'preact'
import { type StillCell, type StillColumn, StillTable } from './figure.tsx'
import { useIsStill } from './medium.ts'

/** A column of a {@link DataTable}. */
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
  /** Content of the head instead of the title, such as a button. */
  readonly head?: ComponentChildren
  readonly sort?: 'ascending' | 'descending' | 'none'
}

interface DataTableProps<Row> {
  readonly label?: string
  readonly columns: readonly DataColumn<Row>[]
  readonly rows: readonly Row[]
  /** `'treegrid'` for rows that open. */
  readonly role?: 'treegrid'
  /** Tells rows apart where they come and go; by place otherwise. */
  readonly rowKey?: (row: Row) => number | string
  /** Attributes of a row. */
  readonly rowProps?: (row: Row, place: number) => JSX.HTMLAttributes<HTMLTableRowElement>
  /** Classes beside `fd-scroll`. */
  readonly class?: string
  /** Rows of the still at most. */
  readonly max?: number
}

/** Shows rows as a table, in a page and in a still. */
export function DataTable<Row>({
  label,
  columns,
  rows,
  role,
  rowKey,
  rowProps,
  class: className = '',
  max = 12,
}: DataTableProps<Row>) {
  const isStill = useIsStill()
  const drawn = isStill ? columns.filter(({ still }) => still !== null) : []
  const stillCell = (row: Row, { still, cell }: DataColumn<Row>): StillCell =>
    still ? still(row) : String(cell(row) ?? '')
  return (
    <StillTable
      columns={drawn.map(({ title, stillTitle = title, isNumber }) => ({
        title: stillTitle,
        align: isNumber ? 'end' : 'start',
      }))}
      rows={isStill ? rows.map((row) => drawn.map((column) => stillCell(row, column))) : []}
      max={max}
    >
      <div class={`fd-scroll ${className}`}>
        <table role={role} aria-label={label}>
          <thead>
            <tr>
              {columns.map(({ title, hint, isNumber, head, sort }) => (
                <th
                  key={title}
                  scope="col"
                  class={isNumber ? 'fd-amount' : ''}
                  title={hint}
                  aria-sort={sort}
                >
                  {head ?? title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, place) => (
              <tr key={rowKey?.(row) ?? place} {...rowProps?.(row, place)}>
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
            ))}
          </tbody>
        </table>
      </div>
    </StillTable>
  )
}
