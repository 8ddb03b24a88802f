// Samples hold up to a million values: the loops index with `!`.
import { fsum } from 'd3-array'
import { OptionError, requireNumbers } from '../core/errors.ts'
import { ascendingOrder, sortAscending } from './ascending-order.ts'

/** Finite values in ascending order, and how many each stands for; undefined where each for one. */
export interface WeightedSample {
  readonly values: Float64Array
  readonly weights?: Float64Array | undefined
}

/**
 * Returns how many equally weighted values a sample is worth: (Σw)² / Σw², never more than it has.
 *
 * Source: Kish 1965, "Survey Sampling", §8.2.
 */
export function effectiveSize(weights: ArrayLike<number>): number {
  let [sum, squares] = [0, 0]
  for (let i = 0; i < weights.length; i++) {
    sum += weights[i]!
    squares += weights[i]! ** 2
  }
  return sum ** 2 / squares
}

/** Returns how many equally weighted values a sample is worth. */
export function worthOf(values: ArrayLike<number>, weights?: ArrayLike<number>): number {
  return differ(weights) ? effectiveSize(weights) : values.length
}

/** Whether weights differ: where they do not, none matters to a test. */
export function differ(weights: ArrayLike<number> | undefined): weights is ArrayLike<number> {
  if (weights === undefined) return false
  for (let i = 1; i < weights.length; i++) if (weights[i] !== weights[0]) return true
  return false
}

/** Returns weights in the same proportions that add up to their worth: 1 each if all are equal. */
export function worthWeights(weights: Float64Array): Float64Array {
  const isUneven: boolean = differ(weights)
  if (!isUneven) return weights.map(() => 1)
  const scale = effectiveSize(weights) / fsum(weights)
  return weights.map((own) => own * scale)
}

/** Sorts a sample, each value with its weight, and leaves out values that are not finite. */
export function ascendingSample(
  sample: ArrayLike<number>,
  weights?: ArrayLike<number>,
): WeightedSample {
  requireNumbers({ sample })
  requireWeights(sample, weights)
  const all = Float64Array.from(sample)
  if (weights === undefined) {
    return { values: sortAscending(all.filter(Number.isFinite)), weights }
  }
  const known = new Uint32Array(all.length)
  let count = 0
  for (let i = 0; i < all.length; i++) if (Number.isFinite(all[i])) known[count++] = i
  const order = ascendingOrder(all, known.subarray(0, count))
  return {
    values: new Float64Array(count).map((_, at) => all[order[at]!]!),
    weights: Float64Array.from(order, (i) => weights[i]!),
  }
}

/**
 * Rows of as many values as a weighted sample is worth, which stand for equally many each: those at
 * equal steps of its distribution. A test that knows no weights takes them instead.
 */
export function equalRows({
  values,
  weights,
}: {
  readonly values: ArrayLike<number>
  readonly weights?: ArrayLike<number> | undefined
}): Uint32Array {
  if (!differ(weights)) return Uint32Array.from({ length: values.length }, (_, row) => row)
  const count = Math.max(1, Math.round(effectiveSize(weights)))
  const step = fsum(Float64Array.from(weights)) / count
  let [row, upTo] = [0, weights[0]!]
  return new Uint32Array(count).map((_, i) => {
    while (upTo < (i + 0.5) * step) upTo += weights[++row]!
    return row
  })
}

/** @throws OptionError for another number of weights than values, or weights that are not above 0 */
export function requireWeights(
  sample: ArrayLike<number>,
  weights: ArrayLike<number> | undefined,
  option = 'weights',
): void {
  if (weights === undefined) return
  requireNumbers({ [option]: weights })
  if (weights.length !== sample.length) {
    throw new OptionError(option, `${weights.length} weights`, `${sample.length}, one a value`)
  }
  for (let i = 0; i < weights.length; i++) {
    // A value that is left out may have a weight that is none.
    if (!Number.isFinite(sample[i])) continue
    if (weights[i]! > 0 && Number.isFinite(weights[i])) continue
    throw new OptionError(`${option}[${i}]`, weights[i], 'a number above 0')
  }
}
