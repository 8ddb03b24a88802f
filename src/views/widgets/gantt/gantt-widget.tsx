import { greatest, max } from 'd3-array'
import { scaleLinear } from 'd3-scale'
import { useMemo, useState } from 'preact/hooks'
import type { Comparison } from '../../../comparison/comparison.ts'
import {
  counted,
  formatDuration,
  grouped,
  percent,
  shortText,
  tooltipText,
} from '../../../core/words.ts'
import type { TraceSet } from '../../../traces/trace-set.ts'
import {
  Button,
  FoldMark,
  foldKeys,
  Search,
  StateCode,
  useStops,
  useWidth,
} from '../../drawing/controls.tsx'
import { type DataColumn, DataTable, numberColumn } from '../../drawing/data-table.tsx'
import { Caption, useInk, useIsStill } from '../../drawing/figure.tsx'
import { Legend, marked } from '../../drawing/legend.tsx'
import {
  lengthUs,
  roundedRange,
  type StretchUs,
  TimeGrid,
  WorkBar,
  workLegend,
  ZOOM_STYLE,
  ZoomArea,
} from '../../drawing/time-range.tsx'
import { defineWidget, useWidgetOptions, type ViewProps } from '../define-widget.ts'
import {
  callMatches,
  fullId,
  GANTT_OPTIONS,
  type GanttCall,
  type GanttData,
  type GanttOptions,
  type GanttRow,
  ganttData,
  ganttRows,
  nameOf,
  uncriticalCalls,
} from './gantt-model.ts'

const ROW = 22

function LogMark({ x, isGrave, title = '' }: { x: number; isGrave: boolean; title?: string }) {
  const { change, text, back } = useInk()
  return (
    <circle cx={x.toFixed(2)} cy="4" r="3" fill={isGrave ? change : text} stroke={back}>
      {title === '' ? null : <title>{tooltipText(title)}</title>}
    </circle>
  )
}

export const GANTT_STYLE = `${ZOOM_STYLE}
.fd-gantt-rows { max-height: 640px; }
.fd-gantt-rows table { width: 100%; }
:where(.fd-gantt-rows) th, :where(.fd-gantt-rows) td { padding: 0; border: 0; }
.fd-gantt-rows thead th { font-weight: normal; color: var(--fd-soft); z-index: 1; }
.fd-gantt-row:hover td { background: var(--fd-raised); }
.fd-gantt-row[aria-selected="true"] td { background: var(--fd-selected); }
.fd-gantt-row:focus-visible { outline-offset: -2px; }
.fd-gantt-row.fd-dim { opacity: 0.45; }
.fd-gantt-row.fd-found .fd-gantt-name { font-weight: 600; text-decoration: underline; text-decoration-color: var(--fd-change); text-underline-offset: 2px; }
.fd-gantt-row .fd-amount { color: var(--fd-soft); font-size: 12px; }
.fd-gantt-name { display: flex; gap: 4px; height: 22px; align-items: center; white-space: nowrap; padding-right: 8px; }
.fd-gantt-text { overflow: hidden; text-overflow: ellipsis; }
.fd-gantt-details { min-height: 9em; margin-top: 8px; }
.fd-gantt-details .fd-scroll { display: flex; flex-wrap: wrap; gap: 8px 32px; align-items: flex-start; }
.fd-gantt-details h3, .fd-gantt-details td { overflow-wrap: anywhere; vertical-align: top; }
.fd-gantt-details th { font-weight: normal; position: static; }
`

/** Rows that are drawn at first; a button shows as many more. */
const PAGE = 500
/** A still is no place to look for the two hundredth call. */
const MAX_STILL_ROWS = 100
const ASIDE = 80
/** Indentation of a level, if that leaves most of the column to names. */
const MAX_INDENT = 11
const MAX_INDENTED = 0.3
const SPACE = 3.7

export function GanttView(props: ViewProps<GanttData, GanttOptions>) {
  const { data } = props
  const { calls, usuallyCollapsed } = data
  const { options, change, code } = useWidgetOptions(GANTT_OPTIONS, props)
  const { search } = options
  const collapsed = options.collapsed ?? usuallyCollapsed
  const collapse = (numbers: readonly number[]) => {
    const sorted = numbers.toSorted((a, b) => a - b)
    change({ collapsed: String(sorted) === String(usuallyCollapsed) ? null : sorted })
  }
  const fold = (call: number, isFolded: boolean) =>
    collapse(isFolded ? [...collapsed, call] : collapsed.filter((other) => other !== call))
  const zoom = (range: StretchUs | null) => change({ range })
  const [selected, setSelected] = useState(0)
  const [most, setMost] = useState(PAGE)
  const [place, width] = useWidth<HTMLElement>()
  const isStill = useIsStill()
  const ink = useInk()
  const all = useMemo(() => ganttRows(calls, collapsed), [data, collapsed])
  const rows = all.slice(0, most)
  const shown = rows.find(({ number }) => number === selected) ?? rows[0]
  const matches = useMemo(
    () => [...calls.keys()].filter((call) => callMatches(calls[call] as GanttCall, search)),
    [data, search],
  )
  const goTo = (call: number | undefined) => {
    if (call === undefined) return
    const isAround = (other: number) => other < call && call <= other + (calls[other]?.inner ?? 0)
    collapse(collapsed.filter((other) => !isAround(other)))
    setMost(Math.max(most, call + 1))
    setSelected(call)
    // The row may have to be drawn first.
    requestAnimationFrame(() => {
      place.current?.querySelector(`[data-call="${call}"]`)?.scrollIntoView({ block: 'nearest' })
    })
  }
  const callers = calls.flatMap(({ parent, inner }, call) =>
    parent >= 0 && inner > 0 ? [call] : [],
  )
  const goToNext = () => goTo(matches.find((call) => call > selected) ?? matches[0])
  const numbers = rows.map(({ number }) => number)
  const { goTo: focus, stopAt } = useStops(numbers, selected, setSelected)
  const stopAtRow = ({ number, call, isFolded }: GanttRow) => {
    const { startUs, endUs, parent, inner } = call
    const toggle = () => fold(number, !isFolded)
    return stopAt(number, {
      ...foldKeys(inner > 0 ? !isFolded : null, toggle, () => focus(parent)),
      Enter: () => inner > 0 && toggle(),
      z: () => endUs > startUs && zoom(roundedRange([startUs, endUs])),
      Escape: () => zoom(null),
    })
  }
  const range: StretchUs = options.range ?? [0, data.lengthUs]
  const color = data.period === 'before' ? ink.before : ink.after
  const plot = Math.max(100, Math.round(0.65 * width) - ASIDE)
  const naming = Math.max(130, width - plot - ASIDE)
  const deepest = max(all, ({ call }) => call.depth) || 1
  const indent = Math.min(MAX_INDENT, (MAX_INDENTED * naming) / deepest)
  const time = { range, width: plot }
  const x = scaleLinear(range, [0, plot]).clamp(true)
  const bar = ({ call, isFolded, critical }: GanttRow) => (
    <g>
      <TimeGrid {...time} lines={[0, ROW]} />
      <WorkBar {...{ range, x, color }} timed={{ ...call, critical, isFolded }} middle={9} />
      {call.logs.map(({ afterUs, isGrave, said }, i) => {
        const atUs = call.startUs + afterUs
        if (atUs < range[0] || atUs > range[1]) return null
        return <LogMark key={i} x={x(atUs)} isGrave={isGrave} title={said} />
      })}
    </g>
  )
  const legend = workLegend(color, ink)
  const where = data.period === null ? '' : ` (${data.period})`
  const heading = `Trace ${shortText(data.traceId, 40)}${where}: ${formatDuration(data.responseTimeUs)}, ${counted(calls.length, 'call')}`
  const isFound = (number: number) => search.trim() === '' || matches.includes(number)
  const columns: readonly DataColumn<GanttRow>[] = [
    {
      title: calls.length === 1 ? 'call' : 'calls',
      cell: ({ number, call, name, isFolded }) => (
        <div
          class="fd-gantt-name"
          title={nameOf(call)}
          style={`width:${naming}px;padding-left:${indent * call.depth}px`}
        >
          <FoldMark
            isOpen={call.inner > 0 ? !isFolded : null}
            label={`${isFolded ? 'unfold' : 'fold'} ${counted(call.inner, 'call')}`}
            onFold={() => fold(number, !isFolded)}
          />
          {call.isError && (
            <span role="img" aria-label="error" style="color:var(--fd-change-text)">
              ✕
            </span>
          )}
          <span class="fd-gantt-text">{name}</span>
          {isFolded && <span class="fd-soft">+{call.inner}</span>}
        </div>
      ),
      still: ({ number, call, name, isFolded }) => ({
        text:
          '\u00a0'.repeat(Math.round((indent * call.depth) / SPACE)) +
          `${call.isError ? '✕ ' : ''}${name}${isFolded ? ` +${call.inner}` : ''}`,
        color: isFound(number) ? ink.text : ink.soft,
      }),
    },
    {
      title: 'time',
      head: (
        <svg width={plot} height={ROW} class="fd-gantt-axis" aria-hidden="true">
          <title>Drag to go into a part of the time</title>
          <TimeGrid {...time} lines={[17, ROW]} textY={13} />
          <ZoomArea {...time} height={ROW} onRange={zoom} />
        </svg>
      ),
      stillTitle: { width: plot, drawing: <TimeGrid {...time} lines={[17, ROW]} textY={13} /> },
      cell: (row) => (
        <svg width={plot} height={ROW} aria-hidden="true">
          {bar(row)}
        </svg>
      ),
      still: (row) => ({
        width: plot,
        drawing: <g opacity={isFound(row.number) ? 1 : 0.4}>{bar(row)}</g>,
      }),
    },
    numberColumn('takes', ({ call }) => formatDuration(call.endUs - call.startUs)),
  ]
  return (
    <section ref={place} aria-label="Trace in time">
      <Caption text={heading} isHeading />
      <div class="fd-bar">
        <Search
          value={search}
          placeholder="name, host or parameter"
          onSearch={(text) => change({ search: text })}
          onEnter={goToNext}
        />
        {search.trim() === '' ? null : (
          <span aria-live="polite">
            {grouped(matches.length)} of {grouped(calls.length)} match{' '}
            <Button disabled={matches.length === 0} onClick={goToNext}>
              next
            </Button>
          </span>
        )}
        <span class="fd-choice">
          <Button disabled={collapsed.length === 0} onClick={() => collapse([])}>
            unfold all
          </Button>
          <Button onClick={() => collapse(callers)}>fold all</Button>
          <Button
            title="Fold all calls within which nothing is on the critical path"
            onClick={() => collapse(uncriticalCalls(calls))}
          >
            fold uncritical
          </Button>
          <Button disabled={options.range === null} onClick={() => zoom(null)}>
            whole time
          </Button>
        </span>
        <span class="fd-soft">Drag along the axis, or press z on a row, to go into the time.</span>
      </div>
      <Legend
        width={width}
        entries={[
          legend.works,
          legend.waits,
          ...(calls.some(({ isOnTheWay }) => isOnTheWay) ? [legend.onTheWay] : []),
          legend.critical,
          legend.folded,
          ...[false, true]
            .filter((grave) => calls.some(({ logs }) => logs.some((one) => one.isGrave === grave)))
            .map((isGrave) =>
              marked(
                isGrave ? 'logs a warning or an error' : 'logs',
                <g transform="translate(0,4.5)">
                  <LogMark x={12} isGrave={isGrave} />
                </g>,
              ),
            ),
        ]}
      />
      <DataTable
        label="Calls"
        role="treegrid"
        class="fd-gantt-rows"
        columns={columns}
        rows={isStill ? all : rows}
        max={MAX_STILL_ROWS}
        rowKey={({ number }) => number}
        rowProps={(row) => ({
          class: `fd-gantt-row ${search.trim() === '' ? '' : isFound(row.number) ? 'fd-found' : 'fd-dim'}`,
          'aria-level': row.call.depth + 1,
          'aria-selected': row.number === shown?.number,
          ...(row.call.inner > 0 ? { 'aria-expanded': !row.isFolded } : {}),
          'data-call': row.number,
          onMouseEnter: () => setSelected(row.number),
          ...stopAtRow(row),
        })}
      />
      {all.length > rows.length ? (
        <Button onClick={() => setMost(most + PAGE)}>
          Show more of {grouped(all.length - rows.length)} further rows
        </Button>
      ) : null}
      {shown === undefined ? null : <Details data={data} call={shown.call} />}
      <StateCode code={code} />
    </section>
  )
}

function Details({ data, call }: { data: GanttData; call: GanttCall }) {
  const { startUs, endUs, work, isOnTheWay, critical, facts, host, service, inner } = call
  const criticalUs = lengthUs(critical)
  const times = {
    began: startUs === 0 ? 'with the trace' : `${formatDuration(startUs)} after the trace began`,
    took: formatDuration(endUs - startUs),
    [isOnTheWay ? 'network and queues' : 'worked']: formatDuration(lengthUs(work)),
    'waited for what it called': formatDuration(endUs - startUs - lengthUs(work)),
    'itself on the critical path':
      criticalUs === 0
        ? 'none'
        : `${formatDuration(criticalUs)}, ${percent(criticalUs / data.responseTimeUs)} of the response time`,
    'calls within': counted(inner, 'call'),
    service,
    host,
  }
  const tables = {
    times: Object.entries(times).filter(([, value]) => value !== ''),
    ...(facts.length > 0 && { recorded: facts }),
  }
  return (
    <div class="fd-gantt-details" aria-live="polite">
      <h3>
        {call.isError ? '✕ ' : ''}
        {nameOf(call)}
      </h3>
      <div class="fd-scroll">
        {Object.entries(tables).map(([label, rows]) => (
          <table key={label} aria-label={label}>
            <tbody>
              {rows.map(([name, value], i) => (
                <tr key={i}>
                  <th scope="row" class="fd-soft">
                    {tooltipText(name)}
                  </th>
                  <td>{tooltipText(String(value))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ))}
      </div>
    </div>
  )
}

/**
 * A trace as a Gantt chart: a row per call, thick where it works, hollow where it is on the way to its callee and back,
 * thin where it waits, underlined on the critical path. In trace-point graphs, a call and its reply make a row, and so
 * does each other step.
 */
export const ganttWidget = defineWidget({
  name: 'gantt',
  title: 'Trace in time',
  description,
  options: GANTT_OPTIONS,
  data: ganttData,
  initial: (source: Comparison | TraceSet, options: GanttOptions) => ({
    ...options,
    id: fullId(source, options) ?? null,
  }),
  view: GanttView,
  style: GANTT_STYLE,
})

function description({ calls, responseTimeUs, traceId }: GanttData): string {
  const longest = greatest(calls, ({ critical }) => lengthUs(critical))
  const share = lengthUs(longest?.critical ?? []) / responseTimeUs
  const said = `Trace ${traceId} took ${formatDuration(responseTimeUs)} in ${counted(calls.length, 'call')}.`
  if (longest === undefined || !(share > 0)) return said
  const name = `${longest.service} ${longest.name}`.trimEnd()
  return `${said} The largest part of its critical path is ${name}, with ${percent(share)} of the time.`
}
