import { sum } from 'd3-array'
import { bisect } from 'simple-statistics'
import { rejectUnknownOptions, requireNumbers } from '../core/errors.ts'

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
 * Limits: of few variances d₀ is a rough estimate. The model takes them for independent. Where
 * degrees of freedom are very unequal, the logs of those with few drown how much the others differ:
 * d₀ may then be infinite though variances known well disagree, unless each is weighed.
 *
 * @param variances sample variances, in any unit
 * @param df degrees of freedom of each
 * @param options.weighed whether each counts by how well it is known, which limma 3.54 does not;
 *   the same where all have as many degrees of freedom; default false
 * @throws FlowdeltaError for an unknown option
 *
 * Sources: Smyth 2004, "Linear models and empirical Bayes methods for assessing differential
 * expression in microarray experiments", §6.2 (`fitFDist` of limma); Paule and Mandel
 * 1982, "Consensus values and weighting factors" (weights).
 *
 * @example
 * moderatedVariances([1, 1.2, 0.9, 8], [3, 3, 3, 3]).variances[3] < 8 // true
 */
export function moderatedVariances(
  variances: ArrayLike<number>,
  df: ArrayLike<number>,
  options: { readonly weighed?: boolean } = {},
): ModeratedVariances {
  requireNumbers({ variances, df })
  rejectUnknownOptions(options, ['weighed'])
  const own = Float64Array.from(variances, (variance, i) => {
    const isTelling = variance > 0 && variance < Number.POSITIVE_INFINITY && (df[i] as number) > 0
    return isTelling ? (df[i] as number) : 0
  })
  const telling = Array.from(own.keys()).filter((i) => (own[i] as number) > 0)
  const priorOfAll = options.weighed === true ? weighedPrior : fitPrior
  const { prior, priorDf } = priorOfAll(
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
  const logs = unbiasedLogs(variances, df)
  const center = mean(logs)
  const spread = logs.reduce((sum, log) => sum + (log - center) ** 2, 0) / (count - 1)
  const excess = spread - mean(df.map((d) => trigamma(d / 2)))
  if (!(excess > 0)) return { prior: mean(variances), priorDf: Number.POSITIVE_INFINITY }
  return priorOf(center, excess)
}

/** The same, each log weighed by its variance and that of all: their squares sum to what is expected. */
function weighedPrior(variances: readonly number[], df: readonly number[]) {
  const count = variances.length
  if (count < 2) return fitPrior(variances, df)
  const logs = unbiasedLogs(variances, df)
  const noise = df.map((d) => trigamma(d / 2))
  const fitted = (excess: number) => {
    const weights = noise.map((own) => 1 / (own + excess))
    const center = sum(logs, (log, i) => log * weights[i]!) / sum(weights)
    return { center, misfit: sum(logs, (log, i) => weights[i]! * (log - center) ** 2) }
  }
  if (!(fitted(0).misfit > count - 1)) {
    return {
      prior: sum(variances, (one, i) => one * df[i]!) / sum(df),
      priorDf: Number.POSITIVE_INFINITY,
    }
  }
  const excess = whereFalls((one) => fitted(one).misfit, count - 1)
  return priorOf(fitted(excess).center, excess)
}

function priorOf(center: number, excess: number) {
  const half = whereFalls(trigamma, excess)
  return { prior: Math.exp(center + digamma(half) - Math.log(half)), priorDf: 2 * half }
}

/** Logs of variances, of which few degrees of freedom take nothing on average. */
function unbiasedLogs(variances: readonly number[], df: readonly number[]): number[] {
  return variances.map((variance, i) => {
    const half = (df[i] as number) / 2
    return Math.log(variance) - digamma(half) + Math.log(half)
  })
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

/** Where a falling function of x > 0 has a value. */
function whereFalls(value: (x: number) => number, wanted: number): number {
  const log = bisect(
    (at) => value(Math.exp(at)) - wanted,
    Math.log(1e-8),
    Math.log(1e8),
    100,
    1e-14,
  )
  return Math.exp(log)
}
