import { rollup, sort } from 'd3-array'
import { useMemo, useState } from 'preact/hooks'
import { shortText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { grouped, percent, signedDuration } from '../../../core/words.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { timeText } from '../../drawing/axis-scale.ts'
import { StateCode, useWidth } from '../../drawing/controls.tsx'
import { DataTable } from '../../drawing/data-table.tsx'
import { Figure } from '../../drawing/figure.tsx'
import { useInk } from '../../drawing/ink.ts'
import { Legend } from '../../drawing/legend.tsx'
import { useIsStill } from '../../drawing/medium.ts'
import type { ViewProps } from '../define-widget.ts'
import { TimelineBrush } from './timeline-brush.tsx'
import { DARKNESS, RangeShade, TimelineDrawing, timelineLayout } from './timeline-drawing.tsx'
import {
  filteredRequests,
  rateText,
  summarizeRange,
  type TimelineData,
  type TimelineFilter,
  type TimelineState,
  type TimelineSummary,
  timelineCode,
  timelineModel,
} from './timeline-model.ts'

/** Pixels from dot to dot; a still, which cannot be compressed, has larger ones. */
const CELL = 3
const STILL_CELL = 4

/** Shows arrivals and response times of both periods, to select a stretch of time in each. */
export function TimelineView({ data }: Pick<ViewProps<TimelineData, unknown>, 'data'>) {
  const model = useMemo(() => timelineModel(data), [data])
  const [{ filter, ranges }, setState] = useState<TimelineState>(data.initial)
  const [isLinked, setLinked] = useState(false)
  const [place, width] = useWidth<HTMLDivElement>()
  const isStill = useIsStill()
  const ink = useInk()
  const requests = useMemo(() => {
    const [before, after] = model.requests
    const kept = (all: typeof before) => filteredRequests(all, data.categories, filter)
    return [kept(before), kept(after)] as const
  }, [data, model, filter])
  const layout = useMemo(() => timelineLayout(model, width), [model, width])
  const cell = isStill ? STILL_CELL : CELL
  // Kept while a range is dragged: only what lies on top changes.
  const drawing = useMemo(
    () => <TimelineDrawing {...{ model, requests, layout, cell, ink }} />,
    [model, requests, layout],
  )
  const setRanges = (next: TimelineState['ranges']) => setState({ filter, ranges: next })
  const setRange = (period: 0 | 1, range: RangeUs | null) =>
    setRanges([
      period === 0 || isLinked ? range : ranges[0],
      period === 1 || isLinked ? range : ranges[1],
    ])
  return (
    <section aria-label="Timeline">
      <div class="fd-bar">
        <FilterSelect
          data={data}
          filter={filter}
          onChange={(next) => setState({ ranges, filter: next })}
        />
        <label>
          <input
            type="checkbox"
            checked={isLinked}
            onInput={({ currentTarget: { checked } }) => {
              setLinked(checked)
              const range = ranges[0] ?? ranges[1]
              if (checked) setRanges([range, range])
            }}
          />
          same range in both
        </label>
        <button
          type="button"
          disabled={ranges[0] === null && ranges[1] === null}
          onClick={() => setRanges([null, null])}
        >
          Select everything
        </button>
      </div>
      <Legend
        width={width}
        entries={[
          { name: 'requests in one dot:' },
          ...DARKNESS.map(({ text: name, opacity }) => ({
            name,
            mark: <rect x="15" y="5" width="9" height="9" fill={ink.text} opacity={opacity} />,
          })),
          {
            name: `median of each ${formatDuration(model.binUs)}`,
            mark: <line x2="24" y1="9" y2="9" stroke={ink.text} stroke-width="1.5" />,
          },
        ]}
      />
      <div ref={place}>
        <Figure
          width={width}
          height={layout.height}
          label="When requests arrived and how long they took, before and after"
          role="group"
        >
          <g font-size="11">
            {drawing}
            {([0, 1] as const).map((period) => {
              const range = ranges[period]
              return isStill ? (
                <RangeShade
                  key={period}
                  {...{ range, box: layout.panels[period], x: layout.x, ink }}
                />
              ) : (
                <TimelineBrush
                  key={period}
                  {...{ period, model, layout, range }}
                  onChange={(next) => setRange(period, next)}
                />
              )
            })}
          </g>
        </Figure>
      </div>
      <p class="fd-soft">
        Drag across a period to select a stretch of time, drag the stretch or its ends, or move the
        ends with the arrow keys (with Shift: further; Escape: everything).
      </p>
      <Facts
        ranges={ranges}
        spanUs={model.spanUs}
        summaries={[
          summarizeRange(requests[0], ranges[0], model.requests[0]),
          summarizeRange(requests[1], ranges[1], model.requests[1]),
        ]}
      />
      <StateCode code={timelineCode(data, { ranges, filter })} />
    </section>
  )
}

interface FactsProps {
  readonly summaries: readonly [TimelineSummary, TimelineSummary]
  readonly ranges: TimelineState['ranges']
  readonly spanUs: RangeUs
}

/** Compares the selected requests of both periods. */
function Facts({ summaries: [before, after], ranges, spanUs }: FactsProps) {
  const known = (us: number, text: (us: number) => string) => (Number.isFinite(us) ? text(us) : '–')
  const fact = (number: 0 | 1, { requests, all, ...rest }: TimelineSummary) => ({
    period: number === 0 ? 'before' : 'after',
    arrived: rangeText(ranges[number], spanUs),
    requests: requests === all ? grouped(all) : `${grouped(requests)} (${percent(requests / all)})`,
    rate: rateText(rest.perSecond),
    mean: known(rest.meanUs, formatDuration),
    median: known(rest.medianUs, formatDuration),
  })
  const more = after.requests - before.requests
  const difference = {
    period: 'after − before',
    arrived: '',
    requests: signed(more, grouped(Math.abs(more))),
    rate: rateChange(before.perSecond, after.perSecond),
    mean: known(after.meanUs - before.meanUs, signedDuration),
    median: known(after.medianUs - before.medianUs, signedDuration),
  }
  return (
    <div aria-live="polite">
      <DataTable
        class="fd-facts"
        columns={[
          { title: 'period', isHead: true, cell: ({ period }) => period },
          { title: 'arrived', cell: ({ arrived }) => arrived },
          { title: 'requests', isNumber: true, cell: ({ requests }) => requests },
          { title: 'rate', isNumber: true, cell: ({ rate }) => rate },
          { title: 'mean time', isNumber: true, cell: ({ mean }) => mean },
          { title: 'median time', isNumber: true, cell: ({ median }) => median },
        ]}
        rows={[fact(0, before), fact(1, after), difference]}
      />
    </div>
  )
}

function rangeText(range: RangeUs | null, spanUs: RangeUs): string {
  if (range === null) return 'at any time'
  return `from ${timeText(range[0], spanUs)} to ${timeText(range[1], spanUs)}`
}

function signed(change: number, size: string): string {
  return change === 0 ? size : `${change > 0 ? '+' : '−'}${size}`
}

function rateChange(before: number, after: number): string {
  const change = after / before - 1
  if (!Number.isFinite(change)) return '–'
  return Math.abs(change) < 0.005 ? 'the same' : signed(change, percent(Math.abs(change)))
}

/** Longer lists are not read. */
const MAX_CHOICES = 200
const MAX_NAME_LENGTH = 60

interface FilterProps {
  readonly data: TimelineData
  readonly filter: TimelineFilter
  readonly onChange: (filter: TimelineFilter) => void
}

/** Chooses whose requests are looked at: all, those that begin alike, or those of a category. */
function FilterSelect({ data: { packed, categories, roots }, filter, onChange }: FilterProps) {
  const requests = useMemo(() => packed.flatMap((period) => period.categories), [packed])
  const options = (
    kind: 'root' | 'category',
    numberOf: (category: number) => number,
    nameOf: (number: number) => string,
  ) => {
    const counts = rollup(requests, (found) => found.length, numberOf)
    const byCount = sort(
      counts,
      ([, count]) => -count,
      ([number]) => number,
    )
    const isChosen = (number: number) => filter.kind === kind && filter.of === number
    return byCount
      .filter(([number], place) => place < MAX_CHOICES || isChosen(number))
      .map(([number, count]) => (
        <option key={number} value={`${kind} ${number}`}>
          {nameOf(number)}: {grouped(count)}
        </option>
      ))
  }
  return (
    <label>
      requests
      <select
        value={filter.kind === 'all' ? 'all' : `${filter.kind} ${filter.of}`}
        onInput={({ currentTarget }) => {
          const [kind, of] = currentTarget.value.split(' ')
          onChange({ kind: kind as TimelineFilter['kind'], of: Number(of ?? 0) })
        }}
      >
        <option value="all">all</option>
        <optgroup label="that begin with">
          {options(
            'root',
            (category) => categories[category]?.[0] ?? -1,
            (root) => shortText(roots[root] ?? '', MAX_NAME_LENGTH),
          )}
        </optgroup>
        <optgroup label="of a category">
          {options(
            'category',
            (category) => category,
            (category) => `${categories[category]?.[1]} (${category})`,
          )}
        </optgroup>
      </select>
    </label>
  )
}
