// Drawn over samples of up to a million values: the loop indexes with `!`.
import { ascendingSample } from './weighted-sample.ts'

export interface Ecdf {
  /** The distinct values, ascending. */
  readonly x: Float64Array
  /** The share of the sample at or below each `x`; the last is 1. */
  readonly y: Float64Array
  /** Number of finite values in the sample. */
  readonly count: number
}

/**
 * Returns the empirical distribution function of a sample: its distinct values and the share of the
 * sample at or below each, by `weights` if given. Continuous from the right, so it is drawn as a step
 * after each `x`.
 *
 * An empty sample gives empty arrays.
 *
 * @example
 * ecdf([3, 1, 3, 5]).y // Float64Array(3) [ 0.25, 0.75, 1 ]
 */
export function ecdf(sample: ArrayLike<number>, weights?: ArrayLike<number>): Ecdf {
  const { values, weights: own } = ascendingSample(sample, weights)
  const count = values.length
  const all = own === undefined ? count : own.reduce((sum, one) => sum + one, 0)
  const x = new Float64Array(count)
  const y = new Float64Array(count)
  let distinct = 0
  let read = 0
  for (let i = 0; i < count; i++) {
    read += own === undefined ? 1 : own[i]!
    if (i + 1 < count && values[i + 1]! === values[i]!) continue
    x[distinct] = values[i]!
    y[distinct] = read / all
    distinct++
  }
  return { x: x.slice(0, distinct), y: y.slice(0, distinct), count }
}
