export type { Attention, AttentionGraph, AttentionOptions } from './attention/focus-attention.ts'
export type { LogWarning } from './compare-logs.ts'
export { compareLogs, type LogComparison, type LogComparisonOptions } from './compare-logs.ts'
export type {
  DependencyNetwork,
  DependencyNetworks,
  DependencyOptions,
} from './dependencies/learn-dependencies.ts'
export type {
  Divergence,
  DivergenceOptions,
  FeatureTest,
  VariableDivergence,
} from './divergence/find-divergence.ts'
export { LogBuilder } from './features/log-builder.ts'
export type { LogClass, LogReport, LogSet } from './features/log-set.ts'
export type { LogWeights, Metric, MetricTail } from './performance/performance-metric.ts'
export { LogTemplates } from './readers/drain/log-templates.ts'
export { type LogsToCompare, loadLogs, mineLogTemplates } from './readers/load-logs.ts'
export type { LogFields, LogReadOptions } from './readers/log-read-options.ts'
export { loadTraces } from './traced/load-traces.ts'
