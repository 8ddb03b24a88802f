// Not simple-statistics': that knows one column only. n·p² steps: the loops index with `!`.
import { OptionError } from '../core/errors.ts'

export interface LeastSquaresFit {
  readonly intercept: number
  readonly coefficients: Float64Array
  predict(row: ArrayLike<number>): number
}

/** Share of a column's variance added to it, so that columns implied by others do not make the equations singular. */
const RIDGE = 1e-9
/** A column whose spread is less than this share of its mean does not vary but for rounding. */
const CONSTANT = 1e-9

/**
 * Fits a linear regression with an intercept: normal equations of scaled columns, by Cholesky with a negligible ridge.
 * Constant columns get 0; equal columns share a coefficient.
 *
 * @param weights of the rows, inverse to the variance of their values; by default all are equal
 */
export function leastSquares(
  rows: readonly ArrayLike<number>[],
  values: ArrayLike<number>,
  weights: ArrayLike<number> = new Float64Array(rows.length).fill(1),
): LeastSquaresFit {
  const p = checkedColumns(rows, values)
  const n = rows.reduce((sum, _, i) => sum + weights[i]!, 0)
  const mean = new Float64Array(p)
  rows.forEach((row, i) => {
    for (let j = 0; j < p; j++) mean[j]! += (row[j]! * weights[i]!) / n
  })
  const meanValue = rows.reduce((sum, _, i) => sum + (values[i]! * weights[i]!) / n, 0)
  const scale = new Float64Array(p)
  rows.forEach((row, i) => {
    for (let j = 0; j < p; j++) scale[j]! += weights[i]! * (row[j]! - mean[j]!) ** 2
  })
  for (let j = 0; j < p; j++) {
    const spread = Math.sqrt(scale[j]!)
    scale[j] = spread > CONSTANT * Math.abs(mean[j]!) * Math.sqrt(n) ? spread : 0
  }
  const gram = new Float64Array(p * p)
  const right = new Float64Array(p)
  const scaled = new Float64Array(p)
  rows.forEach((row, i) => {
    for (let j = 0; j < p; j++) scaled[j] = scale[j]! > 0 ? (row[j]! - mean[j]!) / scale[j]! : 0
    for (let j = 0; j < p; j++) {
      if (scaled[j] === 0) continue
      right[j]! += weights[i]! * scaled[j]! * (values[i]! - meanValue)
      for (let k = 0; k <= j; k++) gram[j * p + k]! += weights[i]! * scaled[j]! * scaled[k]!
    }
  })
  for (let j = 0; j < p; j++) gram[j * p + j]! += RIDGE
  const coefficients = solveCholesky(gram, right)
  for (let j = 0; j < p; j++) coefficients[j] = scale[j]! > 0 ? coefficients[j]! / scale[j]! : 0
  const intercept = meanValue - dot(coefficients, mean)
  return { intercept, coefficients, predict: (row) => intercept + dot(coefficients, row) }
}

function checkedColumns(rows: readonly ArrayLike<number>[], values: ArrayLike<number>): number {
  const [first] = rows
  if (first === undefined) throw new OptionError('rows', 'empty', 'at least one row')
  if (values.length !== rows.length) {
    throw new OptionError('values', `${values.length} values`, `${rows.length}, one a row`)
  }
  const wrong = rows.findIndex((row) => row.length !== first.length)
  if (wrong >= 0) {
    const expected = `${first.length} columns, as the first row has`
    throw new OptionError(`rows[${wrong}]`, `${rows[wrong]!.length} columns`, expected)
  }
  return first.length
}

/** Solves A·x = b for a positive definite A, given and overwritten in its lower half. */
function solveCholesky(a: Float64Array, b: Float64Array): Float64Array {
  const p = b.length
  for (let j = 0; j < p; j++) {
    for (let i = j; i < p; i++) {
      let sum = a[i * p + j]!
      for (let k = 0; k < j; k++) sum -= a[i * p + k]! * a[j * p + k]!
      a[i * p + j] = i === j ? Math.sqrt(Math.max(sum, RIDGE / 2)) : sum / a[j * p + j]!
    }
  }
  const x = b.slice()
  for (let i = 0; i < p; i++) {
    for (let k = 0; k < i; k++) x[i]! -= a[i * p + k]! * x[k]!
    x[i]! /= a[i * p + i]!
  }
  for (let i = p - 1; i >= 0; i--) {
    for (let k = i + 1; k < p; k++) x[i]! -= a[k * p + i]! * x[k]!
    x[i]! /= a[i * p + i]!
  }
  return x
}

function dot(one: Float64Array, other: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < one.length; i++) sum += one[i]! * other[i]!
  return sum
}
