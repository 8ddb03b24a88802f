// The innermost loop of all dependency networks: it indexes with `!`.
import { descending, rollup, sort, sum } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import {
  count,
  custom,
  defineOptions,
  level,
  type OptionsOf,
  oneOf,
  readOptions,
} from '../../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { fTail } from '../../stats/distributions.ts'
import { welch } from '../../stats/welch.ts'
import {
  type Feature,
  isEventTime,
  isShareOfRun,
  LOG_CLASSES,
  type LogClass,
  type LogSet,
  membersOf,
  picked,
  VARIABLE_KINDS,
  type VariableKind,
} from '../features/log-set.ts'
import {
  instanceWeights,
  type PerformanceMetric,
  performanceMetric,
  WEIGHT_OPTIONS,
} from '../performance/performance-metric.ts'

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
  return new DependencyNetworks({ logs, options: chosen, metric })
}

type Members = readonly number[]

function learnNetwork(key: NetworkKey, networks: DependencyNetworks) {
  const { logs, metric, options } = networks
  const members = membersOf(logs, metric.values)[key.class]
  const columns = columnsOf(key, networks, members)
  const { names, times, mass, leftOut } = columns
  const splits = names.flatMap((_, target) =>
    growTree(columns, target, options).map(({ predictor, ...split }) => {
      return { one: Math.min(target, predictor), other: Math.max(target, predictor), ...split }
    }),
  )
  const sorted = sort(
    splits,
    ({ mass }) => -mass,
    ({ r2 }) => -r2,
    ({ one }) => one,
    ({ other }) => other,
  )
  const strongest = rollup(
    sorted,
    ([split]) => split!,
    ({ one, other }) => `${one} ${other}`,
  )
  const edges = Array.from(strongest.values(), ({ one, other, mass, r2 }) => {
    const order = happensBefore(times[one] ?? [], times[other] ?? [])
    const [from = '', to = ''] = order > 0 ? [names[other], names[one]] : [names[one], names[other]]
    return {
      /** The earlier one where `directed`; otherwise the first by name. */
      from,
      to,
      /** Weight of the largest node that is split on it: its number of instances where all count the same. */
      weight: mass,
      r2,
      directed: order !== 0,
    }
  })
  return {
    ...key,
    metric: metric.name,
    names,
    instances: members.length,
    /** Σ of their weights: their number where all count the same. */
    mass,
    variablesLeftOut: leftOut,
    edges,
  }
}

type DependencyColumns = ReturnType<typeof columnsOf>

function columnsOf(key: NetworkKey, networks: DependencyNetworks, members: Members) {
  const { logs, metric, options } = networks
  const features = logs.features(key.kind)
  const { name = '', states = [name] } = metric.variable ?? {}
  const own = metric.variable?.kind === key.kind ? states.map((one) => features.indexOf(one)) : []
  const performance = picked(metric.values, members)
  const given = instanceWeights(logs, options)
  const weights =
    given === undefined ? new Float64Array(members.length).fill(1) : picked(given, members)
  const valuesOf = (variable: number) => features.of(variable, key.featureType)
  const others = [...features.names.keys()].filter((variable) => !own.includes(variable))
  const { chosen, leftOut } = selectVariables(others, networks, { valuesOf, members })
  const variables = chosen.map((variable) => {
    const values = picked(valuesOf(variable), members)
    const times = isEventTime(key.featureType) ? values : undefined
    return { name: features.names[variable] as string, values, times }
  })
  const times = performanceTimes(key, networks, members)
  const all = [...variables, { name: metric.name, values: performance, times }]
  const columns = sort(all, (column) => column.name)
  const values = columns.map((column) => column.values)
  return {
    names: columns.map((column) => column.name),
    values,
    /** All instances, and those that have a value of each column, ascending by it. */
    root: { rows: Uint32Array.from(members.keys()), orders: values.map(varyingOrder) },
    times: columns.map((column) => column.times),
    weights,
    mass: sum(weights),
    leftOut,
  }
}

/** Returns performance as a time like those of a feature, as it has one number of its own in every network. */
function performanceTimes(
  { featureType }: NetworkKey,
  { logs, metric }: DependencyNetworks,
  members: Members,
): Float64Array | undefined {
  if (!isEventTime(featureType) || metric.unit === 'value') return undefined
  const values = picked(metric.values, members)
  const isShare = isShareOfRun(featureType)
  if (isShare === (metric.unit === 'relative time')) return values
  const runUs = picked(logs.runTimeUs, members)
  return values.map((value, row) => (isShare ? value / runUs[row]! : value * runUs[row]!))
}

function varyingOrder(values: Float64Array): Uint32Array {
  const present = Uint32Array.from(values.keys()).filter((row) => !Number.isNaN(values[row]))
  const order = ascendingOrder(values, present)
  return values[order[0]!] === values[order.at(-1)!] ? new Uint32Array(0) : order
}

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
    sentence: 'Maximum number of variables to learn dependencies from',
  }),
})
export type DependencyOptions = OptionsOf<typeof DEPENDENCY_OPTIONS>

/** Key of a network: a feature of all variables of a kind, in one class of logs. */
export interface NetworkKey {
  readonly kind: VariableKind
  readonly class: LogClass
  readonly featureType: Feature
}

/** Dependencies of one kind of variables on each other and on performance, by one feature. */
export type DependencyNetwork = Readonly<ReturnType<typeof learnNetwork>>

/** A dependency between two variables of a network: one splits the tree of the other. */
export type DependencyEdge = Readonly<DependencyNetwork['edges'][number]>

/** A network of dependencies for each kind, feature and class, learned on first use; `learnDependencies` makes it. */
export class DependencyNetworks extends columnarStage<{
  readonly logs: LogSet
  readonly options: DependencyOptions
  readonly metric: PerformanceMetric
}>() {
  readonly #known = new Map<string, DependencyNetwork>()

  /** Number of instances of each class that are left out because they have no performance. */
  get leftOut(): Readonly<Record<LogClass, number>> {
    const { before, after } = membersOf(this.logs, this.metric.values)
    const { counts } = this.logs
    return { before: counts.before - before.length, after: counts.after - after.length }
  }

  network(key: NetworkKey): DependencyNetwork {
    const { kind, class: logClass, featureType } = key
    return getOrInsert(this.#known, `${kind} ${logClass} ${featureType}`, () =>
      learnNetwork({ kind, class: logClass, featureType }, this),
    )
  }

  /** Returns all networks of a class: a feature of events each, then of states. None without variables. */
  of(logClass: LogClass): readonly DependencyNetwork[] {
    const { events, states } = this.logs
    return VARIABLE_KINDS.flatMap((kind) => {
      const { names, types } = kind === 'event' ? events : states
      const features: readonly Feature[] = names.length === 0 ? [] : types
      return features.map((featureType) => this.network({ kind, class: logClass, featureType }))
    })
  }

  /** Returns one row per dependency, network by network. */
  table(): StageTable {
    const rows = LOG_CLASSES.flatMap((each) => this.of(each)).flatMap((network) =>
      network.edges.map((edge) => ({ ...network, ...edge, feature: network.featureType })),
    )
    return rowTable(rows, own('kind feature class from to weight r2 directed'))
  }
}

interface TreeSplit {
  readonly predictor: number
  readonly mass: number
  readonly r2: number
}

interface TreeNode {
  readonly rows: Uint32Array
  readonly orders: readonly Uint32Array[]
}

/**
 * Splits of the regression tree that predicts one column from all others: binary, by the largest
 * reduction of squared error. Instances without the target are left out; those without the
 * predictor go with the majority. With the `'significance'` stop, p of its F test times the number of cuts
 * there were is below the level. `growRegressionTree` of `stats/` is another tree, with other rules.
 *
 * Sources: Nagaraj, Killian and Neville, NSDI 2012, §3.3; Breiman, Friedman, Olshen and Stone 1984,
 * "Classification and regression trees"; the stop is our own.
 */
function growTree(
  columns: DependencyColumns,
  target: number,
  options: DependencyOptions,
): TreeSplit[] {
  const { weights, root } = columns
  const splits: TreeSplit[] = []
  // A third of 120 is 40, whatever rounding makes of it.
  const minMass = options.minSplit * columns.mass * (1 - 1e-12)
  const values = columns.values[target]!
  const isKnown = Uint8Array.from(values, (value) => Number(!Number.isNaN(value)))
  const pending: TreeNode[] = [isKnown.includes(0) ? partOf(root, isKnown, 1) : root]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const sums = targetSums(node.rows, values, weights)
    if (sums === undefined || sums.mass < minMass) continue
    const cut = bestCut(columns, node, { ...sums, target, minLeaf: options.minLeaf })
    if (cut === undefined || !isAccepted(cut, sums, options)) continue
    const { column, gain, lastLeft, missingLeft } = cut
    splits.push({ predictor: column, mass: sums.mass, r2: Math.min(1, gain / sums.squares) })
    const isLeft = Uint8Array.from(columns.values[column]!, (value) =>
      Number(Number.isNaN(value) ? missingLeft : value <= lastLeft),
    )
    const left = sum(node.rows, (row) => isLeft[row]! * weights[row]!)
    // Dividing costs as much as looking for a cut: not for parts that are all too small.
    if (sums.mass - left >= minMass) pending.push(partOf(node, isLeft, 0))
    if (left >= minMass) pending.push(partOf(node, isLeft, 1))
  }
  return splits
}

function partOf({ rows, orders }: TreeNode, isLeft: Uint8Array, side: 0 | 1): TreeNode {
  const isIn = (row: number) => isLeft[row] === side
  return { rows: rows.filter(isIn), orders: orders.map((order) => order.filter(isIn)) }
}

function isAccepted(
  { gain, cuts }: BestCut,
  { squares, size }: TargetSums,
  { stop, significance }: DependencyOptions,
): boolean {
  if (stop === 'orange') return true
  if (size <= 2) return false
  const left = squares - gain
  const f = left > 0 ? (gain / left) * (size - 2) : Number.POSITIVE_INFINITY
  return fTail(f, 1, size - 2) * cuts < significance
}

type TargetSums = NonNullable<ReturnType<typeof targetSums>>

interface BestCut {
  readonly column: number
  readonly lastLeft: number
  readonly missingLeft: boolean
  readonly gain: number
  readonly cuts: number
}

/** Shares of all squares that are nearer are the same: sums differ by the order of adding. */
const SAME_SHARE = 1e-10

function targetSums(rows: Uint32Array, target: Float64Array, weights: Float64Array) {
  let mass = 0
  let massSquared = 0
  let total = 0
  let varies = false
  const origin = target[rows[0]!]!
  for (const row of rows) {
    const weight = weights[row]!
    mass += weight
    massSquared += weight * weight
    total += weight * (target[row]! - origin)
    if (target[row] !== origin) varies = true
  }
  if (!varies) return undefined
  const shift = total / mass
  const pulls = new Float64Array(target.length)
  let squares = 0
  for (const row of rows) {
    const deviation = target[row]! - origin - shift
    const pull = weights[row]! * deviation
    pulls[row] = pull
    squares += pull * deviation
  }
  return { pulls, mass, squares, size: (mass * mass) / massSquared }
}

/**
 * Returns the cut between two values of a column that gains most and leaves `minLeaf` instances either side: of equal
 * ones the lowest, of columns the one that correlates more with the target in the node, then the first.
 */
function bestCut(
  { values, weights }: DependencyColumns,
  node: TreeNode,
  sums: TargetSums & { readonly target: number; readonly minLeaf: number },
): BestCut | undefined {
  const { pulls, mass, squares, target, minLeaf } = sums
  const same = SAME_SHARE * squares
  const { orders, rows } = node
  let best: Omit<BestCut, 'cuts'> | undefined
  let cuts = 0
  const shareOf = (column: number) =>
    explainedShare(values[column]!, pulls, { weights, rows: orders[column]! })
  for (let column = 0; column < values.length; column++) {
    const order = orders[column]!
    const size = order.length
    if (column === target || size < 2 * minLeaf) continue
    const ofColumn = values[column]!
    let missingMass = 0
    let missingPull = 0
    if (size < rows.length) {
      missingMass = mass
      for (const row of order) {
        missingMass -= weights[row]!
        missingPull -= pulls[row]!
      }
    }
    let leftMass = 0
    let leftPull = 0
    let next = ofColumn[order[0]!]!
    let most = best === undefined ? same : best.gain - same
    let ofThis: Omit<BestCut, 'cuts'> | undefined
    for (let place = 0; place < size - minLeaf; place++) {
      const row = order[place]!
      leftMass += weights[row]!
      leftPull += pulls[row]!
      const value = next
      next = ofColumn[order[place + 1]!]!
      if (next === value || place < minLeaf - 1) continue
      cuts++
      const missingLeft = 2 * leftMass >= mass - missingMass
      const inLeft = missingLeft ? leftMass + missingMass : leftMass
      const pull = missingLeft ? leftPull + missingPull : leftPull
      // Pulls add up to 0 over the node: those of the right side are −pull.
      const gain = (pull * pull * mass) / (inLeft * (mass - inLeft))
      if (gain <= most) continue
      most = gain + same
      ofThis = { column, lastLeft: value, missingLeft, gain }
    }
    if (ofThis === undefined) continue
    const isBetter =
      best === undefined ||
      ofThis.gain > best.gain + same ||
      shareOf(ofThis.column) > shareOf(best.column) + SAME_SHARE
    if (isBetter) best = ofThis
  }
  return best === undefined ? undefined : { ...best, cuts }
}

function selectVariables(
  all: readonly number[],
  { logs, options }: DependencyNetworks,
  { valuesOf, members }: { valuesOf: (variable: number) => Float64Array; members: Members },
): { readonly chosen: readonly number[]; readonly leftOut: number } {
  const { minLeaf, mostVariables } = options
  if (all.length <= mostVariables) return { chosen: all, leftOut: 0 }
  const { before, after } = membersOf(logs)
  const able = all.flatMap((variable) => {
    const values = valuesOf(variable)
    if (varyingOrder(picked(values, members)).length < 2 * minLeaf) return []
    const { statistic } = welch(picked(values, before), picked(values, after))
    return [{ variable, t: Number.isNaN(statistic) ? 0 : Math.abs(statistic) }]
  })
  const most = sort(able, (a, b) => descending(a.t, b.t)).slice(0, mostVariables)
  const chosen = most.map(({ variable }) => variable).sort((a, b) => a - b)
  return { chosen, leftOut: able.length - chosen.length }
}

function explainedShare(
  values: Float64Array,
  pulls: Float64Array,
  { rows, weights }: { readonly rows: Uint32Array; readonly weights: Float64Array },
): number {
  const own = targetSums(rows, values, weights)
  if (own === undefined) return 0
  const mean = sum(rows, (row) => pulls[row]!) / own.mass
  let both = 0
  let squares = 0
  for (const row of rows) {
    const pull = pulls[row]! - weights[row]! * mean
    both += (own.pulls[row]! * pull) / weights[row]!
    squares += (pull * pull) / weights[row]!
  }
  const share = (both * both) / (own.squares * squares)
  return Number.isFinite(share) ? share : 0
}
