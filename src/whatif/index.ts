export {
  type DiagnosisProgress,
  diagnoseLatency,
  diagnoseLatencyStepwise,
} from './diagnosis/diagnose-latency.ts'
export type { DiagnosedScenario } from './diagnosis/diagnosed-scenario.ts'
export type { DiagnosisOptions } from './diagnosis/diagnosis-options.ts'
export type { LatencyDiagnosis } from './diagnosis/latency-diagnosis.ts'
export type { HistogramTarget, LatencyTarget, WishTarget } from './diagnosis/latency-target.ts'
export type {
  ExecutionModel,
  ExecutionModelOptions,
  ExecutionModels,
} from './models/execution-models.ts'
export { learnExecutionModels } from './models/learn-execution-models.ts'
export { evaluatePrediction, type PredictionEvaluation } from './prediction/predict-latency.ts'
export type { LatencyProfile } from './recompute/latency-profile.ts'
export { applyScenario, type ScenarioProfile } from './scenarios/apply-scenario.ts'
export { combineScenarios, parseScenario } from './scenarios/parse-scenario.ts'
export { type ReweightOptions, reweightRequests } from './scenarios/reweight-requests.ts'
export { type ScaleOptions, scaleCalls } from './scenarios/scale-calls.ts'
export type { Scenario } from './scenarios/scenario.ts'
export {
  findSingleChanges,
  type SingleChange,
  type SingleChanges,
  type SingleChangesOptions,
} from './scenarios/single-changes.ts'
