// Computed for each of thousands of permutations: the loops index with `!`.
import type { PooledLabels } from './pooled-labels.ts'

/**
 * A²_akN, the k-sample Anderson-Darling statistic with midranks; 0 when all values are equal.
 *
 * Source: Scholz and Stephens 1987, equation 7.
 */
export function andersonDarlingStatistic(
  { labels, ends }: PooledLabels,
  sizes: readonly number[],
): number {
  const total = labels.length
  const counts = new Float64Array(sizes.length)
  const tied = new Float64Array(sizes.length)
  let sum = 0
  let start = 0
  for (const end of ends) {
    tied.fill(0)
    for (let place = start; place < end; place++) tied[labels[place]!]!++
    const group = end - start
    const middle = start + group / 2
    let squares = 0
    for (let sample = 0; sample < sizes.length; sample++) {
      const gap = total * (counts[sample]! + tied[sample]! / 2) - middle * sizes[sample]!
      squares += (gap * gap) / sizes[sample]!
      counts[sample]! += tied[sample]!
    }
    if (squares > 0) {
      sum += ((group / total) * squares) / (middle * (total - middle) - (total * group) / 4)
    }
    start = end
  }
  return ((total - 1) / total) * sum
}

/**
 * The variance of A²_akN over all ways to deal the values out, when no two are equal; NaN for fewer
 * than 4 values.
 *
 * Source: Scholz and Stephens 1987, equation 4.
 */
export function andersonDarlingVariance(sizes: readonly number[]): number {
  const k = sizes.length
  const n = sizes.reduce((sum, size) => sum + size, 0)
  if (n < 4) return Number.NaN
  const H = sizes.reduce((sum, size) => sum + 1 / size, 0)
  let h = 0
  let g = 0
  for (let i = 1; i < n - 1; i++) {
    h += 1 / (n - i)
    g += h / (i + 1)
  }
  h += 1
  const a = (4 * g - 6) * (k - 1) + (10 - 6 * g) * H
  const b = (2 * g - 4) * k * k + 8 * h * k + (2 * g - 14 * h - 4) * H - 8 * h + 4 * g - 6
  const c = (6 * h + 2 * g - 2) * k * k + (4 * h - 4 * g + 6) * k + (2 * h - 6) * H + 4 * h
  const d = (2 * h + 6) * k * k - 4 * h * k
  return (((a * n + b) * n + c) * n + d) / ((n - 1) * (n - 2) * (n - 3))
}

/**
 * How many times larger ties make the variance of A²_akN, 1 when no two values are equal; `ends` as
 * in `PooledLabels`.
 *
 * A²_akN is a weighted sum of squares whose means stay 1 under ties; its variance grows with the
 * correlation of the terms. With l_j values tied at place j, B_j = those below + l_j/2 and
 * D_j = B_j(N − B_j) − N·l_j/4, terms i < j have the correlation B_i(N − B_j) / √(D_i·D_j), the
 * variance of normal terms is proportional to Σ_i Σ_j (l_i/N)(l_j/N)·correlation².
 */
export function andersonDarlingTies(ends: ArrayLike<number>): number {
  const n = ends[ends.length - 1] ?? 0
  const untied = squaredCorrelations({ length: n }, (i) => i + 1)
  return squaredCorrelations(ends, (i) => ends[i]!) / untied
}

function squaredCorrelations({ length }: { length: number }, endOf: (i: number) => number): number {
  const n = endOf(length - 1)
  let sum = 0
  let below = 0
  let start = 0
  for (let i = 0; i < length; i++) {
    const weight = (endOf(i) - start) / n
    const middle = (start + endOf(i)) / 2
    const spread = middle * (n - middle) - (n * n * weight) / 4
    if (spread > 0) {
      sum += weight * weight + (2 * below * weight * (n - middle) ** 2) / spread
      below += (weight * middle * middle) / spread
    }
    start = endOf(i)
  }
  return sum
}
