// Columns are read once a node, tree and feature: the loops index with `!`.
import { welch } from '../../stats/welch.ts'
import type { Feature } from '../features/features.ts'
import { AFTER, BEFORE, type LogSet, type VariableFeatures } from '../features/log-set.ts'

interface Selection {
  readonly logs: LogSet
  readonly features: VariableFeatures
  readonly featureType: Feature
  readonly members: readonly number[]
  readonly performance: Float64Array
  readonly weights: Float64Array
  /** The variable that performance is a feature of. */
  readonly own: readonly (number | undefined)[]
  readonly minLeaf: number
  readonly mostVariables: number
}

/**
 * The columns of a network: all, if they are at most `mostVariables`. Else those that can be part of
 * one, as they vary and so many instances have them that they can be split; of too many of these,
 * those that differ most between the classes (|t|) and those that correlate most with performance (r²,
 * by its F), in turn.
 */
export function selectColumns(selection: Selection) {
  const { features, featureType, members, own, minLeaf, mostVariables } = selection
  const column = (variable: number) => ({
    name: features.names[variable] as string,
    values: picked(features.of(variable, featureType), members),
  })
  const all = [...features.names.keys()].filter((variable) => !own.includes(variable))
  if (all.length <= mostVariables) return { columns: all.map(column), leftOut: 0 }
  const able = all.filter((variable) => canBeSplit(column(variable).values, minLeaf))
  const chosen = able.length <= mostVariables ? able : mostTelling(able, selection)
  // `leftOut`: how many variables could have taken part, and were too many.
  return { columns: chosen.map(column), leftOut: able.length - chosen.length }
}

/** Without so many values on either side a column neither splits others nor is split. */
function canBeSplit(values: Float64Array, minLeaf: number): boolean {
  const present = values.filter((value) => !Number.isNaN(value))
  return present.length >= 2 * minLeaf && present.some((value) => value !== present[0])
}

function mostTelling(variables: readonly number[], selection: Selection): number[] {
  const { logs, features, featureType, mostVariables } = selection
  const [before, after] = [BEFORE, AFTER].map((code) =>
    [...logs.instances.keys()].filter((instance) => logs.classOf[instance] === code),
  ) as [number[], number[]]
  const telling = variables.map((variable) => {
    const values = features.of(variable, featureType)
    const { statistic } = welch(picked(values, before), picked(values, after))
    const t = Number.isNaN(statistic) ? 0 : Math.abs(statistic)
    return { variable, t, f: correlation(values, selection) }
  })
  const rankings = [
    telling.toSorted((a, b) => descending(a.t, b.t) || descending(a.f, b.f)),
    telling.toSorted((a, b) => descending(a.f, b.f) || descending(a.t, b.t)),
  ]
  const chosen = new Set<number>()
  for (let rank = 0; chosen.size < mostVariables; rank++) {
    for (const ranking of rankings) {
      if (chosen.size < mostVariables) chosen.add(Number(ranking[rank]?.variable))
    }
  }
  return [...chosen].sort((a, b) => a - b)
}

/** F of the straight line that predicts performance: r² of three instances is worth less. */
function correlation(values: Float64Array, { members, performance, weights }: Selection): number {
  const ofMembers = picked(values, members)
  const rows = Int32Array.from(members.keys()).filter((row) => !Number.isNaN(ofMembers[row]))
  const pulls = performance.map((value, row) => value * Number(weights[row]))
  const share = rows.length < 3 ? 0 : explainedShare(ofMembers, pulls, { rows, weights })
  return (share * (rows.length - 2)) / (1 - share)
}

export function picked(values: Float64Array, members: readonly number[]): Float64Array {
  return Float64Array.from(members, (instance) => Number(values[instance]))
}

/** Infinite ones are equal: their difference would be none. */
function descending(a: number, b: number): number {
  return a === b ? 0 : b - a
}

/**
 * One feature of all variables of one kind, in the instances of one class, sorted once for the trees
 * of all of them.
 */
export interface DependencyColumns {
  /** Ascending, performance among them. */
  readonly names: readonly string[]
  /** A value an instance; NaN where it is missing. */
  readonly values: readonly Float64Array[]
  /**
   * Of each column, the instances that have a value, ascending by it: those of column c from
   * `c * instances` on, as many as `counts[c]` says.
   */
  readonly orders: Int32Array
  readonly counts: Int32Array
  readonly weights: Float64Array
  readonly mass: number
  /** Room for the orders of one tree's nodes: as large as `orders`. */
  readonly scratch: Int32Array<ArrayBuffer>
}

/** Sorts columns. They must be in the order of their names. */
export function dependencyColumns(
  columns: ReturnType<typeof selectColumns>['columns'],
  weights: Float64Array,
): DependencyColumns {
  const orders = new Int32Array(columns.length * weights.length)
  const counts = columns.map(({ values }, column) => {
    const order = ascending(values)
    orders.set(order, column * weights.length)
    return order.length
  })
  return {
    names: columns.map(({ name }) => name),
    values: columns.map(({ values }) => values),
    orders,
    counts: Int32Array.from(counts),
    weights,
    mass: weights.reduce((sum, weight) => sum + weight, 0),
    scratch: new Int32Array(orders.length),
  }
}

function ascending(values: Float64Array): Int32Array {
  const present = Int32Array.from(values.keys()).filter((row) => !Number.isNaN(values[row]))
  present.sort((i, j) => values[i]! - values[j]! || i - j)
  // What never changes splits nothing: without rows it is passed over.
  const varies = values[present[0]!] !== values[present[present.length - 1]!]
  return varies ? present : new Int32Array(0)
}

/**
 * Pearson's r² between a column and a target over some rows: the share of the target's variance that
 * a straight line would explain. 0 where either does not vary.
 */
export function explainedShare(
  values: Float64Array,
  pulls: Float64Array,
  { rows, weights }: { readonly rows: Int32Array; readonly weights: Float64Array },
): number {
  let mass = 0
  let ofValues = 0
  let ofTarget = 0
  const origin = values[rows[0]!]!
  for (const row of rows) {
    mass += weights[row]!
    ofValues += weights[row]! * (values[row]! - origin)
    ofTarget += pulls[row]!
  }
  const [shift, mean] = [ofValues / mass, ofTarget / mass]
  let both = 0
  let squares = 0
  let targetSquares = 0
  for (const row of rows) {
    const weight = weights[row]!
    const deviation = values[row]! - origin - shift
    const pull = pulls[row]! - weight * mean
    both += deviation * pull
    squares += weight * deviation * deviation
    targetSquares += (pull * pull) / weight
  }
  const share = (both * both) / (squares * targetSquares)
  return Number.isFinite(share) ? share : 0
}
