export type {
  Attention,
  AttentionEdge,
  AttentionGraph,
  AttentionNode,
  AttentionOptions,
} from './attention.ts'
export { compareLogs } from './compare-logs.ts'
export type {
  DependencyEdge,
  DependencyNetwork,
  DependencyNetworks,
  DependencyOptions,
} from './dependency-networks.ts'
export type {
  Divergence,
  DivergenceOptions,
  FeatureTest,
  VariableDivergence,
} from './divergence.ts'
export { featureText } from './feature-text.ts'
export type {
  EventFeature,
  Feature as LogFeature,
  StateFeature,
  VariableKind,
} from './feature-types.ts'
export { findDivergence } from './find-divergence.ts'
export { focusAttention } from './focus-attention.ts'
export type { LogWeights } from './instance-weights.ts'
export { type LatencyWeightOptions, latencyWeights } from './latency-weights.ts'
export { learnDependencies } from './learn-dependencies.ts'
export { LogBuilder } from './log-builder.ts'
export type { LogClass } from './log-class.ts'
export type { LogComparison } from './log-comparison.ts'
export type { LogComparisonOptions } from './log-comparison-options.ts'
export type { LogReport } from './log-report.ts'
export { LogSet } from './log-set.ts'
export { type MetricTail, metricTail } from './metric-tail.ts'
export type { Metric } from './performance-metric.ts'
export { LogTemplates } from './readers/drain/log-templates.ts'
export type { LogMask } from './readers/drain/masks.ts'
export type { MiningOptions } from './readers/drain/mining-options.ts'
export type { LogFields, LogFormat, LogReadOptions } from './readers/log-read-options.ts'
export { mineLogTemplates } from './readers/mine-log-templates.ts'
export { type LogsToCompare, readLogs } from './readers/read-logs.ts'
export { readLogsInto } from './readers/read-logs-into.ts'
