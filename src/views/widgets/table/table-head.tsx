import { isDuration, spokenName } from '../../../core/table-cells.ts'
import { formatDuration, grouped, shortText, spoken } from '../../../core/words.ts'
import { Button } from '../../drawing/controls.tsx'
import { columnFilter, isFilterable, isSortable, type TableColumn } from './table-columns.ts'
import type { UsedTable } from './use-table.ts'

export const TABLE_STYLE = `
.fd-arrow { margin-left: 4px; font-size: 10px; color: var(--fd-focus); }
.fd-arrow-off { color: var(--fd-soft); opacity: 0.6; }
.fd-long { min-width: 16em; overflow-wrap: anywhere; }
.fd-sum { vertical-align: bottom; font-size: 11px; line-height: 1.3; white-space: nowrap; min-width: 104px; }
.fd-sum-number { text-align: right; }
.fd-sum-number svg { margin-left: auto; }
.fd-sum .fd-top { display: flex; justify-content: space-between; gap: 10px; width: 100%; min-width: 120px; white-space: nowrap; font-size: 11px; line-height: 1.3;
  border: 0; border-radius: 0; margin: 0 0 1px; padding: 0 3px; text-align: left;
  background: linear-gradient(90deg, var(--fd-selected) var(--fd-share), var(--fd-raised) var(--fd-share), var(--fd-raised) var(--fd-all), transparent var(--fd-all)); }
.fd-filters td { padding-top: 4px; padding-bottom: 6px; border-bottom: 2px solid var(--fd-line); vertical-align: top; }
.fd-filters input, .fd-filters select { width: 100%; min-width: 50px; padding: 2px 5px; font-size: 12px; }
input::placeholder { color: var(--fd-soft); opacity: 1; }
input[aria-invalid="true"] { border-color: var(--fd-change); }
.fd-problem { color: var(--fd-change); font-size: 11px; }
.fd-pager { margin-top: 8px; }
.fd-pages { display: inline-flex; gap: 4px; }
button:disabled { opacity: 0.45; cursor: default; }
.fd-sum .fd-top:disabled { opacity: 1; color: inherit; }
.fd-columns { position: relative; }
.fd-columns summary { cursor: pointer; }
.fd-choices { position: absolute; z-index: 2; display: grid; gap: 2px; padding: 8px 10px; margin-top: 4px; max-height: 20em; overflow: auto;
  white-space: nowrap; background: var(--fd-back); border: 1px solid var(--fd-line); border-radius: 4px; }
`

export const MAX_NAME_LENGTH = 40

interface ColumnPlace {
  readonly table: UsedTable
  readonly at: number
}

export function HeadCell({ table, at }: ColumnPlace) {
  const column = table.columns[at] as TableColumn
  const { sort } = table.state
  const place = sort.findIndex((key) => key.column === at)
  const order = sort[place]?.descending
  const name = shortText(spokenName(column.name), MAX_NAME_LENGTH)
  const look = order === undefined ? 'none' : order ? 'descending' : 'ascending'
  const hints = spoken([
    name !== column.name && column.name,
    isDuration(column.name) && 'durations; in code in µs',
    'sort; with Shift, sort by this too',
  ])
  return (
    <th scope="col" class={column.format.numeric ? 'fd-amount' : ''} aria-sort={look}>
      {isSortable(column) ? (
        <Button
          class="fd-sort"
          title={hints.join(': ')}
          onClick={(event) => table.sortBy(at, { andThen: event.shiftKey })}
        >
          {name}
          <span aria-hidden="true" class={`fd-arrow ${order === undefined ? 'fd-arrow-off' : ''}`}>
            {{ none: '↕', descending: '▼', ascending: '▲' }[look]}
            {sort.length > 1 && place >= 0 ? place + 1 : ''}
          </span>
        </Button>
      ) : (
        <span title={column.name}>{name}</span>
      )}
    </th>
  )
}

interface FilterRowProps {
  readonly table: UsedTable
  /** Columns as they stand; `null` for one that no filter fits. */
  readonly shown: readonly (number | null)[]
}

export function FilterRow({ table, shown }: FilterRowProps) {
  return (
    <tr class="fd-filters">
      {shown.map((at, place) => (
        <td key={place}>{at === null ? null : <Filter table={table} at={at} />}</td>
      ))}
    </tr>
  )
}

function Filter({ table, at }: ColumnPlace) {
  const column = table.columns[at] as TableColumn
  const written = table.state.filters[at] ?? ''
  const input = {
    value: written,
    'aria-label': `Only rows where ${column.name} is`,
    onInput: (event: Event) => table.filter(at, (event.currentTarget as HTMLInputElement).value),
  }
  if (!isFilterable(column)) return null
  if (column.kind === 'boolean') {
    return (
      <select {...input}>
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
        {...input}
        type="search"
        class="fd-filter"
        placeholder={placeholder(column)}
        title={problem === '' ? filterHelp(column) : problem}
        aria-invalid={problem !== ''}
      />
      {problem === '' ? null : (
        <div role="alert" class="fd-problem">
          {problem}
        </div>
      )}
    </>
  )
}

function placeholder(column: TableColumn): string {
  if (!column.isNumber) return 'has …'
  const size = Math.abs(column.largest)
  const round = size > 0 ? 10 ** Math.floor(Math.log10(size)) : 0
  return `> ${isDuration(column.name) ? formatDuration(round) : round}`
}

function filterHelp({ kind }: TableColumn): string {
  return kind === 'text'
    ? 'part of the text; =text for the whole, !=text for anything else'
    : '> 100, <= 5, 2..5, = 3, != 0; a number alone matches the text shown'
}

export function SearchField({ table, label }: { table: UsedTable; label: string }) {
  return (
    <input
      type="search"
      value={table.state.search}
      aria-label={label}
      placeholder="search, or > 100"
      title="text or a number in any column; > 100 for any number above"
      onInput={({ currentTarget }) => table.change({ search: currentTarget.value })}
    />
  )
}

export function KeptCount({ kept, rows, all }: { kept: number; rows: number; all: string }) {
  return <span aria-live="polite">{kept === rows ? all : `${grouped(kept)} of ${all}`}</span>
}

export function StartOver({ table }: { table: UsedTable }) {
  return table.isUntouched ? null : <Button onClick={table.reset}>Start over</Button>
}
