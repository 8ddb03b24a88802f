// Called for every value of every column: callbacks of typed arrays are slow, and it indexes with `!`.
import { FlowdeltaError, InternalError, OptionError, requireFields } from '../../core/errors.ts'

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

/** Conditions of a way from the root of a tree to a leaf, in the order of the splits, one per column. */
export type TreePath = readonly PathCondition[]

/**
 * Returns the paths from the root of a tree to its leaves, in the order of the tree; one without conditions if it is a
 * leaf. All conditions on one column are one: `2 < count <= 4096`.
 *
 * @example
 * const values = Float64Array.of(4096, 2048, 4096, 8192, 16384, 8192)
 * const size = { name: 'size', kind: 'numeric', values }
 * const tree = growClassificationTree([size], Uint8Array.of(1, 1, 1, 0, 0, 0))
 * treePaths(tree)[0] // [ { kind: 'range', column: 'size', atMost: 4096 } ]
 */
export function treePaths(tree: ClassificationTree | RegressionTree): TreePath[] {
  requireFields('treePaths(tree)', tree, 'kind', 'root')
  const byName = new Map(tree.columns.map((column) => [column.name, column]))
  const pathsFrom = (node: TreeNode<object>, conditions: TreePath): TreePath[] => {
    if (node.kind === 'leaf') return [conditions]
    const column = byName.get(node.column)
    if (column === undefined)
      throw new InternalError(`a tree splits on ${node.column}, not its own`)
    return node.children.flatMap((next, child) =>
      pathsFrom(next, withStep(conditions, column, node.test, child)),
    )
  }
  return pathsFrom(tree.root, [])
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
  conditions: TreePath,
  column: TreeColumnInfo,
  test: SplitTest,
  child: number,
): TreePath {
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
