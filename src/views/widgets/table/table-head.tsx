import { shortText } from '../../../core/shown-text.ts'
import { isDuration } from '../../../core/table-cells.ts'
import { formatDuration } from '../../../core/units.ts'
import { isFilterable, isSortable, type TableColumn } from './table-columns.ts'
import { columnFilter } from './table-query.ts'
import type { UsedTable } from './use-table.ts'

const MAX_NAME_LENGTH = 40

interface ColumnPlace {
  readonly table: UsedTable
  /** Number of the column. */
  readonly at: number
}

/** Shows the name of a column; a click sorts by it. */
export function HeadCell({ table, at }: ColumnPlace) {
  const column = table.columns[at] as TableColumn
  const { sort } = table.state
  const place = sort.findIndex((key) => key.column === at)
  const key = sort[place]
  const name = shortText(column.name, MAX_NAME_LENGTH)
  const rank = sort.length > 1 && place >= 0 ? String(place + 1) : ''
  const hints = [
    name === column.name ? '' : column.name,
    isDuration(column.name) ? 'durations; in code in µs' : '',
    'sort; with Shift, sort by this too',
  ]
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
          title={hints.filter((hint) => hint !== '').join(': ')}
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

interface FilterRowProps {
  readonly table: UsedTable
  readonly shown: readonly number[]
  /** Columns after the table's own, without a filter. */
  readonly others?: number
}

/** Takes a filter for each column. */
export function FilterRow({ table, shown, others = 0 }: FilterRowProps) {
  return (
    <tr class="fd-filters">
      {shown.map((at) => (
        <td key={at}>
          <Filter table={table} at={at} />
        </td>
      ))}
      {others > 0 ? <td colSpan={others} /> : null}
    </tr>
  )
}

function Filter({ table, at }: ColumnPlace) {
  const column = table.columns[at] as TableColumn
  const written = table.state.filters[at] ?? ''
  const label = `Only rows where ${column.name} is`
  if (!isFilterable(column)) return null
  if (column.kind === 'boolean') {
    return (
      <select
        aria-label={label}
        value={written}
        onInput={({ currentTarget }) => table.filter(at, currentTarget.value)}
      >
        <option value="">any</option>
        <option value="true">true</option>
        <option value="false">false</option>
      </select>
    )
  }
  const parsed = columnFilter(column, written)
  const problem = parsed !== null && 'problem' in parsed ? parsed.problem : ''
  return (
    <>
      <input
        type="search"
        class="fd-filter"
        aria-label={label}
        value={written}
        placeholder={placeholder(column)}
        title={problem === '' ? filterHelp(column) : problem}
        aria-invalid={problem !== ''}
        onInput={({ currentTarget }) => table.filter(at, currentTarget.value)}
      />
      {problem === '' ? null : (
        <div role="alert" class="fd-problem">
          {problem}
        </div>
      )}
    </>
  )
}

/** Shows by example how to filter: numbers with one of the column's own size. */
function placeholder(column: TableColumn): string {
  if ('words' in column) return 'has …'
  const size = Math.abs(column.largest)
  const round = size > 0 ? 10 ** Math.floor(Math.log10(size)) : 0
  return `> ${isDuration(column.name) ? formatDuration(round) : round}`
}

function filterHelp({ kind }: TableColumn): string {
  return kind === 'text'
    ? 'part of the text; =text for the whole, !=text for anything else'
    : '> 100, <= 5, 2..5, = 3, != 0; a number alone finds what is shown so'
}
