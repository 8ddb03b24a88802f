// Called for every value of every column: callbacks of typed arrays are slow, and it indexes with `!`.
import { FlowdeltaError, OptionError } from '../../core/errors.ts'

/** A parameter whose values have an order: one value a row, NaN where it is missing. */
export interface NumericTreeColumn {
  readonly name: string
  readonly kind: 'numeric'
  /** Finite, or NaN for missing. */
  readonly values: Float64Array
}

/** A parameter whose values are names (a boolean has two): one code a row, −1 where it is missing. */
export interface CategoricalTreeColumn {
  readonly name: string
  readonly kind: 'categorical'
  /** Positions in `levels`, or −1 for missing. */
  readonly codes: Int32Array
  readonly levels: readonly string[]
}

/** One parameter of all rows, as decision trees take it. Names are unique within a tree. */
export type TreeColumn = NumericTreeColumn | CategoricalTreeColumn

/**
 * @throws FlowdeltaError for two columns of one name.
 * @throws OptionError for a column without `rows` rows, an infinite value, or a code without a level.
 */
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
