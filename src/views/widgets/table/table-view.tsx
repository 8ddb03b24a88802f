import { useMemo, useState } from 'preact/hooks'
import { counted, grouped } from '../../../core/words.ts'
import { StateCode } from '../../drawing/state-code.tsx'
import { TableRows } from './table-body.tsx'
import type { TableData } from './table-data.ts'
import { FilterCell, HeadCell } from './table-head.tsx'
import { Pager, pageCount } from './table-pager.tsx'
import { columnSummarizer } from './table-summary.ts'
import { SummaryCell } from './table-summary-cell.tsx'
import { TableTools } from './table-tools.tsx'
import { useTable } from './table-use.ts'

const PAGE_SIZES = [10, 20, 50, 100]
/** A table of fewer rows is seen whole: filters and summaries come when asked for. */
const FEW_ROWS = 8

/** A table to sort, to filter, to see at a glance and to leaf through. */
export function TableView({ data }: { readonly data: TableData }) {
  const table = useTable(data)
  const { columns, state, kept, sorted } = table
  const [wantedPage, setPage] = useState(0)
  const [pageSize, setPageSize] = useState(data.pageSize)
  const [isOpen, setOpen] = useState(data.rows >= FEW_ROWS)
  const page = Math.min(wantedPage, pageCount(kept.length, pageSize) - 1)
  const rows = sorted.subarray(page * pageSize, (page + 1) * pageSize)
  const summarizers = useMemo(
    () => (isOpen ? columns.map(columnSummarizer) : []),
    [columns, isOpen],
  )
  const summaries = useMemo(() => summarizers.map((summary) => summary(kept)), [summarizers, kept])
  const shown = columns.flatMap((_, at) => (state.hidden.includes(at) ? [] : [at]))
  const region = {
    ...{
      class: 'fd-scroll',
      role: 'group' as const,
      'aria-label': `${data.title}, rows`,
      tabIndex: 0,
    },
    onKeyDown: (event: KeyboardEvent) => {
      const last = pageCount(kept.length, pageSize) - 1
      const to = { PageDown: page + 1, PageUp: page - 1, Home: 0, End: last }[event.key]
      if (to === undefined || event.target !== event.currentTarget) return
      event.preventDefault()
      setPage(Math.max(0, Math.min(last, to)))
    },
  }
  return (
    <section aria-label={data.title}>
      <TableTools {...{ table, data, isOpen }} onOpen={setOpen} />
      <div {...region}>
        <table aria-label={data.title} aria-rowcount={kept.length + 1}>
          <thead>
            <tr aria-rowindex={1}>
              {shown.map((at) => (
                <HeadCell key={at} {...{ table, at }} />
              ))}
            </tr>
            {isOpen ? (
              <tr>
                {shown.map((at) => {
                  const [column, summary] = [columns[at], summaries[at]]
                  return column === undefined || summary === undefined ? null : (
                    <SummaryCell
                      key={at}
                      {...{ column, summary }}
                      onFilter={(text) => table.filter(at, state.filters[at] === text ? '' : text)}
                    />
                  )
                })}
              </tr>
            ) : null}
            {isOpen ? (
              <tr class="fd-filters">
                {shown.map((at) => (
                  <FilterCell key={at} {...{ table, at }} />
                ))}
              </tr>
            ) : null}
          </thead>
          <TableRows
            {...{ rows, first: page * pageSize }}
            columns={shown.flatMap((at) => columns[at] ?? [])}
          />
        </table>
      </div>
      {kept.length === 0 && data.rows > 0 ? <p class="fd-soft">No row fits.</p> : null}
      {data.rows > Math.min(data.pageSize, 10) ? (
        <Pager
          {...{ rows: kept.length, page, pageSize, onPage: setPage }}
          pageSizes={[...new Set([...PAGE_SIZES, data.pageSize])].sort((a, b) => a - b)}
          onPageSize={(size) => {
            setPageSize(size)
            setPage(Math.floor((page * pageSize) / size))
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
