import { requireNumbers } from '../core/errors.ts'
import { midranks } from './midranks.ts'

/**
 * Returns the place of each score among its siblings: (k − 1)/(n − 1) for the k-th smallest of n, 0 for the best and 1
 * for the worst. Equal scores share the mean of their ranks; a single one has 0. NaN scores rank last, together.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §4.
 *
 * @example
 * siblingPercentiles([0.2, 0.2, 0.5]) // Float64Array(3) [ 0.25, 0.25, 1 ]
 */
export function siblingPercentiles(scores: ArrayLike<number>): Float64Array {
  requireNumbers({ scores })
  const n = scores.length
  if (n < 2) return new Float64Array(n)
  const worth = Float64Array.from(scores, (score) => (Number.isNaN(score) ? Infinity : score))
  return midranks(worth).map((rank) => (rank - 1) / (n - 1))
}
