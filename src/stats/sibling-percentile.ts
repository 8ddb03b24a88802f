import { requireNumbers } from '../core/errors.ts'

/**
 * Where each score stands among its siblings: (k − 1)/(n − 1) for the k-th smallest of n, 0 for the
 * best and 1 for the worst. Equal scores share the mean of their ranks; a single one has 0. NaN
 * scores rank last, together.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §4.
 *
 * @example
 * siblingPercentiles([0.2, 0.2, 0.5]) // Float64Array(3) [ 0.25, 0.25, 1 ]
 */
export function siblingPercentiles(scores: ArrayLike<number>): Float64Array {
  requireNumbers({ scores })
  const n = scores.length
  const percentiles = new Float64Array(n)
  if (n < 2) return percentiles
  const worth = Float64Array.from(scores, (score) => (Number.isNaN(score) ? Infinity : score))
  const order = Uint32Array.from(worth.keys()).sort((a, b) => {
    const [x, y] = [worth[a] as number, worth[b] as number]
    return x < y ? -1 : x > y ? 1 : 0
  })
  for (let first = 0; first < n; ) {
    let end = first + 1
    while (end < n && worth[order[end] as number] === worth[order[first] as number]) end++
    for (let at = first; at < end; at++) {
      percentiles[order[at] as number] = (first + end - 1) / 2 / (n - 1)
    }
    first = end
  }
  return percentiles
}
