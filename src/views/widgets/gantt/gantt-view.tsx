import { useMemo, useState } from 'preact/hooks'
import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped } from '../../../core/words.ts'
import { type AxisTick, timeScale } from '../../drawing/axis-scale.ts'
import { StateCode, useWidth } from '../../drawing/controls.tsx'
import { Caption, StillTable } from '../../drawing/figure.tsx'
import { useInk } from '../../drawing/ink.ts'
import { useIsStill } from '../../drawing/medium.ts'
import type { StretchUs } from '../../drawing/stretches.ts'
import { useWidgetOptions, type ViewProps } from '../define-widget.ts'
import { GanttDetails } from './gantt-details.tsx'
import { GANTT_ROW, GanttAxis, GanttBar, GanttLegend, GanttList, timePlace } from './gantt-list.tsx'
import { type GanttData, subtreeSizes, uncriticalCalls } from './gantt-model.ts'
import { callMatches, callName, type GanttRow, ganttRows, unfoldedTo } from './gantt-rows.ts'
import { GANTT_OPTIONS, type GanttOptions } from './options.ts'

export const GANTT_STYLE = `
.fd-gantt-row { display: grid; grid-template-columns: minmax(130px, 34%) 1fr 64px; align-items: center; height: 22px; }
.fd-gantt-row > svg { height: 22px; width: 100%; overflow: visible; }
.fd-gantt-row[role="treeitem"]:hover { background: var(--fd-raised); }
.fd-gantt-row[aria-selected="true"] { background: var(--fd-selected); }
.fd-gantt-row:focus-visible { outline-offset: -2px; }
.fd-gantt-row.fd-dim { opacity: 0.45; }
.fd-gantt-row.fd-found .fd-gantt-name { font-weight: 600; text-decoration: underline; text-decoration-color: var(--fd-change); text-underline-offset: 2px; }
.fd-gantt-name { display: flex; gap: 4px; min-width: 0; white-space: nowrap; padding-right: 8px; }
.fd-gantt-text { overflow: hidden; text-overflow: ellipsis; }
.fd-gantt-fold { border: 0; background: none; padding: 0; width: 18px; flex: none; text-align: center; }
.fd-gantt-length { text-align: right; white-space: nowrap; color: var(--fd-soft); font-size: 12px; }
.fd-gantt-axis { cursor: crosshair; touch-action: pan-y; user-select: none; }
.fd-gantt-rows { max-height: 640px; overflow-y: auto; overflow-x: hidden; }
.fd-gantt-head { position: sticky; top: 0; background: var(--fd-back); z-index: 1; }
.fd-gantt-details { min-height: 9em; margin-top: 8px; }
.fd-gantt-details td { overflow-wrap: anywhere; vertical-align: top; }
`

/** Rows that are drawn at first; a button shows as many more. */
const PAGE = 500
/** Room that the text of a tick needs, in pixels. */
const TICK = 80

/** What the reader can change. */
interface GanttState {
  readonly collapsed: readonly number[]
  readonly range: StretchUs | null
  readonly search: string
}

/** Folds calls of a trace, searches them, and goes into a part of the time. */
export function GanttView(props: ViewProps<GanttData, GanttOptions>) {
  const { data } = props
  const { options, change: set, code } = useWidgetOptions(GANTT_OPTIONS, props)
  const collapsed = options.collapsed ?? data.usuallyCollapsed
  const state: GanttState = { collapsed, range: options.range, search: options.search }
  const change = ({ collapsed: next, ...changes }: Partial<GanttState>) => {
    if (next === undefined) return set(changes)
    const sorted = next.toSorted((a, b) => a - b)
    const isUsual = String(sorted) === String(data.usuallyCollapsed)
    set({ ...changes, collapsed: isUsual ? null : sorted })
  }
  const [selected, setSelected] = useState(0)
  const [most, setMost] = useState(PAGE)
  const [place, width] = useWidth<HTMLElement>()
  const all = useMemo(() => ganttRows(data.calls, collapsed), [data, collapsed])
  const rows = all.slice(0, most)
  const range: StretchUs = state.range ?? [0, data.lengthUs]
  // Names and durations take about a half.
  const { ticks } = timeScale(range, { ticks: Math.max(3, Math.floor(width / 2 / TICK)) })
  const ink = useInk()
  const color = data.period === 'before' ? ink.before : ink.after
  const matches = useMemo(
    () => data.calls.flatMap((call, i) => (callMatches(call, state.search) ? [i] : [])),
    [data, state.search],
  )
  const fold = (call: number, isFolded: boolean) =>
    change({
      collapsed: isFolded ? [...collapsed, call] : collapsed.filter((other) => other !== call),
    })
  const goTo = (call: number | undefined) => {
    if (call === undefined) return
    change({ collapsed: unfoldedTo(data.calls, collapsed, call) })
    setMost(Math.max(most, call + 1))
    setSelected(call)
    // The row may have to be drawn first.
    requestAnimationFrame(() => {
      place.current?.querySelector(`[data-call="${call}"]`)?.scrollIntoView({ block: 'nearest' })
    })
  }
  const shown = rows.find(({ number }) => number === selected) ?? rows[0]
  return (
    <section ref={place} aria-label="Trace in time">
      <Caption text={heading(data)} isHeading />
      <Bar
        {...{ data, state, matches }}
        onChange={change}
        onNext={() => goTo(matches.find((call) => call > selected) ?? matches[0])}
      />
      <GanttLegend color={color} width={width} />
      {useIsStill() ? (
        <StillRows {...{ rows: all, range, ticks, color }} search={state.search} />
      ) : (
        <div class="fd-gantt-rows">
          <GanttAxis
            {...{ data, range, ticks }}
            onRange={(next) => change({ range: rounded(next) })}
          />
          <GanttList
            {...{ rows, range, ticks, color, selected }}
            search={state.search}
            onSelect={setSelected}
            onFold={fold}
            onRange={(next) => change({ range: next === null ? null : rounded(next) })}
          />
        </div>
      )}
      {all.length > rows.length ? (
        <button type="button" onClick={() => setMost(most + PAGE)}>
          Show more of {grouped(all.length - rows.length)} further rows
        </button>
      ) : null}
      {shown === undefined ? null : <GanttDetails data={data} row={shown} />}
      <StateCode code={code} />
    </section>
  )
}

/** Says which trace this is, in one line. */
function heading({ traceId, period, calls, responseTimeUs }: GanttData): string {
  const where = period === null ? '' : ` (${period})`
  return `Trace ${shortText(traceId, 40)}${where}: ${formatDuration(responseTimeUs)}, ${counted(calls.length, 'call')}`
}

/** Width of the bars in a still, in pixels. */
const STILL_BARS = 410
/** A still is no place to look for the two hundredth call. */
const MAX_STILL_ROWS = 100
const MAX_STILL_DEPTH = 12

/** The rows of a still: a page shows them as a tree. */
function StillRows({
  rows,
  range,
  ticks,
  color,
  search,
}: {
  readonly rows: readonly GanttRow[]
  readonly range: StretchUs
  readonly ticks: readonly AxisTick[]
  readonly color: string
  readonly search: string
}) {
  const ink = useInk()
  const place = timePlace(range, { width: STILL_BARS, unit: '', left: 0 })
  const grid = ticks.map(({ value }) => (
    <line key={value} x1={place.at(value)} x2={place.at(value)} y2={GANTT_ROW} stroke={ink.line} />
  ))
  const axis = ticks.map(({ value, text }) => (
    <text
      key={value}
      x={place.at(value)}
      y="14"
      text-anchor={value === range[0] ? 'start' : 'middle'}
      style={`fill:${ink.soft}`}
    >
      {text}
    </text>
  ))
  return (
    <StillTable
      columns={[
        { title: 'call' },
        { title: { width: STILL_BARS, drawing: axis } },
        { title: 'takes', align: 'end' },
      ]}
      max={MAX_STILL_ROWS}
      rows={rows.map(({ call, inner, isFolded, critical }) => {
        const indent = '\u00a0\u00a0\u00a0'.repeat(Math.min(MAX_STILL_DEPTH, call.depth))
        const name = `${call.isError ? '✕ ' : ''}${tooltipText(callName(call))}`
        const isDim = search.trim() !== '' && !callMatches(call, search)
        const drawing = (
          <g opacity={isDim ? 0.4 : 1}>
            {grid}
            <GanttBar {...{ call, critical, isFolded, range, place, color }} />
          </g>
        )
        return [
          {
            text: `${indent}${name}${isFolded ? ` +${inner}` : ''}`,
            color: isDim ? ink.soft : ink.text,
          },
          { width: STILL_BARS, drawing },
          formatDuration(call.endUs - call.startUs),
        ]
      })}
    />
  )
}

interface BarProps {
  readonly data: GanttData
  readonly state: GanttState
  readonly matches: readonly number[]
  readonly onChange: (changes: Partial<GanttState>) => void
  readonly onNext: () => void
}

/** Search, folding, and the way back to the whole trace. */
function Bar({ data, state, matches, onChange, onNext }: BarProps) {
  const { search, range, collapsed } = state
  return (
    <div class="fd-bar">
      <label>
        search
        <input
          type="search"
          value={search}
          placeholder="name, host or parameter"
          style="width:15em"
          onInput={({ currentTarget: { value } }) => onChange({ search: value })}
          onKeyDown={(event) => {
            if (event.key === 'Enter') onNext()
          }}
        />
      </label>
      {search.trim() === '' ? null : (
        <span aria-live="polite">
          {grouped(matches.length)} of {grouped(data.calls.length)} match{' '}
          <button type="button" disabled={matches.length === 0} onClick={onNext}>
            next
          </button>
        </span>
      )}
      <span style="display:inline-flex;gap:4px">
        <button
          type="button"
          disabled={collapsed.length === 0}
          onClick={() => onChange({ collapsed: [] })}
        >
          unfold all
        </button>
        <button type="button" onClick={() => onChange({ collapsed: callers(data) })}>
          fold all
        </button>
        <button
          type="button"
          title="Fold all calls within which nothing is on the critical path"
          onClick={() => onChange({ collapsed: uncriticalCalls(data.calls) })}
        >
          fold uncritical
        </button>
        <button type="button" disabled={range === null} onClick={() => onChange({ range: null })}>
          whole time
        </button>
      </span>
      <span class="fd-soft">Drag along the axis, or press z on a row, to go into the time.</span>
    </div>
  )
}

/** All calls that make calls, but for the first. */
function callers({ calls }: GanttData): number[] {
  const sizes = subtreeSizes(calls)
  return [...calls.keys()].filter(
    (call) => (sizes[call] as number) > 1 && (calls[call]?.parent ?? -1) >= 0,
  )
}

/** Tenths of a microsecond read better in code. */
function rounded([fromUs, toUs]: StretchUs): StretchUs {
  const round = (us: number) => Math.round(us * 10) / 10
  return [round(fromUs), Math.max(round(toUs), round(fromUs) + 0.1)]
}
