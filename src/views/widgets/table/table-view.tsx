import { useMemo, useState } from 'preact/hooks'
import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { counted, grouped } from '../../../core/words.ts'
import { StateCode } from '../../drawing/controls.tsx'
import { StillTable } from '../../drawing/figure.tsx'
import type { ViewProps } from '../define-widget.ts'
import { type TableColumn, type TableData, valueAt } from './table-columns.ts'
import { FilterRow, HeadCell } from './table-head.tsx'
import { type ColumnSummary, columnSummarizer, SummaryCell } from './table-summary.tsx'
import { type UsedTable, useTable } from './use-table.ts'

const PAGE_SIZES = [10, 20, 50, 100]
/** Shorter tables are seen whole: filters and summaries come when asked for. */
const MIN_ROWS_WITH_FILTERS = 8
const STILL_ROWS = 10
const MAX_NAME_LENGTH = 40
const MAX_CELL_LENGTH = 72

/** Shows a table to sort, to filter, to summarize and to page through. */
export function TableView({ data }: Pick<ViewProps<TableData, unknown>, 'data'>) {
  const table = useTable(data)
  const { columns, state, kept, sorted } = table
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
  const shown = columns.flatMap((_, at) => (state.hidden.includes(at) ? [] : [at]))
  const turnPage = (event: KeyboardEvent) => {
    const to = { PageDown: page + 1, PageUp: page - 1, Home: 0, End: lastPage }[event.key]
    if (to === undefined || event.target !== event.currentTarget) return
    event.preventDefault()
    setPage(Math.max(0, Math.min(lastPage, to)))
  }
  // A scrolling group that keys turn the pages of: no element of HTML is one.
  const pages = {
    role: 'group' as const,
    'aria-label': `${data.title}, rows`,
    tabIndex: 0,
    onKeyDown: turnPage,
  }
  return (
    <section aria-label={data.title}>
      <Tools {...{ table, data, isOpen }} onOpen={setOpen} />
      <StillTable
        columns={shown.map((at) => stillColumn(columns[at] as TableColumn))}
        rows={Array.from(sorted.subarray(0, STILL_ROWS), (row) =>
          shown.map((at) => stillCell(columns[at] as TableColumn, row)),
        )}
        max={STILL_ROWS}
        total={sorted.length}
      >
        <div class="fd-scroll" {...pages}>
          <table aria-label={data.title} aria-rowcount={kept.length + 1}>
            <thead>
              <tr aria-rowindex={1}>
                {shown.map((at) => (
                  <HeadCell key={at} table={table} at={at} />
                ))}
              </tr>
              {isOpen ? (
                <>
                  <tr>
                    {shown.map((at) => (
                      <SummaryCell
                        key={at}
                        column={columns[at] as TableColumn}
                        summary={summaries[at] as ColumnSummary}
                        onFilter={(text) =>
                          table.filter(at, state.filters[at] === text ? '' : text)
                        }
                      />
                    ))}
                  </tr>
                  <FilterRow table={table} shown={shown} />
                </>
              ) : null}
            </thead>
            <tbody>
              {Array.from(sorted.subarray(first, first + pageSize), (row, i) => (
                <tr key={row} aria-rowindex={first + i + 2}>
                  {shown.map((at) => (
                    <ValueCell key={at} column={columns[at] as TableColumn} row={row} />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </StillTable>
      {kept.length === 0 && data.rows > 0 ? <p class="fd-soft">No row fits.</p> : null}
      {data.rows > Math.min(data.pageSize, 10) ? (
        <Pager
          {...{ rows: kept.length, page, lastPage, pageSize, onPage: setPage }}
          pageSizes={[...new Set([...PAGE_SIZES, data.pageSize])].sort((a, b) => a - b)}
          onPageSize={(size) => {
            setPageSize(size)
            setPage(Math.floor(first / size))
          }}
        />
      ) : null}
      {data.rows < data.totalRows ? (
        <p class="fd-soft">
          The first {grouped(data.rows)} of {counted(data.totalRows, 'row')} are here;{' '}
          {counted(data.totalRows - data.rows, 'row')} left out to keep the page small.
        </p>
      ) : null}
      {isOpen || table.code !== data.name ? <StateCode code={table.code} /> : null}
    </section>
  )
}

interface ToolsProps {
  readonly table: UsedTable
  readonly data: TableData
  /** Whether filters and summaries are shown. */
  readonly isOpen: boolean
  readonly onOpen: (isOpen: boolean) => void
}

function Tools({ table, data, isOpen, onOpen }: ToolsProps) {
  const all =
    data.rows < data.totalRows
      ? `the first ${grouped(data.rows)} rows (of ${grouped(data.totalRows)})`
      : counted(data.rows, 'row')
  return (
    <div class="fd-bar">
      {isOpen ? <SearchField table={table} label="Only rows with" /> : null}
      <KeptCount kept={table.kept.length} rows={data.rows} all={all} />
      <button type="button" aria-pressed={isOpen} onClick={() => onOpen(!isOpen)}>
        Filters and summaries
      </button>
      <ColumnChoice table={table} />
      <StartOver table={table} />
    </div>
  )
}

/** Searches all columns. */
export function SearchField({
  table,
  label,
}: {
  readonly table: UsedTable
  readonly label: string
}) {
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

/** Says how many rows the filters leave. */
export function KeptCount(props: {
  readonly kept: number
  readonly rows: number
  readonly all: string
}) {
  const { kept, rows, all } = props
  return <span aria-live="polite">{kept === rows ? all : `${grouped(kept)} of ${all}`}</span>
}

/** Takes search, filters and order away. */
export function StartOver({ table }: { readonly table: UsedTable }) {
  return table.isUntouched ? null : (
    <button type="button" onClick={table.reset}>
      Start over
    </button>
  )
}

/** Chooses the columns that are shown; one at least. */
function ColumnChoice({ table: { columns, state, change } }: { readonly table: UsedTable }) {
  const { hidden } = state
  const left = columns.length - hidden.length
  if (columns.length < 2) return null
  return (
    <details class="fd-columns">
      <summary>{hidden.length === 0 ? 'Columns' : `${left} of ${columns.length} columns`}</summary>
      <div class="fd-choices">
        {columns.map(({ name }, at) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={!hidden.includes(at)}
              disabled={left === 1 && !hidden.includes(at)}
              onInput={({ currentTarget: { checked } }) =>
                change({
                  hidden: checked ? hidden.filter((other) => other !== at) : [...hidden, at],
                })
              }
            />
            {shortText(name, MAX_NAME_LENGTH)}
          </label>
        ))}
      </div>
    </details>
  )
}

function stillColumn({ name, format }: TableColumn) {
  return { title: name, align: format.numeric ? ('end' as const) : ('start' as const) }
}

function stillCell(column: TableColumn, row: number): string {
  return shortText(column.format.text(valueAt(column, row)), MAX_CELL_LENGTH)
}

/** Shows a value as a person says it, to the last digit on hover. */
function ValueCell({ column, row }: { readonly column: TableColumn; readonly row: number }) {
  const value = valueAt(column, row)
  const whole = column.format.text(value)
  if (column.format.numeric) {
    const exact = column.format.exact(value)
    return (
      <td class="fd-amount" title={exact === '' ? undefined : exact}>
        {whole}
      </td>
    )
  }
  const text = shortText(whole, MAX_CELL_LENGTH)
  return (
    <td
      class={text.length > 36 ? 'fd-long' : 'fd-name'}
      title={text === whole ? undefined : tooltipText(whole)}
    >
      {text}
    </td>
  )
}

interface PagerProps {
  readonly rows: number
  readonly page: number
  readonly lastPage: number
  readonly pageSize: number
  readonly pageSizes: readonly number[]
  readonly onPage: (page: number) => void
  readonly onPageSize: (size: number) => void
}

function Pager({ rows, page, lastPage, pageSize, pageSizes, onPage, onPageSize }: PagerProps) {
  const first = page * pageSize
  const turn = (name: string, sign: string, to: number) => (
    <button
      type="button"
      aria-label={name}
      title={name}
      disabled={to === page || to < 0 || to > lastPage}
      onClick={() => onPage(to)}
    >
      {sign}
    </button>
  )
  return (
    <nav class="fd-bar fd-pager" aria-label="Pages">
      {lastPage === 0 ? null : (
        <span class="fd-pages">
          {turn('First page', '«', 0)}
          {turn('Previous page', '‹', page - 1)}
        </span>
      )}
      <span aria-live="polite">
        {rows === 0
          ? 'no rows'
          : lastPage === 0
            ? counted(rows, 'row')
            : `rows ${grouped(first + 1)} to ${grouped(Math.min(rows, first + pageSize))} of ${grouped(rows)}`}
      </span>
      {lastPage === 0 ? null : (
        <span class="fd-pages">
          {turn('Next page', '›', page + 1)}
          {turn('Last page', '»', lastPage)}
        </span>
      )}
      <label class="fd-soft">
        rows per page
        <select
          value={String(pageSize)}
          onInput={({ currentTarget }) => onPageSize(Number(currentTarget.value))}
        >
          {pageSizes.map((size) => (
            <option key={size} value={String(size)}>
              {size}
            </option>
          ))}
        </select>
      </label>
    </nav>
  )
}
