import { formatDuration } from '../../../core/units.ts'
import { BottomAxis, LeftAxis, type PlotBox, pixel } from '../../drawing/axis-lines.tsx'
import { type AxisScale, logDurationScale, shareScale } from '../../drawing/axis-scale.ts'
import { fittedText } from '../../drawing/fitted-text.ts'
import type { Ink } from '../../drawing/ink.ts'
import type { CurvePoint, ProfileFacts } from './what-if-curves.ts'

/** A profile to draw. */
export interface DrawnProfile {
  readonly name: string
  readonly look: 'before' | 'changed' | 'cause' | 'target'
  readonly curve: readonly CurvePoint[]
  readonly facts: ProfileFacts
}

interface Shown {
  readonly profiles: readonly DrawnProfile[]
  readonly width: number
  readonly ink: Ink
}

export const PROFILE_PLOT = { left: 46, right: 18, bottom: 42, height: 230, legend: 18 } as const

const LOOKS = {
  before: { colour: 'before', dash: undefined, width: 2 },
  target: { colour: 'after', dash: undefined, width: 2 },
  cause: { colour: 'text', dash: '2 3', width: 2 },
  changed: { colour: 'change', dash: '7 3', width: 2.5 },
} as const

/** How high the drawing of so many profiles is. */
export function drawingHeight(profiles: number): number {
  return PROFILE_PLOT.height + PROFILE_PLOT.bottom + PROFILE_PLOT.legend * profiles + 10
}

/** Which share of the requests took no longer, one line a profile; dots at p50, p90 and p99. */
export function ProfilesDrawing({ profiles, width, ink }: Shown) {
  const { left, right, height, legend } = PROFILE_PLOT
  const top = legend * profiles.length + 10
  const box: PlotBox = { left, top, width: width - left - right, height }
  const x = timeScale(profiles, box.width)
  const y = shareScale()
  const place = (us: number, share: number) =>
    `${pixel(left + x.share(us) * box.width)} ${pixel(top + (1 - y.share(share)) * height)}`
  return (
    <g>
      {profiles.map(({ name, look }, i) => (
        <g key={look} transform={`translate(${left} ${i * legend})`}>
          <line x2="26" y1="8" y2="8" {...stroke(look, ink)} />
          <text x="33" y="12" style={`fill:${ink.text}`}>
            {fittedText(name, width - left - 40, 11)}
          </text>
        </g>
      ))}
      <BottomAxis
        {...{ scale: x, box, ink }}
        title="response time (share of requests that took no longer)"
      />
      <LeftAxis {...{ scale: y, box, ink }} />
      {profiles.map(({ look, curve }) => (
        <path
          key={look}
          class={`fd-what-if-${look}`}
          d={`M${curve.map(({ us, share }) => place(us, share)).join('L')}`}
          {...{ fill: 'none', 'stroke-linejoin': 'round', ...stroke(look, ink) }}
        />
      ))}
      {profiles.flatMap(({ name, look, facts }) =>
        ([0.5, 0.9, 0.99] as const).map((share) => {
          const us = [facts.p50Us, facts.p90Us, facts.p99Us][
            share === 0.5 ? 0 : share === 0.9 ? 1 : 2
          ]
          const [cx, cy] = place(us as number, share).split(' ')
          return (
            <circle key={`${look} ${share}`} {...{ cx, cy, r: 3.5 }} fill={ink[LOOKS[look].colour]}>
              <title>{`${name}: p${share * 100} ${formatDuration(us as number)}`}</title>
            </circle>
          )
        }),
      )}
    </g>
  )
}

function stroke(look: DrawnProfile['look'], ink: Ink) {
  const { colour, dash, width } = LOOKS[look]
  return {
    stroke: ink[colour],
    'stroke-width': width,
    ...(dash !== undefined && { 'stroke-dasharray': dash }),
  }
}

/** All that is drawn, from round number to round number: it stays while a change moves within. */
function timeScale(profiles: readonly DrawnProfile[], width: number): AxisScale {
  let low = Number.POSITIVE_INFINITY
  let high = 0
  for (const { curve } of profiles) {
    for (const { us } of curve) {
      if (us > 0 && us < low) low = us
      if (us > high) high = us
    }
  }
  const ticks = Math.max(3, Math.floor(width / 60))
  return logDurationScale(high > 0 ? { low, high, ticks } : { low: 1, high: 10, ticks })
}
