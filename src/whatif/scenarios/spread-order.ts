/** Knuth's multiplier: spreads numbers over 32 bits. */
const SPREAD = 2654435761

/** Some rows in an order that has nothing to do with what they are of, always the same. */
export function spreadOrder(rows: readonly number[]): number[] {
  const place = (row: number) => Math.imul(row + 1, SPREAD) >>> 0
  return rows.slice().sort((a, b) => place(a) - place(b))
}
