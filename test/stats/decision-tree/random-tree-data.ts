import fc from 'fast-check'
import type { TreeColumn } from '../../../src/stats/index.ts'

export interface TreeData {
  readonly columns: readonly TreeColumn[]
  readonly labels: Uint8Array
  readonly target: Float64Array
}

interface DataShape {
  readonly missing: boolean
}

/** Few values, so that ties and splits on the same column twice occur; the first two columns matter. */
export function treeData({ missing }: DataShape): fc.Arbitrary<TreeData> {
  const gap = missing ? [{ weight: 1, arbitrary: fc.constant(-1) }] : []
  const cell = (most: number) =>
    fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: most }) }, ...gap)
  const row = fc.tuple(cell(9), cell(3), cell(20), cell(1), fc.integer({ min: 0, max: 9 }))
  return fc.array(row, { minLength: 1, maxLength: 150, size: 'max' }).map((rows) => {
    const codes = (at: 0 | 1 | 2 | 3) => Int32Array.from(rows, (cells) => cells[at])
    const values = (at: 0 | 2) =>
      Float64Array.from(codes(at), (code) => (code < 0 ? Number.NaN : 2 ** code))
    const hot = rows.map(([size, host, , , noise]) => noise > 8 || (size > 4 && host !== 2))
    return {
      columns: [
        { name: 'size', kind: 'numeric', values: values(0) },
        { name: 'host', kind: 'categorical', codes: codes(1), levels: ['a', 'b', 'c', 'd'] },
        { name: 'offset', kind: 'numeric', values: values(2) },
        { name: 'cached', kind: 'categorical', codes: codes(3), levels: ['false', 'true'] },
      ],
      labels: Uint8Array.from(hot, Number),
      target: Float64Array.from(hot, (is, at) => (is ? 50 : 10) + Number(rows[at]?.[4])),
    }
  })
}

/** The rows in another order: row i is the one that was `order[i]`. */
export function permuteRows(data: TreeData, order: readonly number[]): TreeData {
  const columns = data.columns.map((column): TreeColumn => {
    if (column.kind === 'numeric') {
      return { ...column, values: Float64Array.from(order, (row) => Number(column.values[row])) }
    }
    return { ...column, codes: Int32Array.from(order, (row) => Number(column.codes[row])) }
  })
  return {
    columns,
    labels: Uint8Array.from(order, (row) => Number(data.labels[row])),
    target: Float64Array.from(order, (row) => Number(data.target[row])),
  }
}
