import { isEventTime } from '../features/feature-types.ts'
import type { LogSet } from '../features/log-set.ts'
import type { VariableFeatures } from '../features/variable-features.ts'
import type { PerformanceMetric } from '../performance/performance-metric.ts'
import { type DependencyColumns, dependencyColumns } from './dependency-columns.ts'
import {
  type DependencyEdge,
  type DependencyNetwork,
  type DependencyOptions,
  leastMass,
  type NetworkKey,
} from './dependency-networks.ts'
import { growDependencyTree, type TreeSplit } from './dependency-tree.ts'
import { happensBefore } from './happens-before.ts'
import { picked, selectColumns } from './select-columns.ts'

/** What a network is learned from. */
export interface NetworkSource {
  readonly logs: LogSet
  readonly metric: PerformanceMetric
  /** An instance each; all the same by default. */
  readonly weights: Float64Array | undefined
}

/** Learns one network: a tree for each variable that can have one, and for performance. */
export function learnNetwork(
  key: NetworkKey,
  source: NetworkSource,
  options: DependencyOptions,
): DependencyNetwork {
  const { minSplit, minLeaf, stop, significance } = options
  const members = membersOf(key, source)
  const { columns, leftOut } = columnsOf(key, source, { members, options })
  const minMass = leastMass(minSplit, columns.mass)
  const strongest = new Map<string, UndirectedSplit>()
  for (const target of columns.names.keys()) {
    const splits = growDependencyTree(columns, target, { minMass, minLeaf, stop, significance })
    for (const { predictor, mass, r2 } of splits) {
      const ends = [Math.min(target, predictor), Math.max(target, predictor)] as const
      const name = ends.join(' ')
      const known = strongest.get(name)
      const split = { ends, mass, r2 }
      if (known === undefined || strongestFirst(split, known) < 0) strongest.set(name, split)
    }
  }
  const times = timesOf(key, source, { members, columns })
  return {
    ...key,
    metric: source.metric.name,
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

/** The instances of a class that have performance. */
function membersOf({ class: logClass }: NetworkKey, { logs, metric }: NetworkSource): number[] {
  return Array.from(logs.instances.keys()).filter(
    (instance) => logs.classNameOf(instance) === logClass && !Number.isNaN(metric.values[instance]),
  )
}

function columnsOf(
  { kind, featureType }: NetworkKey,
  { logs, metric, weights: given }: NetworkSource,
  {
    members,
    options: { minLeaf, mostVariables },
  }: { readonly members: readonly number[]; readonly options: DependencyOptions },
): { readonly columns: DependencyColumns; readonly leftOut: number } {
  const features = (kind === 'event' ? logs.events : logs.states) as VariableFeatures
  const own = metric.variable?.kind === kind ? features.indexOf(metric.variable.name) : undefined
  const performance = picked(metric.values, members)
  const weights =
    given === undefined ? new Float64Array(members.length).fill(1) : picked(given, members)
  const { columns, leftOut } = selectColumns({
    ...{ logs, features, featureType, members, performance, weights },
    ...{ own, minLeaf, mostVariables },
  })
  const all = [...columns, { name: metric.name, values: performance }].sort((a, b) =>
    a.name < b.name ? -1 : Number(a.name > b.name),
  )
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
  const unit = featureType.endsWith('Relative') ? 'relative time' : 'absolute time'
  const scaled = (value: number, i: number) =>
    unit === 'relative time' ? value / Number(runTimeUs[i]) : value * Number(runTimeUs[i])
  return values.map((ofColumn, column) => {
    if (column !== own || metric.unit === unit) return ofColumn
    return metric.unit === 'value' ? undefined : ofColumn.map(scaled)
  })
}

function edgeOf(
  { ends: [one, other], mass, r2 }: UndirectedSplit,
  names: readonly string[],
  times: readonly (Float64Array | undefined)[],
): DependencyEdge {
  const [first, second] = [times[one], times[other]]
  const order = first !== undefined && second !== undefined ? happensBefore(first, second) : 0
  const [from, to] = order > 0 ? [other, one] : [one, other]
  return {
    from: names[from] as string,
    to: names[to] as string,
    weight: mass,
    r2,
    directed: order !== 0,
  }
}
