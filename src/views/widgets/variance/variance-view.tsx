import { ascending, descending } from 'd3-array'
import { useMemo, useState } from 'preact/hooks'
import { decodeColumns, type EncodedColumns } from '../../../core/columns.ts'
import { shortText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped } from '../../../core/words.ts'
import {
  serializeVarianceMarks,
  type VarianceMark,
} from '../../../explain/variance/variance-marks.ts'
import { StateCode } from '../../drawing/controls.tsx'
import { type DataColumn, DataTable } from '../../drawing/data-table.tsx'
import { Caption, PageOnly } from '../../drawing/figure.tsx'
import { useInk } from '../../drawing/ink.ts'
import { useIsStill } from '../../drawing/medium.ts'
import { exploreCode, type ViewProps } from '../define-widget.ts'
import { CategoriesPane } from './categories-pane.tsx'
import type { Axes } from './category-points.ts'
import { BINS, type SpreadRow, type VarianceData } from './variance-data.ts'
import { VarianceDetails } from './variance-details.tsx'
import { VARIANCE_WIDGET_OPTIONS, type VarianceWidgetOptions } from './variance-options.ts'
import { c2Text, varianceCode, varianceSummary } from './variance-words.ts'

/** How the explorer of variance lies in a page. */
export const VARIANCE_STYLE = `
.fd-variance-list { max-height: 330px; margin-bottom: 8px; }
.fd-variance-list th button { background: none; border: none; padding: 0; font-weight: 600; }
.fd-variance-open { border-top: 1px solid var(--fd-line); padding-top: 10px; }
.fd-variance-sides { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: flex-start; }
.fd-variance-sides > div { flex: 2 1 460px; min-width: 0; max-width: 100%; }
.fd-variance-sides > div:first-child { flex: 1 1 300px; }
.fd-variance-sides td button { white-space: normal; text-align: left; }
.fd-variance-sides td:first-child { min-width: 220px; }
.fd-variance-wide > div, .fd-variance-wide > div:first-child { flex-basis: 100%; }
.fd-variance-flow { max-height: 620px; overflow: auto; border: 1px solid var(--fd-line); border-radius: 4px; }
.fd-variance-flow svg { margin: 0 auto; height: auto; }
.fd-variance-whole svg { max-width: none; height: auto; }
.fd-variance-link { cursor: pointer; }
.fd-variance-link:focus { outline: none; }
.fd-variance-link:focus-visible .fd-variance-ring { stroke: var(--fd-focus); }
.fd-variance-link:focus-visible .fd-variance-gap { stroke: var(--fd-back); }
.fd-variance-edges { max-height: 360px; }
.fd-variance-edge { margin-top: 10px; }
.fd-variance-edge .fd-choice { flex-wrap: wrap; }
.fd-variance-edge h3 { font-size: 13px; }
.fd-variance-legend { display: flex; flex-wrap: wrap; gap: 2px 14px; }
.fd-variance-legend span { display: inline-flex; align-items: center; gap: 5px; white-space: nowrap; }
.fd-variance-marks { margin-top: 8px; }
.fd-variance-marks pre { font: 12px/1.4 ui-monospace, monospace; background: var(--fd-raised); color: inherit; padding: 8px; margin: 6px 0; overflow: auto; max-height: 220px; user-select: all; }
.fd-plots { display: flex; flex-wrap: wrap; }
.fd-plots svg { touch-action: pan-y; }
.fd-scatter { cursor: crosshair; user-select: none; }
.fd-curves { cursor: pointer; }
`

/** Shows which kinds of request are unpredictable, which edges make them so, and why. */
export function VarianceView(
  props: ViewProps<EncodedColumns<VarianceData>, VarianceWidgetOptions>,
) {
  const { options, call } = props
  const data = useMemo(() => decodeColumns(props.data), [props.data])
  const [open, setOpen] = useState(data.open === null ? null : (data.spreads[data.open] ?? null))
  const [edge, setEdge] = useState<number | null>(null)
  const [marks, setMarks] = useState<readonly VarianceMark[]>(data.of.marks)
  const [isPaneOpen, setPaneOpen] = useState(options.categories)
  const [axes, setAxes] = useState<Axes>([options.across, options.up])
  const isStill = useIsStill()
  const show = (row: SpreadRow | null) => {
    setOpen(row)
    setEdge(null)
  }
  const detail = open?.detail == null ? null : (data.details[open.detail] ?? null)
  const state = { ...options, across: axes[0], up: axes[1], categories: isPaneOpen }
  return (
    <section aria-label="Variance">
      <Caption text={varianceSummary(data)} />
      <Spreads data={data} open={open} onOpen={show} />
      {open === null ? (
        <PageOnly>
          <p class="fd-soft">Open a kind of request to see which edges make it unpredictable.</p>
        </PageOnly>
      ) : detail === null ? (
        <p class="fd-soft">
          Its flow is not in this page:{' '}
          <code>
            {exploreCode(VARIANCE_WIDGET_OPTIONS, { ...options, category: open.category }, call)}
          </code>
        </p>
      ) : (
        <VarianceDetails
          key={open.detail}
          {...{ row: open, detail, marks, onMark: setMarks, chosen: edge, onChoose: setEdge }}
        />
      )}
      {marks.length === 0 || isStill ? null : (
        <details class="fd-variance-marks">
          <summary>{counted(marks.length, 'mark')} as a file</summary>
          <pre>{serializeVarianceMarks(marks)}</pre>
          <button type="button" onClick={() => setMarks([])}>
            Take all marks away
          </button>
        </details>
      )}
      <StateCode code={varianceCode({ ...data, name: call.name }, { marks, open, edge })} />
      <div class="fd-bar">
        <button type="button" aria-expanded={isPaneOpen} onClick={() => setPaneOpen(!isPaneOpen)}>
          {isPaneOpen ? '▾' : '▸'} All categories: distribution of C², and by two measures
        </button>
      </div>
      {isPaneOpen ? (
        <>
          <CategoriesPane
            data={data.points}
            large={data.of.large}
            name={call.name}
            axes={axes}
            onAxes={setAxes}
          />
          <StateCode code={exploreCode(VARIANCE_WIDGET_OPTIONS, state, call)} />
        </>
      ) : null}
    </section>
  )
}

/** Columns that categories can be sorted by, with their titles. */
const SPREAD_COLUMNS = {
  root: 'kind of request (category)',
  period: 'period',
  requests: 'requests',
  meanUs: 'mean',
  sdUs: 'standard deviation',
  c2: 'C²',
} as const

type SpreadColumn = keyof typeof SPREAD_COLUMNS

export interface SpreadOrder {
  readonly column: SpreadColumn
  readonly descending: boolean
}

/** Sorts rows; those without a value last, whichever way, and ties as they were. */
export function inOrder(rows: readonly SpreadRow[], order: SpreadOrder): readonly SpreadRow[] {
  const { column } = order
  const compare = order.descending ? descending : ascending
  return [...rows].sort(
    (a, b) =>
      Number(a[column] === null) - Number(b[column] === null) ||
      compare(a[column] ?? 0, b[column] ?? 0),
  )
}

/** Returns the order after a click on a column's head: numbers begin with the largest. */
export function nextOrder(order: SpreadOrder, column: SpreadColumn): SpreadOrder {
  if (order.column === column) return { column, descending: !order.descending }
  return { column, descending: column !== 'root' && column !== 'period' }
}

const BINS_SIZE = { width: 110, height: 20 }
const MAX_NAME_LENGTH = 44
/** Rows shown before a reader asks for all. */
const FEW = 25

interface SpreadsProps {
  readonly data: VarianceData
  readonly open: SpreadRow | null
  readonly onOpen: (row: SpreadRow | null) => void
}

/** Lists categories by how unpredictable they are. */
function Spreads({ data, open, onOpen }: SpreadsProps) {
  const [order, setOrder] = useState<SpreadOrder>({ column: 'c2', descending: true })
  const [isWhole, setWhole] = useState(false)
  const isStill = useIsStill()
  const rows = inOrder(data.spreads, order)
  const name = ({ root, category }: SpreadRow) =>
    `${shortText(root, MAX_NAME_LENGTH)} (${category})`
  const cells: Record<SpreadColumn, Pick<DataColumn<SpreadRow>, 'cell' | 'still'>> = {
    root: {
      still: name,
      cell: (row) => (
        <button
          type="button"
          title={row.root}
          aria-pressed={row === open}
          onClick={() => onOpen(row === open ? null : row)}
        >
          {name(row)}
        </button>
      ),
    },
    period: { cell: ({ period }) => period },
    requests: { cell: ({ requests }) => grouped(requests) },
    meanUs: { cell: ({ meanUs }) => formatDuration(meanUs) },
    sdUs: { cell: ({ sdUs }) => (sdUs === null ? 'none' : formatDuration(sdUs)) },
    c2: {
      still: ({ c2 }) => ({ text: c2Text(c2), isBold: c2 !== null && c2 >= 1 }),
      cell: ({ c2 }) => (c2 !== null && c2 >= 1 ? <b>{c2Text(c2)}</b> : c2Text(c2)),
    },
  }
  const columns = (Object.keys(cells) as SpreadColumn[]).map((column): DataColumn<SpreadRow> => {
    const isSorted = order.column === column
    const sort = order.descending ? 'descending' : 'ascending'
    return {
      ...cells[column],
      title: SPREAD_COLUMNS[column],
      isNumber: column !== 'root' && column !== 'period',
      sort: isSorted ? sort : 'none',
      head: (
        <button type="button" onClick={() => setOrder(nextOrder(order, column))}>
          {SPREAD_COLUMNS[column]}
          <span aria-hidden="true">{isSorted ? (order.descending ? ' ▾' : ' ▴') : ''}</span>
        </button>
      ),
    }
  })
  return (
    <>
      <DataTable
        class="fd-variance-list"
        rows={isWhole || isStill ? rows : rows.slice(0, FEW)}
        rowProps={(row) => ({ 'aria-selected': row === open })}
        columns={[
          ...columns,
          {
            title: 'times, 0 to 3× mean',
            hint: 'Response times over their mean; the last bar is all beyond 3×',
            still: (row) => ({ width: BINS_SIZE.width, drawing: <TimeBins row={row} /> }),
            cell: (row) => (
              <svg
                {...BINS_SIZE}
                role="img"
                aria-label={`Response times of category ${row.category}`}
              >
                <TimeBins row={row} />
              </svg>
            ),
          },
        ]}
      />
      {rows.length <= FEW ? null : (
        <p class="fd-soft">
          <button type="button" onClick={() => setWhole(!isWhole)}>
            {isWhole ? `Only the first ${FEW}` : `All ${grouped(rows.length)}`}
          </button>
          {data.ranked > rows.length
            ? ` The ${grouped(rows.length)} with the highest C² of ${grouped(data.ranked)}.`
            : ''}
        </p>
      )}
    </>
  )
}

/** Draws response times over their mean, on one scale for all categories: the wider, the less predictable. */
function TimeBins({ row: { bins, period } }: { readonly row: SpreadRow }) {
  const ink = useInk()
  const { width, height } = BINS_SIZE
  const most = Math.max(1, ...bins)
  const step = width / bins.length
  const mean = BINS.perMean * step
  const bars = bins.map((count, place) => {
    const bar = Math.max(1.5, (count / most) * (height - 2)).toFixed(1)
    return count === 0
      ? ''
      : `M${(place * step).toFixed(1)} ${height}v-${bar}h${(step - 0.5).toFixed(1)}v${bar}z`
  })
  return (
    <g>
      <path d={`M0 ${height}h${width}`} stroke={ink.line} />
      <path d={bars.join('')} style={`fill:${ink[period]}`} />
      <path d={`M${mean} 0v${height}`} stroke={ink.soft} stroke-dasharray="2 2" />
    </g>
  )
}
