// Samples hold up to a million values: the loop indexes with `!`.
import { bisectLeft } from 'd3-array'
import { quantileSorted } from 'simple-statistics'
import { OptionError, requireNumbers } from '../core/errors.ts'
import { sortAscending } from './ascending-order.ts'
import { requireWeights } from './weighted-sample.ts'

/**
 * Returns the p-quantile of an ascending sample, interpolated between its two neighboring values:
 * type 7 of Hyndman and Fan, the default of NumPy, SciPy and R.
 *
 * `p` is a share from 0 (the smallest value) to 1 (the largest). NaN for an empty sample. The
 * sample must be ascending and free of NaN, which is not checked. With `weights`, each value counts
 * as often as its weight says.
 *
 * Sources: Hyndman and Fan 1996, "Sample quantiles in statistical packages", The American
 * Statistician 50(4):361-365; with weights as `wtd.quantile` of R's Hmisc.
 *
 * @throws OptionError for a p outside 0 to 1.
 *
 * @example
 * quantile([10, 20, 30, 40], 0.5) // 25
 */
export function quantile(
  sortedSample: ArrayLike<number>,
  p: number,
  weights?: ArrayLike<number>,
): number {
  requireNumbers({ sortedSample, p: [p] })
  if (!(p >= 0 && p <= 1)) throw new OptionError('p', p, 'a share from 0 to 1')
  if (sortedSample.length === 0) return Number.NaN
  if (weights !== undefined) return weightedQuantile(sortedSample, p, weights)
  // Typed arrays have all it asks of an array.
  return quantileSorted(sortedSample as number[], p)
}

function weightedQuantile(ascending: ArrayLike<number>, p: number, weights: ArrayLike<number>) {
  requireWeights(ascending, weights)
  let mass = 0
  for (let i = 0; i < weights.length; i++) mass += weights[i]!
  const place = Math.max(0, p * (mass - 1))
  const first = Math.floor(place)
  let [row, upTo] = [0, weights[0]!]
  const valueAt = (position: number) => {
    while (upTo <= position && row < ascending.length - 1) upTo += weights[++row]!
    return ascending[row]!
  }
  const low = valueAt(first)
  return low + (place === first ? 0 : (valueAt(first + 1) - low) * (place - first))
}

/**
 * Returns the value that stands `place` of the weight into an ascending sample: Hazen's rule (type 5
 * of Hyndman and Fan) where each value is repeated as often as its weight says. Values that weigh
 * less than 1, or all with `isSpread`, stand in the middle of their weight.
 *
 * @param upTo sums of weights up to and with each value
 */
export function valueAtWeight(
  ascending: ArrayLike<number>,
  upTo: Float64Array,
  { place, isSpread = false }: { readonly place: number; readonly isSpread?: boolean },
): number {
  const row = Math.min(bisectLeft(upTo, place), upTo.length - 1)
  /** Half the weight at whose ends a value begins to give way to its neighbor. */
  const edgeOf = (at: number) => {
    const half = (upTo[at]! - (upTo[at - 1] ?? 0)) / 2
    return isSpread ? half : Math.min(0.5, half)
  }
  const between = (low: number) => {
    const from = upTo[low]! - edgeOf(low)
    const share = (place - from) / (upTo[low]! + edgeOf(low + 1) - from)
    const [own, next] = [ascending[low]!, ascending[low + 1]!]
    return share === 1 ? next : own + (next - own) * share
  }
  const begins = (upTo[row - 1] ?? 0) + edgeOf(row)
  const ends = upTo[row]! - edgeOf(row)
  if (row > 0 && place < begins - ROUNDING) return between(row - 1)
  return row < upTo.length - 1 && place > ends + ROUNDING ? between(row) : ascending[row]!
}

/** Largest rounding error in sums of fractions. */
const ROUNDING = 1e-9

/** Returns the `quantile` of two ascending samples together, not both empty, which are not merged for it. */
export function pooledQuantile(
  first: ArrayLike<number>,
  second: ArrayLike<number>,
  p: number,
): number {
  const place = (first.length + second.length - 1) * p
  const low = pooledValue(first, second, Math.floor(place))
  const high = pooledValue(first, second, Math.ceil(place))
  return low + (place - Math.floor(place)) * (high - low)
}

/**
 * Returns the value at a place among both samples, given how many of the first come before it; the others are of the
 * second.
 */
function pooledValue(first: ArrayLike<number>, second: ArrayLike<number>, place: number): number {
  let low = Math.max(0, place - second.length)
  let high = Math.min(place, first.length)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (first[middle]! < second[place - middle - 1]!) low = middle + 1
    else high = middle
  }
  const [one, other] = [first[low], second[place - low]]
  return Math.min(one ?? Number.POSITIVE_INFINITY, other ?? Number.POSITIVE_INFINITY)
}

/** Returns the median of values in any order; NaN where there are none. */
export function median(values: ArrayLike<number>): number {
  return quantile(sortAscending(Float64Array.from(values)), 0.5)
}
