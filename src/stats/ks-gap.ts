// The merge below runs for every category and every edge of a comparison: it indexes with `!`.

/** The largest gaps between the empirical distributions of two ascending samples. */
export interface KsGap {
  /** max(F_before − F_after) · n1·n2, an integer; 0 or more. Large when after is slower. */
  readonly slower: number
  /** max(F_after − F_before) · n1·n2, an integer; 0 or more. Large when after is faster. */
  readonly faster: number
  /** The smallest value at which `slower` is reached; NaN when `slower` is 0. */
  readonly slowerAt: number
  /** The smallest value at which `faster` is reached; NaN when `faster` is 0. */
  readonly fasterAt: number
}

/**
 * Merges two ascending samples and compares them at the end of each group of ties.
 *
 * Gaps are counted in units of 1/(n1·n2), so that no rounding can make equal gaps differ; exact
 * while n1·n2 < 2^53.
 */
export function ksGap(before: ArrayLike<number>, after: ArrayLike<number>): KsGap {
  const n1 = before.length
  const n2 = after.length
  let i = 0
  let j = 0
  let slower = 0
  let faster = 0
  let slowerAt = Number.NaN
  let fasterAt = Number.NaN
  // Once one sample is used up, the gap only closes: the rest need not be read.
  while (i < n1 && j < n2) {
    const value = Math.min(before[i]!, after[j]!)
    while (i < n1 && before[i]! === value) i++
    while (j < n2 && after[j]! === value) j++
    const gap = i * n2 - j * n1
    if (gap > slower) {
      slower = gap
      slowerAt = value
    } else if (-gap > faster) {
      faster = -gap
      fasterAt = value
    }
  }
  return { slower, faster, slowerAt, fasterAt }
}

/**
 * For each k, whether the first k values of the two ascending samples, pooled, end a group of
 * ties (1) or split one (0). Length n1 + n2 + 1.
 */
export function tieGroupEnds(before: ArrayLike<number>, after: ArrayLike<number>): Uint8Array {
  const n1 = before.length
  const n2 = after.length
  const ends = new Uint8Array(n1 + n2 + 1)
  let i = 0
  let j = 0
  while (i < n1 || j < n2) {
    const value = j >= n2 || (i < n1 && before[i]! < after[j]!) ? before[i]! : after[j]!
    while (i < n1 && before[i]! === value) i++
    while (j < n2 && after[j]! === value) j++
    ends[i + j] = 1
  }
  return ends
}
