import { group, range, sort, sum } from 'd3-array'
import { OptionError, requireNumbers } from '../core/errors.ts'

/**
 * Fits values that never fall as their places rise: the non-decreasing sequence with the least sum
 * of squared deviations. Equal places get one value.
 *
 * Takes O(n log n) (pool adjacent violators). Without values the fit is empty.
 *
 * @param x places, in any order
 * @param y value at each place
 * @returns the fitted value at each place, in the order given
 * @throws OptionError when there is another number of values than of places, or one is not finite
 *
 * Source: Barlow, Bartholomew, Bremner and Brunk 1972, "Statistical inference under order
 * restrictions", §1.2.
 *
 * @example
 * isotonicRegression([1, 2, 3, 4], [1, 3, 2, 4]) // Float64Array(4) [ 1, 2.5, 2.5, 4 ]
 */
export function isotonicRegression(x: ArrayLike<number>, y: ArrayLike<number>): Float64Array {
  requireNumbers({ x, y })
  if (x.length !== y.length) throw new OptionError('y', y.length, `${x.length} values, one a place`)
  const rows = sort(range(x.length), (row) => x[row])
  const wrong = rows.find((row) => !(Number.isFinite(x[row]) && Number.isFinite(y[row])))
  if (wrong !== undefined) {
    throw new OptionError(`y[${wrong}]`, y[wrong], 'a finite value at a finite place')
  }
  const pools: { readonly rows: number[]; sum: number }[] = []
  const mean = (pool = pools.at(-1)) =>
    pool === undefined ? -Infinity : pool.sum / pool.rows.length
  for (const same of group(rows, (row) => x[row]).values()) {
    let pool = { rows: same, sum: sum(same, (row) => y[row]) }
    while (mean() >= mean(pool)) {
      const last = pools.pop()!
      for (const row of pool.rows) last.rows.push(row)
      last.sum += pool.sum
      pool = last
    }
    pools.push(pool)
  }
  const fitted = new Float64Array(x.length)
  for (const pool of pools) for (const row of pool.rows) fitted[row] = mean(pool)
  return fitted
}
