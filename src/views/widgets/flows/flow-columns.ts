import type { ColumnSize } from './flow-order.ts'

/** From how far down to how far down something reaches; `null` where it is not there. */
export type RowRange = readonly [top: number, bottom: number] | null

/** Something that stands in one place from left to right, at one moment or at several. */
export interface Column extends ColumnSize {
  /** Where its middle would like to be. */
  readonly wish: number
  /** One a moment. */
  readonly rows: readonly RowRange[]
}

const GAP = 14

/**
 * The middles of columns, as near to where they would like to be as they can without overlapping:
 * columns that are beside each other at any moment keep their order and a gap. The leftmost begins
 * at 0.
 */
export function columnMiddles(columns: readonly Column[]): number[] {
  const order = columns
    .map((_, number) => number)
    .sort((a, b) => (columns[a] as Column).wish - (columns[b] as Column).wish || a - b)
  const middles = columns.map(({ wish }) => wish)
  const placed: number[] = []
  for (const number of order) {
    const column = columns[number] as Column
    let middle = column.wish
    for (const other of placed) {
      const least =
        (middles[other] as number) + (columns[other] as Column).right + GAP + column.left
      if (least > middle && areBeside(columns[other] as Column, column)) middle = least
    }
    middles[number] = middle
    placed.push(number)
  }
  const start = columns.reduce(
    (least, { left }, number) => Math.min(least, (middles[number] as number) - left),
    Number.POSITIVE_INFINITY,
  )
  return middles.map((middle) => middle - start)
}

function areBeside(a: Column, b: Column): boolean {
  return a.rows.some((range, moment) => {
    const other = b.rows[moment] ?? null
    return range !== null && other !== null && range[0] < other[1] && other[0] < range[1]
  })
}
