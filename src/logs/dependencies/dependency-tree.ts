// The innermost loop of all dependency networks: it indexes with `!`.
import { sum } from 'd3-array'
import { fTail } from '../../stats/distributions.ts'
import type { DependencyOptions } from './dependency-networks.ts'
import { type DependencyColumns, explainedShare } from './select-columns.ts'

interface TreeOptions extends Pick<DependencyOptions, 'minLeaf' | 'stop' | 'significance'> {
  /** A node with less weight than this is not split. */
  readonly minMass: number
}

export interface TreeSplit {
  readonly predictor: number
  readonly threshold: number
  /** Σ of weights of the node it splits: its number of instances where all count the same. */
  readonly mass: number
  /** The share of the node's sum of squares that it explains. */
  readonly r2: number
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
export function growDependencyTree(
  columns: DependencyColumns,
  target: number,
  options: TreeOptions,
): TreeSplit[] {
  const splits: TreeSplit[] = []
  const { minLeaf, minMass } = options
  const values = columns.values[target] as Float64Array
  const pending = [rootNode(columns, values)]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const sums = targetSums(node.rows, values, columns.weights)
    if (sums === undefined || sums.mass < minMass) continue
    const cut = bestCut(columns, node, sums, { target, minLeaf })
    if (cut === undefined || !isAccepted(cut, sums, options)) continue
    const r2 = Math.min(1, cut.gain / sums.squares)
    splits.push({ predictor: cut.column, threshold: cut.threshold, mass: sums.mass, r2 })
    // Dividing costs as much as looking for a cut: not for parts that are all too small.
    const isLeft = leftRows(columns, node, cut)
    const left = sum(node.rows, (row) => isLeft[row]! * columns.weights[row]!)
    if (Math.max(left, sums.mass - left) < minMass) continue
    pending.push(...dividedNode(node, isLeft, columns.scratch))
  }
  return splits
}

function isAccepted(
  { gain, cuts }: BestCut,
  { squares, size }: TargetSums,
  { stop, significance }: TreeOptions,
): boolean {
  if (stop === 'orange') return true
  if (size <= 2) return false
  const left = squares - gain
  const f = left > 0 ? (gain / left) * (size - 2) : Number.POSITIVE_INFINITY
  return fTail(f, 1, size - 2) * cuts < significance
}

type TargetSums = NonNullable<ReturnType<typeof targetSums>>

/** The division of a node in two that explains most of the target's variance. */
interface BestCut {
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

/** Shares of all squares that are nearer are the same: sums differ by the order of adding. */
const SAME_SHARE = 1e-10

/**
 * Sums of the target over the rows of a node: weight times deviation from the mean, a row each, their
 * weight and squares, and as how many equally weighted rows the node counts; undefined where the target
 * does not vary there.
 */
function targetSums(rows: Int32Array, target: Float64Array, weights: Float64Array) {
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
function bestCut(
  { values, weights }: DependencyColumns,
  node: TreeNode,
  sums: TargetSums,
  { target, minLeaf }: { readonly target: number; readonly minLeaf: number },
): BestCut | undefined {
  const { rows, orders, starts, ends } = node
  const { pulls, mass, squares } = sums
  const same = SAME_SHARE * squares
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

interface TreeNode {
  readonly rows: Int32Array
  /**
   * Of column c those of `rows` that have a value of it, ascending by it, stand from `starts[c]` to
   * before `ends[c]`. Nodes of one tree share the array: each has stretches of its own.
   */
  readonly orders: Int32Array
  readonly starts: Int32Array
  readonly ends: Int32Array
}

function rootNode(columns: DependencyColumns, target: Float64Array): TreeNode {
  const { orders, counts } = columns
  const starts = counts.map((_, column) => column * target.length)
  const ends = counts.map((count, column) => column * target.length + count)
  const all = Int32Array.from(target.keys())
  const root = { rows: all, orders, starts, ends }
  if (!target.some(Number.isNaN)) return root
  const isKept = Uint8Array.from(target, (value) => Number(!Number.isNaN(value)))
  return dividedNode(root, isKept, columns.scratch)[1]
}

/** Of each row of a node, whether a cut puts it on the left. */
function leftRows(
  { values }: DependencyColumns,
  { rows }: TreeNode,
  { column, lastLeft, missingLeft }: BestCut,
): Uint8Array {
  const ofColumn = values[column]!
  const isLeft = new Uint8Array(ofColumn.length)
  for (const row of rows) {
    const value = ofColumn[row]!
    isLeft[row] = Number(Number.isNaN(value) ? missingLeft : value <= lastLeft)
  }
  return isLeft
}

/**
 * Both parts of a node, right and left, by what `isLeft` says of each row; either keeps the order of
 * its rows. Orders are written to `scratch`, where those of a node that was divided before are lost.
 */
function dividedNode(
  { rows, orders, starts, ends }: TreeNode,
  isLeft: Uint8Array,
  scratch: Int32Array<ArrayBuffer>,
): readonly [TreeNode, TreeNode] {
  const right = new Int32Array(rows.length)
  const middles = new Int32Array(starts.length)
  for (let column = 0; column < starts.length; column++) {
    const end = ends[column]!
    let inLeft = starts[column]!
    let inRight = 0
    for (let place = inLeft; place < end; place++) {
      const row = orders[place]!
      // Both are written and one is kept: which of them it is cannot be foreseen.
      const left = isLeft[row]!
      right[inRight] = row
      scratch[inLeft] = row
      inLeft += left
      inRight += 1 - left
    }
    middles[column] = inLeft
    for (let i = 0; i < inRight; i++) scratch[inLeft + i] = right[i]!
  }
  return [
    { rows: rows.filter((row) => !isLeft[row]), orders: scratch, starts: middles, ends },
    { rows: rows.filter((row) => isLeft[row]), orders: scratch, starts, ends: middles },
  ]
}
