// Ranks every value of a series: the loop indexes with `!`.
import { ascendingOrder } from './ascending-order.ts'

/**
 * Returns the rank of each value, from 1; equal values share the mean of their ranks. No value is NaN.
 * With weights, ranks are those where each value is repeated as often as its weight says.
 *
 * @example
 * midranks(Float64Array.of(30, 10, 10, 20)) // Float64Array(4) [ 4, 1.5, 1.5, 3 ]
 */
export function midranks(values: Float64Array, weights?: Float64Array): Float64Array {
  const order = ascendingOrder(values)
  const ranks = new Float64Array(values.length)
  for (let first = 0, end = 0, below = 0; first < order.length; first = end) {
    let upTo = below
    while (end < order.length && values[order[end]!] === values[order[first]!]) {
      upTo += weights === undefined ? 1 : weights[order[end]!]!
      end++
    }
    for (let at = first; at < end; at++) ranks[order[at]!] = (below + 1 + upTo) / 2
    below = upTo
  }
  return ranks
}
