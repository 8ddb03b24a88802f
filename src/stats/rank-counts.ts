// The merge below runs for every stratum of every comparison: it indexes with `!`.

/** What rank tests need to know of two ascending samples. */
export interface RankCounts {
  /** U of the second sample: pairs in which its value is the larger, ties counted half. */
  readonly u: number
  /** Σ t³ − t over groups of t equal values of the pooled sample. */
  readonly tieTerm: number
}

/** Merges two ascending samples and counts. */
export function rankCounts(first: ArrayLike<number>, second: ArrayLike<number>): RankCounts {
  const n1 = first.length
  const n2 = second.length
  let i = 0
  let j = 0
  let u = 0
  let tieTerm = 0
  while (i < n1 || j < n2) {
    const value = j >= n2 || (i < n1 && first[i]! < second[j]!) ? first[i]! : second[j]!
    const below = i
    const read = i + j
    while (i < n1 && first[i] === value) i++
    const ofSecond = j
    while (j < n2 && second[j] === value) j++
    u += (j - ofSecond) * ((below + i) / 2)
    const tied = i + j - read
    if (tied > 1) tieTerm += tied * (tied * tied - 1)
  }
  return { u, tieTerm }
}

/** The variance of U when both samples come from one distribution, given the ties. */
export function rankVariance(n1: number, n2: number, tieTerm: number): number {
  const n = n1 + n2
  return n < 2 ? 0 : Math.max(0, ((n1 * n2) / 12) * (n + 1 - tieTerm / (n * (n - 1))))
}
