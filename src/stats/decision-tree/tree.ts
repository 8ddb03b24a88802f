// Called for every value of every column: callbacks of typed arrays are slow, and it indexes with `!`.
import { FlowdeltaError, OptionError } from '../../core/errors.ts'

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
 * What a split asks of a row. `threshold`: the first child has the values up to `value`, which is
 * one from the data, the second those above. `branches`: child i has the level `codes[i]`. `set`:
 * child i has the levels `codes[i]`. Levels that occur in no row of the node are in no child.
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
   * What the split gains for a row of the node: bits of information, less the correction for the
   * choice of a threshold (`gain-ratio`); the decrease of Gini impurity (`gini`); the decrease of
   * the target's variance (regression).
   */
  readonly gain: number
  /** `gain` in shares of the information in the split itself; only with `gain-ratio`. */
  readonly gainRatio?: number
  /**
   * How likely the best split of any column would separate as well if no column mattered; only with
   * `gini` and regression.
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
  /** How many precursors and mutations there are; whole numbers where no value was missing, unless weighted. */
  readonly weights: readonly [number, number]
  /**
   * The class of most rows; of equally many the one of which there are fewer in the whole tree;
   * null when there, too, are equally many.
   */
  readonly predicts: ClassLabel | null
}

export interface TargetContent {
  /** How many rows there are; a whole number where no value was missing, unless weighted. */
  readonly weight: number
  /** Of the target, in its unit; NaN without rows. */
  readonly mean: number
  /** Standard deviation of the target, dividing by the weight; NaN without rows. */
  readonly sd: number
}

export type ClassificationNode = TreeNode<ClassContent>
export type RegressionNode = TreeNode<TargetContent>

/** Why a column could not take part. */
export interface LeftOutColumn {
  readonly column: string
  /**
   * `excluded` by the option; `empty`: missing in every row; `constant`: one value in all rows that
   * have one; `too-many-values`: names nearly every row, so that it would separate anything.
   */
  readonly reason: 'excluded' | 'empty' | 'constant' | 'too-many-values'
}

/** A column as a finished tree knows it: without the values of rows. */
export type TreeColumnInfo =
  | { readonly name: string; readonly kind: 'numeric' }
  | { readonly name: string; readonly kind: 'categorical'; readonly levels: readonly string[] }

/** Options of both kinds of tree. */
export interface TreeOptions {
  /** Highest p of a split that stays; 0.01, above 0 and below 1. */
  readonly alpha?: number | undefined
  /** Names of columns not to split on; none. */
  readonly exclude?: readonly string[] | undefined
  /** Most splits on the way to a leaf; 30. */
  readonly maxDepth?: number | undefined
  /**
   * How many rows each stands for; 1. Shares and means are those of all that rows stand for; tests, pruning
   * and `minLeaf` count as many as rows are worth, (Σw)² / Σw².
   */
  readonly weights?: Float64Array | undefined
}

interface Grown<Node> {
  /** All columns that were given, in their order. */
  readonly columns: readonly TreeColumnInfo[]
  readonly leftOut: readonly LeftOutColumn[]
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
