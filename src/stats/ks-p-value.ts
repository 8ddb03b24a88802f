// The exact p-value walks n1·n2 states: its loop indexes with `!`.

/** Which difference counts as evidence: any, after slower than before, or after faster. */
export type Alternative = 'two-sided' | 'slower' | 'faster'

/**
 * Stephens's approximation of the p-value of a two-sample KS statistic, as MATLAB's `kstest2`.
 *
 * λ = (√n + 0.12 + 0.11/√n)·D with n = n1·n2/(n1+n2); two-sided the Kolmogorov series cut at 101
 * terms, one-sided e^(−2λ²). Clamped to [0, 1]; 0 only where it underflows (λ > 19). NaN for an
 * empty sample.
 *
 * Source: Stephens 1970, "Use of the Kolmogorov-Smirnov, Cramér-von Mises and related statistics
 * without extensive tables", J. Royal Statistical Society B 32(1):115-122.
 */
export function stephensP(
  statistic: number,
  { n1, n2 }: { n1: number; n2: number },
  alternative: Alternative,
): number {
  const root = Math.sqrt((n1 * n2) / (n1 + n2))
  const lambda = (root + 0.12 + 0.11 / root) * statistic
  return alternative === 'two-sided' ? kolmogorovTail(lambda) : Math.exp(-2 * lambda * lambda)
}

function kolmogorovTail(lambda: number): number {
  let sum = 0
  let sign = 1
  for (let j = 1; j <= 101; j++) {
    const term = Math.exp(-2 * j * j * lambda * lambda)
    sum += sign * term
    if (term <= Number.EPSILON * 1e-2 * sum) break
    sign = -sign
  }
  return Math.min(1, Math.max(0, 2 * sum))
}

/** What the exact p-value needs to know of two pooled samples. */
export interface PooledTies {
  readonly n1: number
  readonly n2: number
  /** As from `tieGroupEnds`. */
  readonly ends: Uint8Array
}

/**
 * The exact probability that a random interleaving of the two samples, with the ties they have,
 * reaches a gap of at least `height` / (n1·n2) in the direction of the alternative.
 *
 * First-exit summation: reading the pooled sample in ascending order is a Markov chain on
 * (i, j), the number of values of each sample read so far. The probability that first reaches
 * the boundary is added up and taken out of the chain. Every term is positive, so that the
 * result keeps full relative precision far into the tail (down to about 1e-300). The boundary is
 * tested only where a group of ties ends, which makes this the p-value conditional on the ties
 * (R 4.2: `ks.test(exact = TRUE)`). At most n1·n2 steps, n1 numbers of memory. NaN for an empty
 * sample.
 *
 * Source: Schröer and Trenkler 1995, "Exact and randomization distributions of Kolmogorov-Smirnov
 * tests two or three samples", Computational Statistics & Data Analysis 20(2):185-202 (ties).
 */
export function exactP(
  height: number,
  { n1, n2, ends }: PooledTies,
  alternative: Alternative,
): number {
  if (n1 === 0 || n2 === 0) return Number.NaN
  if (height <= 0) return 1
  const total = n1 + n2
  const mass = new Float64Array(n1 + 1)
  mass[0] = 1
  let low = 0
  let high = 0
  let exited = 0
  for (let read = 1; read <= total && low <= high; read++) {
    high = readOne(mass, { low, high, read, n1, n2 })
    low = Math.max(low, read - n2)
    if (ends[read] === 0) continue
    // The gap i·n2 − j·n1 is i·total − read·n1 where i + j = read.
    if (alternative !== 'faster') {
      const first = Math.ceil((height + read * n1) / total)
      for (; high >= first && high >= low; high--) {
        exited += mass[high]!
        mass[high] = 0
      }
    }
    if (alternative !== 'slower') {
      const last = Math.floor((read * n1 - height) / total)
      for (; low <= last && low <= high; low++) {
        exited += mass[low]!
        mass[low] = 0
      }
    }
  }
  return Math.min(1, exited)
}

interface ReadStep {
  readonly low: number
  readonly high: number
  /** How many values have been read after this step. */
  readonly read: number
  readonly n1: number
  readonly n2: number
}

/** Moves the chain on by one value, in place; returns the highest i that can now occur. */
function readOne(mass: Float64Array, { low, high, read, n1, n2 }: ReadStep): number {
  const left = n1 + n2 - read + 1
  const top = Math.min(high + 1, n1)
  for (let i = top; i > low; i--) {
    mass[i] = (mass[i]! * (n2 - read + 1 + i) + mass[i - 1]! * (n1 - i + 1)) / left
  }
  mass[low] = (mass[low]! * (n2 - read + 1 + low)) / left
  return top
}
