export type {
  Attention,
  AttentionEdge,
  AttentionGraph,
  AttentionNode,
  AttentionOptions,
} from './attention/attention.ts'
export { focusAttention } from './attention/focus-attention.ts'
export { compareLogs } from './compare-logs.ts'
export type {
  DependencyEdge,
  DependencyNetwork,
  DependencyNetworks,
  DependencyOptions,
} from './dependencies/dependency-networks.ts'
export { learnDependencies } from './dependencies/learn-dependencies.ts'
export type {
  Divergence,
  DivergenceOptions,
  FeatureTest,
  VariableDivergence,
} from './divergence/divergence.ts'
export { findDivergence } from './divergence/find-divergence.ts'
export { featureText } from './features/feature-text.ts'
export type {
  EventFeature,
  Feature as LogFeature,
  StateFeature,
  VariableKind,
} from './features/feature-types.ts'
export { LogBuilder } from './features/log-builder.ts'
export type { LogClass } from './features/log-class.ts'
export type { LogReport } from './features/log-report.ts'
export { LogSet } from './features/log-set.ts'
export type { LogComparison } from './log-comparison.ts'
export type { LogComparisonOptions } from './log-comparison-options.ts'
export type { LogWarning } from './log-warnings.ts'
export type { LogWeights } from './performance/instance-weights.ts'
export { type LatencyWeightOptions, latencyWeights } from './performance/latency-weights.ts'
export { type MetricTail, metricTail } from './performance/metric-tail.ts'
export type { Metric } from './performance/performance-metric.ts'
export { LogTemplates } from './readers/drain/log-templates.ts'
export type { LogMask } from './readers/drain/masks.ts'
export type { MiningOptions } from './readers/drain/mining-options.ts'
export { type LogsToCompare, loadLogs } from './readers/load-logs.ts'
export type { LogFields, LogFormat, LogReadOptions } from './readers/log-read-options.ts'
export { mineLogTemplates } from './readers/mine-log-templates.ts'
export { readLogsInto } from './readers/read-logs-into.ts'
