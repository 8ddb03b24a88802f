import type { Ink } from '../../drawing/ink.ts'
import type { StretchUs } from '../../drawing/stretches.ts'
import type { GanttCall } from './gantt-model.ts'

export const GANTT_ROW = 22

/** Where times lie across a drawing: pixels, or per cent of its width. */
export interface TimePlace {
  readonly at: (timeUs: number) => string
  /** How wide a stretch is. */
  readonly length: (stretch: StretchUs) => string
}

/** Shares of a width that a range of time fills, in pixels or per cent; what is beyond is cut. */
export function timePlace(
  [fromUs, toUs]: StretchUs,
  { width, unit, left = 0 }: { width: number; unit: '' | '%'; left?: number },
): TimePlace {
  const share = (timeUs: number) =>
    toUs > fromUs ? Math.min(1, Math.max(0, (timeUs - fromUs) / (toUs - fromUs))) : 0
  const text = (value: number) => `${Number(value.toFixed(3))}${unit}`
  return {
    at: (timeUs) => text(left + share(timeUs) * width),
    length: ([startUs, endUs]) => text((share(endUs) - share(startUs)) * width),
  }
}

interface Shown {
  readonly call: GanttCall
  /** Also what was called from it, where that has no rows of its own. */
  readonly critical: readonly StretchUs[]
  readonly isFolded: boolean
  readonly range: StretchUs
  readonly place: TimePlace
  readonly colour: string
  readonly ink: Ink
}

/**
 * A call in time: thick where it worked, thin where it waited for what it called, and underlined
 * where it was on the critical path.
 */
export function GanttBar({ call, critical, isFolded, range, place, colour, ink }: Shown) {
  const isSeen = ([startUs, endUs]: StretchUs) => endUs >= range[0] && startUs <= range[1]
  const whole: StretchUs = [call.startUs, call.endUs]
  if (!isSeen(whole)) return null
  return (
    <g>
      <rect
        x={place.at(call.startUs)}
        width={place.length(whole)}
        y={isFolded ? 4 : 8}
        height={isFolded ? 10 : 2}
        fill={colour}
        stroke={colour}
        stroke-width="0.7"
        opacity={isFolded ? 0.4 : 0.75}
      />
      {call.work.filter(isSeen).map((stretch) => (
        <rect
          key={stretch[0]}
          x={place.at(stretch[0])}
          width={place.length(stretch)}
          y="4"
          height="10"
          fill={colour}
          stroke={colour}
          stroke-width="0.7"
        />
      ))}
      {critical.filter(isSeen).map((stretch) => (
        <rect
          key={stretch[0]}
          x={place.at(stretch[0])}
          width={place.length(stretch)}
          y="16"
          height="3"
          fill={ink.text}
          stroke={ink.text}
          stroke-width="0.7"
        />
      ))}
    </g>
  )
}

const LEGEND_ENTRIES = [
  { name: 'works', room: 90, bar: { y: 3, height: 10, opacity: 1 } },
  { name: 'waits for what it calls', room: 182, bar: { y: 7, height: 2, opacity: 0.75 } },
  { name: 'on the critical path', room: 168, bar: { y: 10, height: 3, opacity: 1 } },
  { name: 'folded', room: 92, bar: { y: 3, height: 10, opacity: 0.4 } },
]
const LEGEND_LINE = 18

/** Where the entries of the legend stand in a width. */
function legendPlaces(width: number) {
  let [x, y] = [0, 0]
  return LEGEND_ENTRIES.map((entry) => {
    if (x > 0 && x + entry.room > width) [x, y] = [0, y + LEGEND_LINE]
    const placed = { ...entry, x, y }
    x += entry.room
    return placed
  })
}

/** How high {@link GanttLegend} is. */
export function ganttLegendHeight(width: number): number {
  return Math.max(...legendPlaces(width).map(({ y }) => y)) + LEGEND_LINE
}

interface LegendShown {
  readonly colour: string
  readonly ink: Ink
  readonly width: number
}

/** What thick, thin, underlined and pale mean. */
export function GanttLegend({ colour, ink, width }: LegendShown) {
  return (
    <g font-size="11">
      {legendPlaces(width).map(({ name, x, y, bar }) => (
        <g key={name} transform={`translate(${x} ${y})`}>
          <rect width="24" {...bar} fill={bar.height === 3 ? ink.text : colour} />
          <text x="30" y="12" style={`fill:${ink.soft}`}>
            {name}
          </text>
        </g>
      ))}
    </g>
  )
}
