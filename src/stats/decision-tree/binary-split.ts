// Called for every column of every node: indexes with `!`.

import { gammaQ } from '../distributions.ts'
import { fisherExact } from '../fisher-exact.ts'
import type { CodedColumn } from './coded-columns.ts'
import { divideBySets, divideByThreshold, type NodeRows, type SplitChoice } from './grow-node.ts'
import type { ValueGroups } from './value-groups.ts'

const SAME = 1e-6

export interface NodeTarget {
  /** For each row of the node its weight, and its weight times the target. */
  readonly weights: Float64Array
  readonly weighted: Float64Array
  readonly weight: number
  readonly squares: number
  readonly scores: ArrayLike<number>
  readonly labels: boolean
}

interface BinaryOptions {
  readonly minLeaf: number
  /** Highest p of a split, over all cuts of all columns; no test if undefined. */
  readonly alpha: number | undefined
  /** Converts squared error for each row into what is reported as the gain. */
  readonly gainScale: number
}

interface Candidate {
  readonly column: CodedColumn
  readonly cut: BinaryCut
  readonly bits: number
}

/**
 * Returns the column whose best cut in two separates best, after what the choice among its cuts
 * costs; of several the first. With `alpha` the best one that chance does not explain.
 *
 * The cost is that of C4.5's thresholds: to say which of m cuts was taken needs log2 m bits, and k
 * levels can be divided in two in 2^(k−1) − 1 ways. Without it a column with many values beats the
 * column with few that is behind it. The separation counts ½·(n − 1)·R² / ln 2 bits, the
 * information of small differences (R² = 1 − squared error after / before).
 */
export function chooseBinary(
  columns: readonly CodedColumn[],
  { rows, weights }: NodeRows,
  target: NodeTarget,
  groups: ValueGroups,
  { minLeaf, alpha, gainScale }: BinaryOptions,
): SplitChoice | undefined {
  const perSquare = (target.weight - 1) / (2 * Math.LN2 * target.squares)
  const candidates: Candidate[] = []
  for (const column of columns) {
    groups.fill(column, rows, target.weights, target.weighted)
    const cut = bestBinaryCut(column, groups, minLeaf)
    if (cut === undefined || !(cut.between > 1e-12 * target.squares)) continue
    candidates.push({ column, cut, bits: cut.between * perSquare - cut.log2Cuts })
  }
  // Stable: of equally good ones the first stays first.
  const ranked = candidates.toSorted((a, b) =>
    Math.abs(a.bits - b.bits) < SAME ? 0 : b.bits - a.bits,
  )
  for (const { column, cut, bits } of ranked) {
    const division =
      cut.sets === undefined
        ? divideByThreshold(column, cut.lastCode, cut.nextCode)
        : divideBySets(column, cut.sets)
    const gap = standardizedGap(column, division.childOf, rows, weights, target.scores)
    const p = Math.min(1, selectedCutP(gap, cut, target.labels) * candidates.length)
    if (alpha !== undefined && !(p <= alpha)) continue
    const tied = ranked.filter(
      (other) => other.column !== column && Math.abs(other.bits - bits) < SAME,
    )
    return {
      ...division,
      column: column.name,
      gain: (gainScale * cut.between) / target.weight,
      p,
      tied: tied.map((other) => other.column.name),
    }
  }
  return undefined
}

/** Cuts this much apart, relative to the better one, are equally good. */
const SAME_CUT = 1e-12
/** What rounding may add to a sum of weights that are fractions. */
const ROUNDING = 1e-9

interface BinaryCut {
  /** Sum of squares between the two sides: by how much the sum of squared errors falls. */
  readonly between: number
  /** Ways to cut: thresholds, or for a categorical column divisions of its levels in two sets. */
  readonly log2Cuts: number
  /** Codes of a threshold's first side end here, those of the second begin with `nextCode`. */
  readonly lastCode: number
  readonly nextCode: number
  /** Codes of both sides of a categorical column; the lowest code is in the first. */
  readonly sets: readonly [readonly number[], readonly number[]] | undefined
  /** Shares of the known rows on the left of the first and the last cut that may be made. */
  readonly range: readonly [number, number]
  readonly present: number
}

/**
 * The cut in two that leaves the least squared error, the rows of a node added up in `groups` as
 * weights and weighted targets; undefined if no cut leaves `minLeaf` on both sides. For targets 0
 * and 1 the squared error is half the Gini impurity.
 *
 * Levels of a categorical column are put in the order of their means: the best of all divisions in
 * two sets is one that cuts this order. Levels of the same mean stay together.
 *
 * Sources: Breiman, Friedman, Olshen and Stone 1984, "Classification and regression trees", §4.2
 * and 8.8; for the order, Fisher 1958, "On grouping for maximum homogeneity", Journal of the
 * American Statistical Association 53:789-798.
 */
function bestBinaryCut({ kind }: CodedColumn, groups: ValueGroups, minLeaf: number) {
  const { size } = groups
  if (size < 2) return undefined
  const order = kind === 'numeric' ? undefined : orderByMean(groups)
  const scan = scanCuts(groups, order, minLeaf)
  if (scan === undefined) return undefined
  const { between, at, cuts, range } = scan
  const cut = { between, range, present: size }
  if (order === undefined) {
    const [lastCode, nextCode] = [groups.keys[at]!, groups.keys[at + 1]!]
    return { ...cut, log2Cuts: Math.log2(cuts), lastCode, nextCode, sets: undefined }
  }
  // 2^(k−1) − 1, which overflows for many levels.
  const log2Cuts = size < 50 ? Math.log2(2 ** (size - 1) - 1) : size - 1
  return { ...cut, log2Cuts, lastCode: -1, nextCode: -1, sets: setsOf(groups, order, at) }
}

/** Best cut along an order of the groups, after its element `at`; ascending codes if undefined. */
function scanCuts(
  { size, first, second }: ValueGroups,
  order: Int32Array | undefined,
  minLeaf: number,
): { between: number; at: number; cuts: number; range: readonly [number, number] } | undefined {
  let weight = 0
  let sum = 0
  for (let group = 0; group < size; group++) {
    weight += first[group]!
    sum += second[group]!
  }
  const least = minLeaf - ROUNDING
  let left = 0
  let leftSum = 0
  let best = -1
  let at = -1
  let cuts = 0
  let [low, high] = [0, 0]
  for (let i = 0; i + 1 < size; i++) {
    const group = order === undefined ? i : order[i]!
    left += first[group]!
    leftSum += second[group]!
    if (left < least) continue
    const right = weight - left
    if (right < least) break
    if (order !== undefined && sameMean(first, second, group, order[i + 1]!)) continue
    if (cuts === 0) low = left
    high = left
    cuts++
    // Whole numbers for whole targets: exchanging two classes gives exactly the same.
    const apart = leftSum * right - (sum - leftSum) * left
    const between = (apart * apart) / (left * right)
    if (between <= best + SAME_CUT * best) continue
    best = between
    at = i
  }
  if (at < 0) return undefined
  return { between: best / weight, at, cuts, range: [low / weight, high / weight] }
}

function sameMean(first: Float64Array, second: Float64Array, group: number, other: number) {
  const [one, two] = [second[group]! * first[other]!, second[other]! * first[group]!]
  return Math.abs(one - two) <= SAME_CUT * Math.max(Math.abs(one), Math.abs(two))
}

/** Groups by mean, in the direction that finds the same cut with the target upside down. */
function orderByMean({ size, first, second }: ValueGroups): Int32Array {
  const order = Int32Array.from({ length: size }, (_, group) => group)
  const compare = (a: number, b: number) => second[a]! / first[a]! - second[b]! / first[b]! || a - b
  order.sort(compare)
  let start = 1
  let end = size - 2
  while (start < size && sameMean(first, second, order[0]!, order[start]!)) start++
  while (end >= 0 && sameMean(first, second, order[size - 1]!, order[end]!)) end--
  const lowestAtStart = order.subarray(0, start).reduce((a, b) => Math.min(a, b))
  const lowestAtEnd = order.subarray(end + 1).reduce((a, b) => Math.min(a, b))
  return lowestAtEnd < lowestAtStart ? order.reverse() : order
}

function setsOf({ keys }: ValueGroups, order: Int32Array, at: number) {
  const codes = Array.from(order, (group) => keys[group]!)
  const sorted = (set: number[]) => set.sort((a, b) => a - b)
  const one = sorted(codes.slice(0, at + 1))
  const other = sorted(codes.slice(at + 1))
  return one[0]! < other[0]! ? ([one, other] as const) : ([other, one] as const)
}

/**
 * How likely chance alone would separate the rows of a node as well by the best cut of one column.
 *
 * Null hypothesis: the values of the column are dealt to the rows at random. `gap` is the
 * difference of the two sides' means, one degree of freedom for a cut that was fixed before; see
 * `standardizedGap`. As the best of many cuts was taken, p is the smaller of two bounds. Both: p of
 * one cut times the number of cuts (Bonferroni). Thresholds: the tail of the maximum over all of
 * them (Miller and Siegmund). Sets: the tail of all k levels together, k − 1 degrees of freedom, as
 * no division in two separates better than all levels apart (Scheffé).
 *
 * Where scores are labels, 0 and 1, p is raised by as much as Fisher's exact p of the cut exceeds
 * that of the normal distribution.
 *
 * Limits: otherwise asymptotic. Rows with missing values count by their weight as if they were
 * whole rows.
 *
 * Sources: Strasser and Weber 1999, "On the asymptotic theory of permutation statistics",
 * Mathematical Methods of Statistics 8:220-250; Miller and Siegmund 1982, "Maximally selected chi
 * square statistics", Biometrics 38(4):1011-1016; Scheffé 1953, "A method for judging all contrasts
 * in the analysis of variance", Biometrika 40:87-104; as the stopping rule of trees, Hothorn,
 * Hornik and Zeileis 2006, "Unbiased recursive partitioning", Journal of Computational and
 * Graphical Statistics 15(3):651-674.
 */
function selectedCutP(
  gap: Gap,
  { log2Cuts, present, range, sets }: Pick<BinaryCut, 'log2Cuts' | 'present' | 'range' | 'sets'>,
  labels: boolean,
): number {
  const { statistic } = gap
  const single = gammaQ(0.5, statistic / 2)
  const bonferroni = single * 2 ** log2Cuts
  const joint =
    sets === undefined
      ? maximumP(Math.sqrt(statistic), range)
      : gammaQ((present - 1) / 2, statistic / 2)
  // 0 · ∞: so many levels that the number of sets overflows.
  const selected = Math.min(1, joint, Number.isNaN(bonferroni) ? 1 : bonferroni)
  if (!labels || single === 0) return selected
  return Math.min(1, Math.max(selected, (exactP(gap) * selected) / single))
}

/** P of one cut for scores 0 and 1: a normal tail takes small counts for rarities. */
function exactP({ sizes, sums }: Gap): number {
  const cells = [0, 1].map((side) => {
    const hits = wholeRows(Number(sums[side]))
    return { hits, size: hits + wholeRows(Number(sizes[side]) - Number(sums[side])) }
  })
  const [one, other] = cells
  if (one === undefined || other === undefined || one.size === 0 || other.size === 0) return 1
  return fisherExact(one.hits, one.size, other.hits, other.size).p
}

/** Halves go down, also those that the order of adding made a little more or less. */
function wholeRows(weight: number): number {
  return Math.max(0, Math.round(weight - 1e-6))
}

/** P of the largest standardized difference over cuts with left shares in `range`. */
function maximumP(largest: number, [low, high]: readonly [number, number]): number {
  // The approximation is one of the tail.
  if (largest < 1.5) return 1
  const density = Math.exp((-largest * largest) / 2) / Math.sqrt(2 * Math.PI)
  const width = Math.log((high * (1 - low)) / ((1 - high) * low))
  return density * ((largest - 1 / largest) * width + 4 / largest)
}

interface Gap {
  /** Square of the standardized difference of means. */
  readonly statistic: number
  readonly sizes: readonly [number, number]
  readonly sums: readonly [number, number]
}

/** The squared difference of mean scores over its variance if values were dealt at random. */
function standardizedGap(
  { codes }: CodedColumn,
  childOf: (code: number) => number,
  rows: Int32Array,
  weights: Float64Array | undefined,
  scores: ArrayLike<number>,
): Gap {
  const sizes: [number, number] = [0, 0]
  const sums: [number, number] = [0, 0]
  let squares = 0
  for (const [i, row] of rows.entries()) {
    const code = Number(codes[row])
    if (code < 0) continue
    const weight = weights === undefined ? 1 : Number(weights[i])
    const score = Number(scores[row])
    const side = childOf(code) === 0 ? 0 : 1
    sizes[side] += weight
    sums[side] += weight * score
    squares += weight * score * score
  }
  const count = sizes[0] + sizes[1]
  const sum = sums[0] + sums[1]
  const total = squares - (sum * sum) / count
  const apart = sums[0] * sizes[1] - sums[1] * sizes[0]
  const between = (apart * apart) / (sizes[0] * sizes[1] * count)
  const statistic = total > 1e-12 * squares ? ((count - 1) * between) / total : 0
  return { statistic, sizes, sums }
}
