import { sort } from 'd3-array'
import { readOptions } from '../../core/options.ts'
import { isEventTime } from '../features/features.ts'
import type { LogSet } from '../features/log-set.ts'
import { instanceWeights } from '../performance/instance-weights.ts'
import { type PerformanceMetric, performanceMetric } from '../performance/performance-metric.ts'
import {
  DEPENDENCY_OPTIONS,
  type DependencyEdge,
  DependencyNetworks,
  type DependencyOptions,
  leastMass,
  type NetworkKey,
} from './dependency-networks.ts'
import { growDependencyTree, type TreeSplit } from './dependency-tree.ts'
import {
  type DependencyColumns,
  dependencyColumns,
  picked,
  selectColumns,
} from './select-columns.ts'

/**
 * Learns how variables depend on each other and on performance, in each period's logs: for each feature
 * a regression tree predicts each variable from all others. Two variables are connected if one splits
 * the other's tree; the connection is as strong as the largest node so split.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.3; dependency networks as Heckerman et al.
 * 2000, Journal of Machine Learning Research 1:49-75.
 */
export function learnDependencies(
  logs: LogSet,
  options: Partial<DependencyOptions> = {},
): DependencyNetworks {
  const chosen = readOptions(DEPENDENCY_OPTIONS, options)
  const metric = performanceMetric(logs, chosen.metric)
  const source = { logs, metric, weights: instanceWeights(logs, chosen) }
  const learn = (key: NetworkKey) => learnNetwork(key, source, chosen)
  const learned = { grownAt: chosen.minSplit, learn, known: new Map() }
  return new DependencyNetworks({ logs, options: chosen, metric }, learned)
}

interface NetworkSource {
  readonly logs: LogSet
  readonly metric: PerformanceMetric
  /** An instance each; all the same by default. */
  readonly weights: Float64Array | undefined
}

function learnNetwork(key: NetworkKey, source: NetworkSource, options: DependencyOptions) {
  const { minSplit, minLeaf, stop, significance } = options
  const { logs, metric } = source
  const members = Array.from(logs.instances.keys()).filter(
    (instance) =>
      logs.classNameOf(instance) === key.class && !Number.isNaN(metric.values[instance]),
  )
  const { columns, leftOut } = columnsOf(key, source, { members, options })
  const minMass = leastMass(minSplit, columns.mass)
  const strongest = new Map<string, UndirectedSplit>()
  for (const target of columns.names.keys()) {
    const splits = growDependencyTree(columns, target, { minMass, minLeaf, stop, significance })
    for (const { predictor, mass, r2 } of splits) {
      const ends = [Math.min(target, predictor), Math.max(target, predictor)] as const
      const known = strongest.get(ends.join(' '))
      const split = { ends, mass, r2 }
      if (known === undefined || strongestFirst(split, known) < 0) {
        strongest.set(ends.join(' '), split)
      }
    }
  }
  const times = timesOf(key, source, { members, columns })
  return {
    ...key,
    metric: metric.name,
    names: columns.names,
    instances: members.length,
    mass: columns.mass,
    variablesLeftOut: leftOut,
    edges: [...strongest.values()]
      .sort((a, b) => strongestFirst(a, b) || a.ends[0] - b.ends[0] || a.ends[1] - b.ends[1])
      .map((split) => edgeOf(split, columns.names, times)),
  }
}

/** A split without regard to which of the two variables predicts the other. */
interface UndirectedSplit extends Pick<TreeSplit, 'mass' | 'r2'> {
  readonly ends: readonly [number, number]
}

function strongestFirst(one: UndirectedSplit, other: UndirectedSplit): number {
  return other.mass - one.mass || other.r2 - one.r2
}

function columnsOf(
  { kind, featureType }: NetworkKey,
  { logs, metric, weights: given }: NetworkSource,
  {
    members,
    options: { minLeaf, mostVariables },
  }: { readonly members: readonly number[]; readonly options: DependencyOptions },
): { readonly columns: DependencyColumns; readonly leftOut: number } {
  const features = logs.features(kind)
  const { name = '', states = [name] } = metric.variable ?? {}
  const own = metric.variable?.kind === kind ? states.map((one) => features.indexOf(one)) : []
  const performance = picked(metric.values, members)
  const weights =
    given === undefined ? new Float64Array(members.length).fill(1) : picked(given, members)
  const { columns, leftOut } = selectColumns({
    logs,
    features,
    featureType,
    members,
    performance,
    weights,
    own,
    minLeaf,
    mostVariables,
  })
  const all = sort([...columns, { name: metric.name, values: performance }], ({ name }) => name)
  return { columns: dependencyColumns(all, weights), leftOut }
}

/**
 * When each variable happened; undefined for what has no time. Performance is a number of its own
 * in every network: beside other features it is brought to their scale here.
 */
function timesOf(
  { featureType }: NetworkKey,
  { logs, metric }: NetworkSource,
  {
    members,
    columns: { names, values },
  }: { readonly members: readonly number[]; readonly columns: DependencyColumns },
): readonly (Float64Array | undefined)[] {
  if (!isEventTime(featureType)) return names.map(() => undefined)
  const own = names.indexOf(metric.name)
  const runTimeUs = picked(logs.runTimeUs, members)
  const isShare = featureType.endsWith('Relative')
  return values.map((ofColumn, column) => {
    if (column !== own || metric.unit === (isShare ? 'relative time' : 'absolute time'))
      return ofColumn
    if (metric.unit === 'value') return undefined
    const scaled = (value: number, runUs: number) => (isShare ? value / runUs : value * runUs)
    return ofColumn.map((value, i) => scaled(value, Number(runTimeUs[i])))
  })
}

function edgeOf(
  { ends: [one, other], mass, r2 }: UndirectedSplit,
  names: readonly string[],
  times: readonly (Float64Array | undefined)[],
): DependencyEdge {
  const order = happensBefore(times[one] ?? [], times[other] ?? [])
  const [from = '', to = ''] = order > 0 ? [names[other], names[one]] : [names[one], names[other]]
  return { from, to, weight: mass, r2, directed: order !== 0 }
}

/** Two instances that agree may be chance, but one is no order at all. */
const MIN_INSTANCES = 2

/**
 * Whether one thing happens before another wherever both happen: −1 if the first does, 1 if the
 * second does, 0 where neither always does or fewer than two instances have both.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.3.
 */
export function happensBefore(first: ArrayLike<number>, second: ArrayLike<number>): -1 | 0 | 1 {
  let earlier = 0
  let later = 0
  for (let i = 0; i < Math.min(first.length, second.length); i++) {
    const difference = Number(first[i]) - Number(second[i])
    if (difference < 0) earlier++
    else if (difference > 0) later++
    else if (difference === 0) return 0
  }
  if (earlier >= MIN_INSTANCES && later === 0) return -1
  return later >= MIN_INSTANCES && earlier === 0 ? 1 : 0
}
