import type { CallName, CallPaths } from '../../calls/call-paths.ts'
import { OptionError, requireStage } from '../../core/errors.ts'
import {
  custom,
  defineOptions,
  type OptionRow,
  type OptionsOf,
  oneOf,
  readOptions,
} from '../../core/options.ts'
import { columnarStage, type StageTable, stageTable } from '../../core/stage.ts'
import { ExecutionModels } from '../models/execution-models.ts'
import { type ProfileSummary, profileOf, profileSummary } from '../recompute/latency-profile.ts'
import { RequestModel } from '../recompute/request-model.ts'
import { PERIOD_OPTIONS, requirePeriod } from './apply-scenario.ts'
import { scaleCalls } from './scale-calls.ts'

export function factorsOption(factors: readonly number[]): OptionRow<readonly number[]> {
  return custom<readonly number[]>({
    default: factors,
    sentence: 'Factors that times are multiplied by',
    accepts: Array.isArray,
    expected: 'a list of numbers, 0 or more',
  })
}

/** @throws OptionError for a factor below 0, or none at all */
export function requireFactors(factors: readonly number[]): void {
  if (factors.length === 0) throw new OptionError('factors', 'empty', 'at least one factor')
  for (const [i, factor] of factors.entries()) {
    if (factor >= 0 && factor < Number.POSITIVE_INFINITY) continue
    throw new OptionError(`factors[${i}]`, factor, 'a number from 0 up')
  }
}

const SINGLE_CHANGES_OPTIONS = defineOptions({
  part: oneOf(['server', 'network', 'preprocessing'], {
    default: 'server',
    sentence: 'Time of a service that changes, as in scaleCalls',
  }),
  by: oneOf(['service', 'operation'], {
    default: 'service',
    sentence: 'Whether all calls of a service change at a time, or those of one operation',
  }),
  factors: factorsOption([0.5, 2]),
  ...PERIOD_OPTIONS,
})
export type SingleChangesOptions = OptionsOf<typeof SINGLE_CHANGES_OPTIONS>

/** Effect on all requests of another time of one service. */
export interface SingleChange {
  readonly service: string
  /** Empty where all of the service's calls change. */
  readonly operation: string
  /** One for each of the factors, in their order. */
  readonly effects: readonly ProfileSummary[]
}

/** Effects of single services' changes on response times, each by itself. */
export class SingleChanges extends columnarStage<{
  /** Profile as recorded. */
  readonly before: ProfileSummary
  /** Changes, those that move the mean furthest first. */
  readonly changes: readonly SingleChange[]
  readonly options: SingleChangesOptions
}>() {
  /** Returns one row per change and factor: p50, p90, p99 and mean, and by how much each is another than before. */
  table(): StageTable {
    const { before, changes, options } = this
    const rows = changes.flatMap(({ service, operation, effects }) =>
      effects.map((effect, i) => ({ service, operation, effect, factor: options.factors[i] })),
    )
    const column = (name: keyof ProfileSummary) => rows.map(({ effect }) => effect[name])
    const change = (name: keyof ProfileSummary) => column(name).map((us) => us - before[name])
    return stageTable({
      service: rows.map(({ service }) => service),
      operation: rows.map(({ operation }) => operation),
      factor: rows.map(({ factor }) => factor),
      p50Us: column('p50Us'),
      p90Us: column('p90Us'),
      p99Us: column('p99Us'),
      meanUs: column('meanUs'),
      p50ChangeUs: change('p50Us'),
      p90ChangeUs: change('p90Us'),
      p99ChangeUs: change('p99Us'),
      meanChangeUs: change('meanUs'),
    })
  }
}

/**
 * Predicts what happens if one service takes half or twice the time: recomputes all requests for each
 * service and factor.
 *
 * @param models from `learnExecutionModels`
 * @param options see {@link SINGLE_CHANGES_OPTIONS}
 * @throws OptionError for a value that an option does not take, FlowdeltaError for an unknown option
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.3 and §4.2 (factors).
 *
 * @example
 * const single = findSingleChanges(learnExecutionModels(before), { factors: [0.5] })
 * single.changes[0].effects[0].meanUs < single.before.meanUs // true
 */
export function findSingleChanges(
  models: ExecutionModels,
  options: Partial<SingleChangesOptions> = {},
): SingleChanges {
  requireStage('findSingleChanges(models)', models, ExecutionModels)
  const chosen = readOptions(SINGLE_CHANGES_OPTIONS, options)
  requirePeriod(models, chosen.period)
  requireFactors(chosen.factors)
  const { part, by, factors } = chosen
  const base = new RequestModel(models, chosen.period)
  const before = profileSummary(profileOf(base.recorded))
  const effect = ({ service, operation }: CallName, factor: number): ProfileSummary => {
    const scenario = scaleCalls({ service, operation, part, factor })
    return profileSummary(profileOf(base.after(scenario.apply(base, null))))
  }
  const changes = changeables(models.paths, by).map((each) => ({
    ...each,
    effects: factors.map((factor) => effect(each, factor)),
  }))
  const moved = ({ effects }: SingleChange) =>
    Math.max(...effects.map(({ meanUs }) => Math.abs(meanUs - before.meanUs)))
  changes.sort((a, b) => moved(b) - moved(a))
  return new SingleChanges({ before, changes, options: chosen })
}

/** Returns the services that are called, or their operations, each once, as they are numbered. */
function changeables(paths: CallPaths, by: SingleChangesOptions['by']): CallName[] {
  const found = new Map<string, CallName>()
  for (const path of paths.all()) {
    const operation = by === 'operation' ? paths.operation(path) : ''
    const name = { service: paths.service(path), operation }
    const key = JSON.stringify(name)
    if (!found.has(key)) found.set(key, name)
  }
  return [...found.values()]
}
