import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import { requireOneOf } from '../../stats/require-option.ts'
import type { CallPaths } from '../calls/call-paths.ts'
import type { ExecutionModels } from '../models/execution-models.ts'
import { LatencyProfile } from '../recompute/latency-profile.ts'
import { RequestModel } from '../recompute/request-model.ts'
import { type ProfileQuantiles, profileQuantiles } from './apply-scenario.ts'
import { scaleCalls } from './scale-calls.ts'

export interface SingleChangesOptions {
  /** Which time of a service changes, as of `scaleCalls`. Default `'server'`. */
  readonly part: 'server' | 'network' | 'preprocessing'
  /** What changes at a time: all calls of a service, or those of one operation. Default `'service'`. */
  readonly by: 'service' | 'operation'
  /** How many times as long, from 0 up. Default 0.5 and 2. */
  readonly factors: readonly number[]
  /** The period whose requests change: 0 before, 1 after. Default 0. */
  readonly period: 0 | 1
}

/** Response times of all requests, summed up. */
export interface ProfileSummary extends ProfileQuantiles {
  readonly meanUs: number
}

/** What becomes of all requests if one service took another time. */
export interface SingleChange {
  readonly service: string
  /** Empty where all of the service's calls change. */
  readonly operation: string
  /** One for each of the factors, in their order. */
  readonly effects: readonly ProfileSummary[]
}

const PARTS = ['server', 'network', 'preprocessing'] as const
const DEFAULTS: SingleChangesOptions = {
  part: 'server',
  by: 'service',
  factors: [0.5, 2],
  period: 0,
}

/** What changes of single services, each by itself, would do to the response times. */
export class SingleChanges extends Stage {
  readonly options: SingleChangesOptions
  /** As recorded. */
  readonly before: ProfileSummary
  /** Those that move the mean furthest first. */
  readonly changes: readonly SingleChange[]

  constructor(
    before: ProfileSummary,
    changes: readonly SingleChange[],
    options: SingleChangesOptions,
  ) {
    super()
    this.before = before
    this.changes = changes
    this.options = options
  }

  /** One row a change and factor: p50, p90, p99 and mean, and by how much each is another than before. */
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
 * What if one service took half or twice the time: every service by itself, all requests recomputed
 * for each factor.
 *
 * @param models as `learnExecutionModels` gives them
 * @param options see {@link SingleChangesOptions}
 * @throws OptionError for an option out of range; FlowdeltaError for an unknown one.
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
  rejectUnknownOptions(options, Object.keys(DEFAULTS))
  const chosen = { ...DEFAULTS, ...options }
  requireOneOf('part', chosen.part, PARTS)
  requireOneOf('by', chosen.by, ['service', 'operation'])
  if (chosen.period !== 0 && !(chosen.period === 1 && models.forests.length > 1)) {
    throw new OptionError('period', chosen.period, 'a period that was learned: 0, or 1 of two')
  }
  if (chosen.factors.length === 0) throw new OptionError('factors', 'empty', 'at least one factor')
  return new RequestsChanged(new RequestModel(models, chosen.period), chosen).all()
}

class RequestsChanged {
  readonly #base: RequestModel
  readonly #options: SingleChangesOptions

  constructor(base: RequestModel, options: SingleChangesOptions) {
    this.#base = base
    this.#options = options
  }

  all(): SingleChanges {
    const before = this.#summary(this.#base.responseTimes([]))
    const changes = changeables(this.#base.models.paths, this.#options.by).map((each) => ({
      ...each,
      effects: this.#options.factors.map((factor) => this.#effect(each, factor)),
    }))
    const moved = ({ effects }: SingleChange) =>
      effects.reduce((most, { meanUs }) => Math.max(most, Math.abs(meanUs - before.meanUs)), 0)
    changes.sort((a, b) => moved(b) - moved(a))
    return new SingleChanges(before, changes, this.#options)
  }

  #effect(of: { service: string; operation: string }, factor: number): ProfileSummary {
    const { service, operation } = of
    const { part } = this.#options
    const scenario = scaleCalls({
      ...{ service, part, factor },
      ...(this.#options.by === 'operation' && { operation }),
    })
    return this.#summary(this.#base.responseTimes(scenario.apply(this.#base, null).changes))
  }

  #summary(latencyUs: Float64Array): ProfileSummary {
    const profile = LatencyProfile.ofRequests(latencyUs, this.#base.forest.weight)
    return { ...profileQuantiles(profile), meanUs: profile.meanUs }
  }
}

/** The services that are called, or their operations, each once, as they are numbered. */
function changeables(
  paths: CallPaths,
  by: SingleChangesOptions['by'],
): { service: string; operation: string }[] {
  const found = new Map<string, { service: string; operation: string }>()
  for (let path = 0; path < paths.size; path++) {
    const service = paths.service(path)
    const operation = by === 'operation' ? paths.operation(path) : ''
    const key = JSON.stringify([service, operation])
    if (!found.has(key)) found.set(key, { service, operation })
  }
  return [...found.values()]
}
