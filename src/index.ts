import { connectNotebook } from './notebook/connect.ts'

export type { CallingContext, CallingContexts } from './calling-contexts/calling-contexts.ts'
export { findCallingContexts } from './calling-contexts/find-calling-contexts.ts'
export {
  Categories,
  type CategoryOptions,
  squaredVariation,
} from './categories/categories.ts'
export { categorize } from './categories/categorize.ts'
export type { CategoryStructure, EdgeClass } from './categories/category-structure.ts'
export type { EdgeSample, EdgeSamples } from './categories/edge-samples.ts'
export { Chart, type ChartText } from './charts/chart.ts'
export { type ArrivalsOptions, plotArrivals } from './charts/plot-arrivals.ts'
export { type BreakdownOptions, plotBreakdown } from './charts/plot-breakdown.ts'
export { type CategoryCountsOptions, plotCategoryCounts } from './charts/plot-category-counts.ts'
export { type CollapsedSizesOptions, plotCollapsedSizes } from './charts/plot-collapsed-sizes.ts'
export { type ContributionsOptions, plotContributions } from './charts/plot-contributions.ts'
export { type CovariancesOptions, plotCovariances } from './charts/plot-covariances.ts'
export {
  type DependenciesOptions,
  plotDependencies,
} from './charts/plot-dependencies.ts'
export { type DiagnosisChartOptions, plotDiagnosis } from './charts/plot-diagnosis.ts'
export { type DivergenceChartOptions, plotDivergence } from './charts/plot-divergence.ts'
export { type EdgeChangesOptions, plotEdgeChanges } from './charts/plot-edge-changes.ts'
export {
  type ExecutionModelChartOptions,
  plotExecutionModel,
} from './charts/plot-execution-model.ts'
export {
  type ExpectedCategoriesOptions,
  type ObservedCategories,
  plotExpectedCategories,
} from './charts/plot-expected-categories.ts'
export { plotExplosion } from './charts/plot-explosion.ts'
export { plotFindings } from './charts/plot-findings.ts'
export { type FlowChartOptions, plotFlow } from './charts/plot-flow.ts'
export { type HostClassesOptions, plotHostClasses } from './charts/plot-host-classes.ts'
export { type LatencyProfilesOptions, plotLatencyProfiles } from './charts/plot-latency-profiles.ts'
export { type LogVariableOptions, plotLogVariable } from './charts/plot-log-variable.ts'
export {
  type ParameterDifferencesOptions,
  plotParameterDifferences,
} from './charts/plot-parameter-differences.ts'
export { type ParameterStripOptions, plotParameterStrip } from './charts/plot-parameter-strip.ts'
export { type ParameterTreeOptions, plotParameterTree } from './charts/plot-parameter-tree.ts'
export { plotResponseTimeEcdf } from './charts/plot-response-time-ecdf.ts'
export { plotSingleChanges, type SingleChangesChartOptions } from './charts/plot-single-changes.ts'
export {
  plotSquaredVariation,
  type SquaredVariationOptions,
} from './charts/plot-squared-variation.ts'
export {
  plotVarianceWaterfall,
  type VarianceWaterfallOptions,
} from './charts/plot-variance-waterfall.ts'
export { plotVariationSets, type VariationSets } from './charts/plot-variation-sets.ts'
export {
  plotWhatIfEvaluation,
  type WhatIfEvaluationChartOptions,
} from './charts/plot-whatif-evaluation.ts'
export type { VegaLiteSpec } from './charts/vega-lite-spec.ts'
export { Comparison, type ComparisonOptions, compare } from './comparison.ts'
export { Displayable, type MimeBundle } from './display.ts'
export type { EdgeChange, EdgeChanges, EdgeOptions } from './edges/edge-changes.ts'
export type { EdgeKind, PooledEdge } from './edges/edge-pool.ts'
export { findEdgeChanges } from './edges/find-edge-changes.ts'
export { FlowdeltaError, InternalError, OptionError, TraceFormatError } from './errors.ts'
export { evaluateComparison } from './evaluation/evaluate-comparison.ts'
export { compareHalves, type NullRates } from './evaluation/null-comparisons.ts'
export { type BaselineQualities, operationBaselines } from './evaluation/operation-baselines.ts'
export { type RankedQuality, rankedQuality } from './evaluation/ranked-quality.ts'
export { firstRelevantFinding } from './evaluation/relevant-finding.ts'
export { type ThesisRow, thesisRow } from './evaluation/thesis-table.ts'
export type { Truth } from './evaluation/truth.ts'
export { type CoalescedFlow, coalesceFlow } from './explanation/coalesce-flow.ts'
export { compareFlowGraphs, type FlowComparisonOptions } from './explanation/compare-flow-graphs.ts'
export type { FlowComparison } from './explanation/flow-comparison.ts'
export type { FlowPair } from './explanation/flow-pair.ts'
export type { ReadableNames } from './explanation/readable-names.ts'
export { diagnoseExplosion, type ExplosionOptions } from './explosion/diagnose-explosion.ts'
export {
  type ExpectedCategories,
  expectedCategories,
  possibleCategories,
} from './explosion/expected-categories.ts'
export {
  type CategoryCurveOptions,
  expectedCategoryCurves,
} from './explosion/expected-category-curves.ts'
export type { ExplosionDiagnosis } from './explosion/explosion-diagnosis.ts'
export type { ExplosionCause, ExplosionPart } from './explosion/find-causes.ts'
export { findHostClasses } from './explosion/find-host-classes.ts'
export type { Remedy, RemedyName } from './explosion/find-remedies.ts'
export type { HostClass, HostClasses, HostClassOptions } from './explosion/host-classes.ts'
export { labelWithoutIds, labelWithoutThreads } from './explosion/label-parts.ts'
export { stripIds } from './explosion/strip-ids.ts'
export type { ComparisonWarning, WarningCode } from './fairness/comparison-warning.ts'
export { findFindings } from './findings/find-findings.ts'
export type { Finding, StructureChange } from './findings/finding.ts'
export type { Findings } from './findings/findings.ts'
export { groupFindings } from './findings/group-findings.ts'
export { buildFlows } from './flows/build-flows.ts'
export { collapseFlows } from './flows/collapse/collapse-flows.ts'
export type { CollapsedFlows, CollapseOptions } from './flows/collapse/collapsed-flows.ts'
export { collapsedSizes } from './flows/collapse/collapsed-sizes.ts'
export { expandFlow } from './flows/collapse/expand-flow.ts'
export { CriticalPathFinder } from './flows/critical-path.ts'
export type { FlowReport } from './flows/flow-report.ts'
export {
  AFTER,
  BEFORE,
  type Concurrency,
  type FlowOptions,
  FlowSet,
  type Period,
} from './flows/flow-set.ts'
export type { NodeLabel } from './flows/node-labels.ts'
export { type RangeUs, type RequestRanges, requestsBetween } from './flows/requests-between.ts'
export { selectRequests } from './flows/select-requests.ts'
export * from './logs/index.ts'
export type { SampleComparison, SampleTest } from './mutations/compare-samples.ts'
export type { EffectSize, MedianEffect } from './mutations/effect-size.ts'
export { findResponseTimeMutations } from './mutations/find-response-time-mutations.ts'
export { findStructuralMutations } from './mutations/find-structural-mutations.ts'
export type {
  Correction,
  EdgeComparison,
  FamilyTest,
  ResponseTimeMutations,
  ResponseTimeOptions,
} from './mutations/response-time-mutations.ts'
export type {
  Counts,
  StructuralLabel,
  StructuralMutations,
  StructuralOptions,
} from './mutations/structural-mutations.ts'
export type { StructuralTest } from './mutations/structural-test.ts'
export { show } from './notebook/show.ts'
export { explainEdge } from './parameters/explain-edge.ts'
export { explainFinding } from './parameters/explain-finding.ts'
export { explainMutation } from './parameters/explain-mutation.ts'
export type { ExplainOptions } from './parameters/explain-options.ts'
export type {
  ExplainedPath,
  ParameterQuestionName,
  Prediction,
} from './parameters/explained-path.ts'
export { Explanation, type WithoutOptions } from './parameters/explanation.ts'
export type { LeftOutParameter, Parameter, ParameterSource } from './parameters/parameter.ts'
export type { ParameterDifference, ParameterSummary } from './parameters/parameter-differences.ts'
export type { ParameterQuestion } from './parameters/parameter-question.ts'
export type { ParameterTable } from './parameters/parameter-table.ts'
export type { Sampling } from './parameters/request-sample.ts'
export type { EditTokens } from './precursors/edit-tokens.ts'
export {
  type LabelCount,
  type LabelDifference,
  labelDifference,
} from './precursors/label-difference.ts'
export { matchPrecursors } from './precursors/match-precursors.ts'
export type { PrecursorCandidate, PrecursorOptions, Precursors } from './precursors/precursors.ts'
export { type Exemplars, exemplars } from './ranking/exemplars.ts'
export { rankMutations } from './ranking/rank-mutations.ts'
export type { RankedMutation, Ranking, RankingOptions } from './ranking/ranking.ts'
export type { Centre } from './ranking/typical-time.ts'
export { reportHtml } from './report/report-html.ts'
export { reportMarkdown } from './report/report-markdown.ts'
export type { ReportOptions } from './report/report-options.ts'
export { StageTable, stageTable } from './stage-table.ts'
export * from './stats/index.ts'
export { type TableDisplayOptions, tableHtml, tableText } from './table-display.ts'
export { traceLink, traceTemplate } from './trace-links.ts'
export type { Attributes, AttributeValue } from './traces/attributes.ts'
export type { GraphTraces } from './traces/graph-traces.ts'
export { type LoadOptions, loadTraces, type TraceFormat } from './traces/load-traces.ts'
export type { Quality, QualityIssue } from './traces/quality.ts'
export type { EventTables } from './traces/readers/event-tables.ts'
export type { ServiceVersions } from './traces/service-versions.ts'
export type { SpanTraces } from './traces/span-traces.ts'
export type { TraceSet } from './traces/trace-set.ts'
export type { TraceContent, TraceSource } from './traces/trace-source.ts'
export { formatDuration, type Microseconds } from './units.ts'
export { accountForMarks } from './variance/account-for-marks.ts'
export type { CategoryVariance, EdgeVariance } from './variance/category-variance.ts'
export { compareSpreads } from './variance/compare-spreads.ts'
export { compareVariances } from './variance/compare-variances.ts'
export type { EdgeCovariance, EdgeCovariances } from './variance/edge-covariances.ts'
export { findVariance } from './variance/find-variance.ts'
export type { MarkedMutations } from './variance/marked-mutations.ts'
export type { SpreadComparison } from './variance/spread-comparison.ts'
export {
  markVariance,
  parseVarianceMarks,
  serialiseVarianceMarks,
  type VarianceKind,
  type VarianceMark,
} from './variance/variance-marks.ts'
export type {
  CategorySpread,
  VarianceOptions,
  VarianceSources,
} from './variance/variance-sources.ts'
export * from './whatif/index.ts'
export {
  type CallingContextOptions,
  exploreCallingContexts,
} from './widgets/calling-contexts/explore-calling-contexts.ts'
export {
  type ExplanationExplorerOptions,
  exploreExplanation,
} from './widgets/explanation/explore-explanation.ts'
export {
  exploreFlows,
  type FlowExplorerOptions,
  type FlowsToCompare,
} from './widgets/flows/explore-flows.ts'
export { exploreTrace, type TraceExplorerOptions } from './widgets/gantt/explore-trace.ts'
export { type ExploreLogsOptions, exploreLogs } from './widgets/logs/explore-logs.ts'
export { exploreRanking, type RankingBrowserOptions } from './widgets/ranking/explore-ranking.ts'
export {
  exploreSwimlanes,
  type SwimlaneOptions,
  type SwimlaneTraces,
} from './widgets/swimlanes/explore-swimlanes.ts'
export { exploreTable, type TableExplorerOptions } from './widgets/table/explore-table.ts'
export {
  exploreThreshold,
  type ThresholdExplorerOptions,
} from './widgets/threshold/explore-threshold.tsx'
export { exploreTimeline, type TimelineOptions } from './widgets/timeline/explore-timeline.ts'
export {
  type ExploreVarianceOptions,
  exploreVariance,
} from './widgets/variance/explore-variance.ts'
export { exploreVariation, type VariationOptions } from './widgets/variation/explore-variation.ts'
export { exploreWhatIf, type WhatIfOptions } from './widgets/whatif/explore-what-if.ts'
export type { Widget } from './widgets/widget.ts'

connectNotebook()
