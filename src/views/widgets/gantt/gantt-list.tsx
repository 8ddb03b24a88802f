import { useRef } from 'preact/hooks'
import { tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted } from '../../../core/words.ts'
import type { AxisTick } from '../../drawing/axis-scale.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import type { StretchUs } from '../../drawing/stretches.ts'
import { GANTT_ROW, GanttBar, timePlace } from './gantt-bar.tsx'
import { callMatches, callName, type GanttRow } from './gantt-rows.ts'

interface Shown {
  readonly rows: readonly GanttRow[]
  readonly range: StretchUs
  readonly ticks: readonly AxisTick[]
  readonly colour: string
  readonly search: string
  readonly selected: number
  readonly onSelect: (call: number) => void
  readonly onFold: (call: number, isFolded: boolean) => void
  readonly onRange: (range: StretchUs | null) => void
}

/** Calls are indented up to this depth. */
const DEEPEST = 16
const INDENT = 11

/** The rows; arrows go up and down, right unfolds and left folds. */
export function GanttList(props: Shown) {
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

interface RowProps extends Shown {
  readonly row: GanttRow
  readonly isReached: boolean
  readonly onFocus: () => void
  readonly onKeyDown: (event: KeyboardEvent) => void
}

function Row({ row, range, ticks, colour, search, selected, isReached, ...on }: RowProps) {
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
        style={`padding-left:${INDENT * Math.min(DEEPEST, call.depth)}px`}
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
        {call.isError ? <span style="color:var(--fd-change-ink)">✕ </span> : null}
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
            stroke={PAGE_INK.line}
          />
        ))}
        <GanttBar {...{ call, critical, isFolded, range, place, colour, ink: PAGE_INK }} />
      </svg>
      <span class="fd-gantt-length">{took}</span>
    </div>
  )
}
