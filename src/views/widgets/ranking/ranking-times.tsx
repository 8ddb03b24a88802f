import { formatDuration } from '../../../core/units.ts'
import { grouped } from '../../../core/words.ts'
import type { Ink } from '../../drawing/ink.ts'
import type { RankingEntry, TimesSketch } from './ranking-data.ts'

interface Shown {
  readonly entry: RankingEntry
  readonly ink: Ink
  readonly width: number
  readonly height: number
  /** With axes and room for them; small ones stand in a cell. */
  readonly isLarge?: boolean
}

/** A scale is logarithmic when the longest time is more than this many times the shortest. */
const WIDE = 20
const ROOM = { left: 52, right: 20, top: 8, bottom: 38 }
const NO_ROOM = { left: 1, right: 1, top: 2, bottom: 2 }

/** Which share of requests had finished after each time, before and after. */
export function TimesPlot({ entry, ink, width, height, isLarge = false }: Shown) {
  const { left, right, top, bottom } = isLarge ? ROOM : NO_ROOM
  const { before, after } = entry
  const range = timeRange([before, after])
  const x = (timeUs: number) => left + shareOfRange(timeUs, range) * (width - left - right)
  const y = (share: number) => height - bottom - share * (height - top - bottom)
  const curve = (sketch: TimesSketch) =>
    curvePoints(sketch, range)
      .map(({ timeUs, share }, i) => `${i === 0 ? 'M' : 'L'}${at(x(timeUs))},${at(y(share))}`)
      .join('')
  const label = timesLabel(entry)
  return (
    <svg
      {...{ width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label }}
      font-size="11"
      font-family="system-ui, sans-serif"
    >
      <title>{label}</title>
      {isLarge ? <Axes {...{ range, x, y, ink, left, right, width, height }} /> : null}
      {[before, after].map((sketch, period) => (
        <path
          key={period === 0 ? 'before' : 'after'}
          d={curve(sketch)}
          fill="none"
          stroke={period === 0 ? ink.before : ink.after}
          stroke-width={isLarge ? 2 : 1.75}
        />
      ))}
    </svg>
  )
}

function at(pixels: number): string {
  return pixels.toFixed(1)
}

interface CurvePoint {
  readonly timeUs: number
  readonly share: number
}

/** A distribution function within a range, to its right end. */
function curvePoints(
  { quantilesUs }: TimesSketch,
  [, high]: readonly [number, number],
): CurvePoint[] {
  const last = quantilesUs.length - 1
  if (last < 0) return []
  const beyond = quantilesUs.findIndex((timeUs) => timeUs > high)
  const inside = quantilesUs.slice(0, beyond < 0 ? last + 1 : beyond)
  const points = inside.map((timeUs, i) => ({ timeUs, share: i / last }))
  const [from, to] = [inside.at(-1) ?? high, quantilesUs[beyond] ?? high]
  const step = beyond > 0 && to > from ? (high - from) / (to - from) / last : 0
  const share = (inside.length - 1) / last + step
  return [...points, { timeUs: high, share: Math.max(0, share) }]
}

/** What the curves say. */
export function timesLabel({ before, after }: RankingEntry): string {
  const half = (sketch: TimesSketch) =>
    sketch.count === 0 ? 'no requests' : `median ${formatDuration(medianUs(sketch))}`
  return (
    `Before (${grouped(before.count)} requests): ${half(before)}. ` +
    `After (${grouped(after.count)}): ${half(after)}.`
  )
}

/** The middle of a sketch; `NaN` without requests. */
export function medianUs({ quantilesUs }: TimesSketch): number {
  return quantilesUs[(quantilesUs.length - 1) / 2] ?? Number.NaN
}

/** From the first to the last time that counts: extreme requests do not squeeze the others. */
function timeRange(sketches: readonly TimesSketch[]): readonly [low: number, high: number] {
  const known = sketches.filter(({ count }) => count > 0)
  if (known.length === 0) return [0, 1]
  const low = Math.min(...known.map(({ quantilesUs }) => quantilesUs[0] as number))
  const high = Math.max(...known.map(({ quantilesUs }) => quantilesUs.at(-2) as number))
  return high > low ? [low, high] : [low * 0.9, low * 1.1 + 1]
}

function isWide([low, high]: readonly [number, number]): boolean {
  return low > 0 && high / low > WIDE
}

/** Where a time stands in a range, from 0 to 1. */
function shareOfRange(timeUs: number, range: readonly [number, number]): number {
  const scale = isWide(range) ? Math.log : (value: number) => value
  const [low, high] = range
  const inside = Math.min(high, Math.max(low, timeUs))
  return (scale(inside) - scale(low)) / (scale(high) - scale(low))
}

interface AxesShown {
  readonly range: readonly [number, number]
  readonly x: (timeUs: number) => number
  readonly y: (share: number) => number
  readonly ink: Ink
  readonly left: number
  readonly right: number
  readonly width: number
  readonly height: number
}

function Axes({ range, x, y, ink, left, right, width, height }: AxesShown) {
  const soft = `fill:${ink.soft}`
  return (
    <g>
      {[0, 0.5, 1].map((share) => (
        <g key={share}>
          <line x1={left} x2={width - right} y1={y(share)} y2={y(share)} stroke={ink.line} />
          <text x={left - 6} y={y(share) + 4} text-anchor="end" style={soft}>
            {share * 100} %
          </text>
        </g>
      ))}
      {timeTicks(range).map((timeUs) => (
        <g key={timeUs}>
          <line x1={x(timeUs)} x2={x(timeUs)} y1={y(0)} y2={y(0) + 4} stroke={ink.soft} />
          <text x={x(timeUs)} y={y(0) + 16} text-anchor="middle" style={soft}>
            {formatDuration(timeUs)}
          </text>
        </g>
      ))}
      <text x={(left + width - right) / 2} y={height - 6} text-anchor="middle" style={soft}>
        response time: share of requests finished by then
      </text>
    </g>
  )
}

/** Round times within a range, few enough to be read. */
function timeTicks(range: readonly [number, number]): number[] {
  const [low, high] = range
  const ticks: number[] = []
  if (isWide(range)) {
    const first = 10 ** Math.ceil(Math.log10(low))
    for (let tick = first; tick <= high; tick *= 10) ticks.push(tick)
    if (ticks.length > 1) return ticks.filter((_, i) => i % Math.ceil(ticks.length / 5) === 0)
    ticks.length = 0
  }
  const rough = (high - low) / 4
  const decade = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((times) => times * decade).find((size) => size >= rough) as number
  for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(i * step)
  return ticks
}
