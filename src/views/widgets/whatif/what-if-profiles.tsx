import { bisector, extent } from 'd3-array'
import { formatDuration, percent } from '../../../core/words.ts'
import {
  type LatencyProfile,
  type ProfileSummary,
  profileSummary,
} from '../../../whatif/recompute/latency-profile.ts'
import type { RequestModel } from '../../../whatif/recompute/request-model.ts'
import { type Point, profileSteps } from '../../charts/ecdf-curves.ts'
import { BottomAxis, curvePath, LeftAxis, plotPoint } from '../../drawing/axis-lines.tsx'
import { logDurationScale, shareScale } from '../../drawing/axis-scale.ts'
import { DataTable, numberColumn } from '../../drawing/data-table.tsx'
import { Figure, useInk } from '../../drawing/figure.tsx'
import { LegendRows, layOutLegend } from '../../drawing/legend.tsx'
import { type LineLook, strokeOf } from '../../drawing/node-link.tsx'
import { fittedText } from '../../drawing/text.ts'
import { changesText, predictedProfile, type WhatIfChange } from './what-if-options.ts'

export type CarriedProfile = ReturnType<typeof carriedProfile>

export interface DrawnProfile {
  readonly name: string
  readonly look: keyof typeof LOOKS
  readonly curve: readonly Point[]
  readonly shape: 'lines' | 'steps'
  readonly facts: ProfileSummary
}

const LOOKS = {
  before: { color: 'before', width: 2 },
  target: { color: 'after', width: 2 },
  cause: { color: 'text', dash: '2 3', width: 2 },
  changed: { color: 'change', dash: '7 3', width: 2.5 },
  kept0: { color: 'soft', dash: '10 3', width: 1.5 },
  kept1: { color: 'soft', dash: '8 3 2 3', width: 1.5 },
  kept2: { color: 'soft', dash: '2 2', width: 1.5 },
} as const satisfies Readonly<Record<string, LineLook>>
const MAX_NAME_LENGTH = 100
const STEPS = 400

export function carriedProfile(profile: LatencyProfile, points: number) {
  const at = (share: number) => Number(profile.quantile(share).toPrecision(4))
  return {
    facts: profileSummary(profile),
    /** The least, those at (i + ½)/n of the requests, the most. */
    latencyUs: [at(0), ...Array.from({ length: points }, (_, i) => at((i + 0.5) / points)), at(1)],
  }
}

export function carriedCurve(
  name: string,
  look: DrawnProfile['look'],
  { latencyUs, facts }: CarriedProfile,
): DrawnProfile {
  const points = latencyUs.length - 2
  const shareAt = (i: number) => Math.min(1, Math.max(0, (i - 0.5) / points))
  return { name, look, curve: latencyUs.map((us, i) => [us, shareAt(i)]), shape: 'lines', facts }
}

/** Draws the requests of the sample under some changes, or as recorded without any. */
export function predictedCurve(
  model: RequestModel,
  changes: readonly WhatIfChange[],
  look: DrawnProfile['look'] = changes.length > 0 ? 'changed' : 'before',
): DrawnProfile {
  const profile = predictedProfile(model, changes)
  const steps = profileSteps(profile, STEPS)
  const [[firstUs] = [0]] = steps
  return {
    name: look === 'before' ? look : changesText(changes, MAX_NAME_LENGTH),
    look,
    curve: [[firstUs, 0], ...steps],
    shape: 'steps',
    facts: profileSummary(profile),
  }
}

const PLOT = { left: 46, right: 18, bottom: 42, height: 230 }
const QUANTILES = [
  [0.5, 'p50Us'],
  [0.9, 'p90Us'],
  [0.99, 'p99Us'],
] as const

/** Returns the share of the requests that take at most that long, as the curve is drawn. */
export function shareWithin({ curve, shape }: DrawnProfile, us: number): number {
  const above = bisector(([time]: Point) => time).right(curve, us)
  const [earlierUs, share] = curve[above - 1] ?? [0, 0]
  const [laterUs, next] = curve[above] ?? [earlierUs, share]
  if (shape === 'steps' || laterUs === earlierUs) return share
  return share + ((next - share) * (us - earlierUs)) / (laterUs - earlierUs)
}

interface Shown {
  readonly profiles: readonly DrawnProfile[]
  readonly within: number | null
  readonly width: number
}

/**
 * Draws the share of requests that took no longer, anew at every step of a drag, for which
 * Vega-Lite is too slow.
 */
export function ProfilesFigure({ profiles, within, width }: Shown) {
  const names = profiles.map(({ name }) => name).join('; ')
  const ink = useInk()
  const { left, right, height } = PLOT
  const room = width - left - right
  const entries = profiles.map(({ name, look }) => ({
    text: fittedText(name, room - 40, 11),
    look: LOOKS[look],
  }))
  const legend = layOutLegend(entries, room)
  const box = { left, top: legend.height + 10, width: room, height }
  const plot = { box, x: timeScale(profiles, box.width), y: shareScale() }
  const marked = within === null ? null : plotPoint(plot, [within, 0]).x
  return (
    <Figure
      width={width}
      height={box.top + PLOT.height + PLOT.bottom}
      label={`Share of requests that took no longer: ${names}`}
      role="img"
    >
      <g font-size="11">
        <g transform={`translate(${left} 0)`}>
          <LegendRows entries={entries} width={room} />
        </g>
        <BottomAxis
          scale={plot.x}
          box={box}
          title="response time (share of requests that took no longer)"
        />
        <LeftAxis scale={plot.y} box={box} />
        {marked === null || marked < left || marked > left + box.width ? null : (
          <line
            class="fd-what-if-within"
            x1={marked}
            x2={marked}
            y1={box.top}
            y2={box.top + height}
            stroke={ink.text}
            stroke-dasharray="4 4"
          />
        )}
        {profiles.map(({ look, curve, shape }) => (
          <path
            key={look}
            class={`fd-what-if-${look}`}
            d={curvePath(plot, curve, shape)}
            fill="none"
            stroke-linejoin="round"
            {...strokeOf(LOOKS[look], ink)}
          />
        ))}
        {profiles.flatMap(({ name, look, facts }) =>
          QUANTILES.map(([share, fact]) => {
            const { x, y } = plotPoint(plot, [facts[fact], share])
            return (
              <circle key={`${look} ${share}`} cx={x} cy={y} r={3.5} fill={ink[LOOKS[look].color]}>
                <title>{`${name}: p${share * 100} ${formatDuration(facts[fact])}`}</title>
              </circle>
            )
          }),
        )}
      </g>
    </Figure>
  )
}

/** Spans all that is drawn from round number to round number: it stays while a change moves within. */
function timeScale(profiles: readonly DrawnProfile[], width: number) {
  const times = profiles.flatMap(({ curve }) => curve.map(([us]) => us).filter((us) => us > 0))
  const [low = 1, high = 10] = extent(times)
  return logDurationScale({ low, high, ticks: Math.max(3, Math.floor(width / 60)) })
}

const MEASURES = [
  ...QUANTILES.map(([share, fact]) => [`p${100 * share}`, fact] as const),
  ['mean', 'meanUs'] as const,
]

interface NumbersProps {
  readonly profiles: readonly DrawnProfile[]
  readonly within: number | null
}

export function Numbers({ profiles, within }: NumbersProps) {
  return (
    <DataTable
      label="Response times"
      class="fd-what-if-numbers"
      rows={profiles}
      columns={[
        {
          title: 'requests',
          isHead: true,
          cell: ({ name }) => <span title={name}>{name}</span>,
          still: ({ name }) => name,
        },
        ...MEASURES.map(([title, fact]) =>
          numberColumn(title, ({ facts }: DrawnProfile) => formatDuration(facts[fact])),
        ),
        ...[within ?? []].flat().map((us) => ({
          title: `≤ ${formatDuration(us)}`,
          hint: 'Share of the requests that take no longer',
          isNumber: true,
          cell: (profile: DrawnProfile) => percent(shareWithin(profile, us)),
        })),
      ]}
    />
  )
}

export function effectText(before: ProfileSummary, now: ProfileSummary): string {
  return MEASURES.slice(0, 3)
    .map(([name, fact]) => `${name} ${formatDuration(before[fact])} → ${formatDuration(now[fact])}`)
    .join(', ')
}
