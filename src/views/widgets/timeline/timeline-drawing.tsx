import { bin, max, median, range } from 'd3-array'
import { counted, formatDuration } from '../../../core/words.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { MARK_DASHES, placedMarks } from '../../charts/time-marks.ts'
import { BottomAxis, LeftAxis, type PlotBox, pixel } from '../../drawing/axis-lines.tsx'
import { type AxisScale, logDurationScale, timeScale } from '../../drawing/axis-scale.ts'
import { type Ink, Text } from '../../drawing/figure.tsx'
import type { TimelineModel, TimelineRequest } from './timeline-model.ts'

const SIZE = { left: 58, right: 16, title: 24, bars: 30, gap: 6, between: 14, axis: 38 }
/** Height of the dots of a period; the lower one is for pages with other content. */
const DOTS = 130
export const FEW_DOTS = 60
/** Most characters of marks' labels above the bars. */
const MAX_LABELS = 42
const LABEL = 14

export type TimelineLayout = ReturnType<typeof timelineLayout>

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

export const DARKNESS = [
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

interface DrawingProps {
  readonly model: TimelineModel
  readonly requests: TimelineModel['requests']
  readonly layout: TimelineLayout
  readonly cell: number
  readonly ink: Ink
}

export function TimelineDrawing({ model, requests, layout, cell, ink }: DrawingProps) {
  const { x, y, panels, placed, labels } = layout
  const bins = requests.map((shown) => timeBins(shown, model))
  const most = max(bins.flat(), ({ length }) => length) ?? 1
  const panel = ({ left, top, width }: PlotBox, period: number) => {
    const shown = requests[period] ?? []
    const own = bins[period] ?? []
    const dots = { left, width, top: top + SIZE.bars + SIZE.gap, height: layout.dots }
    const color = period === 0 ? ink.before : ink.after
    const paths = densityPaths(shown, layout, { ...dots, cell })
    const medians = medianPath(own, { x, y, dots })
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
          d={barsPath(own, { x, most, box: { left, top, width, height: SIZE.bars } })}
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
        <Marks marks={placed[period] ?? []} {...{ top: top - labels, dots, x, ink }} />
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
  readonly ink: Ink
}

/** Draws marks, each with its words above the bars, where they hide no request. */
function Marks({ marks, top, dots, x, ink }: MarksProps) {
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

interface BarsPlace {
  readonly x: AxisScale
  readonly box: PlotBox
  readonly most: number
}

function barsPath(bins: TimeBins, { x, box, most }: BarsPlace): string {
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

/** Draws a step for each part of the time; parts of few requests leave a gap. */
function medianPath(
  bins: TimeBins,
  { dots, x, y }: Pick<TimelineLayout, 'x' | 'y'> & { readonly dots: PlotBox },
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
  readonly ink: Ink
}

export function RangeShade({ range, box, x, ink }: RangeShadeProps) {
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
