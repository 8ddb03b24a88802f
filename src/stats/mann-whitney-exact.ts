// The count walks N·n·S states: its loops index with `!`.
import type { Alternative } from './ks-p-value.ts'

/**
 * The exact p of a Mann-Whitney U of the second sample among all ways to deal the pooled values,
 * with the ties they have, out to two samples of these sizes.
 *
 * Counts the subsets of the pooled doubled midranks by size and sum, which only adds, so that even
 * the smallest p keeps its digits. Two-sided: the share of ways whose U is at least as far from
 * its mean n1·n2/2.
 *
 * Source: Streitberg and Röhmel 1986, "Exact distributions for permutation and rank tests",
 * Statistical Software Newsletter 12(1):10-17 (the shift algorithm).
 */
export function exactMannWhitneyP(
  first: ArrayLike<number>,
  second: ArrayLike<number>,
  { u, alternative }: { readonly u: number; readonly alternative: Alternative },
): number {
  const n1 = first.length
  const n2 = second.length
  const chosen = Math.min(n1, n2)
  const ranks = doubledMidranks(first, second)
  const ways = waysBySum(ranks, chosen)
  // Twice U of the smaller sample, less its mean; the sums are offset by the smallest rank, 2.
  const mean = n1 * n2
  const centre = chosen * (chosen + 1) - 2 * chosen + mean
  const ofSecond = n2 <= n1 ? 1 : -1
  const observed = Math.round(2 * u - mean)
  let extreme = 0
  let total = 0
  for (let sum = 0; sum < ways.length; sum++) {
    const found = (sum - centre) * ofSecond
    total += ways[sum]!
    if (isAsExtreme(found, observed, alternative)) extreme += ways[sum]!
  }
  return extreme / total
}

function isAsExtreme(found: number, observed: number, alternative: Alternative): boolean {
  if (alternative === 'slower') return found >= observed
  if (alternative === 'faster') return found <= observed
  return Math.abs(found) >= Math.abs(observed)
}

/** Twice the midrank of every pooled value, ascending: integers. */
function doubledMidranks(first: ArrayLike<number>, second: ArrayLike<number>): Int32Array {
  const pooled = new Float64Array(first.length + second.length)
  pooled.set(first)
  pooled.set(second, first.length)
  pooled.sort()
  const ranks = new Int32Array(pooled.length)
  for (let start = 0, end = 0; start < pooled.length; start = end) {
    while (end < pooled.length && pooled[end] === pooled[start]) end++
    ranks.fill(start + 1 + end, start, end)
  }
  return ranks
}

/** For each sum of (rank − 2): in how many ways `size` of the ascending ranks have it. */
function waysBySum(ranks: Int32Array, size: number): Float64Array {
  let largest = 0
  for (let i = ranks.length - size; i < ranks.length; i++) largest += ranks[i]! - 2
  const bySize = Array.from({ length: size + 1 }, () => new Float64Array(largest + 1))
  bySize[0]![0] = 1
  for (const [read, rank] of ranks.entries()) {
    const shift = rank - 2
    for (let members = Math.min(size, read + 1); members > 0; members--) {
      const from = bySize[members - 1]!
      const to = bySize[members]!
      for (let sum = largest; sum >= shift; sum--) to[sum]! += from[sum - shift]!
    }
  }
  return bySize[size]!
}
