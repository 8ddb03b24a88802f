import { scaleLinear } from 'd3-scale'
import { custom } from '../../core/options.ts'
import { timeScale } from './axis-scale.ts'
import { useDragRange } from './controls.tsx'
import { Text, useInk } from './medium.tsx'
import type { StretchUs } from './stretches.ts'

/** Makes an option that is a range of time, or `null` for all of it. */
export function rangeOption(sentence: string, { mayBeEmpty = false } = {}) {
  return custom<StretchUs | null>({
    default: null,
    unit: 'µs',
    sentence,
    expected: 'two finite numbers, the smaller first, or null',
    accepts: (range) =>
      range === null ||
      (Array.isArray(range) &&
        range.length === 2 &&
        range.every(Number.isFinite) &&
        (range[0] < range[1] || (mayBeEmpty && range[0] === range[1]))),
  })
}

export const TIME_RANGE = rangeOption(
  'Part of the time that is shown, since the beginning; null for all of it',
)

/** Rounds a range to tenths of a microsecond, which read better in code. */
export function roundedRange([fromUs, toUs]: StretchUs): StretchUs {
  const round = (us: number) => Math.round(us * 10) / 10
  return [round(fromUs), Math.max(round(toUs), round(fromUs) + 0.1)]
}

/** About how many pixels the text of a tick needs. */
const TICK = 78

interface TimeGridProps {
  readonly range: StretchUs
  readonly width: number
  readonly lines: readonly [top: number, bottom: number]
  /** Where the times stand; lines alone without it. */
  readonly textY?: number
}

/** Lines through round times, and the times. */
export function TimeGrid({ range, width, lines: [top, bottom], textY }: TimeGridProps) {
  const ink = useInk()
  const { ticks, share } = timeScale(range, { ticks: Math.max(2, Math.floor(width / TICK)) })
  return (
    <g pointer-events="none" font-size="11">
      {ticks.map(({ value, text }) => {
        const x = share(value) * width
        return (
          <g key={value}>
            <line x1={x} x2={x} y1={top} y2={bottom} stroke={ink.line} />
            {textY === undefined ? null : (
              <Text
                color="soft"
                x={x}
                y={textY}
                anchor={x > width - 18 ? 'end' : x < 18 ? 'start' : 'middle'}
              >
                {text}
              </Text>
            )}
          </g>
        )
      })}
    </g>
  )
}

interface ZoomAreaProps {
  readonly range: StretchUs
  readonly width: number
  readonly y?: number
  readonly height: number
  readonly onRange: (range: StretchUs) => void
}

export function ZoomArea({ range, width, y = 0, height, onRange }: ZoomAreaProps) {
  const timeAt = scaleLinear([0, 1], range)
  const [dragged, handlers] = useDragRange(([from, to]) =>
    onRange(roundedRange([timeAt(from), timeAt(to)])),
  )
  const box = { y, height }
  return (
    <g>
      <rect {...box} {...(handlers as object)} width={width} class="fd-zoom" fill="transparent" />
      {dragged === null ? null : (
        <rect
          {...box}
          x={dragged[0] * width}
          width={(dragged[1] - dragged[0]) * width}
          fill="var(--fd-focus)"
          opacity="0.3"
          pointer-events="none"
        />
      )}
    </g>
  )
}

export const ZOOM_STYLE = '.fd-zoom { cursor: crosshair; touch-action: pan-y; user-select: none; }'
