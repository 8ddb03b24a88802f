import { AFTER, BEFORE } from '../../../logs/features/log-set.ts'
import { besideMiddle } from '../../charts/log-strip.ts'
import { numberExtent, shareAlong } from '../../charts/number-extent.ts'
import type { Ink } from '../../drawing/ink.ts'

interface Shown {
  /** An instance each; `null` where it has none. */
  readonly values: readonly (number | null)[]
  readonly classOf: readonly number[]
  readonly instances: readonly string[]
  readonly means: readonly [before: number, after: number]
  readonly textOf: (value: number) => string
  readonly ink: Ink
}

const WIDTH = 300
const LANE = 17
const HEIGHT = 2 * LANE
const EDGE = 5
/** How much of a lane dots fill. */
const FILLED = 0.66

/** A dot an instance, before above after, and a line at each mean; below, the least and the greatest. */
export function StripDrawing({ values, classOf, instances, means, textOf, ink }: Shown) {
  const known = values.filter((value) => value !== null)
  const extent = numberExtent(known)
  const x = (value: number) => rounded(EDGE + shareAlong(extent, value) * (WIDTH - 2 * EDGE))
  const colours = [ink.before, ink.after]
  const [least, most] = [
    known.reduce((low, value) => Math.min(low, value), Number.POSITIVE_INFINITY),
    known.reduce((high, value) => Math.max(high, value), Number.NEGATIVE_INFINITY),
  ]
  return (
    <div class="fd-logs-strip">
      <svg
        {...{ width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}` }}
        aria-hidden="true"
      >
        <line
          {...{ x1: 0, x2: WIDTH, y1: LANE, y2: LANE }}
          style={`stroke:${ink.line};stroke-width:1`}
        />
        {values.map((value, i) => {
          if (value === null) return null
          const code = classOf[i] as number
          const y = rounded(LANE * (code + 0.5 + FILLED * besideMiddle(i)))
          return (
            <circle
              key={i}
              {...{ cx: x(value), cy: y, r: 2.4, 'fill-opacity': 0.6 }}
              style={`fill:${colours[code]}`}
            >
              <title>
                {instances[i]}: {textOf(value)}
              </title>
            </circle>
          )
        })}
        {[BEFORE, AFTER].map((code) => {
          const mean = means[code as 0 | 1]
          if (!Number.isFinite(mean) || known.length === 0) return null
          const at = Math.min(WIDTH, Math.max(0, x(mean)))
          return (
            <line
              key={code}
              {...{ x1: at, x2: at, y1: LANE * code + 1, y2: LANE * (code + 1) - 1 }}
              style={`stroke:${colours[code]};stroke-width:2.5`}
            />
          )
        })}
      </svg>
      <div class="fd-soft fd-logs-ends">
        {known.length === 0 ? (
          <span>no values</span>
        ) : (
          <>
            <span>{textOf(least)}</span>
            {extent.isLog ? <span>logarithmic</span> : null}
            <span>{least === most ? '' : textOf(most)}</span>
          </>
        )}
      </div>
    </div>
  )
}

function rounded(pixel: number): number {
  return Math.round(pixel * 10) / 10
}
