import { useState } from 'preact/hooks'
import { shortText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { grouped } from '../../../core/words.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import { VarianceBins } from './variance-bins.tsx'
import type { SpreadRow, VarianceData } from './variance-data.ts'
import {
  inOrder,
  nextOrder,
  SPREAD_COLUMNS,
  type SpreadColumn,
  type SpreadOrder,
} from './variance-order.ts'
import { c2Text } from './variance-words.ts'

const BINS_SIZE = { width: 110, height: 22 } as const
const LONGEST_NAME = 44
const AT_FIRST = 25

interface Shown {
  readonly data: VarianceData
  readonly open: SpreadRow | null
  readonly onOpen: (row: SpreadRow | null) => void
}

/** Tier 1: categories by how unpredictable they are. */
export function VarianceSpreads({ data, open, onOpen }: Shown) {
  const [order, setOrder] = useState<SpreadOrder>({ column: 'c2', descending: true })
  const [isWhole, setWhole] = useState(false)
  const rows = inOrder(data.spreads, order)
  const shown = isWhole ? rows : rows.slice(0, AT_FIRST)
  return (
    <>
      <div class="fd-scroll fd-variance-list">
        <table>
          <thead>
            <tr>
              {(Object.keys(SPREAD_COLUMNS) as SpreadColumn[]).map((column) => (
                <Head key={column} {...{ column, order, onOrder: setOrder }} />
              ))}
              <th scope="col" title="Response times over their mean; the last bar is all beyond 3×">
                times, 0 to 3× the mean
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <Row
                key={`${row.category} ${row.period}`}
                {...{ row, isOpen: row === open, onOpen }}
              />
            ))}
          </tbody>
        </table>
      </div>
      {rows.length <= AT_FIRST ? null : (
        <p class="fd-soft">
          <button type="button" onClick={() => setWhole(!isWhole)}>
            {isWhole ? `Only the first ${AT_FIRST}` : `All ${grouped(rows.length)}`}
          </button>
          {data.ranked > rows.length
            ? ` The ${grouped(rows.length)} with the highest C² of ${grouped(data.ranked)}.`
            : ''}
        </p>
      )}
    </>
  )
}

function Head({
  column,
  order,
  onOrder,
}: {
  readonly column: SpreadColumn
  readonly order: SpreadOrder
  readonly onOrder: (order: SpreadOrder) => void
}) {
  const isSorted = order.column === column
  const isText = column === 'root' || column === 'period'
  return (
    <th
      scope="col"
      class={isText ? '' : 'fd-amount'}
      aria-sort={isSorted ? (order.descending ? 'descending' : 'ascending') : 'none'}
    >
      <button type="button" onClick={() => onOrder(nextOrder(order, column))}>
        {SPREAD_COLUMNS[column]}
        <span aria-hidden="true">{isSorted ? (order.descending ? ' ▾' : ' ▴') : ''}</span>
      </button>
    </th>
  )
}

function Row({
  row,
  isOpen,
  onOpen,
}: {
  readonly row: SpreadRow
  readonly isOpen: boolean
  readonly onOpen: Shown['onOpen']
}) {
  const { category, period, root, requests, meanUs, sdUs, c2 } = row
  return (
    <tr aria-selected={isOpen}>
      <td>
        <button
          {...{ type: 'button', title: root, 'aria-pressed': isOpen }}
          onClick={() => onOpen(isOpen ? null : row)}
        >
          {shortText(root, LONGEST_NAME)} ({category})
        </button>
      </td>
      <td>{period}</td>
      <td class="fd-amount">{grouped(requests)}</td>
      <td class="fd-amount">{formatDuration(meanUs)}</td>
      <td class="fd-amount">{sdUs === null ? 'none' : formatDuration(sdUs)}</td>
      <td class="fd-amount">{c2 !== null && c2 >= 1 ? <b>{c2Text(c2)}</b> : c2Text(c2)}</td>
      <td>
        <svg {...BINS_SIZE} role="img" aria-label={`Response times of category ${category}`}>
          <VarianceBins {...{ row, ink: PAGE_INK, ...BINS_SIZE }} />
        </svg>
      </td>
    </tr>
  )
}
