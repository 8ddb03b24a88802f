// Called for every row of every node: indexes with `!`.
import { fsum } from 'd3-array'
import { ascendingOrder } from '../ascending-order.ts'
import { gammaQ } from '../distributions.ts'
import { fisherExact } from '../fisher-exact.ts'
import { requireCount, requireShare } from '../require-option.ts'
import { requireWeights, worthWeights } from '../weighted-sample.ts'
import {
  columnInfo,
  requireTreeColumns,
  type SplitTest,
  type TreeColumn,
  type TreeNode,
  type TreeOptions,
  type TreeSplit,
} from './tree.ts'

/** The parts of a tree that depend on its criterion. */
interface Criterion<Content> {
  /** Leave out columns with nearly as many values as rows (C4.5). */
  readonly limitValues: boolean
  /** Smaller parts of rows are not made: see `divideRows`. */
  readonly leastWeight: number
  /** One value a row. */
  readonly target: ArrayLike<number>
  /** Returns the content that a node keeps of its rows, and how to split them, if at all. */
  readonly lookAt: (admitted: readonly CodedColumn[], all: NodeRows) => LookAt<Content>
  readonly prune: (root: TreeNode<Content>) => TreeNode<Content>
  readonly weightOf: (content: Content) => number
  /** Returns the content with weights multiplied by `scale`. */
  readonly scaled: (content: Content, scale: number) => Partial<Content>
}

type LookAt<Content> = (node: NodeRows) => {
  readonly content: Content
  /** Called only where the depth allows a split. */
  readonly choose: () => SplitChoice | undefined
}

/**
 * Grows a tree by one criterion.
 *
 * @throws OptionError for options out of range, weights that are none, and columns that do not fit
 */
export function growTree<Content extends object>(
  given: readonly TreeColumn[],
  { minLeaf, alpha = 0.01, maxDepth = 30, weights }: TreeOptions & Pick<BinaryOptions, 'minLeaf'>,
  criterion: Criterion<Content>,
) {
  const { target, leastWeight, scaled } = criterion
  requireCount('minLeaf', minLeaf)
  requireCount('maxDepth', maxDepth, 0)
  requireShare('alpha', alpha)
  requireWeights(target, weights)
  requireTreeColumns(given, target.length)
  const columns = admittedColumns(given, target.length, criterion.limitValues)
  const all: NodeRows = {
    rows: Int32Array.from({ length: target.length }, (_, row) => row),
    // Weights in the same proportions that add up to their worth.
    weights: weights && worthWeights(weights),
  }
  const growth = { lookAt: criterion.lookAt(columns, all), maxDepth, leastWeight }
  const root = criterion.prune(growNode(growth, all))
  const scale = weights === undefined ? 1 : fsum(weights) / criterion.weightOf(root)
  return {
    columns: given.map(columnInfo),
    root: weights === undefined ? root : withContents(root, (content) => scaled(content, scale)),
  }
}

function growNode<Content extends object>(
  growth: Pick<Criterion<Content>, 'leastWeight'> & {
    readonly lookAt: LookAt<Content>
    readonly maxDepth: number
  },
  node: NodeRows,
  depth = 0,
): TreeNode<Content> {
  const { content, choose } = growth.lookAt(node)
  const choice = depth < growth.maxDepth ? choose() : undefined
  if (choice === undefined) return { ...content, kind: 'leaf' }
  const { codes: _, childOf, width, ...split } = choice
  const children = divideRows(node, choice, growth.leastWeight).map((child) =>
    growNode(growth, child, depth + 1),
  )
  return { ...content, ...split, kind: 'split', children }
}

/** The rows that reach a node. A row whose value was missing on the way is in several, in part. */
export interface NodeRows {
  readonly rows: Int32Array
  /** Part of each row that is here, times its count; undefined if all rows are here in full and count once. */
  readonly weights: Float64Array | undefined
}

function withContents<Content extends object>(
  node: TreeNode<Content>,
  change: (content: Content) => Partial<Content>,
): TreeNode<Content> {
  const own = { ...node, ...change(node) }
  if (node.kind === 'leaf') return own
  return {
    ...own,
    children: node.children.map((child) => withContents(child, change)),
  } as typeof own
}

/**
 * Returns the rows of each child; missing values go to all, as known rows are divided (C4.5's fractional cases). Parts
 * below `leastWeight` go to the largest child.
 */
function divideRows(
  { rows, weights }: NodeRows,
  { codes, childOf, width }: SplitChoice,
  leastWeight: number,
): NodeRows[] {
  const weightOf = (i: number) => (weights === undefined ? 1 : weights[i]!)
  const to = rows.map((row) => (codes[row]! < 0 ? -1 : childOf(codes[row]!)))
  const [sums, counts] = [new Float64Array(width), new Int32Array(width)]
  let missing = 0
  for (let i = 0; i < to.length; i++) {
    if (to[i]! < 0) missing++
    else {
      sums[to[i]!]! += weightOf(i)
      counts[to[i]!]!++
    }
  }
  const known = fsum(sums)
  const largest = sums.indexOf(Math.max(...sums))
  const partsOf = (weight: number) => {
    const parts = sums.map((sum) => (weight * sum) / known)
    const others = parts.map((part, child) => (child === largest || part < leastWeight ? 0 : part))
    others[largest] = weight - fsum(others)
    return others
  }
  const isWeighted = weights !== undefined || missing > 0
  const children = Array.from(counts, (count) => ({
    rows: new Int32Array(count + missing),
    weights: isWeighted ? new Float64Array(count + missing) : undefined,
    size: 0,
  }))
  const add = (child: number, row: number, weight: number) => {
    const own = children[child]!
    own.rows[own.size] = row
    if (own.weights !== undefined) own.weights[own.size] = weight
    own.size++
  }
  for (let i = 0; i < to.length; i++) {
    if (to[i]! >= 0) add(to[i]!, rows[i]!, weightOf(i))
    else
      for (const [child, part] of partsOf(weightOf(i)).entries())
        if (part > 0) add(child, rows[i]!, part)
  }
  return children.map(({ rows, weights, size }) => ({
    rows: rows.subarray(0, size),
    weights: weights?.subarray(0, size),
  }))
}

/** A split that a criterion decided on, and how to divide the rows by it. */
export interface SplitChoice extends Omit<TreeSplit<never>, 'kind' | 'children'> {
  readonly codes: Int32Array
  readonly childOf: (code: number) => number
  readonly width: number
}

type CodeDivision = Pick<SplitChoice, 'test' | 'codes' | 'childOf' | 'width'>

/**
 * Divides into values up to `lastCode` and those above. The threshold shown is the largest value seen up to the middle
 * of the gap, so later data near it do not invalidate it.
 */
export function divideByThreshold(
  { codes, values }: CodedColumn,
  lastCode: number,
  nextCode: number,
): CodeDivision {
  const middle = values[lastCode]! / 2 + values[nextCode]! / 2
  let shown = lastCode
  while (shown + 1 < nextCode && values[shown + 1]! <= middle) shown++
  return {
    test: { kind: 'threshold', value: values[shown]! },
    codes,
    childOf: (code) => (code <= lastCode ? 0 : 1),
    width: 2,
  }
}

export function divideByBranches(column: CodedColumn, branches: readonly number[]): CodeDivision {
  const test: SplitTest = { kind: 'branches', codes: branches }
  const children = branches.map((code) => [code])
  return { test, width: branches.length, ...byTable(column, children) }
}

function byTable({ codes, size }: CodedColumn, children: readonly (readonly number[])[]) {
  const table = new Int32Array(size).fill(-1)
  for (const [child, own] of children.entries()) for (const code of own) table[code] = child
  return { codes, childOf: (code: number) => table[code]! }
}

/** C4.5's share of rows from which on a categorical column has too many values. */
const MANY_VALUES = 0.3

/**
 * Returns the columns that may be split on, coded: those of two values or more and, with `limitValues`, no names of more
 * values than 0.3 times the rows, unless all are so (Quinlan's rule).
 */
function admittedColumns(
  all: readonly TreeColumn[],
  rows: number,
  limitValues: boolean,
): readonly CodedColumn[] {
  const coded = all.map(codeColumn)
  const tooMany = ({ kind, present }: CodedColumn) =>
    kind === 'categorical' && present > MANY_VALUES * rows
  const limit = limitValues && !coded.every(tooMany)
  return coded.filter((column) => column.present >= 2 && !(limit && tooMany(column)))
}

export interface CodedColumn {
  readonly name: string
  readonly kind: TreeColumn['kind']
  /** One a row: from 0 to `size` − 1 and, where numeric, in the order of values; −1 for missing. */
  readonly codes: Int32Array
  readonly size: number
  /** Codes that occur. */
  readonly present: number
  /** Value of each code of a numeric column, ascending; empty for a categorical column. */
  readonly values: Float64Array
}

/** Returns the columns with their values coded: the only time that numbers are sorted as such. */
export function codeColumn(column: TreeColumn): CodedColumn {
  const { name, kind } = column
  if (kind === 'numeric') {
    const { ranks, distinct } = denseRanks(column.values)
    const size = distinct.length
    return { name, kind, codes: ranks, size, present: size, values: distinct }
  }
  const { codes, levels } = column
  const occurs = new Uint8Array(levels.length)
  for (const code of codes) if (code >= 0) occurs[code] = 1
  const present = occurs.reduce((sum, one) => sum + one, 0)
  return { name, kind, codes, size: levels.length, present, values: new Float64Array(0) }
}

/** Replaces values by their places among `distinct` ones, ascending, −0 as 0; −1 for NaN. */
export function denseRanks(values: Float64Array) {
  const rows = new Uint32Array(values.length)
  let known = 0
  for (let i = 0; i < values.length; i++) if (!Number.isNaN(values[i]!)) rows[known++] = i
  const order = ascendingOrder(values, rows.subarray(0, known))
  const ranks = new Int32Array(values.length).fill(-1)
  const distinct = new Float64Array(order.length)
  let rank = -1
  for (let i = 0; i < order.length; i++) {
    const item = order[i]!
    const value = values[item]! + 0
    if (rank < 0 || value !== distinct[rank]!) distinct[++rank] = value
    ranks[item] = rank
  }
  return { ranks, distinct: distinct.slice(0, rank + 1) }
}

/**
 * The rows of a node added up by value: two numbers a row, of whichever criterion. Arrays are good
 * until the next `fill`.
 */
export class ValueGroups {
  size = 0
  readonly keys: Int32Array
  readonly first: Float64Array
  readonly second: Float64Array
  /** Sums over the rows whose value is missing. */
  missingFirst = 0
  missingSecond = 0
  readonly #bins: Float64Array

  constructor(columns: readonly { readonly size: number }[], mostRows: number) {
    const most = columns.reduce((most, { size }) => Math.max(most, size), 0)
    const groups = Math.min(most, mostRows)
    this.keys = new Int32Array(groups)
    this.first = new Float64Array(groups)
    this.second = new Float64Array(groups)
    this.#bins = new Float64Array(2 * most + 2)
  }

  /** Adds up `first[i]` and `second[i]` of `rows[i]` by code, for codes below `size`. */
  fill(
    { codes, size }: Pick<CodedColumn, 'codes' | 'size'>,
    rows: Int32Array,
    first: Float64Array,
    second: Float64Array,
  ): this {
    // Missing (−1) has the first bin.
    const bins = this.#bins
    for (let i = 0; i < rows.length; i++) {
      const bin = 2 * codes[rows[i]!]! + 2
      bins[bin]! += first[i]!
      bins[bin + 1]! += second[i]!
    }
    this.missingFirst = bins[0]!
    this.missingSecond = bins[1]!
    let groups = 0
    for (let code = 0; code < size; code++) {
      const one = bins[2 * code + 2]!
      const other = bins[2 * code + 3]!
      if (one === 0 && other === 0) continue
      this.keys[groups] = code
      this.first[groups] = one
      this.second[groups] = other
      groups++
    }
    bins.fill(0, 0, 2 * size + 2)
    this.size = groups
    return this
  }
}

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
  /** Factor from squared error per row to the reported gain. */
  readonly gainScale: number
}

/**
 * Returns the column whose best cut in two separates best, less the cost of choosing among its cuts; of several the
 * first. With `alpha`, returns the best one that chance does not explain.
 *
 * The cost is that of C4.5's thresholds: to say which of m cuts was taken needs log2 m bits, and k levels can be
 * divided in two in 2^(k−1) − 1 ways. Without it, a column with many values would beat the column with few values that
 * causes the effect. The separation counts ½·(n − 1)·R² / ln 2 bits, the information of small differences (R² = 1 −
 * squared error after / before).
 */
export function chooseBinary(
  columns: readonly CodedColumn[],
  { rows, weights }: NodeRows,
  target: NodeTarget,
  groups: ValueGroups,
  { minLeaf, alpha, gainScale }: BinaryOptions,
): SplitChoice | undefined {
  const perSquare = (target.weight - 1) / (2 * Math.LN2 * target.squares)
  const candidates = columns.flatMap((column) => {
    groups.fill(column, rows, target.weights, target.weighted)
    const cut = bestBinaryCut(column, groups, minLeaf)
    if (cut === undefined || !(cut.between > 1e-12 * target.squares)) return []
    return [{ column, cut, bits: cut.between * perSquare - cut.log2Cuts }]
  })
  // Stable: of equally good ones the first stays first.
  const ranked = candidates.toSorted((a, b) =>
    Math.abs(a.bits - b.bits) < SAME ? 0 : b.bits - a.bits,
  )
  for (const { column, cut, bits } of ranked) {
    const { sets } = cut
    const division: CodeDivision =
      sets === undefined
        ? divideByThreshold(column, cut.lastCode, cut.nextCode)
        : { test: { kind: 'set', codes: sets }, width: 2, ...byTable(column, sets) }
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
/** Largest rounding error in a sum of fractional weights. */
const ROUNDING = 1e-9

type BinaryCut = NonNullable<ReturnType<typeof bestBinaryCut>>

/**
 * Returns the cut in two that leaves the least squared error, the rows of a node added up in `groups` as weights and
 * weighted targets; undefined if no cut leaves `minLeaf` on both sides. For targets 0 and 1 the squared error is half
 * the Gini impurity.
 *
 * `between` is the sum of squares between the two sides: by how much the sum of squared errors falls. `log2Cuts` counts
 * the ways to cut: thresholds, or divisions of levels in two sets. Codes of a threshold's first side end with
 * `lastCode`, those of the second begin with `nextCode`; of `sets`, the first has the lowest code. `range` has the
 * shares of the known rows on the left of the first and the last cut that may be made.
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

/** Finds the best cut along an order of the groups, after its element `at`; ascending codes if undefined. */
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
 * Returns the probability that chance alone would separate a node's rows as well by the best cut of one column.
 *
 * Null hypothesis: the values of the column are dealt to the rows at random. `gap` is the difference of the two sides'
 * means, with one degree of freedom for a fixed cut; see `standardizedGap`. The cut is the best of many, so p is the
 * smaller of two bounds. For both kinds of cut, one bound is p of one cut times the number of cuts (Bonferroni). For
 * thresholds, the other is the tail of the maximum over all of them (Miller and Siegmund). For sets, the other is the
 * tail of all k levels together, with k − 1 degrees of freedom, because no division in two separates better than all
 * levels apart (Scheffé).
 *
 * If scores are labels, 0 and 1, p is raised by the excess of Fisher's exact p of the cut over that of the normal
 * distribution.
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
  { log2Cuts, present, range, sets }: BinaryCut,
  labels: boolean,
): number {
  const { statistic } = gap
  const single = gammaQ(0.5, statistic / 2)
  const bonferroni = single * 2 ** log2Cuts
  const joint =
    sets === undefined
      ? maximumP(Math.sqrt(statistic), range)
      : gammaQ((present - 1) / 2, statistic / 2)
  // 0 · ∞: the number of sets overflows for very many levels.
  const selected = Math.min(1, joint, Number.isNaN(bonferroni) ? 1 : bonferroni)
  if (!labels || single === 0) return selected
  return Math.min(1, Math.max(selected, (exactP(gap) * selected) / single))
}

/** Returns P of one cut for scores 0 and 1: a normal tail would take small counts for rarities. */
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

/** Returns P of the largest standardized difference over cuts with left shares in `range`. */
function maximumP(largest: number, [low, high]: readonly [number, number]): number {
  // The approximation is one of the tail.
  if (largest < 1.5) return 1
  const density = Math.exp((-largest * largest) / 2) / Math.sqrt(2 * Math.PI)
  const width = Math.log((high * (1 - low)) / ((1 - high) * low))
  return density * ((largest - 1 / largest) * width + 4 / largest)
}

type Gap = ReturnType<typeof standardizedGap>

/** Returns the squared difference of mean scores over its variance if values were dealt at random. */
function standardizedGap(
  { codes }: CodedColumn,
  childOf: (code: number) => number,
  rows: Int32Array,
  weights: Float64Array | undefined,
  scores: ArrayLike<number>,
) {
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
