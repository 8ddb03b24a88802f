import type { RandomSource } from './random.ts'

/**
 * Draws quantiles of bootstrap resamples of an ascending sample, each in O(1).
 *
 * A resample is the sample's values at uniform random shares; its k-th value is the one at the k-th
 * of n uniform order statistics, which is beta distributed. So no resample is drawn: only the one
 * or two order statistics between which the quantile (type 7) interpolates.
 *
 * Sources: David and Nagaraja 2003, "Order statistics", 3rd ed., §2.3 and §2.5 (the next order
 * statistic given one); Marsaglia and Tsang 2000, "A simple method for generating gamma variables",
 * ACM Transactions on Mathematical Software 26(3):363-372.
 */
export function resampledQuantile(
  ascending: ArrayLike<number>,
  share: number,
  random: RandomSource,
): () => number {
  const n = ascending.length
  const place = share * (n - 1)
  const lower = Math.min(n, Math.floor(place) + 1)
  const fraction = place - Math.floor(place)
  const at = (uniform: number) => ascending[Math.min(n - 1, Math.floor(n * uniform))] ?? Number.NaN
  return () => {
    const left = gamma(lower, random)
    const uniform = left / (left + gamma(n + 1 - lower, random))
    const low = at(uniform)
    if (fraction === 0) return low
    const next = 1 - (1 - uniform) * (1 - random.next()) ** (1 / (n - lower))
    return low + (at(Math.max(uniform, next)) - low) * fraction
  }
}

/** A gamma variable with a shape of 1 or more. */
function gamma(shape: number, random: RandomSource): number {
  const d = shape - 1 / 3
  const c = 1 / Math.sqrt(9 * d)
  for (;;) {
    const x = random.normal()
    const v = (1 + c * x) ** 3
    if (v > 0 && Math.log(1 - random.next()) < 0.5 * x * x + d * (1 - v + Math.log(v))) {
      return d * v
    }
  }
}
