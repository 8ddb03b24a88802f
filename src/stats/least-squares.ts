// Not simple-statistics': that knows one column only. n·p² steps: the loops index with `!`.
import { sum } from 'd3-array'

/** Share of a column's variance added to it, so that columns implied by others do not make the equations singular. */
const RIDGE = 1e-9
/** A column whose spread is less than this share of its mean does not vary but for rounding. */
const CONSTANT = 1e-9

/**
 * Fits a linear regression with an intercept to at least one row, and returns its prediction for a row: normal equations
 * of scaled columns with a negligible ridge. Constant columns count for nothing; equal columns share a coefficient.
 *
 * @param weights of the rows, inverse to the variance of their values; by default all are equal
 */
export function leastSquares(
  rows: readonly ArrayLike<number>[],
  values: ArrayLike<number>,
  weights: ArrayLike<number> = new Float64Array(rows.length).fill(1),
): (row: ArrayLike<number>) => number {
  const sumOf = (of: (i: number) => number) => sum(rows, (_, i) => weights[i]! * of(i))
  const all = sumOf(() => 1)
  const meanValue = sumOf((i) => values[i]!) / all
  const columns = Array.from(rows[0]!, (_, j) => {
    const mean = sumOf((i) => rows[i]![j]!) / all
    const spread = Math.sqrt(sumOf((i) => (rows[i]![j]! - mean) ** 2))
    const scale = spread > CONSTANT * Math.abs(mean) * Math.sqrt(all) ? 1 / spread : 0
    return (row: ArrayLike<number>) => (row[j]! - mean) * scale
  })
  const scaled = columns.map((column) => Float64Array.from(rows, column))
  const gram = scaled.map((one, j) =>
    scaled.map((other, k) => sumOf((i) => one[i]! * other[i]!) + (j === k ? RIDGE : 0)),
  )
  const right = scaled.map((one) => sumOf((i) => one[i]! * (values[i]! - meanValue)))
  const coefficients = solve(gram, right)
  return (row) => meanValue + sum(coefficients, (own, j) => own * columns[j]!(row))
}

/** Solves A·x = b for a positive definite A by elimination; both are overwritten. */
function solve(a: readonly number[][], b: number[]): number[] {
  for (let j = 0; j < b.length; j++) {
    for (let i = j + 1; i < b.length; i++) {
      const factor = a[i]![j]! / a[j]![j]!
      for (let k = j; k < b.length; k++) a[i]![k]! -= factor * a[j]![k]!
      b[i]! -= factor * b[j]!
    }
  }
  for (let j = b.length - 1; j >= 0; j--) {
    for (let k = j + 1; k < b.length; k++) b[j]! -= a[j]![k]! * b[k]!
    b[j]! /= Math.max(a[j]![j]!, RIDGE / 2)
  }
  return b
}
