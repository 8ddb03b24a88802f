// Runs over up to a million values: the loop indexes with `!`.
import { rejectUnknownOptions } from '../core/errors.ts'
import { type SampleCounts, type SampleOptions, sortedPair } from './two-sample.ts'

export interface WassersteinResult extends SampleCounts {
  /** The area between the two empirical distribution functions: slower + faster. */
  readonly distance: number
  /** The part where after is slower: F_before above F_after. */
  readonly slower: number
  /** The part where after is faster: F_after above F_before. */
  readonly faster: number
}

/**
 * Returns the Wasserstein (earth mover's) distance between two samples, in their unit: the mean distance that values
 * must move to turn the distribution of before into that of after.
 *
 * W₁ = ∫ |F_before − F_after|, split into moves up (`slower`) and moves down (`faster`). slower − faster is the
 * difference of the means, after − before. Symmetric but for the two parts, which swap with the periods.
 *
 * Ties need no correction. NaN and infinite values are left out. When a sample is
 * empty, distance and parts are NaN.
 *
 * Limits: a distance, not a test: two samples of one distribution are some way apart too.
 *
 * Source: Vallender 1974, "Calculation of the Wasserstein distance between probability
 * distributions on the line", Theory of Probability and Its Applications 18(4):784-786.
 *
 * @throws OptionError for unsorted samples with `sorted`.
 *
 * @example
 * wassersteinDistance([1, 2, 3], [1, 4, 5]).distance // 1.3333333333333333
 */
export function wassersteinDistance(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  options: SampleOptions = {},
): WassersteinResult {
  rejectUnknownOptions(options, ['sorted'])
  const { sorted = false } = options
  const { first, second, sizes } = sortedPair(before, after, sorted)
  const { testable: _, ...counts } = sizes
  const n1 = first.length
  const n2 = second.length
  if (n1 === 0 || n2 === 0) {
    return { distance: Number.NaN, slower: Number.NaN, faster: Number.NaN, ...counts }
  }
  let slower = 0
  let faster = 0
  let i = 0
  let j = 0
  let from = Math.min(first[0]!, second[0]!)
  while (i < n1 || j < n2) {
    const to = j >= n2 || (i < n1 && first[i]! < second[j]!) ? first[i]! : second[j]!
    // Counted in units of 1/(n1·n2), so that equal shares differ by exactly 0.
    const area = ((i * n2 - j * n1) / (n1 * n2)) * (to - from)
    if (area > 0) slower += area
    else faster -= area
    while (i < n1 && first[i] === to) i++
    while (j < n2 && second[j] === to) j++
    from = to
  }
  return { distance: slower + faster, slower, faster: faster + 0, ...counts }
}
