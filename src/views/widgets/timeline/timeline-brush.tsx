import { useRef } from 'preact/hooks'
import type { Period } from '../../../flows/flow-set.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { timeText } from '../../drawing/axis-scale.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import { RangeShade } from './timeline-drawing.tsx'
import type { TimelineLayout } from './timeline-layout.ts'
import type { TimelineModel } from './timeline-model.ts'
import { movedRange, type RangeEnd, rangeBetween, withEnd } from './timeline-range.ts'

interface Brushed {
  readonly period: Period
  readonly model: TimelineModel
  readonly layout: TimelineLayout
  readonly range: RangeUs | null
  readonly onChange: (range: RangeUs | null) => void
}

/** What a drag does: begins a new range, moves the one there is, or moves one end of it. */
type Drag =
  | { readonly kind: 'new'; readonly fromUs: number }
  | { readonly kind: 'move'; readonly fromUs: number; readonly range: RangeUs }
  | { readonly kind: 'end'; readonly end: RangeEnd }

/** Steps of a large move. */
const LARGE = 20
/** Pixels that a pointer may tremble in a click. */
const CLICK = 3
const GRIP = { width: 9, height: 30 } as const

/** Selects a range of time in one period: by dragging, or by the arrow keys on its ends. */
export function TimelineBrush({ period, model, layout, range, onChange }: Brushed) {
  const drag = useRef<Drag | null>(null)
  const { whole: box } = layout.panels[period]
  const { x } = layout
  const timeAt = (event: PointerEvent) => {
    const svg = (event.currentTarget as SVGElement).ownerSVGElement as SVGSVGElement
    const { left, width } = svg.getBoundingClientRect()
    const at = ((event.clientX - left) * layout.width) / width
    return x.value(Math.min(1, Math.max(0, (at - box.left) / box.width)))
  }
  const begin = (event: PointerEvent, kind: (timeUs: number) => Drag) => {
    if (event.button !== 0) return
    ;(event.currentTarget as SVGElement).setPointerCapture(event.pointerId)
    drag.current = kind(timeAt(event))
  }
  const follow = (event: PointerEvent) => {
    const { current } = drag
    if (current === null) return
    const timeUs = timeAt(event)
    if (current.kind === 'end') {
      onChange(withEnd(model, range, { end: current.end, timeUs }))
    } else if (current.kind === 'move') {
      onChange(movedRange(model, current.range, timeUs - current.fromUs))
    } else if (Math.abs(x.share(timeUs) - x.share(current.fromUs)) * box.width > CLICK) {
      onChange(rangeBetween(model, current.fromUs, timeUs))
    }
  }
  const finish = () => {
    drag.current = null
  }
  const dragging = { onPointerMove: follow, onPointerUp: finish, onPointerCancel: finish }
  const name = period === 0 ? 'before' : 'after'
  return (
    <g class="fd-brush">
      <RangeShade range={range} box={box} x={x} ink={PAGE_INK} />
      <rect
        {...{ x: box.left, y: box.top, width: box.width, height: box.height }}
        {...{ fill: 'transparent', class: 'fd-brush-area', 'data-period': name }}
        onPointerDown={(event) => begin(event, (fromUs) => ({ kind: 'new', fromUs }))}
        {...dragging}
      />
      {range === null ? null : (
        <rect
          {...{ x: box.left + x.share(range[0]) * box.width, y: box.top, height: box.height }}
          width={Math.max(1, (x.share(range[1]) - x.share(range[0])) * box.width)}
          {...{ fill: 'transparent', class: 'fd-brush-range' }}
          onPointerDown={(event) => begin(event, (fromUs) => ({ kind: 'move', fromUs, range }))}
          {...dragging}
        />
      )}
      {([0, 1] as const).map((end) => (
        <Handle
          key={end}
          {...{ end, name, model, box, range, onChange }}
          at={box.left + x.share((range ?? model.spanUs)[end]) * box.width}
          pointer={{
            onPointerDown: (event: PointerEvent) => begin(event, () => ({ kind: 'end', end })),
            ...dragging,
          }}
        />
      ))}
    </g>
  )
}

interface HandleShown extends Pick<Brushed, 'model' | 'range' | 'onChange'> {
  readonly end: RangeEnd
  readonly name: string
  readonly box: { readonly top: number; readonly height: number }
  readonly at: number
  readonly pointer: Record<string, (event: PointerEvent) => void>
}

function Handle({ end, name, model, box, range, onChange, at, pointer }: HandleShown) {
  const { spanUs, stepUs } = model
  const timeUs = (range ?? spanUs)[end]
  const middle = box.top + box.height / 2 - GRIP.height / 2
  const onKeyDown = (event: KeyboardEvent) => {
    const next = keyedTime(event, { timeUs, stepUs, spanUs })
    if (next === undefined) return
    event.preventDefault()
    onChange(next === null ? null : withEnd(model, range, { end, timeUs: next }))
  }
  return (
    <g
      role="slider"
      {...{ tabindex: 0, class: 'fd-brush-end', onKeyDown, ...pointer }}
      aria-label={`${name}, ${end === 0 ? 'from' : 'to'}`}
      aria-orientation="horizontal"
      aria-valuemin={spanUs[0]}
      aria-valuemax={spanUs[1]}
      aria-valuenow={timeUs}
      aria-valuetext={timeText(timeUs, spanUs)}
    >
      <rect {...{ x: at - 7, y: box.top, width: 14, height: box.height, fill: 'transparent' }} />
      <rect
        {...{ x: at - GRIP.width / 2, y: middle, ...GRIP, rx: 3, class: 'fd-brush-grip' }}
        {...{ fill: PAGE_INK.back, stroke: PAGE_INK.text }}
      />
      <path
        d={`M${at - 1.5} ${middle + 9}v12m3 -12v12`}
        {...{ stroke: PAGE_INK.soft, fill: 'none' }}
      />
    </g>
  )
}

/** Where a key takes an end: elsewhere, `null` to no range at all, `undefined` nowhere. */
function keyedTime(
  { key, shiftKey }: KeyboardEvent,
  { timeUs, stepUs, spanUs }: { timeUs: number; stepUs: number; spanUs: RangeUs },
): number | null | undefined {
  const step = shiftKey ? LARGE * stepUs : stepUs
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return timeUs - step
    case 'ArrowRight':
    case 'ArrowUp':
      return timeUs + step
    case 'PageDown':
      return timeUs - LARGE * stepUs
    case 'PageUp':
      return timeUs + LARGE * stepUs
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
