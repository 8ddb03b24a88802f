// Called for every value of every column of every node: indexes with `!`.
import {
  OptionError,
  rejectUnknownOptions,
  requireList,
  requireNumbers,
} from '../../core/errors.ts'
import { requireOneOf } from '../require-option.ts'
import {
  type CodedColumn,
  chooseBinary,
  divideByBranches,
  divideByThreshold,
  growTree,
  type NodeRows,
  type SplitChoice,
  ValueGroups,
} from './grow-node.ts'
import type {
  ClassContent,
  ClassificationNode,
  ClassificationTree,
  TreeColumn,
  TreeOptions,
} from './tree.ts'

export interface ClassificationTreeOptions extends TreeOptions {
  /**
   * `'gain-ratio'` (default): C4.5, a branch for each level of a categorical column. `'gini'`:
   * CART, every split in two, levels divided into two sets.
   */
  readonly criterion?: 'gain-ratio' | 'gini' | undefined
  /** Least weight of rows in two branches of a split; 2. */
  readonly minLeaf?: number | undefined
  /**
   * Follows C4.5 exactly, even where that hides a result: both sides of a threshold need a twentieth of the node's rows
   * (25 at most), so a few mutations among many precursors cannot be isolated; values less than 1e-5 apart are equal
   * even if all are that small; and a row with a missing value is divided without end. Default false. Only for
   * `'gain-ratio'`.
   */
  readonly c45Strict?: boolean | undefined
  /**
   * Leave out splits that may be chance; true. `'gain-ratio'`: error-based pruning with a confidence of 25 %. `'gini'`:
   * no split whose `p` exceeds `alpha`.
   */
  readonly prune?: boolean | undefined
}

const OPTIONS = 'criterion minLeaf c45Strict prune alpha maxDepth weights'.split(' ')
const MIN_WEIGHT = 0.01

/**
 * Grows a decision tree that separates mutations from precursors by their parameters.
 *
 * `columns` have one value a row; `labels[row]` is 0 for a precursor, 1 for a mutation. Neither the
 * order of rows nor that of columns matters, except that the first of equally good columns is taken
 * (`tied` has the others); exchanging the two classes mirrors the tree.
 *
 * `'gain-ratio'` follows C4.5 release 8: information gain over split information among columns that gain at least the
 * average; the gain of a threshold is reduced by log2(number of thresholds)/N; thresholds shown as values from the
 * data; a categorical column with more values than 0.3 times the rows left out unless all are so; rows with a missing
 * value divided among all branches; subtrees replaced by leaves that are expected to err no more, but not raised.
 * `'gini'` grows as CART, with missing values as above, columns compared after the cost of choosing among their cuts,
 * and a test of every split instead of pruning: pruning by errors would lose splits that make a rare class more
 * frequent but not the most frequent.
 *
 * Limits: greedy. Does not find effects that two columns show only together (an exclusive or). Without rows the tree is
 * a leaf that predicts nothing.
 *
 * Sources: Quinlan 1993, "C4.5: programs for machine learning"; Quinlan 1996, Journal of Artificial
 * Intelligence Research 4:77-90; Breiman, Friedman, Olshen and Stone 1984, "Classification and
 * regression trees"; for the use, Sambasivan 2013, §2.6.6.
 *
 * @throws FlowdeltaError for two columns of one name.
 * @throws OptionError for columns of another length than labels, a label that is not 0 or 1, values
 *   out of range, or options out of range.
 *
 * @example
 * const values = Float64Array.of(4096, 2048, 4096, 8192, 16384, 8192)
 * const size = { name: 'size', kind: 'numeric', values }
 * const tree = growClassificationTree([size], Uint8Array.of(1, 1, 1, 0, 0, 0))
 * tree.root.test // { kind: 'threshold', value: 4096 }
 */
export function growClassificationTree(
  columns: readonly TreeColumn[],
  labels: Uint8Array,
  options: ClassificationTreeOptions = {},
): ClassificationTree {
  requireList('columns', columns, 'name', 'kind')
  requireNumbers({ labels })
  rejectUnknownOptions(options, OPTIONS)
  const { criterion = 'gain-ratio', minLeaf = 2, c45Strict = false, prune = true } = options
  const { alpha = 0.01 } = options
  requireOneOf('criterion', criterion, ['gain-ratio', 'gini'])
  const wrong = labels.findIndex((label) => label > 1)
  if (wrong >= 0) {
    throw new OptionError(`labels[${wrong}]`, labels[wrong], '0 (precursor) or 1 (mutation)')
  }
  const byGainRatio = criterion === 'gain-ratio'
  const pruned = (grown: ClassificationNode) => {
    const collapsed = byGainRatio ? collapseTree(grown) : grown
    return byGainRatio && prune ? pruneTree(collapsed) : collapsed
  }
  const grown = growTree<ClassContent>(
    columns,
    { ...options, minLeaf },
    {
      limitValues: byGainRatio,
      leastWeight: byGainRatio && c45Strict ? 0 : MIN_WEIGHT,
      target: labels,
      lookAt(admitted, all) {
        const whole = classCounts(all, labels).weights
        const choose = byGainRatio
          ? byC45(admitted, labels.length, { minLeaf, strict: c45Strict })
          : byGini(admitted, labels, { minLeaf, alpha: prune ? alpha : undefined })
        return (node) => {
          const counts = classCounts(node, labels)
          const [first, second] = counts.weights
          const isMixed = Math.min(first, second) > 1e-9
          const splittable = isMixed && first + second >= 2 * minLeaf - 1e-9
          return {
            content: classContent(counts.weights, whole),
            choose: () => (splittable ? choose(node, counts) : undefined),
          }
        }
      },
      prune: pruned,
      weightOf: ({ weights }) => weights[0] + weights[1],
      scaled: ({ weights: [first, second] }, scale) => ({
        weights: [first * scale, second * scale],
      }),
    },
  )
  return { kind: 'classification', ...grown }
}

type Choose = (node: NodeRows, counts: ClassCounts) => SplitChoice | undefined

function byC45(columns: readonly CodedColumn[], rows: number, options: GainRatioOptions): Choose {
  const scorer = new GainRatioScorer(columns, rows, options)
  return (node, counts) => chooseByGainRatio(scorer, columns, node, counts)
}

function byGini(
  columns: readonly CodedColumn[],
  labels: Uint8Array,
  options: { minLeaf: number; alpha: number | undefined },
): Choose {
  const groups = new ValueGroups(columns, labels.length)
  return (node, { precursors, mutations, weights: [first, second] }) => {
    const weight = first + second
    const target = {
      weights: precursors.map((precursor, i) => precursor + Number(mutations[i])),
      weighted: mutations,
      weight,
      squares: (first * second) / weight,
      scores: labels,
      labels: true,
    }
    // The impurity 2·p·(1 − p) is twice the variance.
    return chooseBinary(columns, node, target, groups, { ...options, gainScale: 2 })
  }
}

function classContent(
  weights: readonly [number, number],
  whole: readonly [number, number],
): ClassContent {
  const here = weights[1] - weights[0]
  // Sums of parts of rows that are equal but for rounding are equal.
  const equal = Math.abs(here) <= 1e-9 * (weights[0] + weights[1])
  const more = equal ? whole[0] - whole[1] : here
  return { weights, predicts: more === 0 ? null : more > 0 ? 1 : 0 }
}

/** Distance below the average gain that is still accepted (C4.5). */
const BELOW_AVERAGE = 1e-3
const SAME = 1e-9

interface GainRatioOptions {
  readonly minLeaf: number
  /** Whether both sides of a threshold need C4.5's larger minimum. */
  readonly strict: boolean
}

/**
 * Returns C4.5's choice: the column with the highest gain ratio among those that gain about the average. Gain alone
 * would favor columns with many values, and the ratio alone cuts that separate a few rows. Undefined if none gains.
 */
function chooseByGainRatio(
  scorer: GainRatioScorer,
  columns: readonly CodedColumn[],
  { rows }: NodeRows,
  counts: ClassCounts,
): SplitChoice | undefined {
  const scores = columns.map((column) => scorer.score(column, rows, counts))
  const admissible = scores.filter((score) => score.admissible)
  const average = admissible.reduce((sum, { gain }) => sum + gain, 0) / admissible.length
  const candidates = admissible.filter(({ gain }) => gain >= average - BELOW_AVERAGE)
  const highest = candidates.reduce((most, { gainRatio }) => Math.max(most, gainRatio), 0)
  if (!(highest > SAME)) return undefined
  const [best, ...others] = candidates.filter(({ gainRatio }) => gainRatio >= highest - SAME)
  if (best === undefined) return undefined
  const column = columns[scores.indexOf(best)]!
  const keys = scorer.codesOf(column, rows, counts)
  const { gain, gainRatio, lastCode } = best
  return {
    ...(column.kind === 'numeric'
      ? divideByThreshold(column, lastCode, keys[keys.indexOf(lastCode) + 1]!)
      : divideByBranches(column, keys)),
    column: best.column,
    gain,
    gainRatio,
    tied: others.map((other) => other.column),
  }
}

/** Values closer than this are one (C4.5); in columns spanning less than 1, this share. */
const MIN_GAP = 1e-5
/** Largest rounding error in a sum of fractional weights. */
const ROUNDING = 1e-9

interface ColumnScore {
  /** Whether the split may be made: enough rows in two branches and, for a threshold, any gain. */
  readonly admissible: boolean
  /** Bits of information gained for a row of the node. */
  readonly rawGain: number
  /** Cost of choosing among `cuts`, in the same unit; 0 for a categorical column. */
  readonly penalty: number
  /** Bits for a row to say which branch it is in, missing being one of them. */
  readonly splitInfo: number
  /** Thresholds to choose from; 0 for a categorical column. */
  readonly cuts: number
  readonly branches: number
  /** The code that the first branch of a threshold ends with; −1 without a threshold. */
  readonly lastCode: number
}

/**
 * Scores columns at one node after another.
 *
 * Source: Quinlan 1996, "Improved use of continuous attributes in C4.5", Journal of Artificial
 * Intelligence Research 4:77-90 (the correction for thresholds); Quinlan 1993, §2.2-2.4, 3.2.
 */
export class GainRatioScorer {
  readonly #groups: ValueGroups
  readonly #xLogX: (x: number) => number
  readonly #options: GainRatioOptions

  constructor(columns: readonly CodedColumn[], rows: number, options: GainRatioOptions) {
    this.#groups = new ValueGroups(columns, rows)
    this.#xLogX = xLogX(rows)
    this.#options = options
  }

  score(column: CodedColumn, rows: Int32Array, counts: ClassCounts) {
    this.#fill(column, rows, counts)
    const node = nodeSums(this.#groups, this.#xLogX)
    return column.kind === 'numeric' ? this.#threshold(column, node) : this.#branches(column, node)
  }

  codesOf(column: CodedColumn, rows: Int32Array, counts: ClassCounts): number[] {
    this.#fill(column, rows, counts)
    return Array.from(this.#groups.keys.subarray(0, this.#groups.size))
  }

  #fill(column: CodedColumn, rows: Int32Array, { precursors, mutations }: ClassCounts): void {
    this.#groups.fill(column, rows, precursors, mutations)
  }

  #threshold({ name, values }: CodedColumn, node: NodeSums) {
    const { precursors, mutations, known, missing, total, information } = node
    const { size, keys, first, second } = this.#groups
    const { minLeaf, strict } = this.#options
    const xLogX = this.#xLogX
    // Below this gap values are equal: fixed for C4.5, otherwise smaller if all values are small.
    const span = values.length === 0 ? 0 : values[values.length - 1]! - values[0]!
    const gap = strict ? MIN_GAP : MIN_GAP * Math.min(1, span)
    const minSide = (strict ? Math.max(minLeaf, Math.min(25, 0.05 * known)) : minLeaf) - ROUNDING
    // Gains that differ by rounding alone are one; the lowest threshold is taken.
    const noise = ROUNDING * Math.max(1, information)
    let left0 = 0
    let left1 = 0
    let best = Number.POSITIVE_INFINITY
    let bestLeft = 0
    let lastCode = -1
    let cuts = 0
    let value = size === 0 ? 0 : values[keys[0]!]!
    let next = size < 2 ? 0 : values[keys[1]!]!
    for (let group = 0; group + 1 < size; group++) {
      const apart = next - value > gap
      value = next
      next = group + 2 < size ? values[keys[group + 2]!]! : value
      left0 += first[group]!
      left1 += second[group]!
      const left = left0 + left1
      if (left < minSide) continue
      const right = known - left
      if (right < minSide) break
      if (!apart) continue
      cuts++
      const rest =
        xLogX(left) -
        (xLogX(left0) + xLogX(left1)) +
        (xLogX(right) - (xLogX(precursors - left0) + xLogX(mutations - left1)))
      if (rest >= best - noise) continue
      best = rest
      bestLeft = left
      lastCode = keys[group]!
    }
    if (cuts === 0) return scoreOf(name, { ...NO_CUT, branches: Math.min(size, 1) })
    const rawGain = (information - best) / total
    const penalty = Math.log2(cuts) / total
    const sides = xLogX(bestLeft) + xLogX(known - bestLeft) + xLogX(missing)
    const splitInfo = (xLogX(total) - sides) / total
    const admissible = rawGain - penalty > ROUNDING
    return scoreOf(name, { admissible, rawGain, penalty, splitInfo, cuts, branches: 2, lastCode })
  }

  #branches({ name }: CodedColumn, { known, missing, total, information }: NodeSums) {
    const { size, first, second } = this.#groups
    const xLogX = this.#xLogX
    let rest = 0
    let sides = xLogX(missing)
    let large = 0
    for (let group = 0; group < size; group++) {
      const weight = first[group]! + second[group]!
      const bits = xLogX(weight)
      sides += bits
      rest += bits - (xLogX(first[group]!) + xLogX(second[group]!))
      if (weight >= this.#options.minLeaf - ROUNDING) large++
    }
    const rawGain = total === 0 || known === 0 ? 0 : (information - rest) / total
    const splitInfo = total === 0 ? 0 : (xLogX(total) - sides) / total
    const admissible = large >= 2
    return scoreOf(name, { ...NO_CUT, admissible, rawGain, splitInfo, branches: size })
  }
}

type NodeSums = ReturnType<typeof nodeSums>

function nodeSums(groups: ValueGroups, lookedUp: (x: number) => number) {
  const { size, first, second, missingFirst, missingSecond } = groups
  let precursors = 0
  let mutations = 0
  for (let group = 0; group < size; group++) {
    precursors += first[group]!
    mutations += second[group]!
  }
  const known = precursors + mutations
  const missing = missingFirst + missingSecond
  const information = lookedUp(known) - (lookedUp(precursors) + lookedUp(mutations))
  return { precursors, mutations, known, missing, total: known + missing, information }
}

const NO_CUT = { admissible: false, rawGain: 0, penalty: 0, splitInfo: 0, cuts: 0, lastCode: -1 }

function scoreOf(column: string, score: ColumnScore) {
  const gain = score.rawGain - score.penalty
  return {
    column,
    ...score,
    gain,
    gainRatio: score.admissible ? gain / score.splitInfo : Number.NaN,
  }
}

export type ClassCounts = ReturnType<typeof classCounts>

/** Returns the weight of each row of a node, in the array of its class and 0 in the other. */
export function classCounts({ rows, weights }: NodeRows, labels: ArrayLike<number>) {
  const precursors = new Float64Array(rows.length)
  const mutations = new Float64Array(rows.length)
  let first = 0
  let second = 0
  for (let i = 0; i < rows.length; i++) {
    const weight = weights === undefined ? 1 : weights[i]!
    if (labels[rows[i]!] === 0) {
      precursors[i] = weight
      first += weight
    } else {
      mutations[i] = weight
      second += weight
    }
  }
  return { precursors, mutations, weights: [first, second] as const }
}

/** Returns a function for x·log2 x, and 0 for 0; it looks up whole numbers, because counts mostly are whole. */
function xLogX(most: number): (x: number) => number {
  const direct = (x: number) => (x > 0 ? x * Math.log2(x) : 0)
  const table = Float64Array.from({ length: most + 1 }, (_, x) => direct(x))
  return (x) => {
    const whole = x | 0
    return whole === x && whole >= 0 && whole <= most ? table[whole]! : direct(x)
  }
}

/** A subtree that is better than a leaf by no more than this does not pay (C4.5). */
const PAYS = 0.1
const COLLAPSE = 1e-3

/** Makes leaves of subtrees with no fewer errors. Source: C4.5 release 8, `build.c`. */
function collapseTree(node: ClassificationNode): ClassificationNode {
  if (node.kind === 'leaf' || errorsOfLeaf(node) <= overLeaves(node, errorsOfLeaf) + COLLAPSE)
    return asLeaf(node)
  return { ...node, children: node.children.map(collapseTree) }
}

/**
 * Makes leaves, from below, of subtrees not expected to make fewer errors on new rows. Source:
 * Quinlan 1993, §4.2.
 */
function pruneTree(node: ClassificationNode): ClassificationNode {
  if (node.kind === 'leaf') return node
  const pruned = { ...node, children: node.children.map(pruneTree) }
  return expectedOfLeaf(node) <= overLeaves(pruned, expectedOfLeaf) + PAYS ? asLeaf(node) : pruned
}

function asLeaf({ weights, predicts }: ClassificationNode): ClassificationNode {
  return { kind: 'leaf', weights, predicts }
}

function errorsOfLeaf({ weights: [precursors, mutations] }: ClassificationNode): number {
  return Math.min(precursors, mutations)
}

function overLeaves(
  node: ClassificationNode,
  errorsOf: (leaf: ClassificationNode) => number,
): number {
  if (node.kind === 'leaf') return errorsOf(node)
  return node.children.reduce((sum, child) => sum + overLeaves(child, errorsOf), 0)
}

function expectedOfLeaf(node: ClassificationNode): number {
  const errors = errorsOfLeaf(node)
  const [precursors, mutations] = node.weights
  return errors + addedErrors(precursors + mutations, errors)
}

/** Chance of as few errors as were seen if the true rate were at the limit. */
const CONFIDENCE = 0.25
/** Square of the normal quantile of that, in Quinlan's table by straight line, as his program has it; exactly 0.4549. */
const Z2 = (0.25 + (0.84 - 0.25) * 0.75) ** 2

/**
 * Returns how many more errors to expect of a leaf on new cases than it made on those it grew from: the upper 25 %
 * confidence limit of a binomial rate, exact for no error, by the normal approximation with a correction for
 * continuity from one error on, in between by straight line. Cases above 0 and errors of them may be fractions.
 *
 * Sources: Quinlan 1993, "C4.5: programs for machine learning", §4.2; C4.5 release 8, `stats.c`.
 *
 * @example
 * addedErrors(6, 0).toFixed(3) // '1.238'
 */
export function addedErrors(cases: number, errors: number): number {
  const none = cases * (1 - CONFIDENCE ** (1 / cases))
  if (errors < 1e-6) return none
  // With fewer than one case there cannot be one error.
  if (errors < 0.9999) return none + errors * ((cases < 1 ? 0 : withErrors(cases, 1)) - none)
  return withErrors(cases, errors)
}

function withErrors(cases: number, errors: number): number {
  if (errors + 0.5 >= cases) return 0.67 * (cases - errors)
  const seen = errors + 0.5
  const rate = (seen + Z2 / 2 + Math.sqrt(Z2 * (seen * (1 - seen / cases) + Z2 / 4))) / (cases + Z2)
  return cases * rate - errors
}
