// Called for every row of many nodes: indexes with `!`.
import { FlowdeltaError } from '../../core/errors.ts'
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

/** Values as their positions among the distinct ones. */
interface DenseRanks {
  /** One a value: its position in `distinct`, −1 for NaN. */
  readonly ranks: Int32Array
  /** Ascending, without NaN; −0 is 0. */
  readonly distinct: Float64Array
}

const DIGIT = 2048
const SHIFTS = [0, 11, 22] as const

/**
 * Replaces values by their ranks among distinct values, from 0, by radix sort in linear time;
 * digits that all share take no pass. Source: Knuth 1998, "The art of computer programming", vol.
 * 3, 2nd ed., §5.2.5 (algorithm R).
 */
export function denseRanks(values: Float64Array): DenseRanks {
  const { low, high } = sortableBits(values)
  let order = new Int32Array(values.length)
  let known = 0
  for (let i = 0; i < values.length; i++) {
    if (!Number.isNaN(values[i]!)) order[known++] = i
  }
  order = order.subarray(0, known)
  let spare = new Int32Array(known)
  const sortBy = (word: Uint32Array) => {
    for (const shift of SHIFTS) {
      if (sortByDigit(word, shift, order, spare)) [order, spare] = [spare, order]
    }
  }
  sortBy(high)
  if (!settleTies(values, order)) {
    sortBy(low)
    sortBy(high)
  }
  return rankInOrder(values, order)
}

/** Sorts what the high words left undecided; false where that is more than a few neighbors. */
function settleTies(values: Float64Array, order: Int32Array): boolean {
  let moves = 0
  for (let i = 1; i < order.length; i++) {
    const item = order[i]!
    let at = i
    for (; at > 0 && values[order[at - 1]!]! > values[item]!; at--) order[at] = order[at - 1]!
    order[at] = item
    moves += i - at
    if (moves > order.length) return false
  }
  return true
}

/** Two words a value that compare, unsigned and the high one first, as the values do. */
function sortableBits(values: Float64Array): { low: Uint32Array; high: Uint32Array } {
  const low = new Uint32Array(values.length)
  const high = new Uint32Array(values.length)
  const one = new Float64Array(1)
  const words = new Uint32Array(one.buffer)
  one[0] = 1
  const highWord = words[1] === 0 ? 0 : 1
  for (let i = 0; i < values.length; i++) {
    one[0] = values[i]! + 0 // −0 becomes 0.
    const upper = words[highWord]!
    // The larger the magnitude of a negative value, the smaller the value: all its bits turn.
    const turn = upper >>> 31 === 1 ? 0xffffffff : 0
    low[i] = words[1 - highWord]! ^ turn
    high[i] = upper ^ (turn | 0x80000000)
  }
  return { low, high }
}

/** Sorts `order` stably by 11 bits into `target`; false, and nothing done, if all are the same. */
function sortByDigit(word: Uint32Array, shift: number, order: Int32Array, target: Int32Array) {
  const starts = new Int32Array(DIGIT)
  for (let i = 0; i < order.length; i++) starts[(word[order[i]!]! >>> shift) & (DIGIT - 1)]!++
  let start = 0
  for (let digit = 0; digit < DIGIT; digit++) {
    const count = starts[digit]!
    if (count === order.length) return false
    starts[digit] = start
    start += count
  }
  for (let i = 0; i < order.length; i++) {
    const item = order[i]!
    target[starts[(word[item]! >>> shift) & (DIGIT - 1)]!++] = item
  }
  return true
}

function rankInOrder(values: Float64Array, order: Int32Array): DenseRanks {
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
