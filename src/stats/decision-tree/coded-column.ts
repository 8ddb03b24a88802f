// Called for every row of many nodes: indexes with `!`.
import { denseRanks } from './dense-ranks.ts'
import type { TreeColumn } from './tree-column.ts'

/** A column with each value as a small integer, so that values are counted instead of sorted. */
export interface CodedColumn {
  readonly name: string
  readonly kind: TreeColumn['kind']
  /** One a row: from 0 to `size` − 1 and, where numeric, in the order of values; −1 for missing. */
  readonly codes: Int32Array
  readonly size: number
  /** Codes that occur. */
  readonly present: number
  /** Of a numeric column the value of each code, ascending; of a categorical one nothing. */
  readonly values: Float64Array
}

/** The columns with their values coded: the only time that numbers are sorted as such. */
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

/** The column for some rows alone, in their order; codes mean what they did. */
export function narrowColumn(column: CodedColumn, rows: Int32Array): CodedColumn {
  const { name, kind, codes, size, present, values } = column
  const own = new Int32Array(rows.length)
  for (let i = 0; i < rows.length; i++) own[i] = codes[rows[i]!]!
  return { name, kind, codes: own, size, present, values }
}
