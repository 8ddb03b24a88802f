import { pointer } from 'd3-selection'
import { useRef } from 'preact/hooks'
import type { Period } from '../../../flows/flow-set.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { timeText } from '../../drawing/axis-scale.ts'
import { actOnKey } from '../../drawing/controls.tsx'
import { useInk } from '../../drawing/medium.tsx'
import { RangeShade, type TimelineLayout } from './timeline-drawing.tsx'
import { movedRange, rangeBetween, type TimelineModel, withEnd } from './timeline-model.ts'

interface BrushProps {
  readonly period: Period
  readonly model: TimelineModel
  readonly layout: TimelineLayout
  readonly range: RangeUs | null
  readonly onChange: (range: RangeUs | null) => void
}

/** Returns the range when the pointer that is dragged has come to a time. */
type Drag = (timeUs: number) => RangeUs | null

const LARGE = 20
/** Pixels that a pointer may move in a click. */
const MAX_CLICK = 3
const GRIP = { x: -4.5, width: 9, height: 30, rx: 3 } as const

/** Selects a range of time in one period, by dragging or by the arrow keys on its ends. */
export function TimelineBrush({ period, model, layout, range, onChange }: BrushProps) {
  const drag = useRef<Drag | null>(null)
  const ink = useInk()
  const { x } = layout
  const { spanUs, stepUs } = model
  const box = layout.panels[period]
  const name = period === 0 ? 'before' : 'after'
  const pixelOf = (timeUs: number) => box.left + x.share(timeUs) * box.width
  const timeAt = (event: PointerEvent) => {
    const [at] = pointer(event, (event.currentTarget as SVGElement).ownerSVGElement)
    return x.value(Math.min(1, Math.max(0, (at - box.left) / box.width)))
  }
  const letGo = () => {
    drag.current = null
  }
  const dragging = (begin: (fromUs: number) => Drag) => ({
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return
      ;(event.currentTarget as SVGElement).setPointerCapture(event.pointerId)
      drag.current = begin(timeAt(event))
    },
    onPointerMove: (event: PointerEvent) => {
      if (drag.current !== null) onChange(drag.current(timeAt(event)))
    },
    onPointerUp: letGo,
    onPointerCancel: letGo,
  })
  const newRange = (fromUs: number): Drag => {
    const isDrag = (timeUs: number) => Math.abs(pixelOf(timeUs) - pixelOf(fromUs)) > MAX_CLICK
    return (timeUs) => (isDrag(timeUs) ? rangeBetween(model, fromUs, timeUs) : range)
  }
  const moveEnd = (event: KeyboardEvent, end: 0 | 1) => {
    const timeUs = (range ?? spanUs)[end]
    const go = (next: number) => onChange(withEnd(model, range, { end, timeUs: next }))
    const by = (steps: number) => () => go(timeUs + steps * stepUs)
    const few = event.shiftKey ? LARGE : 1
    actOnKey(event, {
      ArrowLeft: by(-few),
      ArrowDown: by(-few),
      ArrowRight: by(few),
      ArrowUp: by(few),
      PageDown: by(-LARGE),
      PageUp: by(LARGE),
      Home: () => go(spanUs[0]),
      End: () => go(spanUs[1]),
      Escape: () => onChange(null),
    })
  }
  const area = { y: box.top, height: box.height, fill: 'transparent' }
  return (
    <g class="fd-brush">
      <RangeShade range={range} box={box} x={x} ink={ink} />
      <rect
        x={box.left}
        width={box.width}
        {...area}
        class="fd-brush-area"
        data-period={name}
        {...dragging(newRange)}
      />
      {range === null ? null : (
        <rect
          x={pixelOf(range[0])}
          width={Math.max(1, pixelOf(range[1]) - pixelOf(range[0]))}
          {...area}
          class="fd-brush-range"
          {...dragging((fromUs) => (timeUs) => movedRange(model, range, timeUs - fromUs))}
        />
      )}
      {([0, 1] as const).map((end) => {
        const timeUs = (range ?? spanUs)[end]
        return (
          <g
            key={end}
            class="fd-brush-end"
            role="slider"
            tabindex={0}
            aria-label={`${name}, ${end === 0 ? 'from' : 'to'}`}
            aria-orientation="horizontal"
            aria-valuemin={spanUs[0]}
            aria-valuemax={spanUs[1]}
            aria-valuenow={timeUs}
            aria-valuetext={timeText(timeUs, spanUs)}
            transform={`translate(${pixelOf(timeUs)} 0)`}
            onKeyDown={(event) => moveEnd(event, end)}
            {...dragging(() => (to) => withEnd(model, range, { end, timeUs: to }))}
          >
            <rect x="-7" width="14" {...area} />
            <g
              class="fd-brush-grip"
              transform={`translate(0 ${box.top + (box.height - GRIP.height) / 2})`}
            >
              <rect {...GRIP} fill={ink.back} stroke={ink.text} />
              <path d="M-1.5 9v12m3 -12v12" stroke={ink.soft} fill="none" />
            </g>
          </g>
        )
      })}
    </g>
  )
}
