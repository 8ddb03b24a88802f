// Goes through all rows of every column: indexes with `!`.
import { group } from 'd3-array'
import { requireList } from '../../core/errors.ts'
import { denseRanks } from './grow-node.ts'
import { requireTreeColumns, type TreeColumn } from './tree.ts'

/**
 * Groups columns that divide the rows in the same way. Each column of a group explains the same as the others, so they
 * are excluded together.
 *
 * Two columns divide the rows in the same way if rows with the same value in one have the same value in the other;
 * missing is a value here. Names and units do not matter, nor the kind: sizes may agree with names. Columns of distinct
 * numbers match only if they order the rows the same way, forwards or backwards; otherwise all continuous parameters
 * would be one group.
 *
 * Every column is in one group, by name; groups and names in the order of the columns.
 *
 * @throws FlowdeltaError for two columns of one name.
 * @throws OptionError for columns of different lengths, or values out of range.
 *
 * @example
 * const size = { name: 'size', kind: 'numeric', values: Float64Array.of(1, 2, 1) }
 * const kB = { name: 'kB', kind: 'numeric', values: Float64Array.of(1024, 2048, 1024) }
 * const host = { name: 'host', kind: 'categorical', codes: Int32Array.of(0, 0, 1), levels: ['a', 'b'] }
 * equalPartitions([size, host, kB]) // [ [ 'size', 'kB' ], [ 'host' ] ]
 */
export function equalPartitions(columns: readonly TreeColumn[]): string[][] {
  requireList('columns', columns, 'name', 'kind')
  const [first] = columns
  if (first === undefined) return []
  const rows = first.kind === 'numeric' ? first.values.length : first.codes.length
  requireTreeColumns(columns, rows)
  const groups = group(columns, (column) => partitionOf(column).join(' '))
  return Array.from(groups.values(), (alike) => alike.map(({ name }) => name))
}

/**
 * Returns each row's block, numbered by first occurrence: the same for columns that divide the rows in the same way.
 */
function partitionOf(column: TreeColumn): Int32Array {
  if (column.kind === 'categorical') return byFirstRow(column.codes, column.levels.length)
  const { ranks, distinct } = denseRanks(column.values)
  let known = 0
  for (let row = 0; row < ranks.length; row++) if (ranks[row]! >= 0) known++
  if (distinct.length < known || known < 3) return byFirstRow(ranks, distinct.length)
  // Takes the direction in which the first two rows ascend. A shift distinguishes these numbers from blocks.
  const [one, two] = ranks.filter((rank) => rank >= 0)
  const turned = one! > two!
  return ranks.map((rank) => (rank < 0 ? -1 : known + (turned ? known - 1 - rank : rank)))
}

function byFirstRow(codes: Int32Array, size: number): Int32Array {
  const block = new Int32Array(size + 1).fill(-1)
  let blocks = 0
  const partition = new Int32Array(codes.length)
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row]! + 1
    if (block[code]! < 0) block[code] = blocks++
    partition[row] = block[code]!
  }
  return partition
}
