export { applyScenario } from './apply-scenario.ts'
export {
  type DiagnosisProgress,
  diagnoseLatency,
  diagnoseLatencyStepwise,
} from './diagnose-latency.ts'
export type { DiagnosedScenario } from './diagnosed-scenarios.ts'
export type { DiagnosisOptions } from './diagnosis-options.ts'
export type { LatencyTarget } from './diagnosis-subject.ts'
export type { ExecutionModel } from './execution-model.ts'
export type { ExecutionModelOptions, ExecutionModels } from './execution-models.ts'
export type { LatencyChange } from './latency-change.ts'
export type { LatencyDiagnosis } from './latency-diagnosis.ts'
export { LatencyProfile } from './latency-profile.ts'
export type { HistogramTarget, WishTarget } from './latency-target.ts'
export { learnExecutionModels } from './learn-execution-models.ts'
export { evaluatePrediction } from './predict-latency.ts'
export type { PredictionEvaluation } from './prediction-evaluation.ts'
export { RequestModel } from './request-model.ts'
export type { ScenarioProfile } from './scenario-profile.ts'
export { combineScenarios } from './scenarios/combine-scenarios.ts'
export { parseScenario } from './scenarios/parse-scenario.ts'
export { type ReweightOptions, reweightRequests } from './scenarios/reweight-requests.ts'
export { type ScaleOptions, scaleCalls } from './scenarios/scale-calls.ts'
export type { Scenario } from './scenarios/scenario.ts'
export {
  findSingleChanges,
  type SingleChange,
  type SingleChanges,
  type SingleChangesOptions,
} from './single-changes.ts'
export { evaluateWhatIf, type WhatIfEvaluationOptions } from './testbed/evaluate-whatif.ts'
export { type GeneratedSystemOptions, generateSystem } from './testbed/generate-system.ts'
export { learnSystem } from './testbed/learn-system.ts'
export { makeTerminal, substituteCall } from './testbed/perturb-system.ts'
export { type SimulationOptions, simulateSystem } from './testbed/simulate-system.ts'
export {
  type CallChain,
  callChains,
  type SimulatedSystem,
  systemSize,
} from './testbed/simulated-system.ts'
export type { WhatIfEvaluation } from './testbed/whatif-evaluation.ts'
