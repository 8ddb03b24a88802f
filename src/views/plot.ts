import { Categories } from '../compare/categories/categories.ts'
import { EdgeChanges } from '../compare/edges/find-edge-changes.ts'
import { HostClasses } from '../compare/hosts/host-classes.ts'
import { Interference, NO_INTERFERENCE } from '../compare/interference/interference.ts'
import { ResponseTimeMutations } from '../compare/mutations/find-response-time-mutations.ts'
import { StructuralMutations } from '../compare/mutations/find-structural-mutations.ts'
import { Moves } from '../compare/precursors/moves.ts'
import { Ranking } from '../compare/ranking/rank-mutations.ts'
import { Segments } from '../compare/segments/segments.ts'
import { Account } from '../comparison/account.ts'
import { Comparison } from '../comparison/comparison.ts'
import { Findings } from '../comparison/words/findings.ts'
import { entryNamed, FlowdeltaError, show } from '../core/errors.ts'
import type { OptionsOf, OptionTable } from '../core/options.ts'
import { withArticle } from '../core/words.ts'
import { ExplosionDiagnosis } from '../explain/explosion/diagnose-explosion.ts'
import { ExpectedCategoryCurves } from '../explain/explosion/expected-categories.ts'
import { Explanation } from '../explain/parameters/explanation.ts'
import { Anomalies } from '../explain/variance/find-anomalies.ts'
import { findVariance, VarianceSources } from '../explain/variance/find-variance.ts'
import { FlowSet } from '../flows/flow-set.ts'
import { FoldedFlows } from '../flows/fold/folded-flows.ts'
import { Attention, type AttentionGraph } from '../logs/attention/focus-attention.ts'
import { LogComparison } from '../logs/compare-logs.ts'
import { Divergence } from '../logs/divergence/find-divergence.ts'
import { LatencyDiagnosis } from '../whatif/diagnosis/latency-diagnosis.ts'
import { ExecutionModels } from '../whatif/models/execution-models.ts'
import { ScenarioProfile } from '../whatif/scenarios/apply-scenario.ts'
import { arrivalsChart } from './charts/arrivals.ts'
import { categoryCountsChart } from './charts/category-counts.ts'
import { type Chart, Drawing } from './charts/chart.ts'
import { type DefinedChart, defineChart } from './charts/chart-frame.ts'
import { divergenceChart } from './charts/divergence.ts'
import { edgeChangesChart, shiftsChart } from './charts/edges.ts'
import { expectedCategoriesChart, explosionChart, foldedSizesChart } from './charts/explosion.ts'
import { contributionsChart, findingsChart, interferenceChart } from './charts/findings.ts'
import { hostClassesChart } from './charts/host-classes.ts'
import { latencyProfilesChart } from './charts/latency-profiles.ts'
import { logVariableChart } from './charts/logs.ts'
import { movesChart } from './charts/moves.ts'
import { errorsChart, loadChart } from './charts/over-time.ts'
import { parameterDifferencesChart } from './charts/parameter-differences.ts'
import {
  edgeTimesChart,
  responseTimesChart,
  stepTimesChart,
  tellingCategory,
} from './charts/response-times.ts'
import { accountChart, ribbonChart } from './charts/ribbon.ts'
import { segmentsChart } from './charts/segments.ts'
import {
  anomaliesChart,
  covariancesChart,
  squaredVariationChart,
  type VariationSets,
  varianceWaterfallChart,
  variationSetsChart,
} from './charts/variance.ts'
import { diagnosisChart } from './charts/what-if.ts'
import {
  dependenciesDrawing,
  executionModelDrawing,
  parameterTreeDrawing,
} from './drawing/drawn-stages.tsx'
import { widgetProps } from './widgets/define-widget.ts'
import { FLOWS_WIDGET_OPTIONS } from './widgets/flows/flow-scene.ts'
import { firstChanged, flowsWidget } from './widgets/flows/flows-widget.ts'
import { Widget } from './widgets/widget.ts'

const { name: _, ...FLOW_OPTIONS } = FLOWS_WIDGET_OPTIONS

const MAX_WHOLE = 60

/**
 * Draws flows as `explore(comparison, 'flows')` shows them, by default before and after as one graph. If no change is sure
 * enough to show first, draws the category whose times differ most surely.
 */
const flowDrawing = defineChart(FLOW_OPTIONS, (comparison: Comparison, given) => {
  const { mutation, before, after, mode, level } = given
  const isChosen = (mutation ?? before ?? after ?? firstChanged(comparison)) !== undefined
  const category = given.category ?? (isChosen ? null : tellingCategory(comparison.responseTime))
  const isWhole =
    category !== null &&
    category < comparison.categories.size &&
    comparison.categories.structure(category).labels.length <= MAX_WHOLE
  const options = {
    ...given,
    category,
    mode: mode ?? 'diff',
    level: level ?? (isWhole ? 'steps' : null),
  }
  const call = { name: 'comparison', kind: 'flows' }
  const widget = new Widget(flowsWidget, widgetProps(flowsWidget, comparison, options, call))
  return new Drawing(() => widget.svg(), widget)
})

const OF_DEPENDENCIES = { dependencies: dependenciesDrawing }
const OF_PROFILES = { profiles: latencyProfilesChart }
const OF_VARIATION_SETS = { variation: variationSetsChart }

/** The pictures of each stage by kind, the first without a kind; stages are known by class, the special first. */
export const PLOTTED = [
  [Account, { ribbon: accountChart }],
  [Anomalies, { anomalies: anomaliesChart }],
  [Attention, OF_DEPENDENCIES],
  [Categories, { variation: squaredVariationChart, arrivals: arrivalsChart }],
  [
    Comparison,
    {
      ribbon: ribbonChart,
      findings: ofPart((whole: Comparison) => whole.findings, findingsChart),
      contributions: ofPart((whole: Comparison) => whole.ranking, contributionsChart),
      shifts: shiftsChart,
      counts: ofPart((whole: Comparison) => whole.structural, categoryCountsChart),
      moves: ofPart((whole: Comparison) => whole.moves, movesChart),
      segments: ofPart((whole: Comparison) => whole.segments, segmentsChart),
      interference: ofPart(interferenceOf, interferenceChart),
      'response-times': ofPart((whole: Comparison) => whole.responseTime, responseTimesChart),
      step: stepTimesChart,
      edge: ofPart((whole: Comparison) => whole.responseTime, edgeTimesChart),
      flow: flowDrawing,
      variation: ofPart((whole: Comparison) => whole.categories, squaredVariationChart),
      anomalies: ofPart((whole: Comparison) => findVariance(whole).anomalies(), anomaliesChart),
      arrivals: arrivalsChart,
      errors: errorsChart,
      load: loadChart,
    },
  ],
  [Divergence, { variables: divergenceChart, variable: logVariableChart }],
  [EdgeChanges, { shifts: edgeChangesChart }],
  [ExecutionModels, { profiles: latencyProfilesChart, model: executionModelDrawing }],
  [ExpectedCategoryCurves, { expected: expectedCategoriesChart }],
  [Explanation, { tree: parameterTreeDrawing, differences: parameterDifferencesChart }],
  [ExplosionDiagnosis, { remedies: explosionChart }],
  [Findings, { findings: findingsChart }],
  [FoldedFlows, { sizes: foldedSizesChart, arrivals: arrivalsChart }],
  [FlowSet, { arrivals: arrivalsChart }],
  [HostClasses, { matrix: hostClassesChart }],
  [Interference, { overlap: interferenceChart }],
  [LatencyDiagnosis, { scenarios: diagnosisChart }],
  [
    LogComparison,
    {
      variables: ofPart((whole: LogComparison) => whole.divergence, divergenceChart),
      variable: ofPart((whole: LogComparison) => whole.divergence, logVariableChart),
      dependencies: ofPart((whole: LogComparison) => whole.attention, dependenciesDrawing),
    },
  ],
  [Moves, { moves: movesChart }],
  [Ranking, { contributions: contributionsChart }],
  [ResponseTimeMutations, { 'response-times': responseTimesChart, edge: edgeTimesChart }],
  [ScenarioProfile, OF_PROFILES],
  [Segments, { segments: segmentsChart }],
  [StructuralMutations, { counts: categoryCountsChart }],
  [
    VarianceSources,
    {
      variation: variationSetsChart,
      waterfall: varianceWaterfallChart,
      covariances: covariancesChart,
    },
  ],
] as const

type Class = abstract new (...given: never[]) => unknown
type StageOf<Entry> = Entry extends readonly [infer Of extends Class, unknown]
  ? InstanceType<Of>
  : never

/** Input of {@link plot}: a stage, a graph of it, several scenarios, or variances by names. */
export type Plottable =
  | StageOf<(typeof PLOTTED)[number]>
  | AttentionGraph
  | VariationSets
  | readonly ScenarioProfile[]

type Pictures<Of, Entries extends readonly unknown[] = typeof PLOTTED> = Entries extends readonly [
  readonly [infer StageClass extends Class, infer Kinds],
  ...infer More,
]
  ? Of extends InstanceType<StageClass>
    ? Kinds
    : Pictures<Of, More>
  : Of extends readonly ScenarioProfile[]
    ? typeof OF_PROFILES
    : Of extends AttentionGraph
      ? typeof OF_DEPENDENCIES
      : typeof OF_VARIATION_SETS

/** Kinds of picture that a stage has. */
export type PlotKind<Of> = keyof Pictures<Of> & string

/** Options of a kind of picture. */
export type PlotOptions<Of, Kind extends PlotKind<Of>> = Pictures<Of>[Kind] extends (
  stage: never,
  options?: infer Given,
) => unknown
  ? Given
  : never

type Picture<Of, Kind extends PlotKind<Of>> = Pictures<Of>[Kind] extends (
  ...given: never[]
) => infer Drawn
  ? Drawn
  : never

type Draw = (stage: unknown, options?: object) => Chart | Drawing

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
  const pictures = picturesOf(stage) as Readonly<Record<string, Draw>> | undefined
  if (pictures === undefined) {
    throw new FlowdeltaError(
      `plot has no picture of ${show(stage)}. Give a stage that it draws, such as comparison or comparison.ranking.`,
    )
  }
  const draw = entryNamed(
    pictures,
    kind ?? Object.keys(pictures)[0],
    `no picture of ${withArticle(classWords(stage))}${typeof kind === 'object' ? '; options are the third argument' : ''}`,
    'It has:',
  )
  return draw(stage, options as object | undefined) as Picture<Of, Kind>
}

/** Returns the interference of the first finding that has any, else of the first that was searched. */
function interferenceOf({ findings: { findings } }: Comparison): Interference {
  const known = findings.flatMap(({ interference }) => interference ?? [])
  return known.find(({ interferers }) => interferers.length > 0) ?? known[0] ?? NO_INTERFERENCE
}

function ofPart<Whole, Part, Table extends OptionTable, Drawn>(
  part: (whole: Whole) => Part,
  draw: DefinedChart<Part, Table, Drawn>,
): DefinedChart<Whole, Table, Drawn> {
  return Object.assign(
    (whole: Whole, given?: Partial<OptionsOf<Table>>) => draw(part(whole), given),
    { options: draw.options },
  )
}

/** `'edge changes'` for an object of the class `EdgeChanges`. */
function classWords(stage: Plottable): string {
  return stage.constructor.name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
}

function picturesOf(stage: unknown): object | undefined {
  const found = PLOTTED.find(([Of]) => stage instanceof (Of as Class))
  if (found !== undefined) return found[1]
  if (Array.isArray(stage)) {
    return stage.every((one) => one instanceof ScenarioProfile) ? OF_PROFILES : undefined
  }
  if (isGraph(stage)) return OF_DEPENDENCIES
  const sets = typeof stage === 'object' && stage !== null ? Object.values(stage) : []
  const isVariance = sets.length > 0 && sets.every((each) => each instanceof VarianceSources)
  return isVariance ? OF_VARIATION_SETS : undefined
}

function isGraph(value: unknown): value is AttentionGraph {
  return typeof value === 'object' && value !== null && 'nodes' in value && 'metric' in value
}
