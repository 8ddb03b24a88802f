import { type Population, stoodFor } from '../../calls/call-forest.ts'
import { OptionError, requireStage } from '../../core/errors.ts'
import { custom, defineOptions, type OptionsOf, readOptions } from '../../core/options.ts'
import { columnarStage, type StageTable, stageTable } from '../../core/stage.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import {
  type ExecutionModelOptions,
  ExecutionModels,
  learnExecutionModels,
} from '../models/execution-models.ts'
import {
  type LatencyProfile,
  type ProfileQuantiles,
  profileOf,
  profileQuantiles,
  profileSummary,
} from '../recompute/latency-profile.ts'
import { countTouched, RequestModel } from '../recompute/request-model.ts'
import { combineScenarios, parseScenario, requireScenario } from './parse-scenario.ts'
import type { Scenario } from './scenario.ts'

/** Options of `applyScenario`. */
export const PERIOD_OPTIONS = defineOptions({
  period: custom<Period>({
    default: BEFORE,
    sentence: 'Period whose requests change: 0 before, 1 after',
    accepts: (value) => value === BEFORE || value === AFTER,
    expected: '0 (before) or 1 (after)',
  }),
})

/**
 * Predicts the latency profile under a scenario: recomputes every recorded request up to its response
 * time.
 *
 * @param models of one period or two, from `learnExecutionModels`
 * @param scenario from `scaleCalls`, `reweightRequests`, `combineScenarios`, `parseScenario` or a
 *   diagnosis; or text as `parseScenario` reads it
 * @param options see {@link PERIOD_OPTIONS}. A scenario that makes something as it is in the other
 *   period takes it from there
 * @throws OptionError for a name that the requests do not have, for no scenario, and for a period that
 *   was not learned
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.2 and §3.3.
 *
 * @example
 * const [service] = before.services.values
 * const halved = applyScenario(learnExecutionModels(before), scaleCalls({ service, factor: 0.5 }))
 * halved.quantiles.p50Us < halved.beforeQuantiles.p50Us // true
 */
export function applyScenario(
  models: ExecutionModels,
  scenario: Scenario | string,
  options: Partial<OptionsOf<typeof PERIOD_OPTIONS>> = {},
): ScenarioProfile {
  requireStage('applyScenario(models, scenario)', models, ExecutionModels)
  const { period } = readOptions(PERIOD_OPTIONS, options)
  if (period >= models.forests.length) {
    throw new OptionError('period', period, 'a period that was learned: 0, or 1 of two')
  }
  const chosen = requireScenario(scenario, 'scenario')
  const base = new RequestModel(models, period)
  const target = models.forests.length > 1 ? new RequestModel(models, period === 0 ? 1 : 0) : null
  const before = base.recorded
  const effect = chosen.apply(base, target)
  const after = base.after(effect)
  return new ScenarioProfile({
    title: chosen.title,
    before: profileOf(before),
    profile: profileOf(after),
    target: null,
    touched: countTouched(before, after),
  })
}

interface ScenarioProfileFields {
  readonly title: string
  /** Profile as recorded. */
  readonly before: LatencyProfile
  /** Under the scenario. */
  readonly profile: LatencyProfile
  /** Target of the scenario, if there is one. */
  readonly target: LatencyProfile | null
  /** Requests whose response time or weight is different. */
  readonly touched: number
}

/** The latency profile of requests as it was, and as it would be under a scenario. */
export class ScenarioProfile extends columnarStage<ScenarioProfileFields>() {
  /** p50, p90 and p99 as recorded, µs. */
  get beforeQuantiles(): ProfileQuantiles {
    return profileQuantiles(this.before)
  }

  /** p50, p90 and p99 under the scenario, µs. */
  get quantiles(): ProfileQuantiles {
    return profileQuantiles(this.profile)
  }

  /**
   * Returns the shares of requests that take at most that long, as recorded and under the scenario: they show whether a
   * target is met.
   *
   * @param us the target, µs
   * @throws OptionError for an invalid time
   *
   * @example
   * const [slow] = before.services.values
   * const faster = applyScenario(learnExecutionModels(before), scaleCalls({ service: slow, factor: 0.5 }))
   * const shares = faster.within(faster.beforeQuantiles.p50Us)
   * shares.scenario > shares.before // true
   */
  within(us: number): { readonly before: number; readonly scenario: number } {
    return { before: this.before.shareWithin(us), scenario: this.profile.shareWithin(us) }
  }

  /** Returns one row per for p50, p90, p99 and the mean: as recorded, under the scenario, the change, the target. */
  table(): StageTable {
    const read = (profile: LatencyProfile): number[] => Object.values(profileSummary(profile))
    const beforeUs = read(this.before)
    const scenarioUs = read(this.profile)
    const changeUs = scenarioUs.map((us, i) => us - (beforeUs[i] as number))
    const columns = { measure: ['p50', 'p90', 'p99', 'mean'], beforeUs, scenarioUs, changeUs }
    if (this.target === null) return stageTable(columns)
    return stageTable({ ...columns, targetUs: read(this.target) })
  }
}

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
    profiles: all.map((scenario) => {
      try {
        return applyScenario(models, scenario)
      } catch (problem) {
        if (!(problem instanceof OptionError)) throw problem
        const { option, value, expected } = problem
        throw new OptionError(`apply.${option}`, value, expected)
      }
    }),
  }
}

/** Returns how many requests models were learned from. */
export function requestsOf({ forests: [before, after] }: ExecutionModels): Predictions['requests'] {
  return {
    before: before === undefined ? 0 : stoodFor(before),
    after: after === undefined ? null : stoodFor(after),
  }
}
