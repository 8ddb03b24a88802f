// Samples hold up to a million values and are sorted thousands of times: the loops index with `!`.
import { OptionError, requireNumbers } from '../core/errors.ts'
import { sortAscending } from './ascending-order.ts'
import { ascendingSample, differ, equalRows, requireWeights, worthOf } from './weighted-sample.ts'

/** Meaning of a difference after − before for latencies. */
export type Direction = 'slower' | 'faster' | 'none'

/** Difference that counts as evidence: any, only slower, or only faster. */
export type Alternative = 'two-sided' | 'slower' | 'faster'

/** Options of samples. */
export interface SampleOptions {
  /**
   * Whether all samples are ascending already: they are then read without a copy. Default false.
   */
  readonly sorted?: boolean
}

/** Options of every test of two samples that has sides. */
export interface SidedOptions extends SampleOptions {
  /**
   * Alternative hypothesis: `'two-sided'` any difference, `'slower'` only that after is slower (tends to larger
   * values), `'faster'` only that after is faster. Default `'two-sided'`.
   */
  readonly alternative?: Alternative
}

export const ALTERNATIVES: readonly Alternative[] = ['two-sided', 'slower', 'faster']

/** Weights of values; only tests that document it take weights. */
export interface WeightOptions {
  /** Number of values that each one stands for, above 0. Default: all the same. */
  readonly beforeWeights?: ArrayLike<number> | undefined
  readonly afterWeights?: ArrayLike<number> | undefined
}

/** Two samples, and how many each of their values stands for. */
export interface SamplePair extends WeightOptions {
  readonly before: Float64Array
  readonly after: Float64Array
}

/** Numbers of values of two samples that were used: the finite ones. */
export interface SampleCounts {
  readonly beforeCount: number
  readonly afterCount: number
}

/** Result common to every test of two samples. */
export interface TwoSampleResult extends SampleCounts {
  /** Test statistic, as defined by each test. NaN if a sample is empty. */
  readonly statistic: number
  /** NaN when a sample is empty. */
  readonly p: number
  /** `'slower'` when after tends to larger values than before; each test says how it is reported. */
  readonly direction: Direction
  /**
   * Whether the samples are large enough to be judged: `isTestable` of both counts, one rule for
   * all tests, so that a family has the same members whichever test is chosen.
   */
  readonly testable: boolean
}

/**
 * Returns whether two samples are large enough for the KS test: n1·n2 > 4·(n1 + n2).
 *
 * 8 against 8 and 5 against 20 are too few, 9 against 9 and 5 against 21 are enough.
 *
 * Source: Sambasivan 2013, §2.6.2. MATLAB's help also accepts equality.
 *
 * @example
 * isTestable(8, 8) // false
 * isTestable(9, 9) // true
 */
export function isTestable(beforeCount: number, afterCount: number): boolean {
  requireNumbers({ 'beforeCount, afterCount': [beforeCount, afterCount] })
  return beforeCount * afterCount > 4 * (beforeCount + afterCount)
}

export function directionOf(difference: number): Direction {
  if (difference > 0) return 'slower'
  return difference < 0 ? 'faster' : 'none'
}

/**
 * Sorts a sample and leaves out values that are not finite.
 *
 * With `sorted: true` the sample is used as it stands, without a copy; infinite values may then
 * stand at either end and NaN at the end, where a typed array's `sort()` puts them.
 *
 * @throws OptionError when `sorted` is true and the sample is not ascending.
 */
export function sortedFinite(sample: ArrayLike<number>, { sorted = false } = {}, name = 'sample') {
  requireNumbers({ [name]: sample })
  const ordered = sorted ? sample : sortAscending(new Float64Array(sample))
  let start = 0
  let end = ordered.length
  while (end > start && !Number.isFinite(ordered[end - 1])) end--
  while (start < end && !Number.isFinite(ordered[start])) start++
  const values = end - start === ordered.length ? ordered : cut(ordered, start, end)
  if (sorted) requireAscending(values)
  return values
}

function cut(ordered: ArrayLike<number>, start: number, end: number): ArrayLike<number> {
  return ordered instanceof Float64Array
    ? ordered.subarray(start, end)
    : Float64Array.from({ length: end - start }, (_, i) => ordered[start + i]!)
}

function requireAscending(values: ArrayLike<number>): void {
  for (let i = 1; i < values.length; i++) {
    if (values[i]! >= values[i - 1]!) continue
    const found = `${values[i]} follows ${values[i - 1]} at index ${i}`
    throw new OptionError('sorted', true, `false, or ascending samples: ${found}`)
  }
}

/** Two samples, each ascending and finite. */
export interface SortedPair {
  readonly first: ArrayLike<number>
  readonly second: ArrayLike<number>
  readonly sizes: SampleCounts & Pick<TwoSampleResult, 'testable'>
  /** Weights of the values, if any were given. */
  readonly weights: readonly [Float64Array, Float64Array] | undefined
  /** Whether weights of a sample differ: where they do not, none matters to a test. */
  readonly isUneven: boolean
  /** Number of equally weighted values that each sample is worth. */
  readonly worth: readonly [number, number]
}

/** Sorts both samples, leaves out values that are not finite, and counts. */
export function sortedPair(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  sorted = false,
  { beforeWeights, afterWeights }: WeightOptions = {},
): SortedPair {
  requireWeights(before, beforeWeights, 'beforeWeights')
  requireWeights(after, afterWeights, 'afterWeights')
  const isWeighted = beforeWeights !== undefined || afterWeights !== undefined
  const ascending = (sample: ArrayLike<number>, name: string, weights?: ArrayLike<number>) =>
    isWeighted
      ? ascendingSample(sample, weights ?? new Float64Array(sample.length).fill(1))
      : { values: sortedFinite(sample, { sorted }, name), weights: undefined }
  const one = ascending(before, 'before', beforeWeights)
  const other = ascending(after, 'after', afterWeights)
  const worth = [worthOf(one.values, one.weights), worthOf(other.values, other.weights)] as const
  const sizes = {
    beforeCount: one.values.length,
    afterCount: other.values.length,
    testable: isTestable(...worth),
  }
  return {
    first: one.values,
    second: other.values,
    sizes,
    weights: one.weights && other.weights && [one.weights, other.weights],
    isUneven: differ(one.weights) || differ(other.weights),
    worth,
  }
}

/** Returns both samples as values of equal weight: those at their `equalRows`. */
export function equalPair(pair: SortedPair): SortedPair {
  const of = (values: ArrayLike<number>, weights: Float64Array | undefined) =>
    Float64Array.from(equalRows({ values, weights }), (row) => values[row]!)
  const { first, second, weights } = pair
  return { ...pair, first: of(first, weights?.[0]), second: of(second, weights?.[1]) }
}

/** Returns samples in any order as values of equal weight; unchanged if no weights differ. */
export function equalSamples({ before, after, ...weights }: SamplePair) {
  const pair = sortedPair(before, after, false, weights)
  if (!pair.isUneven) return { before, after }
  const { first, second } = equalPair(pair)
  return { before: first, after: second }
}

export function pooledValues(
  pair: Readonly<Record<'first' | 'second', ArrayLike<number>>>,
): Float64Array {
  const pooled = new Float64Array(pair.first.length + pair.second.length)
  pooled.set(pair.first)
  pooled.set(pair.second, pair.first.length)
  return sortAscending(pooled)
}
