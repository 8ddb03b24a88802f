// Called for every row of many nodes: indexes with `!`.

import { FlowdeltaError } from '../../core/errors.ts'
import { ascendingOrder } from '../ascending-order.ts'
import type { LeftOutColumn, TreeColumn } from './tree.ts'

/** C4.5's share of rows from which on a categorical column has too many values. */
const MANY_VALUES = 0.3

/**
 * The columns that may be split on, coded, and why others may not: with `limitValues`, no names of
 * more values than 0.3 times the rows, unless all are so (Quinlan's rule).
 */
export function admittedColumns(
  all: readonly TreeColumn[],
  rows: number,
  exclude: readonly string[],
  limitValues: boolean,
): { readonly columns: readonly CodedColumn[]; readonly leftOut: readonly LeftOutColumn[] } {
  requireNames(all, exclude)
  const excluded = new Set(exclude)
  const coded = all.filter(({ name }) => !excluded.has(name)).map(codeColumn)
  const tooMany = ({ kind, present }: CodedColumn) =>
    kind === 'categorical' && present > MANY_VALUES * rows
  const limit = limitValues && !coded.every(tooMany)
  const leftOut: LeftOutColumn[] = [...excluded].map((column) => ({ column, reason: 'excluded' }))
  const columns = coded.filter((column) => {
    const { present, name } = column
    if (present === 0) leftOut.push({ column: name, reason: 'empty' })
    else if (present === 1) leftOut.push({ column: name, reason: 'constant' })
    else if (limit && tooMany(column)) leftOut.push({ column: name, reason: 'too-many-values' })
    else return true
    return false
  })
  return { columns, leftOut }
}

function requireNames(columns: readonly TreeColumn[], exclude: readonly string[]): void {
  const names = new Set(columns.map(({ name }) => name))
  const unknown = exclude.find((name) => !names.has(name))
  if (unknown === undefined) return
  const known = [...names].slice(0, 10).join(', ')
  throw new FlowdeltaError(
    `Option exclude names the column ${JSON.stringify(unknown)}, which is not there. Give names of columns, such as ${known || 'none: there are no columns'}.`,
  )
}

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

/** Returns the column for some rows alone, in their order; codes mean what they did. */
export function narrowColumn(column: CodedColumn, rows: Int32Array): CodedColumn {
  const codes = new Int32Array(rows.length)
  for (let i = 0; i < rows.length; i++) codes[i] = column.codes[rows[i]!]!
  return { ...column, codes }
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
