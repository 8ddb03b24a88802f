import { range } from 'd3-array'
import { type Quantity, TIME } from '../../core/quantity.ts'
import { formatDuration, grouped, shortNumber } from '../../core/words.ts'
import { axisUnit } from '../charts/axes.ts'
import { textWidth } from '../charts/text-width.ts'
import { Text, useInk } from './figure.tsx'
import { tenth } from './path.ts'

export interface AxisScale {
  readonly ticks: readonly { readonly value: number; readonly text: string }[]
  /** Place of a value; the nearer end if it is beyond the axis. */
  readonly share: (value: number) => number
  readonly value: (share: number) => number
}

const DECADES: readonly (readonly number[])[] = [[1, 2, 5], [1, 3], [1]]

export function timeScale(
  [fromUs, toUs]: readonly [number, number],
  { ticks, of = TIME }: { readonly ticks: number; readonly of?: Quantity },
): AxisScale {
  const [factor] = of === TIME ? timeUnit([fromUs, toUs]) : [1]
  const step = roundUp((toUs - fromUs) / factor / ticks) * factor
  const first = Math.ceil(fromUs / step - 1e-9)
  const last = Math.floor(toUs / step + 1e-9)
  return {
    ...evenScale(fromUs, toUs),
    ticks: range(first, last + 1).map((place) => {
      const value = Number((place * step).toPrecision(12))
      return { value, text: of === TIME ? timeText(value, [fromUs, toUs]) : shortNumber(value) }
    }),
  }
}

/** Returns a time as an axis that spans others would write it: `12.35 s`. */
export function timeText(timeUs: number, span: readonly [number, number]): string {
  const [factor, unit] = timeUnit(span)
  const number = Number((timeUs / factor).toPrecision(6))
  return number === 0 ? '0' : `${number} ${unit}`
}

function timeUnit([fromUs, toUs]: readonly [number, number]) {
  return axisUnit(Math.max(Math.abs(fromUs), Math.abs(toUs)))
}

export function shareScale(): AxisScale {
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((value) => ({ value, text: `${value * 100} %` }))
  return { ...evenScale(0, 1), ticks }
}

const MINUTE = 60e6

interface LogExtent {
  readonly low: number
  readonly high: number
  readonly ticks: number
  readonly of?: Quantity
}

/** Returns an axis of positive values between round numbers, with as many ticks a decade as there is room for. */
export function logDurationScale({ low, high, ticks, of = TIME }: LogExtent): AxisScale {
  const [from, to] = [roundDown(low), Math.max(roundUp(high), roundUp(roundDown(low) * 1.5))]
  const scale = evenScale(Math.log(from), Math.log(to))
  // Powers of ten beyond a minute stay seconds: 100 s are no round number of minutes.
  const timeText = (us: number) => (us < MINUTE ? formatDuration(us) : `${grouped(us / 1e6)} s`)
  const text = of === TIME ? timeText : shortNumber
  return {
    share: (value) => (value > 0 ? scale.share(Math.log(value)) : 0),
    value: (share) => Math.exp(scale.value(share)),
    ticks: roundNumbers(from, to, ticks).map((value) => ({ value, text: text(value) })),
  }
}

function evenScale(from: number, to: number) {
  const length = to - from
  return {
    share: (value: number) => Math.min(1, Math.max(0, length > 0 ? (value - from) / length : 0)),
    value: (share: number) => from + share * length,
  }
}

function roundNumbers(from: number, to: number, most: number): number[] {
  const first = Math.floor(Math.log10(from) + 1e-9)
  const last = Math.ceil(Math.log10(to) - 1e-9)
  const numbers = (steps: readonly number[], every: number) =>
    range(first, last + 1)
      .filter((power) => power % every === 0)
      .flatMap((power) => steps.map((step) => Number(`${step}e${power}`)))
      .filter((value) => value >= from * (1 - 1e-9) && value <= to * (1 + 1e-9))
  const sparser = range(2, last - first + 1).map((every) => numbers([1], every))
  const choices = [...DECADES.map((steps) => numbers(steps, 1)), ...sparser]
  return choices.find(({ length }) => length <= most) ?? [from, to]
}

export function roundUp(value: number): number {
  const power = Math.floor(Math.log10(value) + 1e-9)
  const found = [1, 2, 5, 10].find((step) => Number(`${step}e${power}`) >= value * (1 - 1e-9))
  return Number(`${found ?? 10}e${power}`)
}

export function roundDown(value: number): number {
  const power = Math.floor(Math.log10(value) + 1e-9)
  const found = [5, 2, 1].find((step) => Number(`${step}e${power}`) <= value * (1 + 1e-9))
  return Number(`${found ?? 1}e${power}`)
}

export interface PlotBox {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** Lines are there to follow, not to see. */
const GRID = 0.65
/** Largest overhang of numbers to the right of the plot. */
const BEYOND = 13
const FONT_SIZE = 11

interface Axis {
  readonly scale: AxisScale
  readonly box: PlotBox
}

/** Draws an axis below the plot; `title` names the numbers if nothing else does. */
export function BottomAxis({ scale, box, title }: Axis & { readonly title?: string }) {
  const ink = useInk()
  const bottom = box.top + box.height
  return (
    <g>
      {scale.ticks.map(({ value, text }) => {
        const x = pixel(box.left + scale.share(value) * box.width)
        const most = box.left + box.width + BEYOND - textWidth(text, FONT_SIZE) / 2
        return (
          <g key={value}>
            <line x1={x} x2={x} y1={box.top} y2={bottom + 4} stroke={ink.line} opacity={GRID} />
            <Text color="soft" x={Math.min(x, most)} y={bottom + 16} anchor="middle">
              {text}
            </Text>
          </g>
        )
      })}
      {title === undefined ? null : (
        <Text x={box.left + box.width / 2} y={bottom + 32} anchor="middle">
          {title}
        </Text>
      )}
    </g>
  )
}

export function LeftAxis({ scale, box }: Axis) {
  const ink = useInk()
  return (
    <g>
      {scale.ticks.map(({ value, text }) => {
        const y = pixel(box.top + (1 - scale.share(value)) * box.height)
        return (
          <g key={value}>
            <path d={`M${box.left - 4} ${y}h${box.width + 4}`} stroke={ink.line} opacity={GRID} />
            <Text color="soft" x={box.left - 7} y={y + 4} anchor="end">
              {text}
            </Text>
          </g>
        )
      })}
    </g>
  )
}

interface Plot {
  readonly box: PlotBox
  readonly x: AxisScale
  readonly y: AxisScale
}

export function plotPoint({ box, x, y }: Plot, [atX, atY]: readonly [number, number]) {
  return {
    x: tenth(box.left + x.share(atX) * box.width),
    y: tenth(box.top + (1 - y.share(atY)) * box.height),
  }
}

export function curvePath(
  plot: Plot,
  points: readonly (readonly [number, number])[],
  shape: 'lines' | 'steps',
): string {
  return points
    .map((point, i) => {
      const { x, y } = plotPoint(plot, point)
      if (i === 0) return `M${x},${y}`
      return shape === 'steps' ? `H${x}V${y}` : `L${x},${y}`
    })
    .join('')
}

export function pixel(value: number): number {
  return Math.round(value * 2) / 2
}
