import type { Table } from 'arquero'
import { ascending, extent, max, median, min, range, rollup, sort } from 'd3-array'
import { scaleLinear, scaleLog } from 'd3-scale'
import { useMemo, useState } from 'preact/hooks'
import { fieldLiteral, textLiteral } from '../../../core/code-literals.ts'
import { defineOptions, most, text } from '../../../core/options.ts'
import { isDuration, spokenName } from '../../../core/table-cells.ts'
import {
  counted,
  formatDuration,
  grouped,
  shortText,
  spoken,
  tooltipText,
} from '../../../core/words.ts'
import { actOnKey, Button, Checkbox, Select, StateCode } from '../../drawing/controls.tsx'
import { DataTable } from '../../drawing/data-table.tsx'
import { useIsStill } from '../../drawing/figure.tsx'
import { defineWidget, STAGE_NAME, type ViewProps } from '../define-widget.ts'
import {
  columnFilter,
  isFilterable,
  isSortable,
  numberAt,
  type RowFilter,
  searchFilter,
  type TableColumn,
  type TableData,
  tableColumns,
  tableData,
  valueAt,
} from './table-columns.ts'

export interface TableState {
  readonly search: string
  readonly filters: readonly string[]
  readonly sort: readonly SortKey[]
  readonly hidden: readonly number[]
}

interface SortKey {
  readonly column: number
  readonly descending: boolean
}

export type UsedTable = ReturnType<typeof useTable>

export function useTable(data: TableData) {
  const columns = useMemo(() => tableColumns(data), [data])
  const [state, setState] = useState(() => untouched(columns))
  const { search, filters, sort } = state
  const kept = useMemo(
    () => keptRows(data.rows, stateFilters(columns, { search, filters })),
    [data, columns, search, filters],
  )
  const sorted = useMemo(
    () => sortedRows(kept, columns, { sort, origin: data.origin }),
    [data, columns, kept, sort],
  )
  const change = (changes: Partial<TableState>) => setState({ ...state, ...changes })
  return {
    columns,
    state,
    kept,
    sorted,
    code: tableCode(data, columns, state),
    isUntouched: search === '' && sort.length === 0 && filters.every((text) => text === ''),
    change,
    filter: (column: number, text: string) => change({ filters: filters.with(column, text) }),
    /** Sorts by a column: the useful way first, then the other, then not at all. */
    sortBy: (column: number, { andThen }: { readonly andThen: boolean }) => {
      // Numbers begin with the largest, words with A.
      const first = columns[column]?.isNumber ?? false
      const before = sort.find((key) => key.column === column)
      const isSecond = before?.descending === first
      const next =
        before === undefined || isSecond ? [{ column, descending: first !== isSecond }] : []
      if (!andThen) change({ sort: next })
      else if (before === undefined) change({ sort: [...sort, ...next] })
      else change({ sort: sort.flatMap((key) => (key === before ? next : [key])) })
    },
    reset: () => setState({ ...untouched(columns), hidden: state.hidden }),
  }
}

export function untouched(columns: readonly TableColumn[]): TableState {
  return { search: '', filters: columns.map(() => ''), sort: [], hidden: [] }
}

/** Returns the filters of a state, without those that cannot be understood. */
export function stateFilters(
  columns: readonly TableColumn[],
  { search, filters }: Pick<TableState, 'search' | 'filters'>,
): RowFilter[] {
  const found = columns.map((column, i) => columnFilter(column, filters[i] ?? ''))
  return [...found, searchFilter(columns, search)].filter(
    (filter) => filter !== null && 'test' in filter,
  )
}

export function keptRows(rows: number, filters: readonly RowFilter[]): Uint32Array {
  return Uint32Array.from(range(rows)).filter((row) => filters.every((filter) => filter.test(row)))
}

export function sortedRows(
  kept: Uint32Array,
  columns: readonly TableColumn[],
  { sort, origin }: Pick<TableState, 'sort'> & Pick<TableData, 'origin'>,
): Uint32Array {
  const orders = sort.flatMap(({ column, descending }) => {
    const known = columns[column]
    return known === undefined || !isSortable(known) ? [] : [columnOrder(known, descending)]
  })
  if (orders.length === 0) return kept
  const place = (row: number) => origin?.[row] ?? row
  orders.push((a, b) => place(a) - place(b))
  return kept.slice().sort((a, b) => orders.reduce((found, order) => found || order(a, b), 0))
}

/** Compares as Arquero does, except that missing values come last both ways. */
function columnOrder(column: TableColumn, descending: boolean): (a: number, b: number) => number {
  const { values } = column
  const sign = descending ? -1 : 1
  const isMissing = (value: unknown) => value === null || Number.isNaN(value)
  return (a, b) => {
    const [u, v] = [values[a] ?? null, values[b] ?? null]
    if (isMissing(u) || isMissing(v)) {
      const missing = Number(isMissing(u)) - Number(isMissing(v))
      return missing !== 0 ? missing : sign * (Number(v === null) - Number(u === null))
    }
    return sign * ascending(u ?? undefined, v ?? undefined)
  }
}

/** Returns the Arquero expression for the rows shown: `table.filter(d => d.requests > 100)`. */
export function tableCode(
  { name, rows, totalRows, isGrouped }: TableData,
  columns: readonly TableColumn[],
  state: TableState,
): string {
  const filters = stateFilters(columns, state).map(({ code }) => code)
  const all = filters.map((code) =>
    filters.length > 1 && code.includes(' || ') ? `(${code})` : code,
  )
  const keys = state.sort.flatMap(({ column, descending }) => sortCode(columns[column], descending))
  const shown = columns.filter((_, i) => !state.hidden.includes(i))
  const names = shown.map((column) => textLiteral(column.name))
  return [
    name,
    rows < totalRows ? `${isGrouped ? '.ungroup()' : ''}.slice(0, ${rows})` : '',
    all.length === 0 ? '' : `.filter(d => ${all.join(' && ')})`,
    keys.length === 0 ? '' : `.orderby(${keys.join(', ')})`,
    shown.length === columns.length ? '' : `.select(${names.join(', ')})`,
  ].join('')
}

function sortCode(column: TableColumn | undefined, descending: boolean): string[] {
  if (column === undefined || !isSortable(column)) return []
  const name = textLiteral(column.name)
  if (descending) return [`aq.desc(${name})`]
  const field = fieldLiteral(column.name)
  // Arquero puts missing values first; only NaN differs from itself.
  const missing = spoken([
    column.hasNull && `${field} == null`,
    column.hasNaN && `${field} !== ${field}`,
  ])
  return [...(missing.length > 0 ? [`d => ${missing.join(' || ')}`] : []), name]
}

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

/** Shows a filter for each column as they stand; `null` for one that no filter fits. */
export function FilterRow({
  table,
  shown,
}: {
  table: UsedTable
  shown: readonly (number | null)[]
}) {
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
  const help = column.isNumber
    ? '> 100, <= 5, 2..5, = 3, != 0; a number alone matches the text shown'
    : 'part of the text; =text for the whole, !=text for anything else'
  return (
    <>
      <input
        {...input}
        type="search"
        class="fd-filter"
        placeholder={placeholder(column)}
        title={problem || help}
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

const PAGE_SIZES = [10, 20, 50, 100]
/** Shorter tables are seen whole: filters and summaries come when asked for. */
const MIN_ROWS_WITH_FILTERS = 8
const STILL_ROWS = 10
const MAX_CELL_LENGTH = 72

export function TableView({ data }: Pick<ViewProps<TableData, unknown>, 'data'>) {
  const table = useTable(data)
  const { columns, state, kept, sorted } = table
  const isStill = useIsStill()
  const [wantedPage, setPage] = useState(0)
  const [pageSize, setPageSize] = useState(data.pageSize)
  const [isOpen, setOpen] = useState(data.rows >= MIN_ROWS_WITH_FILTERS)
  const lastPage = Math.max(0, Math.ceil(kept.length / pageSize) - 1)
  const page = Math.min(wantedPage, lastPage)
  const first = page * pageSize
  const summarizers = useMemo(
    () => (isOpen ? columns.map(columnSummarizer) : []),
    [columns, isOpen],
  )
  const summaries = useMemo(() => summarizers.map((summary) => summary(kept)), [summarizers, kept])
  const shown = columns.flatMap((column, at) =>
    state.hidden.includes(at) ? [] : [{ at, column, summary: summaries[at] }],
  )
  const turn = (to: number) => () => setPage(Math.max(0, Math.min(lastPage, to)))
  const keys = {
    PageDown: turn(page + 1),
    PageUp: turn(page - 1),
    Home: turn(0),
    End: turn(lastPage),
  }
  const onKeyDown = (event: KeyboardEvent) => actOnKey(event, keys)
  const allRows =
    data.rows < data.totalRows
      ? `the first ${grouped(data.rows)} rows (of ${grouped(data.totalRows)})`
      : counted(data.rows, 'row')
  return (
    <section aria-label={data.title}>
      <div class="fd-bar">
        {isOpen ? <SearchField table={table} label="Only rows with" /> : null}
        <KeptCount kept={kept.length} rows={data.rows} all={allRows} />
        <Button aria-pressed={isOpen} onClick={() => setOpen(!isOpen)}>
          Filters and summaries
        </Button>
        <ColumnChoice table={table} />
        <StartOver table={table} />
      </div>
      <DataTable<number>
        label={data.title}
        rowCount={kept.length + 1}
        scroller={{ role: 'group', 'aria-label': `${data.title}, rows`, tabIndex: 0, onKeyDown }}
        rows={Array.from(isStill ? sorted : sorted.subarray(first, first + pageSize))}
        rowKey={(row) => row}
        rowProps={(_, i) => ({ 'aria-rowindex': first + i + 2 })}
        max={STILL_ROWS}
        columns={shown.map(({ at, column }) => ({
          title: column.name,
          isNumber: column.format.numeric,
          th: <HeadCell key={at} table={table} at={at} />,
          cell: (row) => <Value column={column} row={row} />,
          still: (row) => shortText(column.format.text(valueAt(column, row)), MAX_CELL_LENGTH),
        }))}
        under={
          isOpen && (
            <>
              <tr>
                {shown.map(({ at, column, summary }) => (
                  <SummaryCell
                    key={at}
                    {...{ column, summary: summary as ColumnSummary }}
                    onFilter={(text) => table.filter(at, state.filters[at] === text ? '' : text)}
                  />
                ))}
              </tr>
              <FilterRow table={table} shown={shown.map(({ at }) => at)} />
            </>
          )
        }
      />
      {kept.length === 0 && data.rows > 0 ? <p class="fd-soft">No row fits.</p> : null}
      {data.rows > Math.min(data.pageSize, 10) && (
        <Pager
          {...{ rows: kept.length, page, pageSize, onPage: setPage }}
          pageSizes={sort(new Set([...PAGE_SIZES, data.pageSize]))}
          onPageSize={(size) => {
            setPageSize(size)
            setPage(Math.floor(first / size))
          }}
        />
      )}
      {data.rows < data.totalRows && (
        <p class="fd-soft">
          The first {grouped(data.rows)} of {counted(data.totalRows, 'row')} are here;{' '}
          {counted(data.totalRows - data.rows, 'row')} left out to keep the page small.
        </p>
      )}
      {isOpen || table.code !== data.name ? <StateCode code={table.code} /> : null}
    </section>
  )
}

function ColumnChoice({ table: { columns, state, change } }: { readonly table: UsedTable }) {
  const { hidden } = state
  const left = columns.length - hidden.length
  if (columns.length < 2) return null
  return (
    <details class="fd-columns">
      <summary>{hidden.length === 0 ? 'Columns' : `${left} of ${columns.length} columns`}</summary>
      <div class="fd-choices">
        {columns.map(({ name }, at) => (
          <Checkbox
            key={name}
            label={shortText(name, MAX_NAME_LENGTH)}
            isChecked={!hidden.includes(at)}
            isDisabled={left === 1 && !hidden.includes(at)}
            onChange={(isOn) =>
              change({ hidden: isOn ? hidden.filter((other) => other !== at) : [...hidden, at] })
            }
          />
        ))}
      </div>
    </details>
  )
}

function Value({ column, row }: { readonly column: TableColumn; readonly row: number }) {
  const value = valueAt(column, row)
  const whole = column.format.text(value)
  const text = column.format.numeric ? whole : shortText(whole, MAX_CELL_LENGTH)
  const title = text === whole ? column.format.exact(value) : tooltipText(whole)
  const look = column.format.numeric || text.length <= 36 ? 'fd-name' : 'fd-long'
  return (
    <div class={look} title={title === '' ? undefined : title}>
      {text}
    </div>
  )
}

interface PagerProps {
  readonly rows: number
  readonly page: number
  readonly pageSize: number
  readonly pageSizes: readonly number[]
  readonly onPage: (page: number) => void
  readonly onPageSize: (size: number) => void
}

function Pager({ rows, page, pageSize, pageSizes, onPage, onPageSize }: PagerProps) {
  const lastPage = Math.ceil(rows / pageSize) - 1
  const first = page * pageSize
  const last = Math.min(rows, first + pageSize)
  const turn = (name: string, sign: string, to: number) => (
    <Button
      aria-label={name}
      title={name}
      disabled={to === page || to < 0 || to > lastPage}
      onClick={() => onPage(to)}
    >
      {sign}
    </Button>
  )
  const span = `rows ${grouped(first + 1)} to ${grouped(last)} of ${grouped(rows)}`
  const words = lastPage < 1 ? counted(rows, 'row') : span
  return (
    <nav class="fd-bar fd-pager" aria-label="Pages">
      {lastPage < 1 ? null : (
        <span class="fd-pages">
          {turn('First page', '«', 0)}
          {turn('Previous page', '‹', page - 1)}
        </span>
      )}
      <span aria-live="polite">{rows === 0 ? 'no rows' : words}</span>
      {lastPage < 1 ? null : (
        <span class="fd-pages">
          {turn('Next page', '›', page + 1)}
          {turn('Last page', '»', lastPage)}
        </span>
      )}
      <Select
        class="fd-soft"
        label="rows per page"
        value={pageSize}
        values={pageSizes}
        onChoose={onPageSize}
      />
    </nav>
  )
}

type NumberSummary = ReturnType<ReturnType<typeof numberSummarizer>>
type WordSummary = ReturnType<ReturnType<typeof wordSummarizer>>
type ColumnSummary = NumberSummary | WordSummary

const BINS = 20
const TOP_WORDS = 3
/** Smallest ratio of the largest number to the smallest for bins of equal width on a log scale. */
const MIN_LOG_RATIO = 100

/** Prepares summaries of one column: counts all of its rows once, those left as often as asked. */
export function columnSummarizer(column: TableColumn): (kept: Uint32Array) => ColumnSummary {
  return column.isNumber ? numberSummarizer(column) : wordSummarizer(column)
}

function numberSummarizer(column: TableColumn) {
  const numbers = Float64Array.from(column.values, (_, row) => numberAt(column, row))
  const [low = Number.NaN, high = Number.NaN] = extent(numbers.filter(Number.isFinite))
  const isLog = low > 0 && high / low > MIN_LOG_RATIO
  const size = Number.isNaN(low) ? 0 : low < high ? BINS : 1
  const scale = (isLog ? scaleLog : scaleLinear)([low, high], [0, size])
  const countBins = (values: Float64Array) => {
    const counts = new Uint32Array(size)
    for (const value of values.filter(Number.isFinite)) {
      const bin = size === 1 ? 0 : Math.min(size - 1, Math.floor(scale(value)))
      counts[bin] = (counts[bin] as number) + 1
    }
    return counts
  }
  const all = countBins(numbers)
  return (kept: Uint32Array) => {
    const values = Float64Array.from(kept, (row) => numbers[row] as number)
    const left = countBins(values)
    return {
      kind: 'number' as const,
      isLog,
      missing: values.filter(Number.isNaN).length,
      bins: Array.from(all, (rows, bin) => ({ all: rows, kept: left[bin] as number })),
      // Statistics of the remaining rows; NaN if none has a number.
      min: min(values) ?? Number.NaN,
      median: median(values) ?? Number.NaN,
      max: max(values) ?? Number.NaN,
    }
  }
}

function wordSummarizer({ values }: TableColumn) {
  const countWords = (rows: Iterable<number>) => {
    const counts = rollup(
      rows,
      ({ length }) => length,
      (row) => values[row] ?? null,
    )
    const missing = counts.get(null) ?? 0
    counts.delete(null)
    return { counts, missing }
  }
  const top = sort(countWords(values.keys()).counts, ([, rows]) => -rows).slice(0, TOP_WORDS)
  return (kept: Uint32Array) => {
    const { counts, missing } = countWords(kept)
    return {
      kind: 'words' as const,
      missing,
      top: top.map(([word, all]) => ({ word: String(word), all, kept: counts.get(word) ?? 0 })),
      distinct: counts.size,
    }
  }
}

interface CellProps<Summary> {
  readonly column: TableColumn
  readonly summary: Summary
  readonly onFilter: (text: string) => void
}

const WIDTH = 96
const HEIGHT = 26
const MAX_WORD_LENGTH = 28

function SummaryCell({ column, summary, onFilter }: CellProps<ColumnSummary>) {
  return (
    <td class={column.format.numeric ? 'fd-sum fd-sum-number' : 'fd-sum'}>
      {summary.kind === 'number' ? (
        <Numbers {...{ column, summary }} />
      ) : (
        <Words {...{ column, summary, onFilter }} />
      )}
      {summary.missing > 0 ? <div class="fd-soft">{grouped(summary.missing)} missing</div> : null}
    </td>
  )
}

function Numbers({ column, summary }: Omit<CellProps<NumberSummary>, 'onFilter'>) {
  const { bins, min: low, median: middle, max: high, isLog } = summary
  const text = (value: number) =>
    column.kind === 'date' ? new Date(value).toISOString().slice(0, 10) : column.format.text(value)
  if (Number.isNaN(middle)) return null
  const facts = low === high ? `all ${text(low)}` : `${text(low)} to ${text(high)}`
  const label = `${column.name}: ${facts}, median ${text(middle)}${isLog ? ' (log scale)' : ''}`
  const most = Math.max(...bins.map(({ all }) => all), 1)
  const step = WIDTH / bins.length
  // All rows pale and those left in full; a single row is seen too.
  const bars = (which: 'all' | 'kept') => {
    const paths = bins.map(({ [which]: rows }, i) => {
      const height = Math.max(1.5, (HEIGHT * rows) / most)
      return rows === 0 ? '' : `M${i * step},${HEIGHT}v${-height}h${step - 1}v${height}z`
    })
    return paths.join('')
  }
  return (
    <>
      <svg width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
        <title>{label}</title>
        <path d={bars('all')} style="fill:var(--fd-line)" />
        <path d={bars('kept')} style="fill:var(--fd-soft)" />
      </svg>
      <div class="fd-soft">{facts}</div>
      {low === high ? null : <div class="fd-soft">median {text(middle)}</div>}
    </>
  )
}

/** Shows the most frequent words; those that each row has its own of say nothing. */
function Words({ column, summary: { top, distinct }, onFilter }: CellProps<WordSummary>) {
  const most = Math.max(...top.map(({ all }) => all), 1)
  if (most === 1 && top.length > 1) {
    return <div class="fd-soft">{counted(distinct, 'value')}, all different</div>
  }
  return (
    <>
      {top.map(({ word, all, kept }) => (
        <Button
          key={word}
          class="fd-top"
          disabled={column.kind === 'other'}
          style={`--fd-share:${(100 * kept) / most}%;--fd-all:${(100 * all) / most}%`}
          title={`${tooltipText(word)}: ${grouped(kept)} of ${counted(all, 'row')}`}
          onClick={() => onFilter(column.kind === 'boolean' ? word : `=${word}`)}
        >
          <span>{shortText(word, MAX_WORD_LENGTH) || '(empty)'}</span>
          <span>{grouped(kept)}</span>
        </Button>
      ))}
      {distinct > top.length ? <div class="fd-soft">{counted(distinct, 'value')}</div> : null}
    </>
  )
}

export const TABLE_OPTIONS = defineOptions({
  pageSize: most(10, 'rows', 'Rows of a page'),
  title: text({ default: 'Table', sentence: 'Title, which screen readers say' }),
  limit: most(100_000, 'rows', 'Rows that the page carries, the first of the table’s order'),
  name: STAGE_NAME,
})

/** A table to sort, to filter (`read`, `> 100`, `> 1 ms`, `2..5`), to summarize and to page through. */
export const tableWidget = defineWidget({
  name: 'table',
  title: ({ title }: TableData) => title,
  description: ({ totalRows, totalColumns }) =>
    `${counted(totalRows, 'row')} of ${counted(totalColumns, 'column')}; ` +
    'sort by a column’s name, write filters below it.',
  options: TABLE_OPTIONS,
  data: (table: Table, { pageSize, title, limit, name }) =>
    tableData(table, { pageSize, title, limit, name: name ?? 'table' }),
  view: TableView,
  style: TABLE_STYLE,
})
