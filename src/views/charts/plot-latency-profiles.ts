import { rejectUnknownOptions } from '../../core/errors.ts'
import { tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { percent } from '../../core/words.ts'
import { binCount, logBins } from '../../stats/log-bins.ts'
import { requireOneOf } from '../../stats/require-option.ts'
import type { ExecutionModels } from '../../whatif/models/execution-models.ts'
import type { LatencyProfile } from '../../whatif/recompute/latency-profile.ts'
import type { ScenarioProfile } from '../../whatif/scenarios/scenario-profile.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { logDurationAxis } from './duration-axis.ts'
import { curveLooks, drawnProfiles, type LatencyCurve } from './latency-curves.ts'
import { type PositiveRange, positiveRange, profileSteps, shareAtZero } from './profile-curves.ts'
import { shareAxis } from './share-axis.ts'

/** What {@link plotLatencyProfiles} can be told. */
export interface LatencyProfilesOptions {
  /**
   * `'ecdf'`: the share of requests that took no longer; `'density'`: the share in each of bins that
   * are equally wide on the axis. Default `'ecdf'`.
   */
  readonly as?: 'ecdf' | 'density'
  /** A profile to draw beside, such as what was recorded after. Default: the profiles' own target, if any. */
  readonly target?: LatencyProfile
  /** What the target is called. Default `'target'`. */
  readonly targetName?: string
}

const WIDTH = 560
const HEIGHT = 280
const STEPS = 300
const MARKED = [0.5, 0.9, 0.99] as const

/**
 * Draws latency profiles on a logarithmic axis: as recorded before, under a scenario or up to three, and
 * the target where there is one; or, of execution models, what was recorded before and after. Dots mark
 * p50, p90 and p99. Curves of many requests are thinned by less than a pixel.
 *
 * @param profiles of `applyScenario`, or a diagnosis' `profile(rank)`; several of the same requests; or
 *   what `learnExecutionModels` gives
 * @param options see {@link LatencyProfilesOptions}
 * @throws OptionError for none or more than three profiles, profiles of other requests, a target beside
 *   execution models, or an unknown way to draw; FlowdeltaError for an unknown option
 *
 * Source: Ostrowski, Mann and Sandler 2011, Figure 4.
 *
 * @example
 * const models = learnExecutionModels([before, after])
 * const [service] = before.services.values
 * plotLatencyProfiles(applyScenario(models, scaleCalls({ service, factor: 0.5 })))
 */
export function plotLatencyProfiles(
  profiles: ExecutionModels | ScenarioProfile | readonly ScenarioProfile[],
  options: LatencyProfilesOptions = {},
): Chart {
  rejectUnknownOptions(options, ['as', 'target', 'targetName'])
  const { as = 'ecdf', target, targetName = 'target' } = options
  requireOneOf('as', as, ['ecdf', 'density'])
  const { title, curves } = drawnProfiles(profiles, { target, targetName })
  const range = positiveRange(curves.map(({ profile }) => profile))
  const axis = logDurationAxis({ ...margined(range), title: 'response time' })
  const x = { field: 'timeUs', type: 'quantitative', scale: axis.scale, axis: axis.axis }
  return framedChart(
    {
      title,
      subtitle: quantileTexts(curves),
      omissions: zeroText(curves),
      width: WIDTH + 60,
    },
    {
      width: WIDTH,
      height: HEIGHT,
      layer: as === 'ecdf' ? ecdfLayers(curves, x, range) : densityLayers(curves, x, range),
    },
  )
}

function margined({ lowUs, highUs }: PositiveRange): PositiveRange {
  return { lowUs: lowUs / 1.1, highUs: highUs * 1.1 }
}

function quantileTexts(curves: readonly LatencyCurve[]): string[] {
  return curves.map(({ name, profile }) => {
    // A line must not end within one of them.
    const texts = MARKED.map((q) =>
      `p${q * 100} ${formatDuration(profile.quantile(q))}`.replaceAll(' ', '\u00a0'),
    )
    return `${name}: ${texts.join(', ')}.`
  })
}

function zeroText(curves: readonly LatencyCurve[]): string[] {
  const touched = curves
    .map(({ name, profile }) => ({ name, share: shareAtZero(profile) }))
    .filter(({ share }) => share > 0)
    .map(({ name, share }) => `${percent(share)} of ${name}`)
  return touched.length === 0
    ? []
    : [`Requests of 0 µs, ${touched.join(', ')}, are drawn at the left end.`]
}

function ecdfLayers(
  curves: readonly LatencyCurve[],
  x: SpecPart,
  range: PositiveRange,
): SpecPart[] {
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
  const { color } = curveLooks(curves) as { color: SpecPart }
  return [
    {
      data: { values },
      mark: { type: 'line', interpolate: 'step-after', strokeWidth: 2, tooltip: false },
      encoding: { x, y, ...curveLooks(curves) },
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

function densityLayers(
  curves: readonly LatencyCurve[],
  x: SpecPart,
  range: PositiveRange,
): SpecPart[] {
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
        ...curveLooks(curves),
      },
    },
  ]
}

function short(value: number): number {
  return Number(value.toPrecision(5))
}
