import { max, min, sum } from 'd3-array'
import { OptionError } from '../../core/errors.ts'
import { custom, defineOptions, type OptionsOf, oneOf, text } from '../../core/options.ts'
import { formatDuration, percent, tooltipText } from '../../core/words.ts'
import { binCount, logBins } from '../../stats/log-bins.ts'
import { ExecutionModels } from '../../whatif/models/execution-models.ts'
import { LatencyProfile, profileOf } from '../../whatif/recompute/latency-profile.ts'
import { RequestModel } from '../../whatif/recompute/request-model.ts'
import type { ScenarioProfile } from '../../whatif/scenarios/apply-scenario.ts'
import { type Axis, logDurationAxis, shareAxis } from './axes.ts'
import { type Curve, curves, digits, distinctTexts, quantity, tooltip } from './builders.ts'
import { defineChart, framedChart, PALETTE, PERIOD_NAMES, type SpecPart } from './chart-frame.ts'
import { type Point, profileSteps } from './ecdf-curves.ts'

const LATENCY_PROFILES_CHART_OPTIONS = defineOptions({
  as: oneOf(['ecdf', 'density'], {
    default: 'ecdf',
    sentence: 'Share of requests that took no longer, or share in each of equally wide bins',
  }),
  target: custom<LatencyProfile | null>({
    default: null,
    expected: 'a LatencyProfile, or null',
    accepts: (value) => value === null || value instanceof LatencyProfile,
    sentence: 'Profile drawn beside; by default the target of the profiles, if any',
  }),
  targetName: text({ default: 'target', sentence: 'Name of the target' }),
})
export type LatencyProfilesChartOptions = OptionsOf<typeof LATENCY_PROFILES_CHART_OPTIONS>

const short = (value: number) => digits(value, 5)

interface LatencyCurve extends Omit<Curve, 'points'> {
  readonly profile: LatencyProfile
}

const MAX_NAME_LENGTH = 76
const MAX_STEPS = 300
const QUANTILES = [0.5, 0.9, 0.99] as const
const SCENARIO_LOOKS = [
  { color: PALETTE.text, dash: [6, 3] },
  { color: PALETTE.change, dash: [2, 2] },
  { color: PALETTE.rest, dash: [8, 2, 2, 2] },
] as const

/** Draws response times: before, scenarios and target, or both periods. Source: Ostrowski et al. 2011, Figure 4. */
export const latencyProfilesChart = defineChart(
  LATENCY_PROFILES_CHART_OPTIONS,
  (profiles: ExecutionModels | ScenarioProfile | readonly ScenarioProfile[], options) => {
    const drawn =
      profiles instanceof ExecutionModels
        ? recordedCurves(profiles, options)
        : scenarioCurves('before' in profiles ? [profiles] : profiles, options)
    const names = distinctTexts(drawn, MAX_NAME_LENGTH, ({ name }) => name)
    const all = drawn.map((curve, i) => ({ ...curve, name: names[i] as string }))
    const lowUs = min(all, ({ profile }) => profile.latencyUs.find((us) => us > 0)) ?? 1
    const most = max(all, ({ profile }) => profile.latencyUs.at(-1)) || 10
    const highUs = Math.max(most, lowUs * 1.01)
    const x = logDurationAxis({ lowUs: lowUs / 1.1, highUs: highUs * 1.1, title: 'response time' })
    return framedChart(
      {
        title:
          profiles instanceof ExecutionModels
            ? `Response times${all.length > 1 ? ' before and after' : ''}`
            : 'Response times as recorded and as predicted',
        subtitle: all.map(({ name, profile }) => {
          // A line must not end within one of them.
          const texts = QUANTILES.map((q) =>
            `p${q * 100} ${formatDuration(profile.quantile(q))}`.replaceAll(' ', '\u00a0'),
          )
          return `${name}: ${texts.join(', ')}.`
        }),
        omissions: zeros(all),
        width: 620,
      },
      options.as === 'ecdf' ? ecdfView(all, x) : densityView(all, x, [lowUs, highUs]),
    )
  },
)

function recordedCurves(models: ExecutionModels, { target }: LatencyProfilesChartOptions) {
  if (target !== null)
    throw new OptionError('target', target, 'profiles of applyScenario beside it')
  const looks = [{ color: PALETTE.before }, { color: PALETTE.after }]
  return models.forests.map((_, period) => ({
    name: PERIOD_NAMES[period as 0 | 1],
    profile: profileOf(new RequestModel(models, period as 0 | 1).recorded),
    ...(looks[period] as (typeof looks)[0]),
  }))
}

function scenarioCurves(
  scenarios: readonly ScenarioProfile[],
  { target, targetName }: LatencyProfilesChartOptions,
): LatencyCurve[] {
  const [first] = scenarios
  if (first === undefined || scenarios.length > SCENARIO_LOOKS.length) {
    throw new OptionError('profiles', scenarios.length, 'one, two or three profiles')
  }
  const { before } = first
  scenarios.forEach(({ title, before: { latencyUs } }, i) => {
    const isSame = latencyUs.length === before.latencyUs.length
    if (isSame && latencyUs.every((us, row) => us === before.latencyUs[row])) return
    const expected = `a profile of the same requests as ${JSON.stringify(first.title)}`
    throw new OptionError(`profiles[${i}]`, title, expected)
  })
  const aim = target ?? first.target
  return [
    { name: 'before', profile: before, color: PALETTE.before },
    ...scenarios.map(({ title, profile }, i) => ({ name: title, profile, ...SCENARIO_LOOKS[i] })),
    ...(aim === null ? [] : [{ name: targetName, profile: aim, color: PALETTE.after }]),
  ] as LatencyCurve[]
}

function zeros(all: readonly LatencyCurve[]): string | false {
  const shares = all.flatMap(({ name, profile: { latencyUs, weight, requests } }) => {
    const zero = sum(weight.filter((_, i) => !((latencyUs[i] ?? 0) > 0)))
    return zero > 0 ? [`${percent(zero / requests)} of ${name}`] : []
  })
  return shares.length > 0 && `Requests of 0 µs (${shares.join(', ')}) are at the left end.`
}

function ecdfView(all: readonly LatencyCurve[], x: Axis): SpecPart {
  const [low, high] = x.domain
  const marks = all.flatMap(({ name, profile }) =>
    QUANTILES.map((q) => ({
      profile: name,
      timeUs: short(Math.max(low, profile.quantile(q))),
      share: q,
      measure: `p${q * 100}`,
      time: formatDuration(profile.quantile(q)),
      full: tooltipText(name),
    })),
  )
  return curves({
    x,
    y: shareAxis('share of requests that took no longer'),
    curves: all.map(({ profile, ...look }) => ({
      ...look,
      points: [
        [low, 0],
        ...profileSteps(profile, MAX_STEPS).map(
          ([us, y]): Point => [short(Math.max(low, us)), short(y)],
        ),
        [high, 1],
      ],
    })),
    over: [
      {
        data: { values: marks },
        mark: { type: 'point', filled: true, size: 45, opacity: 1 },
        encoding: {
          x: quantity('timeUs'),
          y: quantity('share'),
          color: { field: 'profile', type: 'nominal' },
          tooltip: tooltip({ profile: 'full', quantile: 'measure', 'response time': 'time' }),
        },
      },
    ],
    legend: { columns: 1 },
    fields: ['profile', 'timeUs', 'share'],
  })
}

function densityView(
  all: readonly LatencyCurve[],
  x: Axis,
  [lowUs, highUs]: readonly [number, number],
): SpecPart {
  const size = Math.min(...all.map(({ profile }) => profile.latencyUs.length))
  const bins = logBins(lowUs, highUs, binCount(size))
  const { axis } = shareAxis(`share of requests in each of ${bins.count} bins`)
  return curves({
    x,
    y: {
      domain: [0, 1],
      scale: { zero: true },
      axis: { title: axis['title'], tickCount: 5, labelExpr: axis['labelExpr'] },
    },
    curves: all.map(({ profile, ...look }) => {
      const shares = Array.from(profile.histogram(bins), (each) => short(each / profile.requests))
      const steps = shares.map((share, bin): Point => [short(bins.edges[bin] ?? lowUs), share])
      const ends = [shares.at(-1) ?? 0, 0].map((share): Point => [short(highUs), share])
      return { ...look, points: [[short(lowUs), 0], ...steps, ...ends] }
    }),
    legend: { columns: 1 },
    fields: ['profile', 'timeUs', 'share'],
    inOrder: true,
  })
}
