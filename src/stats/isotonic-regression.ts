// Runs once a value: the loops index with `!`.
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
  const order = Uint32Array.from({ length: x.length }, (_, i) => i).sort((a, b) => x[a]! - x[b]!)
  const starts: number[] = []
  const sums: number[] = []
  const sizes: number[] = []
  const mean = (pool: number) => sums[pool]! / sizes[pool]!
  for (let at = 0; at < order.length; at++) {
    const row = order[at]!
    if (!Number.isFinite(x[row]) || !Number.isFinite(y[row])) {
      throw new OptionError(`y[${row}]`, y[row], 'a finite value at a finite place')
    }
    if (at > 0 && x[row] === x[order[at - 1]!]) {
      sums[sums.length - 1]! += y[row]!
      sizes[sizes.length - 1]!++
    } else {
      starts.push(at)
      sums.push(y[row]!)
      sizes.push(1)
    }
    // The place may not be complete yet; pooling early changes nothing, as pools only grow.
    if (x[row] === x[order[at + 1] ?? row] && at + 1 < order.length) continue
    while (sums.length > 1 && mean(sums.length - 2) >= mean(sums.length - 1)) {
      const [sum, size] = [sums.pop()!, sizes.pop()!]
      starts.pop()
      sums[sums.length - 1]! += sum
      sizes[sizes.length - 1]! += size
    }
  }
  const fitted = new Float64Array(x.length)
  starts.forEach((start, pool) => {
    const end = starts[pool + 1] ?? order.length
    for (let at = start; at < end; at++) fitted[order[at]!] = mean(pool)
  })
  return fitted
}
