export {
  type DiagnosisProgress,
  diagnoseLatency,
  diagnoseLatencyStepwise,
  type HistogramTarget,
  type LatencyTarget,
  type WishTarget,
} from './diagnosis/diagnose-latency.ts'
export type {
  DiagnosedScenario,
  DiagnosisOptions,
  LatencyDiagnosis,
} from './diagnosis/latency-diagnosis.ts'
export {
  type ExecutionModel,
  type ExecutionModelOptions,
  type ExecutionModels,
  learnExecutionModels,
} from './models/execution-models.ts'
export type { LatencyProfile } from './recompute/latency-profile.ts'
export { applyScenario, type ScenarioProfile } from './scenarios/apply-scenario.ts'
export {
  combineScenarios,
  parseScenario,
  type ReweightOptions,
  reweightRequests,
  type ScaleOptions,
  scaleCalls,
} from './scenarios/parse-scenario.ts'
export type { Scenario } from './scenarios/scenario.ts'
