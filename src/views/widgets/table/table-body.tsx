import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { type TableColumn, valueAt } from './table-columns.ts'

const LONGEST_CELL = 72

interface Shown {
  readonly columns: readonly TableColumn[]
  /** Rows of this page. */
  readonly rows: Uint32Array
  /** How many rows come before them. */
  readonly first: number
}

/** The rows of one page. */
export function TableRows({ columns, rows, first }: Shown) {
  return (
    <tbody>
      {Array.from(rows, (row, i) => (
        <tr key={row} aria-rowindex={first + i + 2}>
          {columns.map((column) => (
            <ValueCell key={column.name} column={column} row={row} />
          ))}
        </tr>
      ))}
    </tbody>
  )
}

/** A value as a person says it, to the last digit on hover. */
export function ValueCell({ column, row }: { column: TableColumn; row: number }) {
  const value = valueAt(column, row)
  const whole = column.format.text(value)
  if (column.format.numeric) {
    const exact = column.format.exact(value)
    return (
      <td class="fd-amount" {...(exact === '' ? {} : { title: exact })}>
        {whole}
      </td>
    )
  }
  const text = shortText(whole, LONGEST_CELL)
  return (
    <td
      class={text.length > 36 ? 'fd-long' : 'fd-name'}
      {...(text === whole ? {} : { title: tooltipText(whole) })}
    >
      {text}
    </td>
  )
}
