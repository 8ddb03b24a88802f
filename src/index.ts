import { connectNotebook } from './views/notebook/connect.ts'

export { CriticalPathFinder } from './calls/critical-path.ts'
export type { Categories, CategoryOptions } from './compare/categories/categories.ts'
export { squaredVariation } from './compare/categories/categories.ts'
export { categorize } from './compare/categories/categorize.ts'
export type { EdgeChange, EdgeChanges, EdgeOptions } from './compare/edges/find-edge-changes.ts'
export { findEdgeChanges } from './compare/edges/find-edge-changes.ts'
export type { Finding } from './compare/findings/finding.ts'
export type { HostClasses, HostClassOptions } from './compare/hosts/host-classes.ts'
export { findHostClasses } from './compare/hosts/host-classes.ts'
export { findInterference } from './compare/interference/find-interference.ts'
export type { Interference } from './compare/interference/interference.ts'
export type { Knowledge } from './compare/knowledge/knowledge.ts'
export { readKnowledge } from './compare/knowledge/knowledge.ts'
export type {
  ResponseTimeMutations,
  ResponseTimeOptions,
} from './compare/mutations/find-response-time-mutations.ts'
export { findResponseTimeMutations } from './compare/mutations/find-response-time-mutations.ts'
export type {
  StructuralMutations,
  StructuralOptions,
} from './compare/mutations/find-structural-mutations.ts'
export { findStructuralMutations } from './compare/mutations/find-structural-mutations.ts'
export { type ProposedPeriods, proposePeriods } from './compare/onset/propose-periods.ts'
export type {
  LabelDifference,
  PrecursorOptions,
  Precursors,
} from './compare/precursors/match-precursors.ts'
export { labelDifference, matchPrecursors } from './compare/precursors/match-precursors.ts'
export type { Moves } from './compare/precursors/moves.ts'
export type { RankedMutation, Ranking, RankingOptions } from './compare/ranking/rank-mutations.ts'
export { exemplars, rankMutations } from './compare/ranking/rank-mutations.ts'
export { findSegments } from './compare/segments/find-segments.ts'
export type { Segment, Segments } from './compare/segments/segments.ts'
export type { Account } from './comparison/account.ts'
export type { Comparison, ComparisonOptions } from './comparison/comparison.ts'
export { compare } from './comparison/comparison.ts'
export type { ComparisonWarning } from './comparison/fairness/comparison-warning.ts'
export { findFindings } from './comparison/words/find-findings.ts'
export type { Findings } from './comparison/words/findings.ts'
export { FlowdeltaError, InternalError, OptionError, TraceFormatError } from './core/errors.ts'
export type { Quantity } from './core/quantity.ts'
export type { StageTable } from './core/stage.ts'
export { stageTable } from './core/stage.ts'
export { traceLink, traceTemplate } from './core/trace-links.ts'
export { formatDuration } from './core/words.ts'
export type { CallingContexts } from './explain/calling-contexts/find-calling-contexts.ts'
export { findCallingContexts } from './explain/calling-contexts/find-calling-contexts.ts'
export {
  diagnoseExplosion,
  type ExplosionDiagnosis,
  type ExplosionOptions,
} from './explain/explosion/diagnose-explosion.ts'
export type {
  ExpectedCategories,
  ExpectedCategoryCurves,
} from './explain/explosion/expected-categories.ts'
export {
  expectedCategories,
  expectedCategoryCurves,
} from './explain/explosion/expected-categories.ts'
export { teach } from './explain/explosion/teach.ts'
export type { FlowComparisonOptions } from './explain/flow-pair/compare-flow-graphs.ts'
export { compareFlowGraphs } from './explain/flow-pair/compare-flow-graphs.ts'
export type { FlowComparison } from './explain/flow-pair/flow-comparison.ts'
export type { FlowPair } from './explain/flow-pair/flow-form.ts'
export { type CoalescedFlow, coalesceFlow } from './explain/flow-pair/flow-groups.ts'
export { explain } from './explain/parameters/explain.ts'
export type { ExplainOptions, Explanation } from './explain/parameters/explanation.ts'
export type { ParameterTable } from './explain/parameters/parameter-table.ts'
export type { CategoryVariance, EdgeCovariances } from './explain/variance/category-variance.ts'
export type { Anomalies } from './explain/variance/find-anomalies.ts'
export type { VarianceOptions, VarianceSources } from './explain/variance/find-variance.ts'
export { compareVariances, findVariance } from './explain/variance/find-variance.ts'
export { buildFlows } from './flows/build-flows.ts'
export type { FlowOptions, FlowSet, Period } from './flows/flow-set.ts'
export { AFTER, BEFORE } from './flows/flow-set.ts'
export { foldFlows } from './flows/fold/fold-flows.ts'
export type { FoldedFlows, FoldOptions } from './flows/fold/folded-flows.ts'
export { foldedSizes } from './flows/fold/folded-flows.ts'
export { labelWithoutIds, labelWithoutThreads } from './flows/label-parts.ts'
export type { Measure } from './flows/measure.ts'
export type { NodeLabel } from './flows/node-labels.ts'
export { requestsBetween, selectRequests } from './flows/select-requests.ts'
export type { Attention, AttentionOptions } from './logs/attention/focus-attention.ts'
export { compareLogs, type LogComparison, type LogComparisonOptions } from './logs/compare-logs.ts'
export type {
  DependencyNetworks,
  DependencyOptions,
} from './logs/dependencies/learn-dependencies.ts'
export type { Divergence, DivergenceOptions } from './logs/divergence/find-divergence.ts'
export { LogBuilder } from './logs/features/log-builder.ts'
export type { LogSet } from './logs/features/log-set.ts'
export type { MetricTail } from './logs/performance/performance-metric.ts'
export { LogTemplates } from './logs/readers/drain/log-templates.ts'
export { loadLogs, mineLogTemplates } from './logs/readers/load-logs.ts'
export type { LogReadOptions } from './logs/readers/log-read-options.ts'
export { loadTraces } from './logs/traced/load-traces.ts'
export type { Attributes } from './traces/attributes.ts'
export type { ExpectedOptions, ServiceModel } from './traces/expected-traces.ts'
export { expectedTraces } from './traces/expected-traces.ts'
export type { GraphTraces } from './traces/graph-traces.ts'
export type { LoadOptions, TraceFormat } from './traces/load-options.ts'

export type { SpanTraces } from './traces/span-traces.ts'
export type { TraceSet } from './traces/trace-set.ts'
export type { TraceSource } from './traces/trace-source.ts'
export type { Drawing, VegaLiteSpec } from './views/charts/chart.ts'
export { Chart } from './views/charts/chart.ts'
export type { Explorable, ExploreKind, ExploreOptions } from './views/explore.ts'
export { explore } from './views/explore.ts'
export { show } from './views/notebook/show.ts'
export type { PlotKind, PlotOptions, Plottable } from './views/plot.ts'
export { plot } from './views/plot.ts'
export type { ReportOptions } from './views/report/report.ts'
export { reportHtml, reportMarkdown } from './views/report/report.ts'
export { toDot } from './views/to-dot.ts'
export { toElement } from './views/widgets/page/to-element.ts'
export type { Widget } from './views/widgets/widget.ts'
export * from './whatif/index.ts'

connectNotebook()

export { findStepChanges } from './compare/steps/find-step-changes.ts'
export type { StepChange, StepChanges } from './compare/steps/step-changes.ts'
