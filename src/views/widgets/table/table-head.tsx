import { shortText } from '../../../core/shown-text.ts'
import { isDuration } from '../../../core/table-cells.ts'
import { formatDuration } from '../../../core/units.ts'
import { isFilterable, isSortable, type TableColumn } from './table-columns.ts'
import { columnFilter } from './table-filter.ts'
import type { UsedTable } from './table-use.ts'

const LONGEST_NAME = 40

interface Place {
  readonly table: UsedTable
  /** Number of the column. */
  readonly at: number
}

/** The name of a column, which sorts by it. */
export function HeadCell({ table, at }: Place) {
  const column = table.columns[at] as TableColumn
  const place = table.state.sort.findIndex((key) => key.column === at)
  const key = table.state.sort[place]
  const name = shortText(column.name, LONGEST_NAME)
  const unit = isDuration(column.name) ? 'durations; in code in µs' : ''
  const rank = table.state.sort.length > 1 && place >= 0 ? String(place + 1) : ''
  return (
    <th
      scope="col"
      class={column.format.numeric ? 'fd-amount' : ''}
      aria-sort={key === undefined ? 'none' : key.descending ? 'descending' : 'ascending'}
    >
      {isSortable(column) ? (
        <button
          type="button"
          class="fd-sort"
          title={[
            name === column.name ? '' : column.name,
            unit,
            'sort; with Shift, sort by this too',
          ]
            .filter((part) => part !== '')
            .join(': ')}
          onClick={(event) => table.sortBy(at, { andThen: event.shiftKey })}
        >
          {name}
          <span aria-hidden="true" class={key === undefined ? 'fd-arrow fd-arrow-off' : 'fd-arrow'}>
            {key === undefined ? '↕' : key.descending ? '▼' : '▲'}
            {rank}
          </span>
        </button>
      ) : (
        <span title={column.name}>{name}</span>
      )}
    </th>
  )
}

/** Where the filter of a column is written. */
export function FilterCell({ table, at }: Place) {
  const column = table.columns[at] as TableColumn
  const written = table.state.filters[at] ?? ''
  const parsed = columnFilter(column, written)
  const problem = parsed !== null && 'problem' in parsed ? parsed.problem : ''
  const label = `Only rows where ${column.name} is`
  if (!isFilterable(column)) return <td />
  if (column.kind === 'boolean') {
    return (
      <td>
        <select
          {...{ 'aria-label': label, value: written }}
          onInput={({ currentTarget }) => table.filter(at, currentTarget.value)}
        >
          <option value="">any</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      </td>
    )
  }
  return (
    <td>
      <input
        {...{ type: 'search', class: 'fd-filter', 'aria-label': label, value: written }}
        placeholder={placeholder(column)}
        title={problem === '' ? help(column) : problem}
        aria-invalid={problem !== ''}
        onInput={({ currentTarget }) => table.filter(at, currentTarget.value)}
      />
      {problem === '' ? null : (
        <div role="alert" class="fd-problem">
          {problem}
        </div>
      )}
    </td>
  )
}

/** Text has something; numbers are above one of their own size. */
function placeholder(column: TableColumn): string {
  if ('words' in column) return 'has …'
  const size = Math.abs(column.largest)
  const round = size > 0 ? 10 ** Math.floor(Math.log10(size)) : 0
  return `> ${isDuration(column.name) ? formatDuration(round) : round}`
}

function help({ kind }: TableColumn): string {
  return kind === 'text'
    ? 'part of the text; =text for the whole, !=text for anything else'
    : '> 100, <= 5, 2..5, = 3, != 0; a number alone finds what is shown so'
}
