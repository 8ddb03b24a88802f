import type { SpanTraces } from '../traces/span-traces.ts'
import { learnExecutionModels } from '../whatif/models/learn-execution-models.ts'
import { LatencyProfile } from '../whatif/recompute/latency-profile.ts'
import { RequestModel } from '../whatif/recompute/request-model.ts'
import {
  applyScenario,
  type ProfileQuantiles,
  profileQuantiles,
  type ScenarioProfile,
} from '../whatif/scenarios/apply-scenario.ts'
import { combineScenarios, parseScenario } from '../whatif/scenarios/parse-scenario.ts'

/** What scenarios would make of the response times. */
export interface Predictions {
  readonly requests: { readonly before: number; readonly after: number | null }
  /** As recorded after, where that was given: what became of it. */
  readonly after: ProfileQuantiles | null
  /** One a scenario, then, of several, one of all together. */
  readonly profiles: readonly ScenarioProfile[]
}

/**
 * Predicts what scenarios, written as `parseScenario` reads them, make of the requests before.
 *
 * @param options `texts`: one a scenario; `similarity`: as of `learnExecutionModels`
 * @throws FlowdeltaError for a scenario of no known form, OptionError for names that do not occur
 */
export function predictScenarios(
  before: SpanTraces,
  after: SpanTraces | null,
  { texts, similarity }: { readonly texts: readonly string[]; readonly similarity: number },
): Predictions {
  const scenarios = texts.map((text) => parseScenario(text))
  const models = learnExecutionModels(after === null ? before : [before, after], { similarity })
  const all = scenarios.length > 1 ? [...scenarios, combineScenarios(...scenarios)] : scenarios
  const [forest, afterForest] = models.forests
  return {
    requests: {
      before: forest?.requestTrace.length ?? 0,
      after: afterForest?.requestTrace.length ?? null,
    },
    after: after === null ? null : profileQuantiles(recorded(new RequestModel(models, 1))),
    profiles: all.map((scenario) => applyScenario(models, scenario)),
  }
}

function recorded(model: RequestModel): LatencyProfile {
  return LatencyProfile.ofRequests(model.responseTimes([]), model.forest.weight)
}
