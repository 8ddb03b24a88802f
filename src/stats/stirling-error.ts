/** Terms of Stirling's series in 1/n², lowest first. */
const SERIES = [
  1 / 12,
  -1 / 360,
  1 / 1260,
  -1 / 1680,
  1 / 1188,
  -691 / 360360,
  1 / 156,
  -3617 / 122400,
]

/**
 * log Γ(n + 1) less Stirling's formula ½·log(2πn) + n·log(n) − n, for n above 0.
 *
 * Source: Loader 2000, "Fast and accurate computation of binomial probabilities".
 */
export function stirlingError(n: number): number {
  if (n >= 10) {
    const square = n * n
    return SERIES.reduceRight((sum, term) => sum / square + term, 0) / n
  }
  // From n + 1: Γ(n + 2) = (n + 1)·Γ(n + 1).
  return stirlingError(n + 1) + (n + 0.5) * Math.log1p(1 / n) - 1
}
