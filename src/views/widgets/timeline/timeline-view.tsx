import { rollup } from 'd3-array'
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
import { useIsStill } from '../../drawing/medium.ts'
import type { ViewProps } from '../define-widget.ts'
import { TimelineBrush } from './timeline-brush.tsx'
import { RangeShade, TimelineDrawing, timelineLayout } from './timeline-drawing.tsx'
import {
  arrivalSpan,
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

const PERIODS = [0, 1] as const
/** Pixels from dot to dot; a still, which cannot be compressed, has larger ones. */
const CELL = 3
const STILL_CELL = 4

/** Shows arrivals and response times of both periods, to select a stretch of time in each. */
export function TimelineView({ data }: Pick<ViewProps<TimelineData, unknown>, 'data'>) {
  const model = useMemo(() => timelineModel(data), [data])
  const [state, setState] = useState<TimelineState>(data.initial)
  const [isLinked, setLinked] = useState(false)
  const [place, width] = useWidth<HTMLDivElement>()
  const isStill = useIsStill()
  const ink = useInk()
  const { filter, ranges } = state
  const requests = useMemo(() => {
    const [before, after] = model.requests
    const { categories } = data
    return [
      filteredRequests(before, categories, filter),
      filteredRequests(after, categories, filter),
    ] as const
  }, [data, model, filter])
  const layout = useMemo(() => timelineLayout(model, width), [model, width])
  const cell = isStill ? STILL_CELL : CELL
  // Kept while a range is dragged: only what lies on top changes.
  const drawing = useMemo(
    () => <TimelineDrawing {...{ model, requests, layout, cell, ink }} />,
    [model, requests, layout],
  )
  const setRange = (period: 0 | 1, range: RangeUs | null) =>
    setState({
      filter,
      ranges: [
        period === 0 || isLinked ? range : ranges[0],
        period === 1 || isLinked ? range : ranges[1],
      ],
    })
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
              if (checked) setState({ filter, ranges: [range, range] })
            }}
          />
          same range in both
        </label>
        <button
          type="button"
          disabled={ranges[0] === null && ranges[1] === null}
          onClick={() => setState({ filter, ranges: [null, null] })}
        >
          Select everything
        </button>
      </div>
      <div ref={place}>
        <Figure
          width={width}
          height={layout.height}
          label="When requests arrived and how long they took, before and after"
          font-size="11"
          role="group"
        >
          <g font-size="11">
            {drawing}
            {PERIODS.map((period) => {
              const range = ranges[period]
              const { whole } = layout.panels[period]
              return isStill ? (
                <RangeShade key={period} range={range} box={whole} x={layout.x} ink={ink} />
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
          summarizeRange(requests[0], ranges[0], arrivalSpan(model, 0)),
          summarizeRange(requests[1], ranges[1], arrivalSpan(model, 1)),
        ]}
      />
      <StateCode code={timelineCode(data, state)} />
    </section>
  )
}

type Ranges = TimelineState['ranges']

interface FactsProps {
  readonly summaries: readonly [TimelineSummary, TimelineSummary]
  readonly ranges: Ranges
  readonly spanUs: RangeUs
}

/** Compares the selected requests of both periods. */
function Facts({ summaries: [before, after], ranges, spanUs }: FactsProps) {
  const fact = (
    number: 0 | 1,
    { requests, all, perSecond, meanUs, medianUs }: TimelineSummary,
  ) => ({
    period: number === 0 ? 'before' : 'after',
    arrived: rangeText(ranges[number], spanUs),
    requests: requests === all ? grouped(all) : `${grouped(requests)} (${percent(requests / all)})`,
    rate: rateText(perSecond),
    mean: durationText(meanUs, formatDuration),
    median: durationText(medianUs, formatDuration),
  })
  const requests = after.requests - before.requests
  const difference = {
    period: 'after − before',
    arrived: '',
    requests: requests === 0 ? '0' : `${requests > 0 ? '+' : '−'}${grouped(Math.abs(requests))}`,
    rate: rateChange(before.perSecond, after.perSecond),
    mean: durationText(after.meanUs - before.meanUs, signedDuration),
    median: durationText(after.medianUs - before.medianUs, signedDuration),
  }
  return (
    <div aria-live="polite">
      <DataTable
        class="fd-facts"
        columns={[
          { title: 'period', isHead: true, cell: ({ period }) => period },
          { title: 'arrived', cell: ({ arrived }) => arrived },
          { title: 'requests', isNumber: true, cell: (row) => row.requests },
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

function durationText(us: number, text: (us: number) => string): string {
  return Number.isFinite(us) ? text(us) : '–'
}

function rateChange(before: number, after: number): string {
  const change = after / before - 1
  if (!Number.isFinite(change)) return '–'
  if (Math.abs(change) < 0.005) return 'the same'
  return `${change > 0 ? '+' : '−'}${percent(Math.abs(change))}`
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
function FilterSelect({ data, filter, onChange }: FilterProps) {
  const requests = useMemo(() => data.packed.flatMap(({ categories }) => categories), [data])
  const options = (kind: 'root' | 'category', nameOf: (number: number) => string) => {
    const numberOf = (category: number) =>
      kind === 'root' ? (data.categories[category]?.[0] ?? -1) : category
    return [...rollup(requests, (found) => found.length, numberOf)]
      .sort(([a, ofA], [b, ofB]) => ofB - ofA || a - b)
      .filter(
        ([number], place) => place < MAX_CHOICES || (filter.kind === kind && filter.of === number),
      )
      .map(([number, count]) => (
        <option key={number} value={`${kind} ${number}`}>
          {nameOf(number)}: {grouped(count)}
        </option>
      ))
  }
  const root = (number: number) => shortText(data.roots[number] ?? '', MAX_NAME_LENGTH)
  const category = (number: number) => `${data.categories[number]?.[1]} (${number})`
  return (
    <label>
      requests
      <select
        value={filter.kind === 'all' ? 'all' : `${filter.kind} ${filter.of}`}
        onInput={({ currentTarget }) => {
          const [kind, of] = currentTarget.value.split(' ')
          onChange(
            kind === 'root' || kind === 'category' ? { kind, of: Number(of) } : { kind: 'all' },
          )
        }}
      >
        <option value="all">all</option>
        <optgroup label="that begin with">{options('root', root)}</optgroup>
        <optgroup label="of a category">{options('category', category)}</optgroup>
      </select>
    </label>
  )
}
