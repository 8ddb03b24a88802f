import { InternalError } from '../../core/errors.ts'
import { custom, defineOptions, number, type OptionsOf } from '../../core/options.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import { quantile } from '../../stats/quantile.ts'
import type { CallPaths } from '../calls/call-paths.ts'
import type { CallForest } from '../calls/index-calls.ts'
import type { CallOrder } from './call-orders.ts'
import {
  directPredecessors,
  lastOnes,
  type PrecedenceBits,
  precedenceOrder,
} from './precedence-bits.ts'
import { type OwnTimes, ownTimes, type PeriodPlans } from './wait-plan.ts'

/** A call that an execution model makes: the `occurrence`-th of its kind, from 0. */
interface ModelNode {
  readonly service: string
  readonly operation: string
  readonly occurrence: number
}

/** Calls that an execution model makes and nobody waits for. */
export interface UnawaitedCalls {
  readonly service: string
  readonly operation: string
  /** How many such calls there are under all calls that follow the model. */
  readonly calls: number
}

/**
 * One flow of control of an operation: which calls it makes and waits for, and which of them only
 * begin when others are over.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.3.
 */
export interface ExecutionModel {
  /** Its place among all models. */
  readonly id: number
  readonly period: 0 | 1
  /** What is called: a name of `CallPaths`. */
  readonly name: number
  readonly service: string
  readonly operation: string
  /** The same number for models of the two periods that are the same flow: alike, of the same calls. */
  readonly flow: number
  readonly nodes: readonly ModelNode[]
  /** Of each node, the nodes it waits for directly. */
  readonly predecessors: readonly (readonly number[])[]
  /** The nodes that the reply waits for directly. */
  readonly returnPredecessors: readonly number[]
  /** What it calls without waiting: detached, or over only after the reply. Most calls first. */
  readonly asynchronous: readonly UnawaitedCalls[]
  /** How many calls follow it … */
  readonly calls: number
  /** … and how many of these break its order somewhere and are recomputed by their own. */
  readonly ownCalls: number
  /** Its share among its period's calls of the operation. */
  readonly probability: number
}

/** Who waits directly for whom, and an order in which every node comes after those it waits for. */
export interface ModelGraph {
  readonly order: Uint32Array
  readonly predecessors: readonly (readonly number[])[]
  readonly returnPredecessors: readonly number[]
}

/** The graph of `n` nodes whose precedence, free of circles, is `bits`. */
export function graphOfBits(bits: PrecedenceBits, n: number): ModelGraph {
  const order = precedenceOrder(bits, n)
  if (order === null)
    throw new InternalError('the calls of a model wait for each other in a circle')
  return {
    order,
    predecessors: directPredecessors(bits, order),
    returnPredecessors: lastOnes(bits, n),
  }
}

/** Names the nodes of an order: equal names are next to each other, by start. */
export function modelNodes(paths: CallPaths, { nodes }: CallOrder): ModelNode[] {
  return nodes.map((name, i) => ({
    ...paths.named(name),
    occurrence: i - nodes.indexOf(name),
  }))
}

/** Options of `learnExecutionModels`. */
export const EXECUTION_MODEL_OPTIONS = defineOptions({
  slackUs: number({
    default: 1,
    min: 0,
    unit: 'µs',
    sentence: 'Overlap with the next call up to which a call counts as over before it',
  }),
  similarity: custom<number>({
    default: 0.3,
    sentence:
      'Mean Jaccard distance above which orders of calls are different flows; 0 keeps all apart',
    accepts: (value) => typeof value === 'number' && value >= 0 && value < 1,
    expected: 'a distance from 0 up and below 1',
  }),
  share: custom<number>({
    default: 0.99,
    sentence: "Share of a flow's calls that a pair of calls must be in order in",
    accepts: (value) => typeof value === 'number' && value > 0.5 && value <= 1,
    expected: 'a share above 0.5, at most 1',
  }),
})
export type ExecutionModelOptions = OptionsOf<typeof EXECUTION_MODEL_OPTIONS>

/** What is known of one period. */
export interface LearnedPeriod extends PeriodPlans {
  readonly forest: CallForest
  /** Model of each call. */
  readonly modelOf: Uint32Array
  /** Number of each call's own order, among `ExecutionModels.orders`. */
  readonly orderOf: Uint32Array
}

/** The execution models of one or two periods, learned apart. */
export class ExecutionModels extends Stage {
  readonly paths: CallPaths
  readonly forests: readonly CallForest[]
  /** By period, then operation, then calls, most first. */
  readonly models: readonly ExecutionModel[]
  readonly options: ExecutionModelOptions
  /** The orders that single calls showed, from which the models were made. */
  readonly orders: readonly CallOrder[]
  readonly #periods: readonly LearnedPeriod[]
  readonly #ownTimes: (OwnTimes | undefined)[] = []

  constructor(
    paths: CallPaths,
    learned: {
      readonly models: readonly ExecutionModel[]
      readonly orders: readonly CallOrder[]
      readonly periods: readonly LearnedPeriod[]
    },
    options: ExecutionModelOptions,
  ) {
    super()
    this.paths = paths
    this.forests = learned.periods.map(({ forest }) => forest)
    this.models = learned.models
    this.orders = learned.orders
    this.#periods = learned.periods
    this.options = options
  }

  /** The number of each call's model, by row of the period's forest. */
  modelOf(period: number): Uint32Array {
    return this.period(period).modelOf
  }

  /**
   * The number of each call's flow, by row of the period's forest: as `modelOf`, but the same in
   * both periods, so that their proportions compare.
   */
  flowOf(period: number): Uint32Array {
    return this.modelOf(period).map((model) => (this.models[model] as ExecutionModel).flow)
  }

  /** Preprocessing and reply time of each call under its model. Computed once. */
  ownTimes(period: number): OwnTimes {
    let times = this.#ownTimes[period]
    if (times === undefined) {
      const learned = this.period(period)
      times = ownTimes(learned.forest, learned, this.options.slackUs)
      this.#ownTimes[period] = times
    }
    return times
  }

  /** How the calls of a period wait for each other; for recomputation. */
  period(period: number): LearnedPeriod {
    const learned = this.#periods[period]
    if (learned === undefined) throw new InternalError(`no period ${period} was learned`)
    return learned
  }

  /**
   * One row a model: what it is of, how many calls it waits for in which order, how many calls
   * follow it, and how many calls these make without waiting (`asynchronous`).
   */
  table(): StageTable {
    const { models, forests } = this
    const names = forests.length === 2 ? ['before', 'after'] : [forests[0]?.traces.name]
    return stageTable({
      model: models.map(({ id }) => id),
      period: models.map(({ period }) => names[period]),
      service: models.map(({ service }) => service),
      operation: models.map(({ operation }) => operation),
      flow: models.map(({ flow }) => flow),
      nodes: models.map(({ nodes }) => nodes.length),
      edges: models.map(edgeCount),
      asynchronous: models.map(({ asynchronous }) =>
        asynchronous.reduce((sum, { calls }) => sum + calls, 0),
      ),
      calls: models.map(({ calls }) => calls),
      ownCalls: models.map(({ ownCalls }) => ownCalls),
      probability: models.map(({ probability }) => probability),
    })
  }

  /**
   * One row a node of a model, and one for its reply: what it waits for and how long it then takes
   * to begin (`preprocessingUs`: the median; p10 and p90 beside it).
   */
  nodeTable(): StageTable {
    const samples = this.#preprocessing()
    const rows = this.models.flatMap(({ id, nodes, predecessors, returnPredecessors }) => [
      ...nodes.map((node, i) => ({ ...node, model: id, i, waitsFor: predecessors[i] ?? [] })),
      {
        ...{ model: id, i: nodes.length, service: '', operation: 'reply', occurrence: 0 },
        waitsFor: returnPredecessors,
      },
    ])
    const at = (q: number) => rows.map(({ model, i }) => quantile(samples[model]?.[i] ?? [], q))
    return stageTable({
      model: rows.map(({ model }) => model),
      node: rows.map(({ i }) => i),
      service: rows.map(({ service }) => service),
      operation: rows.map(({ operation }) => operation),
      occurrence: rows.map(({ occurrence }) => occurrence),
      waitsFor: rows.map(({ waitsFor }) => waitsFor.join(' ')),
      preprocessingUs: at(0.5),
      p10Us: at(0.1),
      p90Us: at(0.9),
    })
  }

  /** Ascending preprocessing times by model and node, the reply's last. */
  #preprocessing(): Float64Array[][] {
    const samples = this.models.map(({ nodes }) =>
      Array.from({ length: nodes.length + 1 }, () => [] as number[]),
    )
    this.#periods.forEach(({ forest, modelOf, nodeCalls }, period) => {
      const { preprocessingUs, replyUs } = this.ownTimes(period)
      modelOf.forEach((model, call) => {
        const own = samples[model] as number[][]
        const last = own.length - 1
        const first = forest.childOffsets[call] as number
        for (let node = 0; node < last; node++) {
          own[node]?.push(preprocessingUs[nodeCalls[first + node] as number] as number)
        }
        own[last]?.push(replyUs[call] as number)
      })
    })
    return samples.map((nodes) => nodes.map((sample) => Float64Array.from(sample).sort()))
  }
}

function edgeCount({ predecessors, returnPredecessors }: ExecutionModel): number {
  return predecessors.reduce((sum, { length }) => sum + length, returnPredecessors.length)
}
