import { Categories } from '../compare/categories/categories.ts'
import { Comparison } from '../compare/comparison.ts'
import { EdgeChanges } from '../compare/edges/edge-changes.ts'
import { Findings } from '../compare/findings/findings.ts'
import { ResponseTimeMutations } from '../compare/mutations/response-time-mutations.ts'
import { Ranking } from '../compare/ranking/ranking.ts'
import { FlowdeltaError, show } from '../core/errors.ts'
import { VarianceSources } from '../explain/variance/variance-sources.ts'
import { ExecutionModels } from '../whatif/models/execution-models.ts'
import { ScenarioProfile } from '../whatif/scenarios/apply-scenario.ts'
import { breakdownChart } from './charts/breakdown.ts'
import type { Chart } from './charts/chart.ts'
import { contributionsChart } from './charts/contributions.ts'
import type { Drawing } from './charts/drawing.ts'
import { edgeChangesChart } from './charts/edge-changes.ts'
import { findingsChart } from './charts/findings.ts'
import { latencyProfilesChart } from './charts/latency-profiles.ts'
import { responseTimesChart } from './charts/response-times.ts'
import {
  squaredVariationChart,
  type VariationSets,
  variationSetsChart,
} from './charts/squared-variation.ts'

// The pictures of each stage by kind; the first is the one drawn without a kind.
const OF_COMPARISON = {
  findings: ofPart((whole: Comparison) => whole.findings, findingsChart),
  contributions: ofPart((whole: Comparison) => whole.ranking, contributionsChart),
  shifts: ofPart((whole: Comparison) => whole.edges, edgeChangesChart),
  breakdown: ofPart((whole: Comparison) => whole.edges, breakdownChart),
  'response-times': ofPart((whole: Comparison) => whole.responseTime, responseTimesChart),
  variation: ofPart((whole: Comparison) => whole.categories, squaredVariationChart),
}
const OF_CATEGORIES = { variation: squaredVariationChart }
const OF_EDGES = { shifts: edgeChangesChart, breakdown: breakdownChart }
const OF_FINDINGS = { findings: findingsChart }
const OF_PROFILES = { profiles: latencyProfilesChart }
const OF_RANKING = { contributions: contributionsChart }
const OF_RESPONSE_TIMES = { 'response-times': responseTimesChart }
const OF_VARIANCE = { variation: variationSetsChart }

/** What {@link plot} draws. */
export type Plottable =
  | Categories
  | Comparison
  | EdgeChanges
  | ExecutionModels
  | Findings
  | Ranking
  | ResponseTimeMutations
  | ScenarioProfile
  | VarianceSources
  | VariationSets
  | readonly ScenarioProfile[]

type PicturesOf<Of> = Of extends Comparison
  ? typeof OF_COMPARISON
  : Of extends Categories
    ? typeof OF_CATEGORIES
    : Of extends EdgeChanges
      ? typeof OF_EDGES
      : Of extends Findings
        ? typeof OF_FINDINGS
        : Of extends Ranking
          ? typeof OF_RANKING
          : Of extends ResponseTimeMutations
            ? typeof OF_RESPONSE_TIMES
            : Of extends ExecutionModels | ScenarioProfile | readonly ScenarioProfile[]
              ? typeof OF_PROFILES
              : typeof OF_VARIANCE

/** Kinds of picture that a stage has. */
export type PlotKind<Of> = keyof PicturesOf<Of> & string

/** Options of a kind of picture. */
export type PlotOptions<Of, Kind extends PlotKind<Of>> = PicturesOf<Of>[Kind] extends (
  stage: never,
  options?: infer Given,
) => unknown
  ? Given
  : never

type Picture<Of, Kind extends PlotKind<Of>> = PicturesOf<Of>[Kind] extends (
  ...given: never[]
) => infer Drawn
  ? Drawn
  : never

type Draw = (stage: unknown, options?: object) => Chart | Drawing

/** Tells stages by their class, the special before the general. */
const STAGES: readonly (readonly [is: (value: unknown) => boolean, pictures: object])[] = [
  [(value) => value instanceof Comparison, OF_COMPARISON],
  [(value) => value instanceof Categories, OF_CATEGORIES],
  [(value) => value instanceof EdgeChanges, OF_EDGES],
  [(value) => value instanceof Findings, OF_FINDINGS],
  [(value) => value instanceof Ranking, OF_RANKING],
  [(value) => value instanceof ResponseTimeMutations, OF_RESPONSE_TIMES],
  [(value) => value instanceof ExecutionModels, OF_PROFILES],
  [(value) => value instanceof ScenarioProfile || Array.isArray(value), OF_PROFILES],
  [(value) => value instanceof VarianceSources || isVariationSets(value), OF_VARIANCE],
]

/**
 * Draws a stage: without a kind, the picture that a person wants first.
 *
 * @param stage any stage of an analysis, or several scenarios or sets of variances
 * @param kind which of the stage's pictures; your editor lists them, and so does the error for a
 *   kind that the stage does not have
 * @param options of the picture, such as `limit`
 * @returns a `Chart`, whose `spec` is plain Vega-Lite, or a `Drawing`, which is SVG
 * @throws FlowdeltaError for a value that is no stage, a kind that it does not have, or an unknown
 *   option; OptionError for a value that an option does not take
 *
 * @example
 * plot(comparison.ranking, 'contributions', { limit: 10 })
 */
export function plot<const Of extends Plottable, Kind extends PlotKind<Of>>(
  stage: Of,
  kind?: Kind,
  options?: PlotOptions<Of, Kind>,
): Picture<Of, Kind> {
  const pictures = STAGES.find(([is]) => is(stage))?.[1] as
    | Readonly<Record<string, Draw>>
    | undefined
  if (pictures === undefined) {
    throw new FlowdeltaError(
      `plot cannot draw ${show(stage)}. Give a stage, such as comparison or comparison.ranking.`,
    )
  }
  const kinds = Object.keys(pictures)
  const chosen = kind ?? (kinds[0] as string)
  const draw = Object.hasOwn(pictures, chosen) ? pictures[chosen] : undefined
  if (draw === undefined) {
    throw new FlowdeltaError(
      `There is no picture ${show(kind)} of this stage. Give one of ${kinds.map(show).join(', ')}.`,
    )
  }
  return draw(stage, options as object | undefined) as Picture<Of, Kind>
}

/** Draws a part of a whole. */
function ofPart<Whole, Part, Given, Drawn>(
  part: (whole: Whole) => Part,
  draw: (part: Part, options?: Given) => Drawn,
): (whole: Whole, options?: Given) => Drawn {
  return (whole, options) => draw(part(whole), options)
}

function isVariationSets(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const sets = Object.values(value)
  return sets.length > 0 && sets.every((each) => each instanceof VarianceSources)
}
