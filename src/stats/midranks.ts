/**
 * Returns the rank of each value over the number of values, between 0 and 1; equal values share the
 * mean of their ranks.
 *
 * @example
 * midranks([30, 10, 10, 20]) // [ 0.875, 0.25, 0.25, 0.625 ]
 */
export function midranks(values: ArrayLike<number>): number[] {
  const first = new Map<number, number>()
  const last = new Map<number, number>()
  Float64Array.from(values)
    .sort()
    .forEach((value, rank) => {
      if (!first.has(value)) first.set(value, rank)
      last.set(value, rank + 1)
    })
  return Array.from(
    values,
    (value) => ((first.get(value) ?? 0) + (last.get(value) ?? 0)) / 2 / values.length,
  )
}
