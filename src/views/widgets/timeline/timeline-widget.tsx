import { rollup, sort } from 'd3-array'
import { useMemo, useState } from 'preact/hooks'
import type { Comparison } from '../../../compare/comparison.ts'
import { OptionError } from '../../../core/errors.ts'
import {
  counted,
  formatDuration,
  grouped,
  percent,
  shortText,
  signedDuration,
} from '../../../core/words.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { MARK_DASHES } from '../../charts/time-marks.ts'
import { timeText } from '../../drawing/axis-scale.ts'
import { Button, Checkbox, StateCode, useDragRange, useWidth } from '../../drawing/controls.tsx'
import { DataTable } from '../../drawing/data-table.tsx'
import { Figure, useInk, useIsStill } from '../../drawing/figure.tsx'
import { Legend, marked, swatch } from '../../drawing/legend.tsx'
import { ZOOM_STYLE } from '../../drawing/time-range.tsx'
import { defineWidget, useWidgetOptions, type ViewProps } from '../define-widget.ts'
import {
  DARKNESS,
  RangeShade,
  TimelineDrawing,
  type TimelineLayout,
  timelineLayout,
} from './timeline-drawing.tsx'
import {
  filteredRequests,
  rangeBetween,
  rateText,
  summarizeRange,
  TIMELINE_OPTIONS,
  type TimelineData,
  type TimelineFilter,
  type TimelineModel,
  type TimelineOptions,
  timelineCode,
  timelineData,
  timelineModel,
  withEnd,
} from './timeline-model.ts'

/** Pixels from dot to dot; a still, which cannot be compressed, has larger ones. */
const CELL = 3
const STILL_CELL = 4

const MARKS = [
  { kind: 'finding', name: 'a finding began' },
  { kind: 'given', name: 'event' },
  { kind: 'seen', name: 'a version or host comes or goes' },
] as const

function TimelineView(props: ViewProps<TimelineData, TimelineOptions>) {
  const { data, call } = props
  const model = useMemo(() => timelineModel(data), [data])
  const { options, change } = useWidgetOptions(TIMELINE_OPTIONS, props)
  const { beforeUs, afterUs, category } = options
  const ranges = [beforeUs, afterUs] as const
  const [root, setRoot] = useState<number | null>(null)
  const [isLinked, setLinked] = useState(false)
  const [place, width] = useWidth<HTMLDivElement>()
  const isStill = useIsStill()
  const ink = useInk()
  const requests = useMemo(() => {
    const [before, after] = model.requests
    const kept = (all: typeof before) => filteredRequests(all, data.categories, { category, root })
    return [kept(before), kept(after)] as const
  }, [data, model, category, root])
  const layout = useMemo(() => timelineLayout(model, width), [model, width])
  const cell = isStill ? STILL_CELL : CELL
  // Kept while a range is dragged: only what lies on top changes.
  const drawing = useMemo(
    () => <TimelineDrawing {...{ model, requests, layout, cell, ink }} />,
    [model, requests, layout],
  )
  const setRange = (period: 0 | 1, range: RangeUs | null) =>
    change({
      ...(period === 0 || isLinked ? { beforeUs: range } : {}),
      ...(period === 1 || isLinked ? { afterUs: range } : {}),
    })
  return (
    <section aria-label="Timeline">
      <div class="fd-bar">
        <FilterSelect
          data={data}
          filter={{ category, root }}
          onChange={(next) => {
            change({ category: next.category })
            setRoot(next.root)
          }}
        />
        <Checkbox
          label="same range in both"
          isChecked={isLinked}
          onChange={(isOn) => {
            setLinked(isOn)
            const range = beforeUs ?? afterUs
            if (isOn) change({ beforeUs: range, afterUs: range })
          }}
        />
        <Button
          disabled={beforeUs === null && afterUs === null}
          onClick={() => change({ beforeUs: null, afterUs: null })}
        >
          Select everything
        </Button>
      </div>
      <Legend
        width={width}
        entries={[
          { text: 'requests in one dot:', width: 0 },
          ...DARKNESS.map(({ text, opacity }) =>
            swatch(text, { x: 15, y: 5, width: 9, height: 9, fill: ink.text, opacity }),
          ),
          marked(
            `median of each ${formatDuration(model.binUs)}`,
            <line x2="24" y1="9" y2="9" stroke={ink.text} stroke-width="1.5" />,
          ),
          ...MARKS.filter(({ kind }) => model.marks.flat().some((mark) => mark.kind === kind)).map(
            ({ kind, name }) =>
              marked(
                name,
                <path
                  d="M12 2v14"
                  stroke={kind === 'finding' ? ink.changeText : ink.text}
                  stroke-dasharray={MARK_DASHES[kind].join(' ')}
                />,
              ),
          ),
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
              const shade = { range, box: layout.panels[period], x: layout.x, ink }
              return isStill ? (
                <RangeShade key={period} {...shade} />
              ) : (
                <RangeArea
                  key={period}
                  {...shade}
                  model={model}
                  onChange={(next) => setRange(period, next)}
                />
              )
            })}
          </g>
        </Figure>
      </div>
      <div class="fd-bar">
        {([0, 1] as const).map((period) => (
          <RangeEnds
            key={period}
            {...{ period, model, range: ranges[period] }}
            onChange={(next) => setRange(period, next)}
          />
        ))}
      </div>
      <p class="fd-soft">
        Drag across a period to select a stretch of time; move its ends with the sliders.
      </p>
      <Facts
        ranges={ranges}
        spanUs={model.spanUs}
        summaries={[
          summarizeRange(requests[0], ranges[0], model.requests[0]),
          summarizeRange(requests[1], ranges[1], model.requests[1]),
        ]}
      />
      <StateCode code={timelineCode(data, { ...options, root }, call.name)} />
    </section>
  )
}

interface RangeProps {
  readonly model: TimelineModel
  readonly range: RangeUs | null
  readonly onChange: (range: RangeUs | null) => void
}

type AreaProps = RangeProps & Parameters<typeof RangeShade>[0] & Pick<TimelineLayout, 'x'>

function RangeArea({ model, onChange, range, ...shade }: AreaProps) {
  const { box, x } = shade
  const [dragged, handlers] = useDragRange(([from, to]) =>
    onChange(rangeBetween(model, x.value(from), x.value(to))),
  )
  const { left, top: y, width, height } = box
  const shown = dragged === null ? range : ([x.value(dragged[0]), x.value(dragged[1])] as const)
  return (
    <g>
      <RangeShade {...shade} range={shown} />
      <rect
        {...{ x: left, y, width, height, fill: 'transparent', class: 'fd-zoom' }}
        {...(handlers as object)}
      />
    </g>
  )
}

function RangeEnds({ period, model, range, onChange }: RangeProps & { readonly period: 0 | 1 }) {
  const { spanUs, stepUs } = model
  const name = period === 0 ? 'before' : 'after'
  return (
    <span>
      {name}, from{' '}
      {([0, 1] as const).map((end) => (
        <span key={end}>
          {end === 1 ? ' to ' : ''}
          <input
            type="range"
            aria-label={`${name}, ${end === 0 ? 'from' : 'to'}`}
            aria-valuetext={timeText((range ?? spanUs)[end], spanUs)}
            min={spanUs[0]}
            max={spanUs[1]}
            step={stepUs}
            value={(range ?? spanUs)[end]}
            onInput={({ currentTarget }) =>
              onChange(withEnd(model, range, { end, timeUs: currentTarget.valueAsNumber }))
            }
          />
        </span>
      ))}
    </span>
  )
}

type Summary = ReturnType<typeof summarizeRange>

interface FactsProps {
  readonly summaries: readonly [Summary, Summary]
  readonly ranges: readonly [RangeUs | null, RangeUs | null]
  readonly spanUs: RangeUs
}

const FACTS = ['period', 'arrived', 'requests', 'rate', 'mean time', 'median time']

function Facts({ summaries: [before, after], ranges, spanUs }: FactsProps) {
  const known = (us: number, text: (us: number) => string) => (Number.isFinite(us) ? text(us) : '–')
  const facts = ({ requests, all, perSecond, meanUs, medianUs }: Summary) => [
    requests === all ? grouped(all) : `${grouped(requests)} (${percent(requests / all)})`,
    rateText(perSecond),
    known(meanUs, formatDuration),
    known(medianUs, formatDuration),
  ]
  const more = after.requests - before.requests
  const rows = [
    ['before', rangeText(ranges[0], spanUs), ...facts(before)],
    ['after', rangeText(ranges[1], spanUs), ...facts(after)],
    [
      'after − before',
      '',
      signed(more, grouped(Math.abs(more))),
      rateChange(before.perSecond, after.perSecond),
      known(after.meanUs - before.meanUs, signedDuration),
      known(after.medianUs - before.medianUs, signedDuration),
    ],
  ]
  const columns = FACTS.map((title, i) => ({
    title,
    isHead: i === 0,
    isNumber: i > 1,
    cell: (row: readonly string[]) => row[i],
  }))
  return (
    <div aria-live="polite">
      <DataTable class="fd-facts" columns={columns} rows={rows} />
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

const MAX_CHOICES = 200
const MAX_NAME_LENGTH = 60

interface FilterProps {
  readonly data: TimelineData
  readonly filter: TimelineFilter
  readonly onChange: (filter: TimelineFilter) => void
}

function FilterSelect({ data: { packed, categories, roots }, filter, onChange }: FilterProps) {
  const requests = useMemo(() => packed.flatMap((period) => period.categories), [packed])
  const groups = [
    {
      kind: 'root',
      label: 'that begin with',
      numberOf: (category: number) => categories[category]?.[0] ?? -1,
      nameOf: (root: number) => shortText(roots[root] ?? '', MAX_NAME_LENGTH),
    },
    {
      kind: 'category',
      label: 'of a category',
      numberOf: (category: number) => category,
      nameOf: (category: number) => `${categories[category]?.[1]} (${category})`,
    },
  ] as const
  const chosen = groups.find(({ kind }) => filter[kind] !== null)
  return (
    <label>
      requests
      <select
        value={chosen === undefined ? 'all' : `${chosen.kind} ${filter[chosen.kind]}`}
        onInput={({ currentTarget }) => {
          const [kind, of] = currentTarget.value.split(' ')
          onChange({ category: null, root: null, [kind as string]: Number(of) })
        }}
      >
        <option value="all">all</option>
        {groups.map(({ kind, label, numberOf, nameOf }) => (
          <optgroup key={kind} label={label}>
            {sort(
              rollup(requests, ({ length }) => length, numberOf),
              ([, count]) => -count,
              ([number]) => number,
            )
              .filter(([number], place) => place < MAX_CHOICES || filter[kind] === number)
              .map(([number, count]) => (
                <option key={number} value={`${kind} ${number}`}>
                  {nameOf(number)}: {grouped(count)}
                </option>
              ))}
          </optgroup>
        ))}
      </select>
    </label>
  )
}

/**
 * When requests of both periods arrived and how long they took; a stretch selected in each is
 * counted, and written as code.
 */
export const timelineWidget = defineWidget({
  name: 'timeline',
  title: 'Timeline',
  description: ({ packed: [before, after] }: TimelineData) =>
    `When ${counted(before.gapsUs.length, 'request')} before and ` +
    `${counted(after.gapsUs.length, 'request')} after arrived and how long they took; ` +
    'drag across a period to select a stretch of time.',
  options: TIMELINE_OPTIONS,
  data: (comparison: Comparison, { category }) => {
    const { size } = comparison.categories
    if (category !== null && category >= size) {
      throw new OptionError('category', category, `a category from 0 to ${size - 1}`)
    }
    return timelineData(comparison)
  },
  initial: (_, { beforeUs, afterUs, ...options }) => ({
    ...options,
    beforeUs: wholeRange(beforeUs),
    afterUs: wholeRange(afterUs),
  }),
  view: TimelineView,
  style: `${ZOOM_STYLE}
.fd-facts thead th.fd-amount { white-space: normal; }
.fd-facts th, .fd-facts td { padding: 3px 6px; }
.fd-facts table { min-width: min(100%, 600px); }
select { max-width: 26em; }
`,
})

/** Widens a range to whole µs, as arrivals are rounded in the page. */
function wholeRange(range: RangeUs | null): RangeUs | null {
  return range === null ? null : [Math.floor(range[0]), Math.ceil(range[1])]
}
