import { useMemo, useRef, useState } from 'preact/hooks'
import { formatDuration } from '../../../core/words.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { MARK_DASHES } from '../../charts/time-marks.ts'
import { timeText } from '../../drawing/axis-scale.ts'
import { actOnKey, useDragRange, useWidth } from '../../drawing/controls.tsx'
import { Figure, Text, useInk, useIsStill } from '../../drawing/figure.tsx'
import { Legend, marked, swatch } from '../../drawing/legend.tsx'
import { textWidth } from '../../drawing/text.ts'
import { ZOOM_STYLE } from '../../drawing/time-range.tsx'
import {
  DARKNESS,
  RangeShade,
  TimelineDrawing,
  type TimelineLayout,
  timelineLayout,
} from './timeline-drawing.tsx'
import { rangeBetween, type TimelineModel, withEnd } from './timeline-model.ts'

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
  const cell = isStill ? STILL_CELL : CELL
  // Kept while a range is dragged: only what lies on top changes.
  const drawing = useMemo(
    () => <TimelineDrawing {...{ model, requests, layout, cell, ink }} />,
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
              const own = { range: ranges[period], box: layout.panels[period], x: layout.x, ink }
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

type BrushProps = Parameters<typeof RangeShade>[0] &
  Pick<TimelineLayout, 'x'> & {
    readonly model: TimelineModel
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
const LABEL = { height: 16, pad: 4, gap: 7 }
/** Number of arrow-key steps that Page Up and Page Down go. */
const PAGE = 10

/** Draws an end of a stretch, with its time: it is dragged, or moved by keys. */
function RangeEnd({ model, end, range, box, x, label, onMove, onLetGo, onStep }: EndProps) {
  const ink = useInk()
  const { spanUs, stepUs } = model
  const timeUs = (range ?? spanUs)[end]
  const at = box.left + Math.min(1, Math.max(0, x.share(timeUs))) * box.width
  const text = timeText(timeUs, spanUs)
  const wide = textWidth(text, FONT_SIZE) + 2 * LABEL.pad
  const isLeft =
    end === 0 ? at - LABEL.gap - wide >= box.left : at + LABEL.gap + wide > box.left + box.width
  const from = isLeft ? at - LABEL.gap - wide : at + LABEL.gap
  const top = box.top + box.height - LABEL.height - 2
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
        <g pointer-events="none">
          <rect
            x={from}
            y={top}
            width={wide}
            height={LABEL.height}
            rx="2"
            fill={ink.back}
            stroke={ink.text}
          />
          <Text x={from + LABEL.pad} y={top + 12} size={FONT_SIZE}>
            {text}
          </Text>
        </g>
      )}
    </g>
  )
}

export const TIMELINE_STYLE = `${ZOOM_STYLE}
.flowdelta svg .fd-end { cursor: ew-resize; touch-action: none; }
.fd-end:focus-visible > rect { stroke: var(--fd-focus); stroke-width: 3; }
`
