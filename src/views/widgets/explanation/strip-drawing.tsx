import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { betweenNumbers, movedAlong, numberExtent } from '../../charts/number-extent.ts'
import type { ParameterDot, ParameterDots } from '../../charts/parameter-dots.ts'
import type { ParameterGroups } from '../../charts/parameter-groups.ts'
import { numberText } from '../../charts/parameter-shares.ts'
import { BottomAxis, LeftAxis, type PlotBox, pixel } from '../../drawing/axis-lines.tsx'
import type { AxisScale } from '../../drawing/axis-scale.ts'
import { fittedText } from '../../drawing/fitted-text.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import { durationScale, numberScale } from './number-scale.ts'

/** The rows of a question along one parameter, and what they are drawn with. */
export interface DrawnStrip {
  readonly dots: ParameterDots
  readonly groups: ParameterGroups
  /** Null in what differs: there is no axis of times. */
  readonly slowAboveUs: number | null
  /** What times are. */
  readonly time: string
  readonly colours: readonly [string, string]
  readonly width: number
  /** Trace of each row, where known. */
  readonly traces: readonly string[] | null
}

const LANE = 70
const TIMES = 220
const LEVEL = 17
/** How much of a lane dots fill, and how much of the axis dots of one value. */
const SPREAD = { across: 0.74, along: 0.025 }
const TICK = 80

/** Every row as a dot along one parameter, with lines where the tree divides. */
export function StripDrawing(strip: DrawnStrip) {
  const { dots, slowAboveUs, width } = strip
  const isNumeric = dots.parameter.kind === 'numeric'
  const height = isNumeric
    ? slowAboveUs === null
      ? 2 * LANE
      : TIMES
    : Math.max(40, dots.levels.length * LEVEL)
  const left = isNumeric ? (slowAboveUs === null ? 92 : 62) : Math.min(150, width * 0.3)
  const box = {
    left,
    top: slowAboveUs !== null && isNumeric ? 20 : 6,
    width: width - left - 16,
    height,
  }
  const whole = box.top + height + 38
  return (
    <svg
      width={width}
      height={whole}
      viewBox={`0 0 ${width} ${whole}`}
      role="img"
      aria-label={`${dots.dots.length} dots along ${tooltipText(dots.parameter.name)}`}
      font-size="11"
    >
      {isNumeric ? <NumberStrip {...{ strip, box }} /> : <LevelStrip {...{ strip, box }} />}
    </svg>
  )
}

interface Plot {
  readonly strip: DrawnStrip
  readonly box: PlotBox
}

function NumberStrip({ strip, box }: Plot) {
  const { dots, groups, slowAboveUs, time } = strip
  const { left, top, width, height } = box
  const values = dots.dots.map(({ value }) => value)
  const extent = numberExtent(values)
  const across = numberScale(extent, { ticks: Math.max(2, Math.floor(width / TICK)) })
  const times = slowAboveUs === null ? null : timesOf(strip, slowAboveUs, 5)
  const x = (value: number) => left + across.share(value) * width
  const y = (dot: ParameterDot) =>
    times === null ? top + laneOf(dot) * (height / 2) : top + (1 - times.share(dot.timeUs)) * height
  const name = shortText(dots.parameter.name, 60)
  return (
    <>
      <BottomAxis scale={across} box={box} ink={PAGE_INK} title={name} />
      {times === null ? (
        groups.names.map((group, i) => (
          <text key={group} x={left - 8} y={top + (i + 0.5) * (height / 2) + 4} text-anchor="end">
            {group}
          </text>
        ))
      ) : (
        <LeftAxis scale={times} box={box} ink={PAGE_INK} title={shortText(time, 60)} />
      )}
      <Dots
        strip={strip}
        place={(dot) => [x(movedAlong(extent, dot.value, dot.along * SPREAD.along)), y(dot)]}
      />
      {dots.thresholds.slice(0, 5).map((threshold, i) => {
        const at = pixel(x(betweenNumbers(extent, threshold, values)))
        return (
          <line
            key={threshold}
            {...{ x1: at, x2: at, y1: top - 4, y2: top + height }}
            {...solid(i)}
          >
            <title>{`at most ${numberText(threshold)}, or above`}</title>
          </line>
        )
      })}
      {times === null || slowAboveUs === null ? null : (
        <line
          {...{
            x1: left,
            x2: left + width,
            ...both('y', top + (1 - times.share(slowAboveUs)) * height),
          }}
          {...DASHED}
        />
      )}
    </>
  )
}

function LevelStrip({ strip, box }: Plot) {
  const { dots, groups, slowAboveUs, time } = strip
  const { left, top, width, height } = box
  const lane = height / Math.max(1, dots.levels.length)
  const times =
    slowAboveUs === null ? null : timesOf(strip, slowAboveUs, Math.max(2, Math.floor(width / TICK)))
  const x = (dot: ParameterDot) =>
    left + (times === null ? laneOf(dot) / 2 : times.share(dot.timeUs)) * width
  const y = ({ value, along }: ParameterDot) => top + (value + 0.5 + along * SPREAD.across) * lane
  const { firstSide, levels } = dots
  return (
    <>
      {times === null ? (
        groups.names.map((group, i) => (
          <text
            key={group}
            x={left + (i + 0.5) * (width / 2)}
            y={top + height + 16}
            text-anchor="middle"
          >
            {group}
          </text>
        ))
      ) : (
        <BottomAxis scale={times} box={box} ink={PAGE_INK} title={shortText(time, 60)} />
      )}
      {levels.map(({ label, kind }, i) => (
        <text
          key={`${i} ${label}`}
          {...{ x: left - 8, y: top + (i + 0.5) * lane + 4, 'text-anchor': 'end' }}
          class={kind === 'value' ? '' : 'fd-soft'}
        >
          <title>{tooltipText(label)}</title>
          {fittedText(label, left - 12, 11)}
        </text>
      ))}
      <Dots strip={strip} place={(dot) => [x(dot), y(dot)]} />
      {firstSide > 0 && firstSide < levels.length ? (
        <line
          {...{ x1: 0, x2: left + width, ...both('y', top + firstSide * lane) }}
          {...solid(0)}
        />
      ) : null}
      {times === null || slowAboveUs === null ? null : (
        <line
          {...{ y1: top, y2: top + height, ...both('x', left + times.share(slowAboveUs) * width) }}
          {...DASHED}
        />
      )}
    </>
  )
}

/** Where in the lanes of both groups, 0 to 2, a dot lies. */
function laneOf({ group, across }: ParameterDot): number {
  return group + 0.5 + across * SPREAD.across
}

function timesOf({ dots }: DrawnStrip, slowAboveUs: number, ticks: number): AxisScale {
  return durationScale([...dots.dots.map(({ timeUs }) => timeUs), slowAboveUs], { ticks })
}

function both(axis: 'x' | 'y', at: number) {
  const place = pixel(at)
  return axis === 'x' ? { x1: place, x2: place } : { y1: place, y2: place }
}

function solid(rank: number) {
  return { stroke: PAGE_INK.text, 'stroke-width': rank === 0 ? 2 : 1 }
}

const DASHED = { stroke: PAGE_INK.soft, 'stroke-dasharray': '5 4' }

function Dots({
  strip,
  place,
}: {
  readonly strip: DrawnStrip
  readonly place: (dot: ParameterDot) => readonly [number, number]
}) {
  const { dots, groups, colours, traces } = strip
  const isDense = dots.dots.length > 600
  const valueText = ({ value }: ParameterDot) =>
    dots.parameter.kind === 'numeric'
      ? numberText(value)
      : tooltipText(dots.levels[value]?.label ?? '')
  return (
    <g fill-opacity={isDense ? 0.5 : 0.7}>
      {dots.dots.map((dot) => {
        const [cx, cy] = place(dot)
        const time = Number.isNaN(dot.timeUs) ? '' : ` · ${formatDuration(dot.timeUs)}`
        const trace =
          traces?.[dot.row] === undefined
            ? ''
            : ` · trace ${tooltipText(traces[dot.row] as string)}`
        return (
          <circle
            key={dot.row}
            {...{ cx: tenth(cx), cy: tenth(cy), r: isDense ? 2 : 2.6 }}
            style={`fill:${colours[dot.group]}`}
          >
            <title>{`${valueText(dot)} · ${groups.names[dot.group]}${time}${trace}`}</title>
          </circle>
        )
      })}
    </g>
  )
}

function tenth(pixels: number): number {
  return Math.round(pixels * 10) / 10
}
