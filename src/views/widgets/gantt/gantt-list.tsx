import { useRef } from 'preact/hooks'
import { tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted } from '../../../core/words.ts'
import type { AxisTick } from '../../drawing/axis-scale.ts'
import { useDragRange } from '../../drawing/controls.tsx'
import { Figure } from '../../drawing/figure.tsx'
import { useInk } from '../../drawing/ink.ts'
import type { StretchUs } from '../../drawing/stretches.ts'
import type { GanttCall, GanttData } from './gantt-model.ts'
import { callMatches, callName, type GanttRow } from './gantt-rows.ts'

interface AxisProps {
  readonly data: GanttData
  readonly range: StretchUs
  readonly ticks: readonly AxisTick[]
  readonly onRange: (range: StretchUs) => void
}

/** The time axis above the rows; dragging across it goes into a part of the time. */
export function GanttAxis({ data, range, ticks, onRange }: AxisProps) {
  const [fromUs, toUs] = range
  const timeAt = (share: number) => fromUs + share * (toUs - fromUs)
  const [dragged, handlers] = useDragRange(([from, to]) => onRange([timeAt(from), timeAt(to)]))
  return (
    <div class="fd-gantt-row fd-gantt-head">
      <span class="fd-soft">{data.calls.length === 1 ? 'call' : 'calls'}</span>
      <div class="fd-gantt-axis" title="Drag to go into a part of the time" {...handlers}>
        <svg height="22" font-size="11" aria-hidden="true" style="width:100%;overflow:visible">
          <rect width="100%" height="22" fill="transparent" />
          {ticks.map(({ value, text }) => {
            const share = (value - fromUs) / (toUs - fromUs)
            const x = percentOf(share)
            return (
              <g key={value}>
                <line x1={x} x2={x} y1="17" y2="22" stroke="var(--fd-line)" />
                <text x={x} y="13" text-anchor={anchor(share)} class="fd-soft">
                  {text}
                </text>
              </g>
            )
          })}
          {dragged === null ? null : (
            <rect
              x={percentOf(dragged[0])}
              width={percentOf(dragged[1] - dragged[0])}
              height="22"
              fill="var(--fd-focus)"
              opacity="0.35"
            />
          )}
        </svg>
      </div>
      <span class="fd-gantt-length">takes</span>
    </div>
  )
}

function percentOf(share: number): string {
  return `${(100 * share).toFixed(3)}%`
}

/** Texts at the ends stay within. */
function anchor(share: number): 'start' | 'middle' | 'end' {
  return share < 0.03 ? 'start' : share > 0.97 ? 'end' : 'middle'
}

export const GANTT_ROW = 22

/** Where times lie across a drawing: pixels, or per cent of its width. */
interface TimePlace {
  readonly at: (timeUs: number) => string
  /** How wide a stretch is. */
  readonly length: (stretch: StretchUs) => string
}

/** Shares of a width that a range of time fills, in pixels or per cent; what is beyond is cut. */
export function timePlace(
  [fromUs, toUs]: StretchUs,
  { width, unit, left = 0 }: { width: number; unit: '' | '%'; left?: number },
): TimePlace {
  const share = (timeUs: number) =>
    toUs > fromUs ? Math.min(1, Math.max(0, (timeUs - fromUs) / (toUs - fromUs))) : 0
  const text = (value: number) => `${Number(value.toFixed(3))}${unit}`
  return {
    at: (timeUs) => text(left + share(timeUs) * width),
    length: ([startUs, endUs]) => text((share(endUs) - share(startUs)) * width),
  }
}

interface BarProps {
  readonly call: GanttCall
  /** Also what was called from it, where that has no rows of its own. */
  readonly critical: readonly StretchUs[]
  readonly isFolded: boolean
  readonly range: StretchUs
  readonly place: TimePlace
  readonly color: string
}

/**
 * A call in time: thick where it worked, thin where it waited for what it called, and underlined
 * where it was on the critical path.
 */
export function GanttBar({ call, critical, isFolded, range, place, color }: BarProps) {
  const ink = useInk()
  const isSeen = ([startUs, endUs]: StretchUs) => endUs >= range[0] && startUs <= range[1]
  const whole: StretchUs = [call.startUs, call.endUs]
  if (!isSeen(whole)) return null
  return (
    <g>
      <rect
        x={place.at(call.startUs)}
        width={place.length(whole)}
        y={isFolded ? 4 : 8}
        height={isFolded ? 10 : 2}
        fill={color}
        stroke={color}
        stroke-width="0.7"
        opacity={isFolded ? 0.4 : 0.75}
      />
      {call.work.filter(isSeen).map((stretch) => (
        <rect
          key={stretch[0]}
          x={place.at(stretch[0])}
          width={place.length(stretch)}
          y="4"
          height="10"
          fill={color}
          stroke={color}
          stroke-width="0.7"
        />
      ))}
      {critical.filter(isSeen).map((stretch) => (
        <rect
          key={stretch[0]}
          x={place.at(stretch[0])}
          width={place.length(stretch)}
          y="16"
          height="3"
          fill={ink.text}
          stroke={ink.text}
          stroke-width="0.7"
        />
      ))}
    </g>
  )
}

const LEGEND_ENTRIES = [
  { name: 'works', room: 90, bar: { y: 3, height: 10, opacity: 1 } },
  { name: 'waits for what it calls', room: 182, bar: { y: 7, height: 2, opacity: 0.75 } },
  { name: 'on the critical path', room: 168, bar: { y: 10, height: 3, opacity: 1 } },
  { name: 'folded', room: 92, bar: { y: 3, height: 10, opacity: 0.4 } },
]
const LEGEND_LINE = 18

/** Where the entries of the legend stand in a width. */
function legendPlaces(width: number) {
  let [x, y] = [0, 0]
  return LEGEND_ENTRIES.map((entry) => {
    if (x > 0 && x + entry.room > width) [x, y] = [0, y + LEGEND_LINE]
    const placed = { ...entry, x, y }
    x += entry.room
    return placed
  })
}

/** Explains what thick, thin, underlined and pale bars mean. */
export function GanttLegend({ color, width }: { readonly color: string; readonly width: number }) {
  const ink = useInk()
  const places = legendPlaces(width)
  const height = Math.max(...places.map(({ y }) => y)) + LEGEND_LINE
  return (
    <Figure width={width} height={height} label="Legend" font-size="11">
      <g font-size="11">
        {places.map(({ name, x, y, bar }) => (
          <g key={name} transform={`translate(${x} ${y})`}>
            <rect width="24" {...bar} fill={bar.height === 3 ? ink.text : color} />
            <text x="30" y="12" style={`fill:${ink.soft}`}>
              {name}
            </text>
          </g>
        ))}
      </g>
    </Figure>
  )
}

interface ListProps {
  readonly rows: readonly GanttRow[]
  readonly range: StretchUs
  readonly ticks: readonly AxisTick[]
  readonly color: string
  readonly search: string
  readonly selected: number
  readonly onSelect: (call: number) => void
  readonly onFold: (call: number, isFolded: boolean) => void
  readonly onRange: (range: StretchUs | null) => void
}

/** Calls are indented up to this depth. */
const MAX_DEPTH = 16
const INDENT = 11

/** The rows; arrows go up and down, right unfolds and left folds. */
export function GanttList(props: ListProps) {
  const { rows, selected, onSelect, onFold, onRange } = props
  const list = useRef<HTMLDivElement>(null)
  const numbers = rows.map(({ number }) => number)
  const reached = numbers.includes(selected) ? selected : numbers[0]
  const go = (at: number) => {
    const number = numbers[Math.min(numbers.length - 1, Math.max(0, at))]
    if (number === undefined) return
    list.current?.querySelector<HTMLElement>(`[data-call="${number}"]`)?.focus()
  }
  const onKeyDown = (event: KeyboardEvent, row: GanttRow) => {
    const at = numbers.indexOf(row.number)
    const { startUs, endUs, parent } = row.call
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(numbers.length - 1),
      ArrowRight: () => (row.isFolded ? onFold(row.number, false) : row.inner > 0 && go(at + 1)),
      ArrowLeft: () =>
        row.inner > 0 && !row.isFolded ? onFold(row.number, true) : go(numbers.indexOf(parent)),
      Enter: () => row.inner > 0 && onFold(row.number, !row.isFolded),
      z: () => endUs > startUs && onRange([startUs, endUs]),
      Escape: () => onRange(null),
    }
    const act = keys[event.key]
    if (act === undefined || event.target !== event.currentTarget) return
    event.preventDefault()
    act()
  }
  return (
    <div ref={list} role="tree" aria-label="Calls">
      {rows.map((row) => (
        <Row
          key={row.number}
          {...props}
          row={row}
          isReached={row.number === reached}
          onFocus={() => onSelect(row.number)}
          onKeyDown={(event) => onKeyDown(event, row)}
        />
      ))}
    </div>
  )
}

interface RowProps extends ListProps {
  readonly row: GanttRow
  readonly isReached: boolean
  readonly onFocus: () => void
  readonly onKeyDown: (event: KeyboardEvent) => void
}

function Row({ row, range, ticks, color, search, selected, isReached, ...on }: RowProps) {
  const { number, call, inner, isFolded, critical } = row
  const name = callName(call)
  const place = timePlace(range, { width: 100, unit: '%' })
  const isFound = callMatches(call, search)
  const found = search.trim() === '' ? '' : isFound ? 'fd-found' : 'fd-dim'
  const took = formatDuration(call.endUs - call.startUs)
  return (
    <div
      class={`fd-gantt-row ${found}`}
      role="treeitem"
      aria-level={call.depth + 1}
      aria-selected={number === selected}
      aria-label={`${call.isError ? 'error: ' : ''}${tooltipText(name)}, ${took}`}
      {...(inner > 0 ? { 'aria-expanded': !isFolded } : {})}
      data-call={number}
      tabIndex={isReached ? 0 : -1}
      onFocus={on.onFocus}
      onMouseEnter={on.onFocus}
      onKeyDown={on.onKeyDown}
    >
      <span
        class="fd-gantt-name"
        title={tooltipText(name)}
        style={`padding-left:${INDENT * Math.min(MAX_DEPTH, call.depth)}px`}
      >
        {inner > 0 ? (
          <button
            type="button"
            class="fd-gantt-fold"
            tabIndex={-1}
            aria-label={`${isFolded ? 'unfold' : 'fold'} ${counted(inner, 'call')}`}
            onClick={() => on.onFold(number, !isFolded)}
          >
            {isFolded ? '▸' : '▾'}
          </button>
        ) : (
          <span style="flex:none;width:18px" />
        )}
        {call.isError ? <span style="color:var(--fd-change-text)">✕ </span> : null}
        <span class="fd-gantt-text">{tooltipText(name)}</span>
        {isFolded ? <span class="fd-soft">+{inner}</span> : null}
      </span>
      <svg height={GANTT_ROW} aria-hidden="true">
        {ticks.map(({ value }) => (
          <line
            key={value}
            x1={place.at(value)}
            x2={place.at(value)}
            y2={GANTT_ROW}
            stroke="var(--fd-line)"
          />
        ))}
        <GanttBar {...{ call, critical, isFolded, range, place, color }} />
      </svg>
      <span class="fd-gantt-length">{took}</span>
    </div>
  )
}
