import { requireNumbers } from '../core/errors.ts'

/** Variances that were shrunk towards what all of them have in common. */
export interface ModeratedVariances {
  /** Variance of all, s₀². */
  readonly prior: number
  /** How many degrees of freedom the prior is worth, d₀; `Infinity` where all variances agree. */
  readonly priorDf: number
  /** (d₀·s₀² + d·s²) / (d₀ + d) of each. */
  readonly variances: Float64Array
  /** d₀ + d of each, at most the sum of all d. */
  readonly df: Float64Array
}

/**
 * Shrinks sample variances towards their common prior (empirical Bayes), so that tests of few values
 * borrow certainty from all the others.
 *
 * Model: each s² is σ²·χ²_d/d, and σ² is d₀·s₀²/χ²_{d₀}; d₀ and s₀² are estimated from the mean and
 * variance of log s². Where variances differ no more than chance lets them, d₀ is infinite, s₀² their
 * mean, and each becomes s₀². A single variance stays as it is, with d₀ = 0.
 *
 * Same numbers as `squeezeVar` of limma 3.54, and degrees of freedom as its `eBayes` has them, with
 * one exception: a variance that is 0, not finite or without degrees of freedom tells nothing of the
 * prior here and becomes s₀² with d₀ degrees of freedom; limma lifts zeros to 1e-5 of the median.
 * Without any variance that tells, all results are NaN.
 *
 * Limits: of few variances d₀ is a rough estimate. The model takes them for independent.
 *
 * @param variances sample variances, in any unit
 * @param df degrees of freedom of each
 *
 * Sources: Smyth 2004, "Linear models and empirical Bayes methods for assessing differential
 * expression in microarray experiments", §6.2 (`fitFDist` of limma).
 *
 * @example
 * moderatedVariances([1, 1.2, 0.9, 8], [3, 3, 3, 3]).variances[3] < 8 // true
 */
export function moderatedVariances(
  variances: ArrayLike<number>,
  df: ArrayLike<number>,
): ModeratedVariances {
  requireNumbers({ variances, df })
  const own = Float64Array.from(variances, (variance, i) => {
    const isTelling = variance > 0 && variance < Number.POSITIVE_INFINITY && (df[i] as number) > 0
    return isTelling ? (df[i] as number) : 0
  })
  const telling = Array.from(own.keys()).filter((i) => (own[i] as number) > 0)
  const { prior, priorDf } = fitPrior(
    telling.map((i) => variances[i] as number),
    telling.map((i) => own[i] as number),
  )
  const pooledDf = own.reduce((sum, d) => sum + d, 0)
  return {
    prior,
    priorDf,
    variances: own.map((d, i) => {
      if (priorDf === Number.POSITIVE_INFINITY || d === 0) return prior
      return (priorDf * prior + d * (variances[i] as number)) / (priorDf + d)
    }),
    df: own.map((d) => Math.min(priorDf + d, pooledDf)),
  }
}

function fitPrior(variances: readonly number[], df: readonly number[]) {
  const count = variances.length
  if (count === 0) return { prior: Number.NaN, priorDf: Number.NaN }
  if (count === 1) return { prior: variances[0] as number, priorDf: 0 }
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / count
  const logs = variances.map((variance, i) => {
    const half = (df[i] as number) / 2
    return Math.log(variance) - digamma(half) + Math.log(half)
  })
  const center = mean(logs)
  const spread = logs.reduce((sum, log) => sum + (log - center) ** 2, 0) / (count - 1)
  const excess = spread - mean(df.map((d) => trigamma(d / 2)))
  if (!(excess > 0)) return { prior: mean(variances), priorDf: Number.POSITIVE_INFINITY }
  const priorDf = 2 * trigammaInverse(excess)
  return { prior: Math.exp(center + digamma(priorDf / 2) - Math.log(priorDf / 2)), priorDf }
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
