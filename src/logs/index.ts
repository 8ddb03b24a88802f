export type {
  Attention,
  AttentionEdge,
  AttentionGraph,
  AttentionNode,
  AttentionOptions,
} from './attention/attention.ts'
export { focusAttention } from './attention/focus-attention.ts'
export { compareLogs, type LogComparison, type LogComparisonOptions } from './compare-logs.ts'
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
export {
  type EventFeature,
  type Feature as LogFeature,
  featureText,
  type StateFeature,
  type VariableKind,
} from './features/features.ts'
export { LogBuilder } from './features/log-builder.ts'
export type { LogReport } from './features/log-report.ts'
export { type LogClass, LogSet } from './features/log-set.ts'
export type { LogWarning } from './log-warnings.ts'
export {
  type LatencyWeightOptions,
  type LogWeights,
  latencyWeights,
} from './performance/instance-weights.ts'
export { type MetricTail, metricTail } from './performance/metric-tail.ts'
export type { Metric } from './performance/performance-metric.ts'
export { LogTemplates } from './readers/drain/log-templates.ts'
export type { LogMask, MiningOptions } from './readers/drain/masks.ts'
export { mineLogTemplates } from './readers/drain/mine-log-templates.ts'
export { type LogsToCompare, loadLogs, readLogsInto } from './readers/load-logs.ts'
export type { LogFields, LogFormat, LogReadOptions } from './readers/log-read-options.ts'
