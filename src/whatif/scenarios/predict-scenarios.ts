import { type Population, stoodFor } from '../../calls/call-forest.ts'
import { OptionError } from '../../core/errors.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import {
  type ExecutionModelOptions,
  type ExecutionModels,
  learnExecutionModels,
} from '../models/execution-models.ts'
import { type LatencyProfile, profileOf } from '../recompute/latency-profile.ts'
import { RequestModel } from '../recompute/request-model.ts'
import { applyScenario, type ScenarioProfile } from './apply-scenario.ts'
import { combineScenarios, parseScenario } from './parse-scenario.ts'
import type { Scenario } from './scenario.ts'

/** Latencies that scenarios predict. */
export interface Predictions {
  readonly requests: { readonly before: number; readonly after: number | null }
  readonly population: Population
  readonly after: LatencyProfile | null
  readonly profiles: readonly ScenarioProfile[]
}

/** Predicts what scenarios, as `parseScenario` reads them, make of the requests before. */
export function predictScenarios(
  before: SpanTraces,
  after: SpanTraces | null,
  { texts, ...model }: { readonly texts: readonly string[] } & Partial<ExecutionModelOptions>,
): Predictions {
  const scenarios = texts.map((text) => parseScenario(text))
  const models = learnExecutionModels(after === null ? before : [before, after], model)
  const all = scenarios.length > 1 ? [...scenarios, combineScenarios(...scenarios)] : scenarios
  return {
    requests: requestsOf(models),
    population: model,
    after: after && profileOf(new RequestModel(models, 1).recorded),
    profiles: all.map((scenario) => applied(models, scenario)),
  }
}

function applied(models: ExecutionModels, scenario: Scenario): ScenarioProfile {
  try {
    return applyScenario(models, scenario)
  } catch (problem) {
    if (!(problem instanceof OptionError)) throw problem
    const { option, value, expected } = problem
    throw new OptionError(`apply.${option}`, value, expected)
  }
}

/** Returns how many requests models were learned from. */
export function requestsOf({ forests: [before, after] }: ExecutionModels): Predictions['requests'] {
  return {
    before: before === undefined ? 0 : stoodFor(before),
    after: after === undefined ? null : stoodFor(after),
  }
}
