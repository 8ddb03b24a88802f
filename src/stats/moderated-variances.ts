/** Variances that were shrunk towards what all of them have in common. */
export interface ModeratedVariances {
  /** Variance of all, s₀². */
  readonly prior: number
  /** How many degrees of freedom the prior is worth, d₀; `Infinity` where all variances agree. */
  readonly priorDf: number
  /** (d₀·s₀² + d·s²) / (d₀ + d) of each. */
  readonly variances: Float64Array
  /** d₀ + d of each. */
  readonly df: Float64Array
}

/**
 * Shrinks sample variances towards their common prior (empirical Bayes), so that tests of few values
 * borrow certainty from all the others.
 *
 * Model: each s² is σ²·χ²_d/d, and σ² is d₀·s₀²/χ²_{d₀}; d₀ and s₀² are estimated from the mean and
 * variance of log s². A variance that is 0, not finite or without degrees of freedom tells nothing of
 * the prior and becomes s₀². Without any that does, all results are NaN.
 *
 * @param variances sample variances, in any unit
 * @param df degrees of freedom of each
 *
 * Sources: Smyth 2004, "Linear models and empirical Bayes methods", §6.2 (`fitFDist` of limma).
 *
 * @example
 * moderatedVariances([1, 1.2, 0.9, 8], [3, 3, 3, 3]).variances[3] < 8 // true
 */
export function moderatedVariances(
  variances: ArrayLike<number>,
  df: ArrayLike<number>,
): ModeratedVariances {
  const size = variances.length
  const usable = Array.from({ length: size }, (_, i) => i).filter((i) => {
    const variance = variances[i] as number
    return variance > 0 && variance < Number.POSITIVE_INFINITY && (df[i] as number) > 0
  })
  const { prior, priorDf } = fitPrior(
    usable.map((i) => variances[i] as number),
    usable.map((i) => df[i] as number),
  )
  const isUsable = new Set(usable)
  const own = (i: number) => (isUsable.has(i) ? (df[i] as number) : 0)
  return {
    prior,
    priorDf,
    variances: Float64Array.from({ length: size }, (_, i) => {
      if (priorDf === Number.POSITIVE_INFINITY || own(i) === 0) return prior
      return (priorDf * prior + own(i) * (variances[i] as number)) / (priorDf + own(i))
    }),
    df: Float64Array.from({ length: size }, (_, i) => priorDf + own(i)),
  }
}

function fitPrior(variances: readonly number[], df: readonly number[]) {
  const count = variances.length
  if (count === 0) return { prior: Number.NaN, priorDf: Number.NaN }
  const logs = variances.map((variance, i) => {
    const half = (df[i] as number) / 2
    return Math.log(variance) - digamma(half) + Math.log(half)
  })
  const mean = logs.reduce((sum, log) => sum + log, 0) / count
  const spread = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / Math.max(1, count - 1)
  const sampling = df.reduce((sum, d) => sum + trigamma(d / 2), 0) / count
  const excess = count === 1 ? 0 : spread - sampling
  if (!(excess > 0)) return { prior: Math.exp(mean), priorDf: Number.POSITIVE_INFINITY }
  const priorDf = 2 * trigammaInverse(excess)
  return { prior: Math.exp(mean + digamma(priorDf / 2) - Math.log(priorDf / 2)), priorDf }
}

/** From here on the asymptotic series are exact to double precision. */
const SERIES_FROM = 10

/** Returns ψ(x), the derivative of log Γ, for x > 0 (Abramowitz and Stegun 6.3.5, 6.3.18). */
function digamma(x: number): number {
  let at = x
  let sum = 0
  for (; at < SERIES_FROM; at++) sum -= 1 / at
  const f = 1 / (at * at)
  const series = f * (1 / 12 - f * (1 / 120 - f * (1 / 252 - f * (1 / 240 - f / 132))))
  return sum + Math.log(at) - 0.5 / at - series
}

/** Returns ψ′(x) for x > 0 (Abramowitz and Stegun 6.4.6, 6.4.12). */
function trigamma(x: number): number {
  let at = x
  let sum = 0
  for (; at < SERIES_FROM; at++) sum += 1 / (at * at)
  const f = 1 / (at * at)
  const series = (f * (1 / 6 - f * (1 / 30 - f * (1 / 42 - f * (1 / 30 - (f * 5) / 66))))) / at
  return sum + 1 / at + f / 2 + series
}

/** Solves ψ′(x) = y for y > 0 by bisection on log x. */
function trigammaInverse(y: number): number {
  let [low, high] = [Math.log(1e-8), Math.log(1e8)]
  for (let round = 0; round < 100; round++) {
    const middle = (low + high) / 2
    if (trigamma(Math.exp(middle)) > y) low = middle
    else high = middle
  }
  return Math.exp((low + high) / 2)
}
