// Called for every value of every column of every node: indexes with `!`.
import type { CodedColumn } from './coded-column.ts'
import type { ValueGroups } from './value-groups.ts'

/** Cuts this much apart, relative to the better one, are equally good. */
const SAME = 1e-12
/** What rounding may add to a sum of weights that are fractions. */
const ROUNDING = 1e-9

/** The best division of a node in two by one column. */
export interface BinaryCut {
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
  /** Values of the column that occur in the node. */
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
export function bestBinaryCut(
  { kind }: CodedColumn,
  groups: ValueGroups,
  minLeaf: number,
): BinaryCut | undefined {
  const { size } = groups
  if (size < 2) return undefined
  if (kind === 'numeric') {
    const scan = scanCuts(groups, undefined, minLeaf)
    if (scan === undefined) return undefined
    const { between, at, range } = scan
    const [lastCode, nextCode] = [groups.keys[at]!, groups.keys[at + 1]!]
    const log2Cuts = Math.log2(scan.cuts)
    return { between, log2Cuts, lastCode, nextCode, sets: undefined, range, present: size }
  }
  const order = orderByMean(groups)
  const scan = scanCuts(groups, order, minLeaf)
  if (scan === undefined) return undefined
  const sets = setsOf(groups, order, scan.at)
  // 2^(k−1) − 1, which overflows for many levels.
  const log2Cuts = size < 50 ? Math.log2(2 ** (size - 1) - 1) : size - 1
  return {
    ...{ between: scan.between, log2Cuts, lastCode: -1, nextCode: -1, sets },
    ...{ range: scan.range, present: size },
  }
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
    if (between <= best + SAME * best) continue
    best = between
    at = i
  }
  if (at < 0) return undefined
  return { between: best / weight, at, cuts, range: [low / weight, high / weight] }
}

function sameMean(
  first: Float64Array,
  second: Float64Array,
  group: number,
  other: number,
): boolean {
  const [one, two] = [second[group]! * first[other]!, second[other]! * first[group]!]
  return Math.abs(one - two) <= SAME * Math.max(Math.abs(one), Math.abs(two))
}

/**
 * Groups by their mean. Of its two directions the one that begins nearer to the lowest code, so that
 * of equally good cuts the same is found when the target is turned upside down.
 */
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
