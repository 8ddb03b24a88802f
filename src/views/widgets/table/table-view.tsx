import { extent, max, median, min, rollup, sort } from 'd3-array'
import { scaleLinear, scaleLog } from 'd3-scale'
import { useMemo, useState } from 'preact/hooks'
import { counted, grouped, shortText, tooltipText } from '../../../core/words.ts'
import { actOnKey, Button, Checkbox, Select, StateCode } from '../../drawing/controls.tsx'
import { DataTable } from '../../drawing/data-table.tsx'
import { useIsStill } from '../../drawing/figure.tsx'
import type { ViewProps } from '../define-widget.ts'
import { numberAt, type TableColumn, type TableData, valueAt } from './table-columns.ts'
import {
  FilterRow,
  HeadCell,
  KeptCount,
  MAX_NAME_LENGTH,
  SearchField,
  StartOver,
} from './table-head.tsx'
import { type UsedTable, useTable } from './use-table.ts'

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
  const turn = (to: number) => setPage(Math.max(0, Math.min(lastPage, to)))
  const onKeyDown = (event: KeyboardEvent) =>
    actOnKey(event, {
      PageDown: () => turn(page + 1),
      PageUp: () => turn(page - 1),
      Home: () => turn(0),
      End: () => turn(lastPage),
    })
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
          isOpen ? (
            <>
              <tr>
                {shown.map(({ at, column, summary }) => (
                  <SummaryCell
                    key={at}
                    column={column}
                    summary={summary as ColumnSummary}
                    onFilter={(text) => table.filter(at, state.filters[at] === text ? '' : text)}
                  />
                ))}
              </tr>
              <FilterRow table={table} shown={shown.map(({ at }) => at)} />
            </>
          ) : null
        }
      />
      {kept.length === 0 && data.rows > 0 ? <p class="fd-soft">No row fits.</p> : null}
      {data.rows > Math.min(data.pageSize, 10) ? (
        <Pager
          {...{ rows: kept.length, page, pageSize, onPage: setPage }}
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
        <Numbers column={column} summary={summary} />
      ) : (
        <Words column={column} summary={summary} onFilter={onFilter} />
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
  const bars = (rowsOf: (bin: { readonly all: number; readonly kept: number }) => number) =>
    bins
      .map((bin, i) => {
        const rows = rowsOf(bin)
        const height = Math.max(1.5, (HEIGHT * rows) / most)
        return rows === 0 ? '' : `M${i * step},${HEIGHT}v${-height}h${step - 1}v${height}z`
      })
      .join('')
  return (
    <>
      <svg width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
        <title>{label}</title>
        <path d={bars(({ all }) => all)} style="fill:var(--fd-line)" />
        <path d={bars(({ kept }) => kept)} style="fill:var(--fd-soft)" />
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
