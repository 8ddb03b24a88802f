import { useMemo, useState } from 'preact/hooks'
import { grouped } from '../../../core/words.ts'
import { timeScale } from '../../drawing/axis-scale.ts'
import { useWidth } from '../../drawing/axis-width.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import { StateCode } from '../../drawing/state-code.tsx'
import type { StretchUs } from '../../drawing/stretches.ts'
import { GanttDetails } from './gantt-details.tsx'
import { GanttAxis, GanttLegend, GanttList, ganttLegendHeight } from './gantt-list.tsx'
import { type GanttData, type GanttState, subtreeSizes, uncriticalCalls } from './gantt-model.ts'
import { ganttHeading } from './gantt-picture.tsx'
import { callMatches, type GanttRow, ganttCode, ganttRows, unfoldedTo } from './gantt-rows.ts'

/** So many rows are drawn at first, and more by so many. */
const PAGE = 500
/** About how many pixels the text of a tick needs. */
const TICK = 80

/** Folds calls of a trace, searches them, and goes into a part of the time. */
export function GanttView({ data }: { readonly data: GanttData }) {
  const [state, setState] = useState(data.initial)
  const [selected, setSelected] = useState(0)
  const [most, setMost] = useState(PAGE)
  const [place, width] = useWidth<HTMLElement>(760)
  const change = (changes: Partial<GanttState>) => setState({ ...state, ...changes })
  const all = useMemo(() => ganttRows(data.calls, state.collapsed), [data, state.collapsed])
  const rows = all.slice(0, most)
  const range: StretchUs = state.range ?? [0, data.lengthUs]
  // Names and durations take about a half.
  const { ticks } = timeScale(range, { ticks: Math.max(3, Math.floor(width / 2 / TICK)) })
  const colour = data.period === 'before' ? PAGE_INK.before : PAGE_INK.after
  const matches = useMemo(
    () => [...data.calls.keys()].filter((i) => callMatches(data.calls[i] as never, state.search)),
    [data, state.search],
  )
  const fold = (call: number, isFolded: boolean) =>
    change({
      collapsed: isFolded
        ? [...state.collapsed, call]
        : state.collapsed.filter((other) => other !== call),
    })
  const goTo = (call: number | undefined) => {
    if (call === undefined) return
    change({ collapsed: unfoldedTo(data.calls, state.collapsed, call) })
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
      <h3>{ganttHeading(data)}</h3>
      <Bar
        {...{ data, state, matches }}
        onChange={change}
        onNext={() => goTo(matches.find((call) => call > selected) ?? matches[0])}
      />
      <svg width={width} height={ganttLegendHeight(width)} role="img" aria-label="Legend">
        <GanttLegend colour={colour} ink={PAGE_INK} width={width} />
      </svg>
      <div class="fd-gantt-rows">
        <GanttAxis
          {...{ data, range, ticks }}
          onRange={(next) => change({ range: rounded(next) })}
        />
        <GanttList
          {...{ rows, range, ticks, colour, selected }}
          search={state.search}
          onSelect={setSelected}
          onFold={fold}
          onRange={(next) => change({ range: next === null ? null : rounded(next) })}
        />
      </div>
      {all.length > rows.length ? (
        <button type="button" onClick={() => setMost(most + PAGE)}>
          Show more of {grouped(all.length - rows.length)} further rows
        </button>
      ) : null}
      {shown === undefined ? null : <GanttDetails data={data} row={shown as GanttRow} />}
      <StateCode code={ganttCode(data, state)} />
    </section>
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
