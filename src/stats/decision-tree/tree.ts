// Called for every value of every column: callbacks of typed arrays are slow, and it indexes with `!`.
import {
  FlowdeltaError,
  InternalError,
  OptionError,
  rejectUnknownOptions,
  requireFields,
} from '../../core/errors.ts'
import { requireOneOf } from '../require-option.ts'

/** A parameter whose values have an order: one value a row, NaN where it is missing. */
export interface NumericTreeColumn {
  readonly name: string
  readonly kind: 'numeric'
  /** Finite, or NaN for missing. */
  readonly values: Float64Array
}

/**
 * A parameter whose values are names (a boolean has two): one code a row, −1 where it is missing.
 */
export interface CategoricalTreeColumn {
  readonly name: string
  readonly kind: 'categorical'
  /** Positions in `levels`, or −1 for missing. */
  readonly codes: Int32Array
  readonly levels: readonly string[]
}

/** One parameter of all rows, as decision trees take it. Names are unique within a tree. */
export type TreeColumn = NumericTreeColumn | CategoricalTreeColumn

/** Throws for two columns of one name, wrong lengths, infinite values, or unknown codes. */
export function requireTreeColumns(columns: readonly TreeColumn[], rows: number): void {
  const names = new Set<string>()
  for (const column of columns) {
    if (names.has(column.name)) {
      throw new FlowdeltaError(
        `Two columns are called ${JSON.stringify(column.name)}. Give every column a name of its own.`,
      )
    }
    names.add(column.name)
    const where = `columns[${JSON.stringify(column.name)}]`
    if (column.kind === 'numeric') requireValues(`${where}.values`, column.values, rows)
    else requireCodes(where, column, rows)
  }
}

function requireValues(where: string, values: Float64Array, rows: number): void {
  requireLength(where, values.length, rows)
  for (let row = 0; row < rows; row++) {
    if (Math.abs(values[row]!) !== Number.POSITIVE_INFINITY) continue
    throw new OptionError(`${where}[${row}]`, values[row], 'a finite number, or NaN')
  }
}

function requireCodes(where: string, { codes, levels }: CategoricalTreeColumn, rows: number): void {
  requireLength(`${where}.codes`, codes.length, rows)
  for (let row = 0; row < rows; row++) {
    if (codes[row]! >= -1 && codes[row]! < levels.length) continue
    const expected = `the position of one of its ${levels.length} levels, or -1 for missing`
    throw new OptionError(`${where}.codes[${row}]`, codes[row], expected)
  }
}

function requireLength(where: string, length: number, rows: number): void {
  if (length !== rows) throw new OptionError(`${where}.length`, length, `one a row, ${rows}`)
}

/**
 * Test of a row at a split. `threshold`: the first child has the values up to `value`, which is one from the data, the
 * second those above. `branches`: child i has the level `codes[i]`. `set`: child i has the levels `codes[i]`. Levels
 * that occur in no row of the node are in no child.
 */
export type SplitTest =
  | { readonly kind: 'threshold'; readonly value: number }
  | { readonly kind: 'branches'; readonly codes: readonly number[] }
  | { readonly kind: 'set'; readonly codes: readonly [readonly number[], readonly number[]] }

export interface TreeSplit<Node> {
  readonly kind: 'split'
  /** The column's name. */
  readonly column: string
  readonly test: SplitTest
  readonly children: readonly Node[]
  /**
   * Gain of the split per row of the node: bits of information, less the correction for the choice of a threshold
   * (`gain-ratio`); the decrease of Gini impurity (`gini`); the decrease of the target's variance (regression).
   */
  readonly gain: number
  /** `gain` in shares of the information in the split itself; only with `gain-ratio`. */
  readonly gainRatio?: number
  /**
   * Probability that the best split of any column would separate as well if no column mattered; only with `gini` and
   * regression.
   */
  readonly p?: number
  /** Other columns that would have been as good: the first in the order of columns was taken. */
  readonly tied: readonly string[]
}

/** A node of a tree: what `Content` says of its rows, and either nothing more or a split. */
export type TreeNode<Content> =
  | (Content & { readonly kind: 'leaf' })
  | (Content & TreeSplit<TreeNode<Content>>)

/** 0 precursor, 1 mutation. */
export type ClassLabel = 0 | 1

export interface ClassContent {
  /** Numbers of precursors and mutations; whole numbers if no value was missing, unless weighted. */
  readonly weights: readonly [number, number]
  /**
   * The class of most rows; of equally many the one of which there are fewer in the whole tree;
   * null when there, too, are equally many.
   */
  readonly predicts: ClassLabel | null
}

export interface TargetContent {
  /** Number of rows; a whole number if no value was missing, unless weighted. */
  readonly weight: number
  /** Mean of the target, in its unit; NaN without rows. */
  readonly mean: number
  /** Standard deviation of the target, dividing by the weight; NaN without rows. */
  readonly sd: number
}

export type ClassificationNode = TreeNode<ClassContent>
export type RegressionNode = TreeNode<TargetContent>

/** A column as a finished tree knows it: without the values of rows. */
export type TreeColumnInfo =
  | { readonly name: string; readonly kind: 'numeric' }
  | { readonly name: string; readonly kind: 'categorical'; readonly levels: readonly string[] }

/** Options of both kinds of tree. */
export interface TreeOptions {
  /** Highest p of a split that stays; 0.01, above 0 and below 1. */
  readonly alpha?: number | undefined
  /** Most splits on the way to a leaf; 30. */
  readonly maxDepth?: number | undefined
  /**
   * Number of rows that each stands for; default 1. Shares and means cover all rows that these stand for; tests,
   * pruning and `minLeaf` count the worth of the rows, (Σw)² / Σw².
   */
  readonly weights?: Float64Array | undefined
}

interface Grown<Node> {
  /** All columns that were given, in their order. */
  readonly columns: readonly TreeColumnInfo[]
  readonly root: Node
}

export interface ClassificationTree extends Grown<ClassificationNode> {
  readonly kind: 'classification'
}

export interface RegressionTree extends Grown<RegressionNode> {
  readonly kind: 'regression'
}

export function columnInfo(column: TreeColumn): TreeColumnInfo {
  const { name, kind } = column
  return kind === 'numeric' ? { name, kind } : { name, kind, levels: column.levels }
}

/** A way from the root of a tree to a leaf, as a rule. */
export interface TreePath {
  /** Conditions in the order of the splits, one per column; empty if the tree is a leaf. */
  readonly conditions: readonly PathCondition[]
}

/**
 * A leaf of a classification tree, as a rule: where the conditions hold, the class is `predicts`.
 */
export interface ClassificationPath extends TreePath {
  /** 0 precursor, 1 mutation; null where precursors and mutations are equal in leaf and tree. */
  readonly predicts: ClassLabel | null
  /** Weights of the precursors and mutations for which the conditions hold. */
  readonly weights: readonly [number, number]
  /** Share of all rows for which the conditions hold. */
  readonly support: number
  /** Share of those rows that are of the class. */
  readonly precision: number
  /** Share of all rows of the class that the conditions find. */
  readonly recall: number
  /**
   * Precision over the share of the class among all rows: how many times as frequent it is here.
   */
  readonly lift: number
  /**
   * Share of the mutations less share of the precursors for which the conditions hold, without its
   * sign: 1 where they hold for all of one class and none of the other, 0 where the tree is a leaf.
   */
  readonly separation: number
}

export interface ClassificationPathOptions {
  /**
   * Which class a path is said to predict. `'majority'` (default): the one that most of its rows
   * have. `'lift'`: the one that is more frequent in it than in the whole tree, which a rare class
   * can be without being the most frequent.
   */
  readonly predict?: 'majority' | 'lift' | undefined
}

/**
 * Returns the paths from the root of a tree to its leaves, as rules in the order of the tree; of a classification tree
 * those that separate best come first.
 *
 * All conditions on one column are one: `2 < count <= 4096`. Rows with missing values count where
 * the tree put them, in part.
 *
 * @throws OptionError for an option out of range.
 *
 * @example
 * const values = Float64Array.of(4096, 2048, 4096, 8192, 16384, 8192)
 * const size = { name: 'size', kind: 'numeric', values }
 * const tree = growClassificationTree([size], Uint8Array.of(1, 1, 1, 0, 0, 0))
 * const [first] = treePaths(tree)
 * first.conditions // [ { kind: 'range', column: 'size', atMost: 4096 } ]
 * first.predicts // 1
 * first.precision // 1
 */
export function treePaths(
  tree: ClassificationTree,
  options?: ClassificationPathOptions,
): ClassificationPath[]
export function treePaths(tree: RegressionTree): TreePath[]
export function treePaths(
  tree: ClassificationTree | RegressionTree,
  options: ClassificationPathOptions = {},
): readonly TreePath[] {
  requireFields('treePaths(tree)', tree, 'kind', 'root')
  rejectUnknownOptions(options, tree.kind === 'classification' ? ['predict'] : [])
  if (tree.kind === 'classification') return classificationPaths(tree, options)
  return leavesOf(tree.root, tree.columns).map(({ conditions }) => ({ conditions }))
}

function classificationPaths(
  { root, columns }: ClassificationTree,
  { predict = 'majority' }: ClassificationPathOptions,
): ClassificationPath[] {
  requireOneOf('predict', predict, ['majority', 'lift'])
  const whole = root.weights
  const total = whole[0] + whole[1]
  const paths = leavesOf(root, columns).map(({ leaf, conditions }): ClassificationPath => {
    const { weights } = leaf
    const weight = weights[0] + weights[1]
    const [share0, share1] = [shareOf(weights[0], whole[0]), shareOf(weights[1], whole[1])]
    const lifted = Math.abs(share1 - share0) <= 1e-9 ? leaf.predicts : share1 > share0 ? 1 : 0
    const predicts = predict === 'lift' ? lifted : leaf.predicts
    // If no class is predicted, both give the same numbers.
    const own = predicts ?? 1
    const precision = shareOf(weights[own], weight)
    const separation = whole[0] === 0 || whole[1] === 0 ? 0 : Math.abs(share1 - share0)
    return {
      conditions,
      predicts,
      weights,
      support: shareOf(weight, total),
      precision,
      recall: own === 1 ? share1 : share0,
      separation,
      lift: shareOf(precision, shareOf(whole[own], total)),
    }
  })
  return paths.toSorted((a, b) => b.separation - a.separation)
}

/** Returns a share; 0 of nothing is 0. */
function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

interface Leaf<Content> extends TreePath {
  readonly leaf: TreeNode<Content>
}

function leavesOf<Content>(root: TreeNode<Content>, columns: readonly TreeColumnInfo[]) {
  const byName = new Map(columns.map((column) => [column.name, column]))
  const leaves: Leaf<Content>[] = []
  const visit = (node: TreeNode<Content>, conditions: TreePath['conditions']): void => {
    if (node.kind === 'leaf') {
      leaves.push({ leaf: node, conditions })
      return
    }
    const column = byName.get(node.column)
    if (column === undefined)
      throw new InternalError(`a tree splits on ${node.column}, not its own`)
    for (const [child, next] of node.children.entries()) {
      visit(next, withStep(conditions, column, node.test, child))
    }
  }
  visit(root, [])
  return leaves
}

/** Condition of a path on one column, from all its splits on it. */
export type PathCondition =
  /** `above < value <= atMost`; either end may be missing, not both. */
  | {
      readonly kind: 'range'
      readonly column: string
      readonly above?: number
      readonly atMost?: number
    }
  /** The value is one of `levels`, whose positions are `codes`. */
  | {
      readonly kind: 'levels'
      readonly column: string
      readonly codes: readonly number[]
      readonly levels: readonly string[]
    }

/** Returns the conditions of a path one step further; of one column, the narrower is kept in place. */
export function withStep(
  conditions: readonly PathCondition[],
  column: TreeColumnInfo,
  test: SplitTest,
  child: number,
): readonly PathCondition[] {
  const { name } = column
  const earlier = conditions.find((condition) => condition.column === name)
  const step = stepCondition(column, test, child, earlier)
  if (earlier === undefined) return [...conditions, step]
  return conditions.map((condition) => (condition === earlier ? step : condition))
}

function stepCondition(
  column: TreeColumnInfo,
  test: SplitTest,
  child: number,
  earlier: PathCondition | undefined,
): PathCondition {
  const { name } = column
  if (test.kind === 'threshold') {
    // Further down, thresholds lie within the range that the node has: the later one is narrower.
    const range = earlier?.kind === 'range' ? earlier : ({ kind: 'range', column: name } as const)
    return child === 0 ? { ...range, atMost: test.value } : { ...range, above: test.value }
  }
  const own = test.kind === 'branches' ? test.codes.slice(child, child + 1) : test.codes[child]
  const codes = own ?? []
  const names = column.kind === 'categorical' ? column.levels : []
  return { kind: 'levels', column: name, codes, levels: codes.map((code) => names[code] ?? '') }
}
