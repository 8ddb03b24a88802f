import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { requireCount, requireOneOf, requireShare } from '../../stats/require-option.ts'
import type { LogSet } from '../features/log-set.ts'
import { instanceWeights } from '../performance/instance-weights.ts'
import { performanceMetric } from '../performance/performance-metric.ts'
import {
  DependencyNetworks,
  type DependencyOptions,
  type NetworkKey,
} from './dependency-networks.ts'
import { learnNetwork } from './learn-network.ts'

export const DEPENDENCY_DEFAULTS: DependencyOptions = {
  metric: 'runTime',
  weights: 'none',
  minSplit: 1 / 3,
  stop: 'significance',
  significance: 0.05,
  minLeaf: 5,
  mostVariables: 500,
}

const STOPS: readonly string[] = ['significance', 'orange']

/**
 * Learns how variables depend on each other and on performance, within each class of logs: for each
 * feature a regression tree that predicts a variable from all others. Two variables are connected
 * if one splits the other's tree; the connection is as strong as the largest node so split.
 *
 * Events and states are apart; performance is a node of every network, and the variable that it is
 * a feature of is of none. Instances without performance are left out; see `leftOut`. A network is
 * learned when it is first asked for.
 *
 * @param options.metric what performance is, see `Metric`. Default `'runTime'`
 * @param options.minSplit nodes with less than this share of a class's instances are not split: the
 *   paper's m as a share. Above 0 to 1; default ⅓
 * @param options.stop `'significance'` (default): splits must explain more than chance does;
 *   `'orange'`: the paper's, which connects nearly everything
 * @param options.significance the level of that test, corrected for the number of cuts there are
 *   to choose from. Default 0.05
 * @param options.minLeaf fewest instances with a value on either side of a split. Default 5
 * @param options.mostVariables how many variables a network is learned from at most, which takes time
 *   by the square of their number: of more that vary those that differ most between the classes and
 *   those that correlate most with performance, in turn. `DependencyNetwork.variablesLeftOut` says how
 *   many there were beside. Default 500
 * @param options.weights how much instances count, see `LogWeights`. Default `'none'`
 * @throws FlowdeltaError for an unknown option or metric, OptionError for a value that one cannot
 *   have
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.3; dependency networks as Heckerman et al.
 * 2000, Journal of Machine Learning Research 1:49-75.
 *
 * @example
 * const builder = new LogBuilder()
 * for (let i = 0; i < 40; i++) {
 *   builder.setInstance('after', `node ${i}`)
 *   builder.logEvent(0, 'start')
 *   builder.logEvent(1_000 * i, 'flushed')
 *   builder.logEvent(1_000 * i + 500, 'done')
 * }
 * const networks = learnDependencies(builder.build(), { metric: 'done' })
 * const { edges } = networks.network({ kind: 'event', class: 'after', featureType: 'lastAbsolute' })
 * edges.map(({ from, to, weight, directed }) => [from, to, weight, directed]) // [ [ 'flushed', 'done', 40, true ] ]
 */
export function learnDependencies(
  logs: LogSet,
  options: Partial<DependencyOptions> = {},
): DependencyNetworks {
  rejectUnknownOptions(options, Object.keys(DEPENDENCY_DEFAULTS))
  const chosen = { ...DEPENDENCY_DEFAULTS, ...options }
  requireOptions(chosen)
  const metric = performanceMetric(logs, chosen.metric)
  const source = { logs, metric, weights: instanceWeights(logs, chosen) }
  const learn = (key: NetworkKey) => learnNetwork(key, source, chosen)
  const learned = { grownAt: chosen.minSplit, learn, known: new Map() }
  return new DependencyNetworks(logs, chosen, { metric, learned })
}

function requireOptions(options: DependencyOptions): void {
  const { minSplit, stop, significance, minLeaf, mostVariables } = options
  if (!(minSplit > 0 && minSplit <= 1)) {
    throw new OptionError('minSplit', minSplit, 'a share of the instances, above 0 to 1')
  }
  requireOneOf('stop', stop, STOPS)
  requireShare('significance', significance)
  requireCount('minLeaf', minLeaf)
  requireCount('mostVariables', mostVariables)
}
