import type { SpreadRow } from './variance-data.ts'

/** What categories can be sorted by, in the order of the columns. */
export const SPREAD_COLUMNS = {
  root: 'kind of request (category)',
  period: 'period',
  requests: 'requests',
  meanUs: 'mean',
  sdUs: 'standard deviation',
  c2: 'C²',
} as const

export type SpreadColumn = keyof typeof SPREAD_COLUMNS

export interface SpreadOrder {
  readonly column: SpreadColumn
  readonly descending: boolean
}

/** Rows in order; those without a value last, whichever way, and ties as they were. */
export function inOrder(
  rows: readonly SpreadRow[],
  { column, descending }: SpreadOrder,
): readonly SpreadRow[] {
  const sign = descending ? -1 : 1
  return [...rows].sort((a, b) => {
    const [one, other] = [a[column], b[column]]
    if (one === null || other === null) return Number(one === null) - Number(other === null)
    return one === other ? 0 : one < other ? -sign : sign
  })
}

/** What a click on a column's head makes of the order: numbers begin with the largest. */
export function nextOrder(order: SpreadOrder, column: SpreadColumn): SpreadOrder {
  if (order.column === column) return { column, descending: !order.descending }
  return { column, descending: column !== 'root' && column !== 'period' }
}
