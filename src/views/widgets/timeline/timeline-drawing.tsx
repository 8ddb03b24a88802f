import { formatDuration } from '../../../core/units.ts'
import { counted } from '../../../core/words.ts'
import type { Period } from '../../../flows/flow-set.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { BottomAxis, LeftAxis, type PlotBox, pixel } from '../../drawing/axis-lines.tsx'
import type { AxisScale } from '../../drawing/axis-scale.ts'
import type { Ink } from '../../drawing/ink.ts'
import { arrivalBins, DARKNESS, densityPaths, medianBins } from './timeline-density.ts'
import type { TimelineLayout } from './timeline-layout.ts'
import type { TimelineModel, TimelineRequests } from './timeline-model.ts'

interface Shown {
  readonly model: TimelineModel
  /** What is drawn of both periods: all requests, or some. */
  readonly requests: readonly [TimelineRequests, TimelineRequests]
  readonly layout: TimelineLayout
  /** Pixels from dot to dot. */
  readonly cell: number
  readonly ink: Ink
}

/** Arrivals and response times of both periods, without anything selected. */
export function TimelineDrawing({ model, requests, layout, cell, ink }: Shown) {
  const bins = requests.map((shown) => arrivalBins(shown, model))
  const most = bins.flat().reduce((largest, count) => Math.max(largest, count), 1)
  return (
    <g>
      <Legend layout={layout} binUs={model.binUs} ink={ink} />
      {([0, 1] as const).map((period) => (
        <Panel
          key={period}
          {...{ period, model, layout, cell, ink, most }}
          requests={requests[period]}
          bins={bins[period] as readonly number[]}
        />
      ))}
    </g>
  )
}

function Legend({
  layout: { left, width },
  binUs,
  ink,
}: {
  readonly layout: TimelineLayout
  readonly binUs: number
  readonly ink: Ink
}) {
  const said = DARKNESS.map(({ from }, i) => {
    const next = DARKNESS[i + 1]
    return next === undefined
      ? `${from} or more`
      : next.from - from > 1
        ? `${from}–${next.from - 1}`
        : String(from)
  })
  const isWide = width >= 620
  return (
    <g>
      <text x={left} y="13" style={`fill:${ink.soft}`}>
        {isWide ? 'requests in one dot:' : 'in a dot:'}
      </text>
      {DARKNESS.map(({ opacity }, i) => (
        <g key={opacity} transform={`translate(${left + (isWide ? 122 : 56) + 46 * i} 0)`}>
          <rect y="5" width="9" height="9" fill={ink.text} opacity={opacity} />
          <text x="14" y="13" style={`fill:${ink.soft}`}>
            {said[i]}
          </text>
        </g>
      ))}
      <g transform={`translate(${left + (isWide ? 380 : 306)} 0)`}>
        <line x2="18" y1="9" y2="9" stroke={ink.text} stroke-width="1.5" />
        <text x="24" y="13" style={`fill:${ink.soft}`}>
          median{isWide ? ` of each ${formatDuration(binUs)}` : ''}
        </text>
      </g>
    </g>
  )
}

interface PanelShown extends Omit<Shown, 'requests'> {
  readonly period: Period
  readonly requests: TimelineRequests
  readonly bins: readonly number[]
  /** The highest bar of both periods. */
  readonly most: number
}

function Panel({ period, requests, bins, most, model, layout, cell, ink }: PanelShown) {
  const { bars, dots, titleY } = layout.panels[period]
  const { x, y } = layout
  const colour = period === 0 ? ink.before : ink.after
  const paths = densityPaths(requests, layout, { ...dots, cell })
  const highest = bins.reduce((largest, count) => Math.max(largest, count), 0)
  return (
    <g>
      <rect x={bars.left} y={titleY - 9} width="10" height="10" fill={colour} />
      <text x={bars.left + 16} y={titleY} style={`fill:${ink.text}`}>
        <tspan font-weight="600">{period === 0 ? 'before' : 'after'}</tspan>
        {`: ${counted(requests.startUs.length, 'request')}; bars: arrivals, up to ${highest} in ${formatDuration(model.binUs)}`}
      </text>
      <BottomAxis
        {...{ box: dots, ink }}
        scale={period === 0 ? { ...x, ticks: x.ticks.map(withoutText) } : x}
        {...(period === 0 ? {} : { title: 'time since the start of the period' })}
      />
      <LeftAxis scale={y} box={dots} ink={ink} />
      <path d={barsPath(bins, { model, bars, x, most })} fill={colour} />
      <line
        {...{ x1: bars.left, x2: bars.left + bars.width }}
        {...{ y1: bars.top + bars.height, y2: bars.top + bars.height, stroke: ink.line }}
      />
      <g transform={`translate(${dots.left} ${dots.top})`} shape-rendering="crispEdges">
        {DARKNESS.map(({ opacity }, step) =>
          paths[step] === '' ? null : (
            <path
              key={opacity}
              d={paths[step]}
              stroke={colour}
              stroke-width={cell}
              opacity={opacity}
              fill="none"
            />
          ),
        )}
      </g>
      <path
        d={medianPath(requests, { model, dots, x, y })}
        {...{ fill: 'none', stroke: ink.back, 'stroke-width': '4', opacity: '0.8' }}
      />
      <path
        d={medianPath(requests, { model, dots, x, y })}
        {...{ fill: 'none', stroke: ink.text, 'stroke-width': '1.5' }}
      />
    </g>
  )
}

const withoutText = ({ value }: { readonly value: number }) => ({ value, text: '' })

function barsPath(
  bins: readonly number[],
  {
    model: { spanUs, binUs },
    bars,
    x,
    most,
  }: { model: TimelineModel; bars: PlotBox; x: AxisScale; most: number },
): string {
  return bins
    .map((count, bin) => {
      if (count === 0) return ''
      const [from, to] = [bin, bin + 1].map((edge) =>
        pixel(bars.left + x.share(spanUs[0] + edge * binUs) * bars.width),
      ) as [number, number]
      const height = pixel(Math.max(1, (count / most) * bars.height))
      const width = Math.max(1, to - from - 0.5)
      return `M${from} ${bars.top + bars.height - height}h${width}v${height}h${-width}z`
    })
    .join('')
}

/** A step for each part of the time; parts of few requests leave a gap. */
function medianPath(
  requests: TimelineRequests,
  { model, dots, x, y }: { model: TimelineModel; dots: PlotBox; x: AxisScale; y: AxisScale },
): string {
  const { spanUs, binUs } = model
  let isDrawing = false
  return medianBins(requests, model)
    .map((medianUs, bin) => {
      if (medianUs === null) {
        isDrawing = false
        return ''
      }
      const [from, to] = [bin, bin + 1].map((edge) =>
        pixel(dots.left + x.share(spanUs[0] + edge * binUs) * dots.width),
      )
      const height = pixel(dots.top + (1 - y.share(medianUs)) * dots.height)
      const step = isDrawing ? `V${height}H${to}` : `M${from} ${height}H${to}`
      isDrawing = true
      return step
    })
    .join('')
}

/** Fades what is not within a range; nothing, where there is none. */
export function RangeShade({
  range,
  box,
  x,
  ink,
}: {
  readonly range: RangeUs | null
  readonly box: PlotBox
  readonly x: AxisScale
  readonly ink: Ink
}) {
  if (range === null) return null
  const [from, to] = range.map((time) => box.left + x.share(time) * box.width) as [number, number]
  const rest = { y: box.top, height: box.height, fill: ink.back, opacity: 0.72 }
  return (
    <g pointer-events="none">
      <rect x={box.left} width={Math.max(0, from - box.left)} {...rest} />
      <rect x={to} width={Math.max(0, box.left + box.width - to)} {...rest} />
      <rect
        x={from}
        y={box.top}
        width={Math.max(1, to - from)}
        height={box.height}
        {...{ fill: 'none', stroke: ink.text }}
      />
    </g>
  )
}
