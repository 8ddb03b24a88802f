import { max } from 'd3-array'
import { formatDuration } from '../../../core/units.ts'
import { counted } from '../../../core/words.ts'
import type { Period } from '../../../flows/flow-set.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { quantile } from '../../../stats/quantile.ts'
import { BottomAxis, LeftAxis, type PlotBox, pixel } from '../../drawing/axis-lines.tsx'
import { type AxisScale, logDurationScale, timeScale } from '../../drawing/axis-scale.ts'
import type { Ink } from '../../drawing/ink.ts'
import type { TimelineModel, TimelineRequests } from './timeline-model.ts'

/** Heights and margins, in pixels. */
const SIZE = {
  left: 58,
  right: 16,
  legend: 24,
  title: 24,
  bars: 30,
  gap: 6,
  dots: 130,
  between: 14,
  axis: 38,
}

/** Place of one period: a title, bars for arrivals, dots for response times. */
export interface TimelinePanel {
  readonly titleY: number
  readonly bars: PlotBox
  readonly dots: PlotBox
  /** Bars and dots together, where ranges are selected. */
  readonly whole: PlotBox
}

/** Places and scales in a timeline of some width, in pixels. */
export interface TimelineLayout {
  readonly width: number
  readonly height: number
  readonly panels: readonly [TimelinePanel, TimelinePanel]
  readonly x: AxisScale
  readonly y: AxisScale
}

/** Lays out both periods one above the other, on the same scales. */
export function timelineLayout(
  { spanUs, extentUs: [low, high], zeroUs }: TimelineModel,
  width: number,
): TimelineLayout {
  const { left, right, legend, title, bars, gap, dots, between, axis } = SIZE
  const plot = Math.max(100, width - left - right)
  const panel = (top: number): TimelinePanel => {
    const box = { left, width: plot, top: top + title }
    return {
      titleY: top + title - 9,
      bars: { ...box, height: bars },
      dots: { ...box, top: box.top + bars + gap, height: dots },
      whole: { ...box, height: bars + gap + dots },
    }
  }
  const panelHeight = title + bars + gap + dots
  return {
    width,
    height: legend + 2 * panelHeight + between + axis,
    panels: [panel(legend), panel(legend + panelHeight + between)],
    x: timeScale(spanUs, { ticks: Math.max(3, Math.floor(plot / 70)) }),
    y: withZero(logDurationScale({ low, high, ticks: 6 }), zeroUs),
  }
}

/** Share of a logarithmic axis kept below it for times of 0. */
const ZERO_SHARE = 0.11

/** Adds a place for 0 below a logarithmic axis, where there are times of 0. */
function withZero(scale: AxisScale, zeroUs: number | null): AxisScale {
  if (zeroUs === null) return scale
  const rest = 1 - ZERO_SHARE
  return {
    share: (value) => (value > 0 ? ZERO_SHARE + rest * scale.share(value) : 0),
    value: (share) => (share < ZERO_SHARE ? 0 : scale.value((share - ZERO_SHARE) / rest)),
    ticks: [{ value: 0, text: zeroUs < 0 ? '≤ 0' : '0' }, ...scale.ticks],
  }
}

/** Opacity of a dot by the number of its requests. */
const DARKNESS = [
  { from: 1, text: '1', opacity: 0.5 },
  { from: 2, text: '2–3', opacity: 0.7 },
  { from: 4, text: '4–7', opacity: 0.85 },
  { from: 8, text: '8 or more', opacity: 1 },
] as const

/**
 * Draws when requests arrived (to the right) and how long they took (upwards) as one path for each
 * step of darkness, stroked as wide as a cell. Its size depends on the cells, not on the requests.
 */
export function densityPaths(
  { startUs, responseTimeUs }: TimelineRequests,
  { x, y }: { readonly x: AxisScale; readonly y: AxisScale },
  { width, height, cell }: { width: number; height: number; cell: number },
): readonly string[] {
  const columns = Math.max(1, Math.floor(width / cell))
  const rows = Math.max(1, Math.floor(height / cell))
  const counts = new Uint32Array(columns * rows)
  startUs.forEach((start, i) => {
    const column = Math.min(columns - 1, Math.floor((x.share(start) * width) / cell))
    const share = y.share(responseTimeUs[i] as number)
    const row = Math.min(rows - 1, Math.floor(((1 - share) * height) / cell))
    const place = row * columns + column
    counts[place] = (counts[place] as number) + 1
  })
  const stepOf = (place: number) => {
    const count = counts[place] as number
    return DARKNESS.findLastIndex(({ from }) => count >= from)
  }
  return DARKNESS.map((_, step) => {
    let path = ''
    for (let row = 0; row < rows; row++) {
      let end: number | null = null
      for (let column = 0; column < columns; column++) {
        if (stepOf(row * columns + column) !== step) continue
        const start = column
        while (column + 1 < columns && stepOf(row * columns + column + 1) === step) column++
        path +=
          end === null ? `M${start * cell} ${(row + 0.5) * cell}` : `m${(start - end) * cell} 0`
        end = column + 1
        path += `h${(end - start) * cell}`
      }
    }
    return path
  })
}

/** Equal parts of the time, the last of which may be shorter. */
export type TimeBins = Pick<TimelineModel, 'spanUs' | 'binUs'>

function binned(
  { startUs, responseTimeUs }: TimelineRequests,
  { spanUs: [first, last], binUs }: TimeBins,
): number[][] {
  const bins = Array.from({ length: Math.ceil((last - first) / binUs) }, (): number[] => [])
  startUs.forEach((start, i) => {
    bins[Math.floor((start - first) / binUs)]?.push(responseTimeUs[i] as number)
  })
  return bins
}

/** Counts the requests that arrived in each part of the time. */
export function arrivalBins(requests: TimelineRequests, bins: TimeBins): readonly number[] {
  return binned(requests, bins).map((times) => times.length)
}

interface DrawingProps {
  readonly model: TimelineModel
  /** Requests that are drawn of both periods: all, or some. */
  readonly requests: readonly [TimelineRequests, TimelineRequests]
  readonly layout: TimelineLayout
  /** Distance between dots, in pixels. */
  readonly cell: number
  readonly ink: Ink
}

/** Draws arrivals and response times of both periods, without anything selected. */
export function TimelineDrawing(props: DrawingProps) {
  const { model, requests, layout, ink } = props
  const bins = requests.map((shown) => arrivalBins(shown, model))
  const most = max(bins.flat()) ?? 1
  return (
    <g>
      <Legend width={layout.width} binUs={model.binUs} ink={ink} />
      {([0, 1] as const).map((period) => (
        <Panel
          key={period}
          {...props}
          period={period}
          requests={requests[period]}
          counts={bins[period] as readonly number[]}
          most={most}
        />
      ))}
    </g>
  )
}

function Legend({ width, binUs, ink }: { width: number; binUs: number; ink: Ink }) {
  const isWide = width >= 620
  const soft = { style: `fill:${ink.soft}` }
  return (
    <g>
      <text x={SIZE.left} y="13" {...soft}>
        {isWide ? 'requests in one dot:' : 'in a dot:'}
      </text>
      {DARKNESS.map(({ opacity, text }, i) => (
        <g key={text} transform={`translate(${SIZE.left + (isWide ? 122 : 56) + 46 * i} 0)`}>
          <rect y="5" width="9" height="9" fill={ink.text} opacity={opacity} />
          <text x="14" y="13" {...soft}>
            {text}
          </text>
        </g>
      ))}
      <g transform={`translate(${SIZE.left + (isWide ? 380 : 306)} 0)`}>
        <line x2="18" y1="9" y2="9" stroke={ink.text} stroke-width="1.5" />
        <text x="24" y="13" {...soft}>
          median{isWide ? ` of each ${formatDuration(binUs)}` : ''}
        </text>
      </g>
    </g>
  )
}

interface PanelProps extends Omit<DrawingProps, 'requests'> {
  readonly period: Period
  readonly requests: TimelineRequests
  /** Arrivals in each part of the time. */
  readonly counts: readonly number[]
  /** Most arrivals in one part of the time, in both periods. */
  readonly most: number
}

function Panel({ period, requests, counts, most, model, layout, cell, ink }: PanelProps) {
  const { bars, dots, titleY } = layout.panels[period]
  const { x, y } = layout
  const color = period === 0 ? ink.before : ink.after
  const paths = densityPaths(requests, layout, { ...dots, cell })
  const medians = medianPath(requests, { model, dots, x, y })
  const facts = [
    counted(requests.startUs.length, 'request'),
    `bars: arrivals, up to ${max(counts) ?? 0} in ${formatDuration(model.binUs)}`,
  ]
  return (
    <g>
      <rect x={bars.left} y={titleY - 9} width="10" height="10" fill={color} />
      <text x={bars.left + 16} y={titleY} style={`fill:${ink.text}`}>
        <tspan font-weight="600">{period === 0 ? 'before' : 'after'}</tspan>
        {`: ${facts.join('; ')}`}
      </text>
      {period === 0 ? (
        <BottomAxis
          box={dots}
          ink={ink}
          scale={{ ...x, ticks: x.ticks.map(({ value }) => ({ value, text: '' })) }}
        />
      ) : (
        <BottomAxis box={dots} ink={ink} scale={x} title="time since the start of the period" />
      )}
      <LeftAxis scale={y} box={dots} ink={ink} />
      <path d={barsPath(counts, { model, bars, x, most })} fill={color} />
      <path d={`M${bars.left} ${bars.top + bars.height}h${bars.width}`} stroke={ink.line} />
      <g transform={`translate(${dots.left} ${dots.top})`} shape-rendering="crispEdges">
        {DARKNESS.map(({ opacity }, step) => (
          <path
            key={opacity}
            d={paths[step]}
            stroke={color}
            stroke-width={cell}
            opacity={opacity}
            fill="none"
          />
        ))}
      </g>
      <path d={medians} fill="none" stroke={ink.back} stroke-width="4" opacity="0.8" />
      <path d={medians} fill="none" stroke={ink.text} stroke-width="1.5" />
    </g>
  )
}

/** Returns the left and the right end of a part of the time, in pixels. */
function binEnds(
  bin: number,
  { spanUs, binUs }: TimeBins,
  { left, width }: PlotBox,
  x: AxisScale,
): readonly [from: number, to: number] {
  const at = (edge: number) => pixel(left + x.share(spanUs[0] + edge * binUs) * width)
  return [at(bin), at(bin + 1)]
}

function barsPath(
  counts: readonly number[],
  { model, bars, x, most }: { model: TimelineModel; bars: PlotBox; x: AxisScale; most: number },
): string {
  return counts
    .map((count, bin) => {
      if (count === 0) return ''
      const [from, to] = binEnds(bin, model, bars, x)
      const height = pixel(Math.max(1, (count / most) * bars.height))
      const width = Math.max(1, to - from - 0.5)
      return `M${from} ${bars.top + bars.height - height}h${width}v${height}h${-width}z`
    })
    .join('')
}

/** Requests that a median needs. */
const MIN_REQUESTS = 5

/** Draws a step for each part of the time; parts of few requests leave a gap. */
function medianPath(
  requests: TimelineRequests,
  { model, dots, x, y }: { model: TimelineModel; dots: PlotBox; x: AxisScale; y: AxisScale },
): string {
  let isDrawing = false
  return binned(requests, model)
    .map((times, bin) => {
      const wasDrawing = isDrawing
      isDrawing = times.length >= MIN_REQUESTS
      if (!isDrawing) return ''
      const [from, to] = binEnds(bin, model, dots, x)
      const medianUs = quantile(Float64Array.from(times).sort(), 0.5)
      const height = pixel(dots.top + (1 - y.share(medianUs)) * dots.height)
      return wasDrawing ? `V${height}H${to}` : `M${from} ${height}H${to}`
    })
    .join('')
}

interface RangeShadeProps {
  readonly range: RangeUs | null
  readonly box: PlotBox
  readonly x: AxisScale
  readonly ink: Ink
}

/** Fades the time outside of a range; nothing where there is none. */
export function RangeShade({ range, box, x, ink }: RangeShadeProps) {
  if (range === null) return null
  const { left, top, width, height } = box
  const [from, to] = range.map((time) => left + x.share(time) * width) as [number, number]
  const rest = { y: top, height, fill: ink.back, opacity: 0.72 }
  return (
    <g pointer-events="none">
      <rect x={left} width={Math.max(0, from - left)} {...rest} />
      <rect x={to} width={Math.max(0, left + width - to)} {...rest} />
      <rect
        x={from}
        y={top}
        width={Math.max(1, to - from)}
        height={height}
        fill="none"
        stroke={ink.text}
      />
    </g>
  )
}
