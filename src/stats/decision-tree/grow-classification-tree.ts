import { fsum } from 'd3-array'
import {
  OptionError,
  rejectUnknownOptions,
  requireList,
  requireNumbers,
} from '../../core/errors.ts'
import { requireCount, requireOneOf, requireShare } from '../require-option.ts'
import { requireWeights } from '../weighted-sample.ts'
import { chooseBinary } from './binary-split.ts'
import { admittedColumns, type CodedColumn, narrowColumn } from './coded-columns.ts'
import { type ClassCounts, chooseByGainRatio, classCounts, GainRatioScorer } from './gain-ratio.ts'
import {
  allRows,
  type Growth,
  growNode,
  type NodeRows,
  type SplitChoice,
  withContents,
} from './grow-node.ts'
import { collapseTree, pruneTree } from './pessimistic-pruning.ts'
import {
  type ClassContent,
  type ClassificationTree,
  columnInfo,
  requireTreeColumns,
  type TreeColumn,
  type TreeOptions,
} from './tree.ts'
import { ValueGroups } from './value-groups.ts'

export interface ClassificationTreeOptions extends TreeOptions {
  /**
   * `'gain-ratio'` (default): C4.5, a branch for each level of a categorical column. `'gini'`:
   * CART, every split in two, levels divided into two sets.
   */
  readonly criterion?: 'gain-ratio' | 'gini' | undefined
  /** Least weight of rows in two branches of a split; 2. */
  readonly minLeaf?: number | undefined
  /**
   * Exactly C4.5, also where it hides what is looked for: both sides of a threshold need a
   * twentieth of the node's rows (25 at most), so that a few mutations among many precursors cannot
   * be isolated; values less than 1e-5 apart are one even where all are as small; and a row with a
   * missing value is divided without end. False. Only for `'gain-ratio'`.
   */
  readonly c45Strict?: boolean | undefined
  /**
   * Leave out splits that may be chance; true. `'gain-ratio'`: error-based pruning with
   * `confidence`. `'gini'`: no split whose `p` exceeds `alpha`.
   */
  readonly prune?: boolean | undefined
  /** 0.25, above 0 and below 1; lower prunes more. Only for `'gain-ratio'`, as `alpha` is for `'gini'`. */
  readonly confidence?: number | undefined
}

const OPTIONS = 'criterion minLeaf c45Strict prune confidence alpha exclude maxDepth weights'.split(
  ' ',
)
const MIN_WEIGHT = 0.01

/**
 * Grows a decision tree that tells mutations from precursors by their parameters.
 *
 * `columns` have one value a row; `labels[row]` is 0 for a precursor, 1 for a mutation. Neither the
 * order of rows nor that of columns matters, except that the first of equally good columns is taken
 * (`tied` has the others); exchanging the two classes mirrors the tree.
 *
 * `'gain-ratio'` follows C4.5 release 8: information gain over split information among columns that
 * gain at least the average; log2(number of thresholds)/N off the gain of a threshold; thresholds
 * shown as values from the data; a categorical column with more values than 0.3 times the rows left
 * out unless all are so; rows with a missing value divided among all branches; subtrees replaced by
 * leaves that are expected to err no more, but not raised. `'gini'` grows as CART, with missing
 * values as above, columns compared after the cost of choosing among their cuts, and a test of
 * every split instead of pruning: pruning by errors would lose what makes a rare class more
 * frequent but not most frequent.
 *
 * Limits: greedy. What two columns only show together (an exclusive or) is not found. Without rows
 * the tree is a leaf that predicts nothing.
 *
 * Sources: Quinlan 1993, "C4.5: programs for machine learning"; Quinlan 1996, Journal of Artificial
 * Intelligence Research 4:77-90; Breiman, Friedman, Olshen and Stone 1984, "Classification and
 * regression trees"; for the use, Sambasivan 2013, §2.6.6.
 *
 * @throws FlowdeltaError for two columns of one name, or a name to exclude that is not there.
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
  const { confidence = 0.25, alpha = 0.01, exclude = [], maxDepth = 30, weights } = options
  requireOneOf('criterion', criterion, ['gain-ratio', 'gini'])
  requireCount('minLeaf', minLeaf)
  requireCount('maxDepth', maxDepth, 0)
  requireShare('confidence', confidence)
  requireShare('alpha', alpha)
  requireLabels(labels)
  requireWeights(labels, weights)
  requireTreeColumns(columns, labels.length)
  const byGainRatio = criterion === 'gain-ratio'
  const admitted = admittedColumns(columns, labels.length, exclude, byGainRatio)
  const all = allRows(labels.length, weights)
  const choose = byGainRatio
    ? byC45(admitted.columns, labels.length, { minLeaf, strict: c45Strict })
    : byGini(admitted.columns, labels.length, { minLeaf, alpha: prune ? alpha : undefined })
  const whole = classCounts(all, labels).weights
  const limits = { maxDepth, leastWeight: byGainRatio && c45Strict ? 0 : MIN_WEIGHT }
  const growthOf = (data: ClassData): Growth<ClassContent> => ({
    ...limits,
    size: data.labels.length,
    look: (node) => {
      const counts = classCounts(node, data.labels)
      const splittable = isMixed(counts.weights, 2 * minLeaf)
      return {
        content: classContent(counts.weights, whole),
        choose: () => (splittable ? choose(data, node, counts) : undefined),
      }
    },
    narrow: (rows) =>
      growthOf({
        columns: data.columns.map((column) => narrowColumn(column, rows)),
        labels: Uint8Array.from(rows, (row) => Number(data.labels[row])),
      }),
  })
  const grown = growNode(growthOf({ columns: admitted.columns, labels }), all)
  const collapsed = byGainRatio ? collapseTree(grown) : grown
  const root = byGainRatio && prune ? pruneTree(collapsed, confidence) : collapsed
  const scale = weights === undefined ? 1 : fsum(weights) / (whole[0] + whole[1])
  const stoodFor = ({ weights: [first, second] }: ClassContent) =>
    ({ weights: [first * scale, second * scale] }) as const
  return {
    kind: 'classification',
    columns: columns.map(columnInfo),
    leftOut: admitted.leftOut,
    root: weights === undefined ? root : withContents(root, stoodFor),
  }
}

interface ClassData {
  readonly columns: readonly CodedColumn[]
  readonly labels: Uint8Array
}

type Choose = (data: ClassData, node: NodeRows, counts: ClassCounts) => SplitChoice | undefined

function byC45(
  columns: readonly CodedColumn[],
  rows: number,
  options: { minLeaf: number; strict: boolean },
): Choose {
  const scorer = new GainRatioScorer(columns, rows, options)
  return (data, node, counts) => chooseByGainRatio(scorer, data.columns, node, counts)
}

function byGini(
  columns: readonly CodedColumn[],
  rows: number,
  options: { minLeaf: number; alpha: number | undefined },
): Choose {
  const groups = ValueGroups.for(columns, rows)
  return (data, node, { precursors, mutations, weights: [first, second] }) => {
    const weight = first + second
    const target = {
      weights: precursors.map((precursor, i) => precursor + Number(mutations[i])),
      weighted: mutations,
      weight,
      squares: (first * second) / weight,
      scores: data.labels,
      labels: true,
    }
    // The impurity 2·p·(1 − p) is twice the variance.
    return chooseBinary(data.columns, node, target, groups, { ...options, gainScale: 2 })
  }
}

function isMixed([precursors, mutations]: readonly [number, number], least: number): boolean {
  return Math.min(precursors, mutations) > 1e-9 && precursors + mutations >= least - 1e-9
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

function requireLabels(labels: Uint8Array): void {
  const wrong = labels.findIndex((label) => label > 1)
  if (wrong < 0) return
  throw new OptionError(`labels[${wrong}]`, labels[wrong], '0 (precursor) or 1 (mutation)')
}
