import { scaleLinear } from 'd3-scale'
import { custom } from '../../core/options.ts'
import { timeScale } from './axes.tsx'
import { useDragRange } from './controls.tsx'
import { type Ink, Text, useInk } from './figure.tsx'
import { swatch } from './legend.tsx'

export type StretchUs = readonly [fromUs: number, toUs: number]

export function uncovered([fromUs, toUs]: StretchUs, others: readonly StretchUs[]): StretchUs[] {
  const free: StretchUs[] = []
  let at = fromUs
  for (const [startUs, endUs] of others.toSorted((a, b) => a[0] - b[0])) {
    if (at >= toUs) break
    if (startUs > at) free.push([at, Math.min(startUs, toUs)])
    at = Math.max(at, endUs)
  }
  if (at < toUs || fromUs === toUs) free.push([Math.min(at, toUs), toUs])
  return free
}

export function lengthUs(stretches: readonly StretchUs[]): number {
  return stretches.reduce((sum, [fromUs, toUs]) => sum + toUs - fromUs, 0)
}

export function joined(stretches: readonly StretchUs[]): StretchUs[] {
  const parts: [number, number][] = []
  for (const [fromUs, toUs] of stretches.toSorted((a, b) => a[0] - b[0])) {
    const last = parts.at(-1)
    if (last !== undefined && fromUs <= last[1]) last[1] = Math.max(last[1], toUs)
    else parts.push([fromUs, toUs])
  }
  return parts
}

/** Rounds all numbers within to thousandths: nanoseconds are as exact as any trace. */
export function toNanoseconds<T>(timesUs: T): T {
  const rounded = (value: unknown): unknown => {
    if (typeof value === 'number') return Math.round(value * 1e3) / 1e3
    return Array.isArray(value) ? value.map(rounded) : value
  }
  const entries = Object.entries(timesUs as object).map(([key, value]) => [key, rounded(value)])
  return Object.fromEntries(entries) as T
}

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

const TICK = 78

interface TimeGridProps {
  readonly range: StretchUs
  readonly width: number
  readonly lines: readonly [top: number, bottom: number]
  /** Position of the times; without it, only lines are drawn. */
  readonly textY?: number
}

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

/** Half the height of a bar at work. */
export const HALF_BAR = 5

interface WorkBarProps {
  readonly timed: {
    readonly startUs: number
    readonly endUs: number
    readonly work: readonly StretchUs[]
    readonly critical: readonly StretchUs[]
    /** Hollow: nothing is known to work. */
    readonly isOnTheWay?: boolean
    readonly isFolded?: boolean
  }
  readonly range: StretchUs
  readonly x: (timeUs: number) => number
  readonly middle: number
  readonly color: string
}

/** Draws a stretch of time: thick at work, thin waiting, underlined on the critical path, pale if folded. */
export function WorkBar({ timed, range, x, middle, color }: WorkBarProps) {
  const ink = useInk()
  const across = (stretches: readonly StretchUs[], look: object) =>
    stretches
      .filter(([startUs, endUs]) => endUs >= range[0] && startUs <= range[1])
      .map(([startUs, endUs]) => {
        const width = Math.max(1, x(endUs) - x(startUs)).toFixed(2)
        return <rect key={startUs} x={x(startUs).toFixed(2)} {...{ width, ...look }} />
      })
  const thick = { y: middle - HALF_BAR, height: 2 * HALF_BAR, fill: color }
  const thin = { y: middle - 1, height: 2, fill: color, opacity: 0.75 }
  return (
    <>
      {across([[timed.startUs, timed.endUs]], timed.isFolded ? { ...thick, opacity: 0.4 } : thin)}
      {across(timed.work, timed.isOnTheWay ? { ...thick, ...HOLLOW, stroke: color } : thick)}
      {across(timed.critical, { y: middle + HALF_BAR + 2, height: 3, fill: ink.text })}
    </>
  )
}

const HOLLOW = { fill: 'none', 'stroke-width': 1.5, 'stroke-dasharray': '3 2' }

/** Explains the parts of bars that are drawn. */
export function workLegend(color: string, ink: Ink) {
  const thick = { y: 3, height: 2 * HALF_BAR, fill: color }
  return {
    works: swatch('works', thick),
    waits: swatch('waits for what it calls', { y: 7, height: 2, fill: color, opacity: 0.75 }),
    onTheWay: swatch('on the way to what it calls and back: network, queues', {
      ...thick,
      ...HOLLOW,
      stroke: color,
    }),
    critical: swatch('on the critical path', { y: 10, height: 3, fill: ink.text }),
    folded: swatch('folded', { ...thick, opacity: 0.4 }),
  }
}

interface ZoomAreaProps extends Pick<TimeGridProps, 'range' | 'width'> {
  readonly height: number
  readonly onRange: (range: StretchUs) => void
}

export function ZoomArea({ range, width, height, onRange }: ZoomAreaProps) {
  const timeAt = scaleLinear([0, 1], range)
  const [dragged, handlers] = useDragRange(([from, to]) =>
    onRange(roundedRange([timeAt(from), timeAt(to)])),
  )
  return (
    <g>
      <rect {...{ width, height }} {...(handlers as object)} class="fd-zoom" fill="transparent" />
      {dragged === null ? null : (
        <rect
          height={height}
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
