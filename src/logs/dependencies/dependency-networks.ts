import { count, custom, defineOptions, level, type OptionsOf, oneOf } from '../../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { type Feature, VARIABLE_KINDS, type VariableKind } from '../features/features.ts'
import { LOG_CLASSES, type LogClass, type LogSet } from '../features/log-set.ts'
import { WEIGHT_OPTIONS } from '../performance/instance-weights.ts'
import type { PerformanceMetric } from '../performance/performance-metric.ts'

/** Options of `learnDependencies`. */
export const DEPENDENCY_OPTIONS = defineOptions({
  ...WEIGHT_OPTIONS,
  minSplit: custom<number>({
    default: 1 / 3,
    sentence: 'Share of the instances that a dependency must hold for',
    flag: 'min-split <share>',
    accepts: (value) => typeof value === 'number' && value > 0 && value <= 1,
    expected: 'a share of the instances, above 0 to 1',
    parse: Number,
  }),
  stop: oneOf(['significance', 'orange'], {
    default: 'significance',
    sentence: "When trees stop growing; 'orange' is the rule of the library that the paper used",
    flag: 'stop <name>',
  }),
  significance: level({ default: 0.05, sentence: "Level of the 'significance' stop" }),
  minLeaf: count({
    default: 5,
    unit: 'instances',
    sentence: 'Fewest instances on either side of a split',
  }),
  mostVariables: count({
    default: 500,
    unit: 'variables',
    sentence: 'Most variables that dependencies are learned from',
  }),
})
export type DependencyOptions = OptionsOf<typeof DEPENDENCY_OPTIONS>

/** Which network: a feature of all variables of a kind, in one class of logs. */
export interface NetworkKey {
  readonly kind: VariableKind
  readonly class: LogClass
  readonly featureType: Feature
}

/** A dependency between two variables of a network: one splits the tree of the other. */
export interface DependencyEdge {
  /** The earlier one where `directed`; otherwise the first by name. */
  readonly from: string
  readonly to: string
  /**
   * The weight of the largest node that is split on it: its number of instances where all count the
   * same. The dependency is there up to this minimum size of nodes to split.
   */
  readonly weight: number
  /** The share of that node's variance that the split explains. */
  readonly r2: number
  /** Whether one happens before the other in every instance that has both. */
  readonly directed: boolean
}

/** How the variables of one kind depend on each other, and on performance, by one feature. */
export interface DependencyNetwork extends NetworkKey {
  /** The name of the node that stands for performance. */
  readonly metric: string
  /** Variables that it was learned from, performance among them, ascending. */
  readonly names: readonly string[]
  /** How many more could have taken part, but for `mostVariables`. */
  readonly variablesLeftOut: number
  /** How many instances of the class have performance. */
  readonly instances: number
  /** Σ of their weights: their number where all count the same. */
  readonly mass: number
  /** The strongest first. */
  readonly edges: readonly DependencyEdge[]
}

interface LearnedNetworks {
  readonly grownAt: number
  readonly learn: (key: NetworkKey) => DependencyNetwork
  readonly known: Map<string, DependencyNetwork>
}

interface NetworkColumns {
  readonly logs: LogSet
  readonly options: DependencyOptions
  readonly metric: PerformanceMetric
}

/**
 * How variables depend on each other: a network for each kind, feature and class, learned when it
 * is first asked for. What `learnDependencies` gives.
 */
export class DependencyNetworks extends columnarStage<NetworkColumns>() {
  readonly #learned: LearnedNetworks

  constructor(columns: NetworkColumns, learned: LearnedNetworks) {
    super(columns)
    this.#learned = learned
  }

  /** How many instances of each class are left out because they have no performance. */
  get leftOut(): Readonly<Record<LogClass, number>> {
    const { metric, logs } = this
    const without = (code: number) =>
      metric.values.filter((value, i) => Number.isNaN(value) && logs.classOf[i] === code).length
    return { before: without(0), after: without(1) }
  }

  /** What `minSplit` can be raised to, and lowered to again, without learning anything anew. */
  get grownAt(): number {
    return this.#learned.grownAt
  }

  /** One network. */
  network(key: NetworkKey): DependencyNetwork {
    const name = networkName(key)
    const { known, learn } = this.#learned
    const whole = known.get(name) ?? learn(key)
    known.set(name, whole)
    const least = leastMass(this.options.minSplit, whole.mass)
    return { ...whole, edges: whole.edges.filter(({ weight }) => weight >= least) }
  }

  /** All networks of a class: a feature of events each, then of states. None without variables. */
  of(logClass: LogClass): readonly DependencyNetwork[] {
    const { events, states } = this.logs
    return VARIABLE_KINDS.flatMap((kind) => {
      const { names, types } = kind === 'event' ? events : states
      const features: readonly Feature[] = names.length === 0 ? [] : types
      return features.map((featureType) => this.network({ kind, class: logClass, featureType }))
    })
  }

  /**
   * The same networks with only the dependencies that are there when nodes of fewer instances are
   * not split. Nothing is learned anew.
   *
   * @param minSplit share of the instances of a class, `grownAt` or more
   */
  pruned(minSplit: number): DependencyNetworks {
    const { logs, metric, options } = this
    const changed = { logs, metric, options: { ...options, minSplit } }
    return new DependencyNetworks(changed, this.#learned)
  }

  /** One row a dependency, network by network. */
  table(): StageTable {
    const rows = LOG_CLASSES.flatMap((each) => this.of(each)).flatMap((network) =>
      network.edges.map((edge) => ({ ...network, ...edge, feature: network.featureType })),
    )
    return rowTable(rows, own('kind feature class from to weight r2 directed'))
  }
}

export function networkName({ kind, class: logClass, featureType }: NetworkKey): string {
  return `${kind} ${logClass} ${featureType}`
}

/** The least weight of a node that is split; a third of 120 is 40, whatever rounding makes of it. */
export function leastMass(minSplit: number, mass: number): number {
  return minSplit * mass * (1 - 1e-12)
}
