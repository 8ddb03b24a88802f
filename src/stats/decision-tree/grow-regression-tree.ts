// Goes through all rows of every node: indexes with `!`.
import {
  OptionError,
  rejectUnknownOptions,
  requireList,
  requireNumbers,
} from '../../core/errors.ts'
import { midranks } from '../midranks.ts'
import { requireWeights, worthOf } from '../weighted-sample.ts'
import { chooseBinary, growTree, type NodeRows, type NodeTarget, ValueGroups } from './grow-node.ts'
import type { RegressionTree, TargetContent, TreeColumn, TreeOptions } from './tree.ts'

export interface RegressionTreeOptions extends TreeOptions {
  /** Least weight of rows on both sides of a split; a hundredth of the rows, 5 at least. */
  readonly minLeaf?: number | undefined
  /** Whether to drop splits whose `p` exceeds `alpha`; default true. */
  readonly prune?: boolean | undefined
}

const OPTIONS = ['minLeaf', 'prune', 'alpha', 'maxDepth', 'weights']
const MIN_WEIGHT = 0.01
const MIN_LEAF = 5
const LEAF_SHARE = 0.01

/**
 * Grows a regression tree: which parameters the target (a latency, say) depends on.
 *
 * `columns` and `target` have one value a row. Every split is in two and is the one that leaves the
 * least squared error; a categorical column splits into two sets of levels, however many it has, so
 * that "slow on 25 of 50 hosts" is one split. Columns are compared after the cost of choosing among
 * their cuts; the first of equally good ones is taken (`tied` has the others). Rows with a missing
 * value are divided among both sides as the others are.
 *
 * With `prune` a split must not be chance: ranks of the target are tested, as
 * one extreme latency suffices to make a split on nothing look good in squared error (F tests are
 * no guard: they take it for a mean). p counts all cuts of all columns of the node; see
 * `selectedCutP` for the test. There is no pruning afterwards, so no part of the rows need be held
 * back.
 *
 * Limits: greedy. What two columns only show together (an exclusive or) is not found.
 *
 * Sources: Breiman, Friedman, Olshen and Stone 1984, "Classification and regression trees", ch. 8;
 * Hothorn, Hornik and Zeileis 2006, Journal of Computational and Graphical Statistics 15(3):651-674
 * (tests instead of pruning).
 *
 * @throws FlowdeltaError for two columns of one name.
 * @throws OptionError for columns of another length than target, a target that is not finite, values
 *   out of range, or options out of range.
 *
 * @example
 * const levels = ['node1', 'node2', 'node3', 'node4']
 * const codes = Int32Array.from({ length: 80 }, (_, row) => row % 4)
 * const host = { name: 'host', kind: 'categorical', codes, levels }
 * const latencyUs = Float64Array.from(codes, (code, row) => (code === 1 || code === 2 ? 900 : 100) + row)
 * growRegressionTree([host], latencyUs).root.test // { kind: 'set', codes: [ [ 0, 3 ], [ 1, 2 ] ] }
 */
export function growRegressionTree(
  columns: readonly TreeColumn[],
  target: Float64Array,
  options: RegressionTreeOptions = {},
): RegressionTree {
  requireList('columns', columns, 'name', 'kind')
  requireNumbers({ target })
  rejectUnknownOptions(options, OPTIONS)
  const { prune = true, alpha = 0.01, weights } = options
  const size = weights === undefined ? target.length : worthOf(target, weights)
  const { minLeaf = Math.max(MIN_LEAF, Math.ceil(LEAF_SHARE * size)) } = options
  const wrong = target.findIndex((value) => !Number.isFinite(value))
  if (wrong >= 0) throw new OptionError(`target[${wrong}]`, target[wrong], 'a finite number')
  requireWeights(target, weights)
  const ranks = midranks(target, weights)
  const grown = growTree<TargetContent>(
    columns,
    { ...options, minLeaf },
    {
      limitValues: false,
      leastWeight: MIN_WEIGHT,
      target,
      lookAt(admitted) {
        const groups = new ValueGroups(admitted, target.length)
        const binary = { minLeaf, alpha: prune ? alpha : undefined, gainScale: 1 }
        return (node) => {
          const { weight, mean, squares } = spread(node, target)
          const choose = () => {
            const wanted = nodeTarget(node, target, ranks)
            if (wanted.weight < 2 * minLeaf - 1e-9 || !(wanted.squares > 0)) return undefined
            return chooseBinary(admitted, node, wanted, groups, binary)
          }
          return { content: { weight, mean, sd: Math.sqrt(squares / weight) }, choose }
        }
      },
      prune: (root) => root,
      weightOf: ({ weight }) => weight,
      scaled: ({ weight }, times) => ({ weight: weight * times }),
    },
  )
  return { kind: 'regression', ...grown }
}

function spread({ rows, weights }: NodeRows, target: ArrayLike<number>) {
  let weight = 0
  let sum = 0
  for (let i = 0; i < rows.length; i++) {
    const own = weights === undefined ? 1 : weights[i]!
    weight += own
    sum += own * target[rows[i]!]!
  }
  const mean = sum / weight
  let squares = 0
  for (let i = 0; i < rows.length; i++) {
    const distance = target[rows[i]!]! - mean
    squares += (weights === undefined ? 1 : weights[i]!) * distance * distance
  }
  return { weight, mean, squares }
}

function nodeTarget(
  node: NodeRows,
  explained: ArrayLike<number>,
  scores: ArrayLike<number>,
): NodeTarget {
  const { rows } = node
  const { weight, mean, squares } = spread(node, explained)
  const weights = node.weights ?? new Float64Array(rows.length).fill(1)
  const weighted = new Float64Array(rows.length)
  // Distances from the mean, so that squares do not drown in the level of the target.
  for (let i = 0; i < rows.length; i++) weighted[i] = weights[i]! * (explained[rows[i]!]! - mean)
  // Rounding moves the mean of equal targets off their value.
  const settled = squares <= 1e-20 * weight * mean * mean ? 0 : squares
  return { weights, weighted, weight, squares: settled, scores, labels: false }
}
