import { OptionError, rejectUnknownOptions } from '../errors.ts'
import { shortText, tooltipText } from '../shown-text.ts'
import { binCount, logBins } from '../stats/log-bins.ts'
import { requireOneOf } from '../stats/require-option.ts'
import { formatDuration } from '../units.ts'
import type { LatencyProfile } from '../whatif/latency-profile.ts'
import type { ScenarioProfile } from '../whatif/scenario-profile.ts'
import { percent } from '../wording.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { logDurationAxis } from './duration-axis.ts'
import { PALETTE } from './palette.ts'
import { type PositiveRange, positiveRange, profileSteps, shareAtZero } from './profile-curves.ts'
import { shareAxis } from './share-axis.ts'

/** What {@link plotLatencyProfiles} can be told. */
export interface LatencyProfilesOptions {
  /**
   * `'ecdf'`: the share of requests that took no longer; `'density'`: the share in each of bins that
   * are equally wide on the axis. Default `'ecdf'`.
   */
  readonly as?: 'ecdf' | 'density'
  /** What the target is called. Default `'target'`. */
  readonly targetName?: string
}

const WIDTH = 560
const HEIGHT = 280
const STEPS = 300
const LONGEST_NAME = 76
const MARKED = [0.5, 0.9, 0.99] as const
/** Looks of scenarios; more of them could not be told apart. */
const SCENARIO_LOOKS = [
  { colour: PALETTE.change, dash: [6, 3] },
  { colour: PALETTE.text, dash: [2, 2] },
  { colour: PALETTE.rest, dash: [8, 2, 2, 2] },
] as const

/**
 * Draws latency profiles on a logarithmic axis: as recorded before, under a scenario or up to three, and
 * the target where there is one. Dots mark p50, p90 and p99. Curves of many requests are thinned by less
 * than a pixel.
 *
 * @param profiles of `applyScenario`, or a diagnosis' `profile(rank)`; several of the same requests
 * @param options see {@link LatencyProfilesOptions}
 * @throws OptionError for none or more than three profiles, profiles of other requests, or an unknown
 *   way to draw; FlowdeltaError for an unknown option
 *
 * Source: Ostrowski, Mann and Sandler 2011, Figure 4.
 *
 * @example
 * const models = learnExecutionModels([before, after])
 * const [service] = before.services.values
 * plotLatencyProfiles(applyScenario(models, scaleCalls({ service, factor: 0.5 })))
 */
export function plotLatencyProfiles(
  profiles: ScenarioProfile | readonly ScenarioProfile[],
  options: LatencyProfilesOptions = {},
): Chart {
  rejectUnknownOptions(options, ['as', 'targetName'])
  const { as = 'ecdf', targetName = 'target' } = options
  requireOneOf('as', as, ['ecdf', 'density'])
  const scenarios = 'before' in profiles ? [profiles] : profiles
  const curves = curvesOf(scenarios, targetName)
  const range = positiveRange(curves.map(({ profile }) => profile))
  const axis = logDurationAxis({ ...margined(range), title: 'response time' })
  const x = { field: 'timeUs', type: 'quantitative', scale: axis.scale, axis: axis.axis }
  return framedChart(
    {
      title: `Response times before and under ${scenarios.length === 1 ? 'a scenario' : 'scenarios'}`,
      subtitle: curves.slice(1).map((curve) => quantileText(curve, curves[0] as Curve)),
      omissions: zeroText(curves),
      width: WIDTH,
    },
    {
      width: WIDTH,
      height: HEIGHT,
      layer: as === 'ecdf' ? ecdfLayers(curves, x, range) : densityLayers(curves, x, range),
    },
  )
}

interface Curve {
  readonly name: string
  readonly profile: LatencyProfile
  readonly colour: string
  readonly dash: readonly number[]
}

const SOLID = [1, 0]

function curvesOf(scenarios: readonly ScenarioProfile[], targetName: string): Curve[] {
  const [first] = scenarios
  if (first === undefined || scenarios.length > SCENARIO_LOOKS.length) {
    throw new OptionError('profiles', scenarios.length, 'one, two or three profiles')
  }
  const { before, target } = first
  scenarios.forEach((scenario, i) => {
    if (isSame(before, scenario.before)) return
    throw new OptionError(
      `profiles[${i}]`,
      scenario.title,
      `a profile of the same requests as ${JSON.stringify(first.title)}`,
    )
  })
  const curves: Curve[] = [
    { name: 'before', profile: before, colour: PALETTE.before, dash: SOLID },
    ...scenarios.map(({ title, profile }, i) => ({
      ...{ name: shortText(title, LONGEST_NAME), profile },
      ...(SCENARIO_LOOKS[i] as (typeof SCENARIO_LOOKS)[number]),
    })),
  ]
  if (target !== null) {
    const name = shortText(targetName, LONGEST_NAME)
    curves.push({ name, profile: target, colour: PALETTE.after, dash: SOLID })
  }
  return distinctNames(curves)
}

/** Legends tell by name. */
function distinctNames(curves: readonly Curve[]): Curve[] {
  const seen = new Map<string, number>()
  return curves.map((curve) => {
    const times = (seen.get(curve.name) ?? 0) + 1
    seen.set(curve.name, times)
    return times === 1 ? curve : { ...curve, name: `${curve.name} (${times})` }
  })
}

function isSame(one: LatencyProfile, other: LatencyProfile): boolean {
  return (
    one.latencyUs.length === other.latencyUs.length &&
    one.latencyUs.every((us, i) => us === other.latencyUs[i])
  )
}

function margined({ lowUs, highUs }: PositiveRange): PositiveRange {
  return { lowUs: lowUs / 1.1, highUs: highUs * 1.1 }
}

function quantileText({ name, profile }: Curve, { profile: before }: Curve): string {
  const parts = MARKED.map(
    (q) =>
      `p${q * 100} ${formatDuration(before.quantile(q))} → ${formatDuration(profile.quantile(q))}`,
  )
  return `${name}: ${parts.join(', ')}.`
}

function zeroText(curves: readonly Curve[]): string[] {
  const touched = curves
    .map(({ name, profile }) => ({ name, share: shareAtZero(profile) }))
    .filter(({ share }) => share > 0)
    .map(({ name, share }) => `${percent(share)} of ${name}`)
  return touched.length === 0
    ? []
    : [`Requests of 0 µs, ${touched.join(', ')}, are drawn at the left end.`]
}

/** Colour and dash of a curve, in one legend. */
function looks(curves: readonly Curve[]): SpecPart {
  const domain = curves.map(({ name }) => name)
  const field = { field: 'profile', type: 'nominal' }
  const legend = { title: null, symbolType: 'stroke', symbolSize: 400, columns: 1 }
  return {
    color: { ...field, legend, scale: { domain, range: curves.map(({ colour }) => colour) } },
    strokeDash: { ...field, legend, scale: { domain, range: curves.map(({ dash }) => dash) } },
  }
}

function ecdfLayers(curves: readonly Curve[], x: SpecPart, range: PositiveRange): SpecPart[] {
  const { lowUs, highUs } = margined(range)
  const values = curves.flatMap(({ name, profile }) => [
    { profile: name, timeUs: lowUs, share: 0 },
    ...profileSteps(profile, STEPS).map((step) => ({
      ...{ profile: name, timeUs: short(Math.max(lowUs, step.x)), share: short(step.y) },
    })),
    { profile: name, timeUs: highUs, share: 1 },
  ])
  const marks = curves.flatMap(({ name, profile }) =>
    MARKED.map((q) => {
      const us = profile.quantile(q)
      const measure = `p${q * 100}`
      return {
        ...{ profile: name, timeUs: short(Math.max(lowUs, us)), share: q, measure },
        ...{ time: formatDuration(us), full: tooltipText(name) },
      }
    }),
  )
  const y = {
    field: 'share',
    type: 'quantitative',
    ...shareAxis('share of requests that took no longer'),
  }
  const { color } = looks(curves) as { color: SpecPart }
  return [
    {
      data: { values },
      mark: { type: 'line', interpolate: 'step-after', strokeWidth: 2, tooltip: false },
      encoding: { x, y, ...looks(curves) },
    },
    {
      data: { values: marks },
      mark: { type: 'point', filled: true, size: 45, opacity: 1 },
      encoding: {
        ...{ x, y, color },
        tooltip: [
          { field: 'full', type: 'nominal', title: 'profile' },
          { field: 'measure', type: 'nominal', title: 'quantile' },
          { field: 'time', type: 'nominal', title: 'response time' },
        ],
      },
    },
  ]
}

function densityLayers(curves: readonly Curve[], x: SpecPart, range: PositiveRange): SpecPart[] {
  const size = Math.min(...curves.map(({ profile }) => profile.latencyUs.length))
  const bins = logBins(range.lowUs, range.highUs, binCount(size))
  const values = curves.flatMap(({ name, profile }) => {
    const counts = profile.histogram(bins)
    const at = (bin: number) => short((counts[bin] ?? 0) / profile.requests)
    const last = counts.length - 1
    return [
      [range.lowUs, 0] as const,
      ...Array.from(counts, (_, bin) => [bins.edges[bin] as number, at(bin)] as const),
      [range.highUs, at(last)] as const,
      [range.highUs, 0] as const,
    ].map(([us, share], order) => ({ profile: name, timeUs: short(us), share, order }))
  })
  const { axis } = shareAxis(`share of requests, in each of ${bins.count} bins`)
  return [
    {
      data: { values },
      mark: { type: 'line', interpolate: 'step-after', strokeWidth: 2, tooltip: false },
      encoding: {
        ...{ x, y: { field: 'share', type: 'quantitative', axis } },
        // Not by time: steps go straight up and down at the ends.
        order: { field: 'order', type: 'quantitative' },
        ...looks(curves),
      },
    },
  ]
}

function short(value: number): number {
  return Number(value.toPrecision(5))
}
