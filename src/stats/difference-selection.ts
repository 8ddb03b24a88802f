// Walks up to a million values some sixty times: the loops index with `!`.

/** Two ascending samples whose pairs all weigh the same. */
export interface WeightedPair {
  readonly first: ArrayLike<number>
  readonly second: ArrayLike<number>
  readonly weight: number
}

/** What lies on either side of a value among all differences of pairs, second − first. */
interface Split {
  /** The weight of differences of at most the value. */
  readonly weight: number
  /** The largest difference of at most the value; −∞ if there is none. */
  readonly below: number
  /** The smallest difference above the value; ∞ if there is none. */
  readonly above: number
}

/**
 * The smallest difference d, second − first, of any pair such that differences of at most d weigh
 * at least `target` (`strictly`: more than `target`). Without listing the pairs: each step halves
 * the range of values and counts in O(n). ∞ if all differences weigh less.
 */
export function selectDifference(
  pairs: readonly WeightedPair[],
  target: number,
  { strictly = false } = {},
): number {
  const reached = (weight: number) => (strictly ? weight > target : weight >= target)
  let { low, high } = rangeOf(pairs)
  if (!reached(splitAt(pairs, high).weight)) return Number.POSITIVE_INFINITY
  // `high` is always a difference that reaches the target; nothing below `low` does.
  while (low < high) {
    const middle = low / 2 + high / 2
    const split = splitAt(pairs, middle < high ? middle : low)
    if (reached(split.weight)) high = split.below
    else low = split.above
  }
  return high
}

function rangeOf(pairs: readonly WeightedPair[]): { low: number; high: number } {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const { first, second } of pairs) {
    low = Math.min(low, second[0]! - first[first.length - 1]!)
    high = Math.max(high, second[second.length - 1]! - first[0]!)
  }
  return { low, high }
}

/** Counts the differences up to a value, and finds those next to it, in O(n). */
export function splitAt(pairs: readonly WeightedPair[], value: number): Split {
  let weight = 0
  let below = Number.NEGATIVE_INFINITY
  let above = Number.POSITIVE_INFINITY
  for (const { first, second, weight: each } of pairs) {
    let count = 0
    let i = 0
    for (let j = 0; j < second.length; j++) {
      const larger = second[j]!
      // Ascending in j: values of `first` up to i lie more than `value` below `larger`.
      while (i < first.length && larger - first[i]! > value) i++
      if (i > 0) above = Math.min(above, larger - first[i - 1]!)
      if (i < first.length) below = Math.max(below, larger - first[i]!)
      count += first.length - i
    }
    weight += each * count
  }
  return { weight, below, above }
}
