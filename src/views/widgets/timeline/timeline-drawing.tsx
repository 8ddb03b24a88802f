import { useMemo, useRef, useState } from 'preact/hooks'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { type ArrivalsModel, type ArrivedRequest, arrivalsPicture } from '../../charts/arrivals.ts'
import { actOnKey, useDragRange } from '../../drawing/controls.tsx'
import { type Ink, PageOnly, Text, useInk, useIsStill } from '../../drawing/figure.tsx'
import { textWidth } from '../../drawing/text.ts'
import { ZOOM_STYLE } from '../../drawing/time-range.tsx'
import { type AxisScale, type PlotBox, timeScale, timeText } from '../../drawing/time-scale.ts'
import { VegaChart } from '../vega-chart.tsx'
import { rangeBetween, withEnd } from './timeline-model.ts'

/** Height of the dots in pages with other content. */
export const FEW_DOTS = 60

interface TimelineProps {
  readonly model: ArrivalsModel
  readonly requests: readonly (readonly ArrivedRequest[])[]
  readonly ranges: readonly [RangeUs | null, RangeUs | null]
  readonly onRange: (period: 0 | 1, range: RangeUs | null) => void
  /** Height of the dots of a period, in pixels. */
  readonly dots?: number
}

/** Draws when requests came and how long they took; a stretch of each period can be selected. */
export function Timeline({ model, requests, ranges, onRange, dots }: TimelineProps) {
  const isStill = useIsStill()
  const ink = useInk()
  const [boxes, setBoxes] = useState<readonly PlotBox[]>([])
  const { spec } = useMemo(
    () =>
      arrivalsPicture(model, requests, {
        title: 'When requests arrived and how long they took',
        ...(dots !== undefined && { height: dots }),
        ...(isStill && { ranges }),
      }),
    [model, requests, dots, isStill && ranges],
  )
  const x = timeScale(model.spanUs, 2)
  return (
    <>
      <div class="fd-timeline">
        <VegaChart spec={spec} onDrawn={(element) => setBoxes(periodBoxes(element))} />
        <PageOnly>
          <svg class="fd-brushes">
            <title>Drag to select a stretch of a period</title>
            {boxes.map((box, period) => (
              <Brush
                key={period}
                {...{ model, box, x, ink, range: ranges[period] ?? null }}
                name={period === 0 ? 'before' : 'after'}
                onChange={(next) => onRange(period as 0 | 1, next)}
              />
            ))}
          </svg>
        </PageOnly>
      </div>
      <PageOnly>
        <p class="fd-soft">
          Drag across a period to compare a stretch of it; its ends move by the mouse or the arrow
          keys.
        </p>
      </PageOnly>
    </>
  )
}

/** Returns where both periods are drawn: each has a view of bars, and one of dots below it. */
function periodBoxes(element: HTMLElement): PlotBox[] {
  const around = element.getBoundingClientRect()
  const views = Array.from(
    element.querySelectorAll('.role-scope[class$="_group"] > g > .background'),
    (view) => view.getBoundingClientRect(),
  )
  return [views.slice(0, 2), views.slice(2, 4)].flatMap(([bars, dots]) =>
    bars === undefined || dots === undefined
      ? []
      : {
          left: bars.left - around.left,
          top: bars.top - around.top,
          width: bars.width,
          height: dots.bottom - bars.top,
        },
  )
}

interface RangeShadeProps {
  readonly range: RangeUs | null
  readonly box: PlotBox
  readonly x: AxisScale
  readonly ink: Ink
}

function RangeShade({ range, box, x, ink }: RangeShadeProps) {
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

type BrushProps = Parameters<typeof RangeShade>[0] & {
  readonly model: ArrivalsModel
  readonly name: string
  readonly onChange: (range: RangeUs | null) => void
}

const ENDS = [0, 1] as const

/** Selects a stretch of a period: by dragging across it, and by its two ends. */
function Brush({ model, name, onChange, range, ...shade }: BrushProps) {
  const { box, x } = shade
  const area = useRef<SVGRectElement>(null)
  const [moved, setMoved] = useState<RangeUs | null | undefined>(undefined)
  const [dragged, handlers] = useDragRange(([from, to]) =>
    onChange(rangeBetween(model, x.value(from), x.value(to))),
  )
  const { left, top: y, width, height } = box
  const shown =
    dragged !== null
      ? ([x.value(dragged[0]), x.value(dragged[1])] as const)
      : moved === undefined
        ? range
        : moved
  const timeAt = (clientX: number) => {
    const place = area.current?.getBoundingClientRect()
    return x.value(place === undefined ? 0 : (clientX - place.left) / place.width)
  }
  return (
    <g>
      <RangeShade {...shade} range={shown} />
      <rect
        ref={area}
        {...{ x: left, y, width, height, fill: 'transparent', class: 'fd-zoom' }}
        {...(handlers as object)}
      />
      {ENDS.map((end) => (
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
/** Number of arrow-key steps that Page Up and Page Down go. */
const PAGE = 10

/** Draws an end of a stretch, with its time: it is dragged, or moved by keys. */
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
.fd-timeline { position: relative; min-height: 320px; }
svg.fd-brushes.fd-brushes { position: absolute; inset: 0; width: 100%; height: 100%; font-size: 11px; pointer-events: none; }
.fd-brushes :is(.fd-zoom, .fd-end) { pointer-events: auto; }
.flowdelta svg .fd-end { cursor: ew-resize; touch-action: none; }
.fd-end:focus-visible > rect { stroke: var(--fd-focus); stroke-width: 3; }
`
