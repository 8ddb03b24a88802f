// The innermost loop of all dependency networks: it indexes with `!`.
import type { DependencyColumns } from './dependency-columns.ts'
import { explainedShare } from './explained-share.ts'
import type { TreeNode } from './tree-node.ts'

/** What the rows of a node hold of the target. */
export interface TargetSums {
  /** Weight times deviation from the node's mean, an instance each. */
  readonly pulls: Float64Array
  /** Σ of weights. */
  readonly mass: number
  /** Σ of weighted squared deviations from the mean. */
  readonly squares: number
  /** (Σw)² / Σw²: as how many equally weighted instances the node counts. */
  readonly size: number
}

/** The division of a node in two that explains most of the target's variance. */
export interface BestCut {
  readonly column: number
  /** Values up to this one go left. */
  readonly lastLeft: number
  /** Midway to the next value. */
  readonly threshold: number
  /** Where instances without a value go: to the side that has more weight. */
  readonly missingLeft: boolean
  /** How much less the weighted sum of squares is. */
  readonly gain: number
  /** How many cuts of all columns there were to choose from. */
  readonly cuts: number
}

/** Gains nearer than this share of all squares are the same: sums differ by the order of adding. */
const SAME_GAIN = 1e-10

const SAME_SHARE = 1e-10

/** Sums of the target over the rows of a node; undefined where it does not vary there. */
export function targetSums(
  rows: Int32Array,
  target: Float64Array,
  weights: Float64Array,
): TargetSums | undefined {
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
 * The best of all cuts between two values of a column that leave `minLeaf` instances with a value on
 * either side. Of columns that gain the same, the one that correlates more with the target in the node
 * (r² over instances with a value): what variables are called decides only after that. Of equal cuts
 * of a column the lowest. Undefined where there is none that gains.
 */
export function bestCut(
  { values, weights }: DependencyColumns,
  node: TreeNode,
  sums: TargetSums,
  { target, minLeaf }: { readonly target: number; readonly minLeaf: number },
): BestCut | undefined {
  const { rows, orders, starts, ends } = node
  const { pulls, mass, squares } = sums
  const same = SAME_GAIN * squares
  let best: Omit<BestCut, 'cuts'> | undefined
  let cuts = 0
  const shareOf = (column: number) =>
    explainedShare(values[column]!, pulls, {
      weights,
      rows: orders.subarray(starts[column]!, ends[column]!),
    })
  for (let column = 0; column < values.length; column++) {
    const start = starts[column]!
    const end = ends[column]!
    if (column === target || end - start < 2 * minLeaf) continue
    const ofColumn = values[column]!
    let missingMass = 0
    let missingPull = 0
    if (end - start < rows.length) {
      missingMass = mass
      for (let place = start; place < end; place++) {
        missingMass -= weights[orders[place]!]!
        missingPull -= pulls[orders[place]!]!
      }
    }
    const firstCut = start + minLeaf - 1
    const lastCut = end - minLeaf
    let leftMass = 0
    let leftPull = 0
    let next = ofColumn[orders[start]!]!
    let most = best === undefined ? same : best.gain - same
    let ofThis: Omit<BestCut, 'cuts'> | undefined
    for (let place = start; place < lastCut; place++) {
      const row = orders[place]!
      leftMass += weights[row]!
      leftPull += pulls[row]!
      const value = next
      next = ofColumn[orders[place + 1]!]!
      if (next === value || place < firstCut) continue
      cuts++
      const missingLeft = 2 * leftMass >= mass - missingMass
      const inLeft = missingLeft ? leftMass + missingMass : leftMass
      const pull = missingLeft ? leftPull + missingPull : leftPull
      // Pulls add up to 0 over the node: those of the right side are −pull.
      const gain = (pull * pull * mass) / (inLeft * (mass - inLeft))
      if (gain <= most) continue
      most = gain + same
      const threshold = value + (next - value) / 2
      ofThis = { column, lastLeft: value, threshold, missingLeft, gain }
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
