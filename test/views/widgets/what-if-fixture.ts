import { explore } from '../../../src/views/explore.ts'
import { type WhatIfData, whatIfData } from '../../../src/views/widgets/whatif/what-if-data.ts'
import { diagnoseLatency } from '../../../src/whatif/diagnosis/diagnose-latency.ts'
import type { LatencyDiagnosis } from '../../../src/whatif/diagnosis/latency-diagnosis.ts'
import {
  type ExecutionModels,
  learnExecutionModels,
} from '../../../src/whatif/models/execution-models.ts'
import {
  applyScenario,
  type ScenarioProfile,
} from '../../../src/whatif/scenarios/apply-scenario.ts'
import {
  combineScenarios,
  parseScenario,
  scaleCalls,
} from '../../../src/whatif/scenarios/parse-scenario.ts'
import { AFTER, BEFORE } from '../charts/what-if-fixture.ts'

export const diagnosis = diagnoseLatency(BEFORE, AFTER)
export const models = learnExecutionModels([BEFORE, AFTER])

export const dataOf = (subject: Parameters<typeof whatIfData>[0]): WhatIfData =>
  whatIfData(subject, { seed: 1, requests: 1500 })

const SCOPE = { applyScenario, combineScenarios, parseScenario, scaleCalls, explore }

/** What code from the widget gives when it is pasted. */
export function pasted<T = ScenarioProfile>(
  code: string,
  of: { readonly diagnosis?: LatencyDiagnosis; readonly models?: ExecutionModels } = {
    diagnosis,
    models,
  },
): T {
  const scope = { ...SCOPE, ...of }
  return new Function(...Object.keys(scope), `return ${code}`)(...Object.values(scope))
}
