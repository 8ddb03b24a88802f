import { amountsName, formatAmount, type Quantity, TIME } from '../../../core/quantity.ts'
import { grouped } from '../../../core/words.ts'
import { BottomAxis, curvePath, LeftAxis } from '../../drawing/axis-lines.tsx'
import { logDurationScale, shareScale, timeScale } from '../../drawing/axis-scale.ts'
import { useInk } from '../../drawing/figure.tsx'
import type { RankingEntry, TimesSketch } from './ranking-model.ts'

interface TimesProps {
  readonly entry: Pick<RankingEntry, 'before' | 'after'> & { readonly quantity?: Quantity }
  readonly width: number
  readonly height: number
  readonly isLarge?: boolean
}

/** Smallest ratio of the longest time to the shortest for logarithmic time scales. */
const MIN_LOG_RATIO = 20
const ROOM = { left: 52, right: 20, top: 8, bottom: 38 }
const NO_ROOM = { left: 1, right: 1, top: 2, bottom: 2 }

export function TimesCurves({ entry, width, height, isLarge = false }: TimesProps) {
  const ink = useInk()
  const { left, right, top, bottom } = isLarge ? ROOM : NO_ROOM
  const box = { left, top, width: width - left - right, height: height - top - bottom }
  const [low, high] = timeRange([entry.before, entry.after])
  const { quantity: of = TIME } = entry
  const ticks = 5
  const x =
    low > 0 && high / low > MIN_LOG_RATIO
      ? logDurationScale({ low, high, ticks, of })
      : timeScale([low, high], { ticks, of })
  const y = shareScale()
  return (
    <g font-size="11">
      {isLarge ? (
        <>
          <LeftAxis scale={y} box={box} />
          <BottomAxis
            scale={x}
            box={box}
            title={
              of === TIME
                ? 'response time: share of requests finished by then'
                : `${amountsName(of)}: share of requests up to it`
            }
          />
        </>
      ) : null}
      {(['before', 'after'] as const).map((period) => {
        const { quantilesUs, count } = entry[period]
        const points = quantilesUs
          .map((us, i) => [us, i / (quantilesUs.length - 1)] as const)
          .filter(([us]) => us <= x.value(1))
        // The slowest requests end beyond the axis.
        const [, share = 0] = points.at(-1) ?? []
        const all = count === 0 ? [] : [...points, [x.value(1), share] as const]
        const path = curvePath({ box, x, y }, all, 'lines')
        return <path key={period} d={path} fill="none" stroke={ink[period]} stroke-width="2" />
      })}
    </g>
  )
}

export function TimesPlot(props: TimesProps) {
  const { width, height, entry } = props
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={timesText(entry)}
    >
      <title>{timesText(entry)}</title>
      <TimesCurves {...props} />
    </svg>
  )
}

function timesText({ before, after, quantity = TIME }: TimesProps['entry']): string {
  const half = (sketch: TimesSketch) =>
    `(${grouped(sketch.count)} requests): ` +
    (sketch.count === 0 ? 'no times' : `median ${formatAmount(medianUs(sketch), quantity)}`)
  return `Before ${half(before)}. After ${half(after)}.`
}

export function medianUs({ quantilesUs }: TimesSketch): number {
  return quantilesUs[(quantilesUs.length - 1) / 2] ?? Number.NaN
}

/** Returns the range of times without the slowest requests, which would squeeze the others. */
function timeRange(sketches: readonly TimesSketch[]): readonly [low: number, high: number] {
  const known = sketches.filter(({ count }) => count > 0)
  if (known.length === 0) return [0, 1]
  const low = Math.min(...known.map(({ quantilesUs }) => quantilesUs[0] ?? 0))
  const high = Math.max(...known.map(({ quantilesUs }) => quantilesUs.at(-2) ?? 0))
  return high > low ? [low, high] : [low * 0.9, low * 1.1 + 1]
}
