import { useRef } from 'preact/hooks'
import type { Period } from '../../../flows/flow-set.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { timeText } from '../../drawing/axis-scale.ts'
import { useInk } from '../../drawing/ink.ts'
import { RangeShade, type TimelineLayout } from './timeline-drawing.tsx'
import {
  movedRange,
  type RangeEnd,
  rangeBetween,
  type TimelineModel,
  withEnd,
} from './timeline-model.ts'

interface BrushProps {
  readonly period: Period
  readonly model: TimelineModel
  readonly layout: TimelineLayout
  readonly range: RangeUs | null
  readonly onChange: (range: RangeUs | null) => void
}

/** Returns the range when the pointer that is dragged has come to a time. */
type Drag = (timeUs: number) => RangeUs | null

/** Steps of a large move. */
const LARGE = 20
/** Pixels that a pointer may move in a click. */
const MAX_CLICK = 3
const GRIP = { width: 9, height: 30 } as const

/** Selects a range of time in one period, by dragging or by the arrow keys on its ends. */
export function TimelineBrush({ period, model, layout, range, onChange }: BrushProps) {
  const drag = useRef<Drag | null>(null)
  const ink = useInk()
  const { x } = layout
  const box = layout.panels[period].whole
  const pixelOf = (timeUs: number) => box.left + x.share(timeUs) * box.width
  const timeAt = (event: PointerEvent) => {
    const svg = (event.currentTarget as SVGElement).ownerSVGElement as SVGSVGElement
    const { left, width } = svg.getBoundingClientRect()
    const at = ((event.clientX - left) * layout.width) / width
    return x.value(Math.min(1, Math.max(0, (at - box.left) / box.width)))
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
    onPointerUp: () => {
      drag.current = null
    },
    onPointerCancel: () => {
      drag.current = null
    },
  })
  const newRange = (fromUs: number): Drag => {
    const before = range
    return (timeUs) =>
      Math.abs(pixelOf(timeUs) - pixelOf(fromUs)) > MAX_CLICK
        ? rangeBetween(model, fromUs, timeUs)
        : before
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
        data-period={period === 0 ? 'before' : 'after'}
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
      {([0, 1] as const).map((end) => (
        <g
          key={end}
          {...sliderProps(end, { period, model, range, onChange })}
          {...dragging(() => (timeUs) => withEnd(model, range, { end, timeUs }))}
          transform={`translate(${pixelOf((range ?? model.spanUs)[end])} 0)`}
        >
          <rect x="-7" width="14" {...area} />
          <g
            class="fd-brush-grip"
            transform={`translate(0 ${box.top + box.height / 2 - GRIP.height / 2})`}
          >
            <rect x={-GRIP.width / 2} {...GRIP} rx="3" fill={ink.back} stroke={ink.text} />
            <path d="M-1.5 9v12m3 -12v12" stroke={ink.soft} fill="none" />
          </g>
        </g>
      ))}
    </g>
  )
}

/** Makes an end of a range a slider that keys move. */
function sliderProps(
  end: RangeEnd,
  { period, model, range, onChange }: Omit<BrushProps, 'layout'>,
) {
  const { spanUs, stepUs } = model
  const timeUs = (range ?? spanUs)[end]
  return {
    class: 'fd-brush-end',
    role: 'slider' as const,
    tabindex: 0,
    'aria-label': `${period === 0 ? 'before' : 'after'}, ${end === 0 ? 'from' : 'to'}`,
    'aria-orientation': 'horizontal' as const,
    'aria-valuemin': spanUs[0],
    'aria-valuemax': spanUs[1],
    'aria-valuenow': timeUs,
    'aria-valuetext': timeText(timeUs, spanUs),
    onKeyDown: (event: KeyboardEvent) => {
      const next = keyedTime(event, { timeUs, stepUs, spanUs })
      if (next === undefined) return
      event.preventDefault()
      onChange(next === null ? null : withEnd(model, range, { end, timeUs: next }))
    },
  }
}

/** Returns where a key moves an end; `null` to select everything, `undefined` for other keys. */
function keyedTime(
  { key, shiftKey }: KeyboardEvent,
  { timeUs, stepUs, spanUs }: { timeUs: number; stepUs: number; spanUs: RangeUs },
): number | null | undefined {
  const large = LARGE * stepUs
  const step = shiftKey ? large : stepUs
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return timeUs - step
    case 'ArrowRight':
    case 'ArrowUp':
      return timeUs + step
    case 'PageDown':
      return timeUs - large
    case 'PageUp':
      return timeUs + large
    case 'Home':
      return spanUs[0]
    case 'End':
      return spanUs[1]
    case 'Escape':
      return null
    default:
      return undefined
  }
}
