import { bin, max, median, range, rollup, sort } from 'd3-array'
import { useMemo, useRef, useState } from 'preact/hooks'
import type { Comparison } from '../../../comparison/comparison.ts'
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
import { textWidth } from '../../charts/text-width.ts'
import { MARK_DASHES, placedMarks } from '../../charts/time-marks.ts'
import {
  type AxisScale,
  BottomAxis,
  LeftAxis,
  logDurationScale,
  type PlotBox,
  pixel,
  timeScale,
  timeText,
} from '../../drawing/axes.tsx'
import {
  actOnKey,
  Button,
  Checkbox,
  StateCode,
  useDragRange,
  useWidth,
} from '../../drawing/controls.tsx'
import { DataTable } from '../../drawing/data-table.tsx'
import { Figure, Text, useInk, useIsStill } from '../../drawing/figure.tsx'
import { Legend, marked, swatch } from '../../drawing/legend.tsx'
import { ZOOM_STYLE } from '../../drawing/time-range.tsx'
import { defineWidget, useWidgetOptions, type ViewProps } from '../define-widget.ts'
import { ChangePane, FINDINGS_STYLE, RIBBON_STYLE, traceLinks } from '../findings/findings-list.tsx'
import {
  carriedRequests,
  filteredRequests,
  rangeBetween,
  rateText,
  type StretchData,
  stretchText,
  summarizeRange,
  TIMELINE_OPTIONS,
  type TimelineData,
  type TimelineFilter,
  type TimelineModel,
  type TimelineOptions,
  type TimelineRequest,
  timelineCode,
  timelineData,
  timelineModel,
  useStretch,
  withEnd,
} from './timeline-model.tsx'

const SIZE = { left: 58, right: 16, title: 24, bars: 30, gap: 6, between: 14, axis: 38 }
/** Height of the dots of a period; the lower one is for pages with other content. */
const DOTS = 130
export const FEW_DOTS = 60
/** Most characters of marks' labels above the bars. */
const MAX_LABELS = 42
const LABEL = 14

type TimelineLayout = ReturnType<typeof timelineLayout>

export function timelineLayout(
  { spanUs, extentUs: [low, high], zeroUs, marks }: TimelineModel,
  width: number,
  dots: number = DOTS,
) {
  const { left, right, bars, gap, between, axis } = SIZE
  const plot = Math.max(100, width - left - right)
  const [fromUs, toUs] = spanUs
  const placed = marks.map((own) =>
    placedMarks(own, { fromUs, toUs, width: plot, height: MAX_LABELS }),
  )
  const lowest = max(placed.flat(), ({ labelY }) => labelY ?? 0)
  const labels = lowest === undefined ? 0 : lowest + LABEL
  const title = SIZE.title + labels
  const height = bars + gap + dots
  const panel = (top: number) => ({ left, width: plot, top: top + title, height })
  return {
    width,
    height: 2 * (title + height) + between + axis,
    placed,
    labels,
    dots,
    panels: [panel(0), panel(title + height + between)] as const,
    x: timeScale(spanUs, { ticks: Math.max(3, Math.floor(plot / 70)) }),
    y: withZero(logDurationScale({ low, high, ticks: Math.max(3, Math.round(dots / 22)) }), zeroUs),
  }
}

/** Share of a logarithmic axis kept below it for times of 0. */
const ZERO_SHARE = 0.11

function withZero(scale: AxisScale, zeroUs: number | null): AxisScale {
  if (zeroUs === null) return scale
  const rest = 1 - ZERO_SHARE
  return {
    share: (value) => (value > 0 ? ZERO_SHARE + rest * scale.share(value) : 0),
    value: (share) => (share < ZERO_SHARE ? 0 : scale.value((share - ZERO_SHARE) / rest)),
    ticks: [{ value: 0, text: zeroUs < 0 ? '≤ 0' : '0' }, ...scale.ticks],
  }
}

const DARKNESS = [
  { from: 1, text: '1', opacity: 0.5 },
  { from: 2, text: '2–3', opacity: 0.7 },
  { from: 4, text: '4–7', opacity: 0.85 },
  { from: 8, text: '8 or more', opacity: 1 },
] as const

/** Draws one path a step of darkness: its size depends on the cells, not on the requests. */
export function densityPaths(
  requests: readonly TimelineRequest[],
  { x, y }: Pick<TimelineLayout, 'x' | 'y'>,
  { width, height, cell }: { width: number; height: number; cell: number },
): readonly string[] {
  const columns = Math.max(1, Math.floor(width / cell))
  const rows = Math.max(1, Math.floor(height / cell))
  const counts = new Uint32Array(columns * rows)
  for (const { startUs, timeUs } of requests) {
    const column = Math.min(columns - 1, Math.floor((x.share(startUs) * width) / cell))
    const row = Math.min(rows - 1, Math.floor(((1 - y.share(timeUs)) * height) / cell))
    const place = row * columns + column
    counts[place] = (counts[place] as number) + 1
  }
  const darkness = Array.from(counts, (count) =>
    DARKNESS.findLastIndex(({ from }) => count >= from),
  )
  const paths = DARKNESS.map(() => '')
  for (let row = 0; row < rows; row++) {
    const own = darkness.slice(row * columns, (row + 1) * columns)
    for (let start = 0, end = 0; start < columns; start = end) {
      const step = own[start] as number
      while (own[end] === step) end++
      if (step < 0) continue
      paths[step] += `M${start * cell} ${(row + 0.5) * cell}h${(end - start) * cell}`
    }
  }
  return paths
}

export function timeBins(
  requests: readonly TimelineRequest[],
  { spanUs: [first, last], binUs }: Pick<TimelineModel, 'spanUs' | 'binUs'>,
) {
  return bin<TimelineRequest, number>()
    .value(({ startUs }) => startUs)
    .domain([first, last])
    .thresholds(range(first + binUs, last, binUs))(requests)
}

type TimeBins = ReturnType<typeof timeBins>

type DrawingProps = Pick<TimelineProps, 'model' | 'requests'> & {
  readonly layout: TimelineLayout
}

function TimelineDrawing({ model, requests, layout }: DrawingProps) {
  const ink = useInk()
  const cell = useIsStill() ? STILL_CELL : CELL
  const { x, y, panels, placed, labels } = layout
  const bins = requests.map((shown) => timeBins(shown, model))
  const most = max(bins.flat(), ({ length }) => length) ?? 1
  const panel = ({ left, top, width }: PlotBox, period: number) => {
    const shown = requests[period] ?? []
    const own = bins[period] ?? []
    const dots = { left, width, top: top + SIZE.bars + SIZE.gap, height: layout.dots }
    const color = period === 0 ? ink.before : ink.after
    const paths = densityPaths(shown, layout, { ...dots, cell })
    const medians = medianPath(own, dots, { x, y })
    const arrivals = max(own, ({ length }) => length) ?? 0
    const words =
      `${counted(shown.length, 'request')}; ` +
      `bars: arrivals, up to ${arrivals} in ${formatDuration(model.binUs)}; dots: response times`
    const axis =
      period === 0
        ? { scale: { ...x, ticks: x.ticks.map(({ value }) => ({ value, text: '' })) } }
        : { scale: x, title: 'time since the start of the period' }
    return (
      <g key={period}>
        <rect x={left} y={top - labels - 18} width="10" height="10" fill={color} />
        <Text x={left + 16} y={top - labels - 9}>
          <tspan font-weight="600">{period === 0 ? 'before' : 'after'}</tspan>
          {`: ${words}`}
        </Text>
        <BottomAxis box={dots} {...axis} />
        <LeftAxis scale={y} box={dots} />
        <path
          d={barsPath(own, { left, top, width, height: SIZE.bars }, { x, most })}
          fill={color}
        />
        <path d={`M${left} ${top + SIZE.bars}h${width}`} stroke={ink.line} />
        <g transform={`translate(${left} ${dots.top})`} shape-rendering="crispEdges" fill="none">
          {DARKNESS.map(({ opacity }, step) => (
            <path key={step} d={paths[step]} stroke={color} stroke-width={cell} opacity={opacity} />
          ))}
        </g>
        <path d={medians} fill="none" stroke={ink.back} stroke-width="4" opacity="0.8" />
        <path d={medians} fill="none" stroke={ink.text} stroke-width="1.5" />
        <Marks marks={placed[period] ?? []} {...{ top: top - labels, dots, x }} />
      </g>
    )
  }
  return <g>{panels.map(panel)}</g>
}

interface MarksProps {
  readonly marks: ReturnType<typeof placedMarks>
  readonly top: number
  readonly dots: PlotBox
  readonly x: AxisScale
}

/** Draws marks, each with its words above the bars, where they hide no request. */
function Marks({ marks, top, dots, x }: MarksProps) {
  const ink = useInk()
  const at = across(x, dots)
  const height = dots.top + dots.height - top
  return marks.map(({ kind, label, said, atUs, lowUs, highUs, isLeft, labelY }) => {
    const color = kind === 'finding' ? 'changeText' : 'text'
    return (
      <g key={`${label} ${atUs}`}>
        <title>{said}</title>
        <rect
          {...{ x: at(lowUs), y: top, width: at(highUs) - at(lowUs), height, fill: ink[color] }}
          opacity="0.2"
        />
        <path
          d={`M${at(atUs)} ${top}v${height}`}
          stroke={ink[color]}
          stroke-dasharray={MARK_DASHES[kind].join(' ')}
        />
        {labelY === null ? null : (
          <Text
            {...{ x: at(atUs) + (isLeft ? -3 : 3), y: top + labelY + 9, color, size: 10 }}
            anchor={isLeft ? 'end' : 'start'}
          >
            {label}
          </Text>
        )}
      </g>
    )
  })
}

function across(x: AxisScale, { left, width }: PlotBox) {
  return (timeUs = 0) => pixel(left + x.share(timeUs) * width)
}

function barsPath(
  bins: TimeBins,
  box: PlotBox,
  { x, most }: { x: AxisScale; most: number },
): string {
  const at = across(x, box)
  const bars = bins.map(({ x0, x1, length }) => {
    if (length === 0) return ''
    const height = pixel(Math.max(1, (length / most) * box.height))
    const width = Math.max(1, at(x1) - at(x0) - 0.5)
    return `M${at(x0)} ${box.top + box.height - height}h${width}v${height}h${-width}z`
  })
  return bars.join('')
}

const MIN_REQUESTS = 5

function medianPath(
  bins: TimeBins,
  dots: PlotBox,
  { x, y }: Pick<TimelineLayout, 'x' | 'y'>,
): string {
  const at = across(x, dots)
  const steps = bins.map((requests, i) => {
    if (requests.length < MIN_REQUESTS) return ''
    const medianUs = median(requests, ({ timeUs }) => timeUs) ?? 0
    const height = pixel(dots.top + (1 - y.share(medianUs)) * dots.height)
    const wasDrawn = (bins[i - 1]?.length ?? 0) >= MIN_REQUESTS
    return `${wasDrawn ? 'V' : `M${at(requests.x0)} `}${height}H${at(requests.x1)}`
  })
  return steps.join('')
}

interface RangeShadeProps {
  readonly range: RangeUs | null
  readonly box: PlotBox
  readonly x: AxisScale
}

function RangeShade({ range, box, x }: RangeShadeProps) {
  const ink = useInk()
  if (range === null) return null
  const { left, top: y, width, height } = box
  const [from, to] = range.map((time) => left + x.share(time) * width) as [number, number]
  const rest = { y, height, fill: ink.back, opacity: 0.72 }
  const frame = { x: from, y, width: Math.max(1, to - from), height }
  return (
    <g pointer-events="none">
      <rect x={left} width={Math.max(0, from - left)} {...rest} />
      <rect x={to} width={Math.max(0, left + width - to)} {...rest} />
      <rect {...frame} fill="none" stroke={ink.text} />
    </g>
  )
}

/** Pixels from dot to dot; a still, which cannot be compressed, has larger ones. */
const CELL = 3
const STILL_CELL = 4

const MARKS = [
  { kind: 'finding', name: 'a finding began' },
  { kind: 'given', name: 'event' },
  { kind: 'seen', name: 'a version or host comes or goes' },
] as const

interface TimelineProps {
  readonly model: TimelineModel
  readonly requests: TimelineModel['requests']
  readonly ranges: readonly [RangeUs | null, RangeUs | null]
  readonly onRange: (period: 0 | 1, range: RangeUs | null) => void
  /** Height of the dots of a period, in pixels. */
  readonly dots?: number
}

/** Draws when requests came and how long they took; a stretch of each period can be selected. */
export function Timeline({ model, requests, ranges, onRange, dots }: TimelineProps) {
  const [place, width] = useWidth<HTMLDivElement>()
  const isStill = useIsStill()
  const ink = useInk()
  const layout = useMemo(() => timelineLayout(model, width, dots), [model, width, dots])
  // Kept while a range is dragged: only what lies on top changes.
  const drawing = useMemo(
    () => <TimelineDrawing {...{ model, requests, layout }} />,
    [model, requests, layout],
  )
  return (
    <>
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
              const own = { range: ranges[period], box: layout.panels[period], x: layout.x }
              return isStill ? (
                <RangeShade key={period} {...own} />
              ) : (
                <Brush
                  key={period}
                  {...own}
                  model={model}
                  name={period === 0 ? 'before' : 'after'}
                  onChange={(next) => onRange(period, next)}
                />
              )
            })}
          </g>
        </Figure>
      </div>
      <p class="fd-soft">
        Drag across a period to compare a stretch of it; its ends move by the mouse or the arrow
        keys.
      </p>
    </>
  )
}

interface BrushProps extends RangeShadeProps {
  readonly model: TimelineModel
  readonly name: string
  readonly onChange: (range: RangeUs | null) => void
}

function Brush({ model, name, onChange, range, box, x }: BrushProps) {
  const area = useRef<SVGRectElement>(null)
  const [moved, setMoved] = useState<RangeUs | null | undefined>(undefined)
  const [dragged, handlers] = useDragRange(([from, to]) =>
    onChange(rangeBetween(model, x.value(from), x.value(to))),
  )
  const { left, top: y, width, height } = box
  const drawn = dragged === null ? moved : ([x.value(dragged[0]), x.value(dragged[1])] as const)
  const shown = drawn === undefined ? range : drawn
  const timeAt = (clientX: number) => {
    const place = area.current?.getBoundingClientRect()
    return x.value(place === undefined ? 0 : (clientX - place.left) / place.width)
  }
  return (
    <g>
      <RangeShade range={shown} {...{ box, x }} />
      <rect
        ref={area}
        {...{ x: left, y, width, height, fill: 'transparent', class: 'fd-zoom' }}
        {...(handlers as object)}
      />
      {([0, 1] as const).map((end) => (
        <RangeEnd
          key={end}
          {...{ model, end, range: shown, box, x }}
          label={`${name}, ${end === 0 ? 'from' : 'to'}`}
          onMove={(clientX) => setMoved(withEnd(model, range, { end, timeUs: timeAt(clientX) }))}
          onLetGo={() => {
            if (moved !== undefined) onChange(moved)
            setMoved(undefined)
          }}
          onStep={(timeUs) => onChange(withEnd(model, range, { end, timeUs }))}
        />
      ))}
    </g>
  )
}

interface EndProps extends Pick<BrushProps, 'model' | 'range' | 'box' | 'x'> {
  readonly end: 0 | 1
  readonly label: string
  readonly onMove: (clientX: number) => void
  readonly onLetGo: () => void
  readonly onStep: (timeUs: number) => void
}

const GRIP = { width: 9, height: 26 }
const FONT_SIZE = 11
const PAGE = 10

function RangeEnd({ model, end, range, box, x, label, onMove, onLetGo, onStep }: EndProps) {
  const ink = useInk()
  const { spanUs, stepUs } = model
  const timeUs = (range ?? spanUs)[end]
  const at = box.left + x.share(timeUs) * box.width
  const text = timeText(timeUs, spanUs)
  const wide = textWidth(text, FONT_SIZE) + GRIP.width
  // Outside the stretch, where there is room.
  const isLeft = end === 0 ? at - wide >= box.left : at + wide > box.left + box.width
  const by = (steps: number) => () => onStep(timeUs + steps * stepUs)
  const keys = {
    ArrowRight: by(1),
    ArrowUp: by(1),
    ArrowLeft: by(-1),
    ArrowDown: by(-1),
    PageUp: by(PAGE),
    PageDown: by(-PAGE),
    Home: () => onStep(spanUs[0]),
    End: () => onStep(spanUs[1]),
  }
  return (
    <g
      class="fd-end"
      role="slider"
      tabindex={0}
      aria-label={label}
      aria-valuemin={spanUs[0]}
      aria-valuemax={spanUs[1]}
      aria-valuenow={timeUs}
      aria-valuetext={text}
      onKeyDown={(event) => actOnKey(event, keys)}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        event.preventDefault()
        event.currentTarget.focus()
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) onMove(event.clientX)
      }}
      onPointerUp={onLetGo}
      onPointerCancel={onLetGo}
    >
      <rect
        x={at - GRIP.width / 2}
        y={box.top + (box.height - GRIP.height) / 2}
        {...GRIP}
        rx="3"
        fill={ink.raised}
        stroke={ink.text}
      />
      {range === null ? null : (
        <Text
          x={at + (isLeft ? -GRIP.width : GRIP.width)}
          y={box.top + box.height - 6}
          size={FONT_SIZE}
          anchor={isLeft ? 'end' : 'start'}
          stroke={ink.back}
          stroke-width="4"
          paint-order="stroke"
          pointer-events="none"
        >
          {text}
        </Text>
      )}
    </g>
  )
}

export const TIMELINE_STYLE = `${ZOOM_STYLE}
.flowdelta svg .fd-end { cursor: ew-resize; touch-action: none; }
.fd-end:focus-visible > rect { stroke: var(--fd-focus); stroke-width: 3; }
`

function TimelineView(props: ViewProps<TimelineData & StretchData, TimelineOptions>) {
  const { data, call } = props
  const model = useMemo(() => timelineModel(data), [data])
  const { options, change } = useWidgetOptions(TIMELINE_OPTIONS, props)
  const { beforeUs, afterUs, category } = options
  const ranges = [beforeUs, afterUs] as const
  const [root, setRoot] = useState<number | null>(null)
  const [isLinked, setLinked] = useState(false)
  const requests = useMemo(() => {
    const [before, after] = model.requests
    const kept = (all: typeof before) => filteredRequests(all, data.categories, { category, root })
    return [kept(before), kept(after)] as const
  }, [data, model, category, root])
  const setRange = (period: 0 | 1, range: RangeUs | null) =>
    change({
      ...(period === 0 || isLinked ? { beforeUs: range } : {}),
      ...(period === 1 || isLinked ? { afterUs: range } : {}),
    })
  const filter = { category, root }
  const stretch = useStretch(data, { ranges, filter })
  const linkOf = traceLinks(options.traceUrl)
  return (
    <section aria-label="Timeline">
      <div class="fd-bar">
        <FilterSelect
          {...{ data, filter }}
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
      <Timeline {...{ model, requests, ranges }} onRange={setRange} />
      <Facts {...{ ranges, requests, model }} />
      {stretch !== null && (
        <div class="fd-stretch">
          <p aria-live="polite">{stretchText(stretch)}</p>
          {stretch.state === 'compared' && (
            <ChangePane {...stretch} {...{ name: call.name, linkOf }} />
          )}
        </div>
      )}
      <StateCode code={timelineCode(data, { ...options, root }, call.name)} />
    </section>
  )
}

const FACTS = ['period', 'arrived', 'requests', 'rate', 'mean time', 'median time']

function Facts({ ranges, requests, model }: Pick<TimelineProps, 'ranges' | 'requests' | 'model'>) {
  const { spanUs } = model
  const before = summarizeRange(requests[0], ranges[0], model.requests[0])
  const after = summarizeRange(requests[1], ranges[1], model.requests[1])
  const known = (us: number, text: (us: number) => string) => (Number.isFinite(us) ? text(us) : '–')
  const facts = ({ all, perSecond, ...some }: typeof before) => [
    some.requests === all
      ? grouped(all)
      : `${grouped(some.requests)} (${percent(some.requests / all)})`,
    rateText(perSecond),
    ...[some.meanUs, some.medianUs].map((us) => known(us, formatDuration)),
  ]
  const more = after.requests - before.requests
  const rate = after.perSecond / before.perSecond - 1
  const rows = [
    ['before', rangeText(ranges[0], spanUs), ...facts(before)],
    ['after', rangeText(ranges[1], spanUs), ...facts(after)],
    [
      'after − before',
      '',
      signed(more, grouped(Math.abs(more))),
      known(rate, (change) =>
        Math.abs(change) < 0.005 ? 'the same' : signed(change, percent(Math.abs(change))),
      ),
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

/** When requests arrived and how long they took; a stretch selected in each period is counted, and written as code. */
export const timelineWidget = defineWidget({
  name: 'timeline',
  title: 'Timeline',
  description: ({ packed: [before, after] }: TimelineData & StretchData) =>
    `When ${counted(before.gapsUs.length, 'request')} before and ` +
    `${counted(after.gapsUs.length, 'request')} after arrived and how long they took; ` +
    'drag across a period to compare a stretch of time.',
  options: TIMELINE_OPTIONS,
  data: (comparison: Comparison, { category }) => {
    const { size } = comparison.categories
    if (category !== null && category >= size) {
      throw new OptionError('category', category, `a category from 0 to ${size - 1}`)
    }
    return { ...timelineData(comparison), carried: carriedRequests(comparison) }
  },
  // Widened to whole µs, as arrivals are rounded in the page.
  initial: (_, options) => {
    const [beforeUs = null, afterUs = null] = [options.beforeUs, options.afterUs].map(
      (range): RangeUs | null => range && [Math.floor(range[0]), Math.ceil(range[1])],
    )
    return { ...options, beforeUs, afterUs }
  },
  view: TimelineView,
  hasCharts: true,
  style: `${TIMELINE_STYLE}${FINDINGS_STYLE}${RIBBON_STYLE}
.fd-facts thead th.fd-amount { white-space: normal; }
.fd-facts th, .fd-facts td { padding: 3px 6px; }
.fd-facts table { min-width: min(100%, 600px); }
select { max-width: 26em; }
`,
})
