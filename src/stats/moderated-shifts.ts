// Runs for every value: the loops index with `!`.
import { sum } from 'd3-array'
import { bisect } from 'simple-statistics'
import { rejectUnknownOptions, requireList, requireNumbers } from '../core/errors.ts'
import { ascendingOrder } from './ascending-order.ts'
import { bonferroni } from './bonferroni.ts'
import { twoSidedTP } from './distributions.ts'
import { type Direction, directionOf } from './two-sample.ts'

/** Values of one period, each with the stretch of time it comes from. */
export interface BlockedSample {
  /** Values; NaN and infinite ones are left out. */
  readonly values: ArrayLike<number>
  /** Number of the stretch of time of each value, from 0, in the order of time, run after run. */
  readonly blocks: ArrayLike<number>
}

/** Values of one kind in the two periods. */
export interface BlockedStratum {
  readonly before: BlockedSample
  readonly after: BlockedSample
}

/** Result for one measure, judged together with all others. */
export interface ModeratedShift {
  /** Values in strata that have some in both periods. */
  readonly beforeCount: number
  readonly afterCount: number
  /** Smaller of the p-values of ranks and of log values, times 2; `NaN` if neither could be had. */
  readonly p: number
  /** p of ranks alone; `NaN` if all values of each stratum are equal. */
  readonly rankP: number
  /**
   * p of log values alone; for values that vary in neither period, p of their arrangement. `NaN` with fewer than three
   * values a side, or if two lie beyond at least eight of the other side, or if all values of each stratum are equal.
   */
  readonly logP: number
  /**
   * P(after > before) + ½·P(equal) of a random pair of one stratum; strata count as they do in the
   * test of ranks.
   */
  readonly probabilitySlower: number
  /** exp of the mean difference of log values: the factor by which values grew. */
  readonly factor: number
  /** Ratio of the variance of the shift to that of independent values. */
  readonly designEffect: number
  /** Degrees of freedom of `rankP`; ∞ where the design effect is 1. */
  readonly rankDf: number
  /** Degrees of freedom of `logP`, those of the variance's prior included. */
  readonly logDf: number
  readonly direction: Direction
}

/**
 * Which stretches of both periods are compared in pairs: those of the same time, which drift together; those as long
 * after their beginnings, such as that in which both get warm; or none.
 */
export type Pairing = 'time' | 'phase' | null

/** Numbering of stretches of time. */
export interface StretchOptions {
  readonly perRun?: number
  readonly pairs?: Pairing
  /** Whether drift is learned from before alone; default false. */
  readonly steady?: boolean
}

export interface ShiftOptions extends StretchOptions {
  /** Score of a midrank between 0 and 1; default: the midrank itself. */
  readonly scoreOf?: (rank: number) => number
}

/** Fewest values a side for a t-test of log values: of two, the variance is hardly known. */
export const MIN_VALUES = 3
/** Fewest where they lie beyond all of at least 8 of the other side: chance does that to 1 in 22. */
const MIN_APART = 2
const MIN_BESIDE = 8
/** Sums of squares that differ by a smaller share are equal. */
const ROUNDING = 1e-12
/** Values below this, in their own unit, count as this much when logs are taken. */
const FLOOR = 1

/**
 * Tests whether measures shifted between two periods, with few values or many, even if neighbors in time are similar.
 *
 * Null hypothesis of each: within every stratum both samples come from one distribution whose level drifts from stretch
 * to stretch of time as it does within the periods. The alternative is two-sided; `direction` says which of the samples
 * ranks higher.
 *
 * Two statistics, corrected for being two: ranks within strata (van Elteren) for many values, and a t-test of log
 * values, whose variance is shrunk towards that of all measures, for few. Both variances are multiplied by the design
 * effect: the ratio by which sums over stretches of time vary more than independent values (`designEffects`). It is
 * estimated from all measures, so p of one measure depends on the others given. The variance of log values is taken
 * about their stratum and one shift of all strata, because a value that is alone in its stratum and period has no
 * other.
 *
 * Equal values share the mean of their ranks, and the variance of ranks is that of these; if all values of every
 * stratum are equal, nothing can differ and there is no p. Values that vary in neither period, but differ between them,
 * have no variance: in place of a t-test they get the exact p of their arrangement, 2 / C(n + m, n). A measure without
 * a stratum that has values in both periods gets counts of 0 and NaN for p.
 *
 * Limits: assumes that levels drift as flicker noise does. For these, 2 % of p are below 0.05, as for independent
 * values; 3 to 8 % if a tenth of a period keeps 70 % of the previous level, and 13 % if it keeps 90 %. With one stretch
 * a period there is no design effect. Both p-values rest on a normal or t distribution: with three values a side or
 * fewer, `rankP` is too small by up to a half. Values below 1 count as 1 in log values, so give them in a small unit.
 *
 * If before consists of several runs, values are compared with the mean of their run; `runShifts` tests the differences
 * between runs.
 *
 * @param measures strata of each measure; those without values in both periods are left out
 * @param options.perRun stretches of time that each run before has; default: before is one run
 * @param options.pairs which stretches of after, `perRun` later, are paired with those of before: an event in both is
 *   then no difference. `'time'`: both are of the same time. `'phase'`: both are as long after their beginnings, of one
 *   run before; levels drift further than the common part. Default null
 * @param options.scoreOf score of a midrank between 0 and 1 in `rankP`; default: itself. With its 4th power, the test
 *   finds changes of only a part of the values (Conover and Salsburg 1988)
 * @param options.steady whether drift is learned from before alone, so that a change within after does not count as
 *   drift; each measure's drift is then as sure as its own stretches; default false
 * @returns one result a measure, in the same order
 *
 * Sources: van Elteren 1960, "On the combination of independent two-sample tests of Wilcoxon"; Smyth
 * 2004 (see `moderatedVariances`); Kish 1965 (see `designEffects`); Satterthwaite 1946, "An approximate
 * distribution of estimates of variance components" (degrees of freedom).
 *
 * @example
 * const block = (values) => ({ values, blocks: values.map((_, i) => i) })
 * const [slow] = moderatedShifts([[{ before: block([10, 11, 9, 10]), after: block([90, 99, 95]) }]])
 * slow.direction // 'slower'
 */
export function moderatedShifts(
  measures: readonly (readonly BlockedStratum[])[],
  options: ShiftOptions = {},
): ModeratedShift[] {
  requireList('measures', measures, 'length')
  rejectUnknownOptions(options, ['perRun', 'pairs', 'steady', 'scoreOf'])
  const { perRun = Number.POSITIVE_INFINITY, pairs = null, steady = false, scoreOf } = options
  const sampleOf = once(logSample)
  const rankedOf = once((stratum: BlockedStratum) => rankStratum(stratum, sampleOf, scoreOf))
  const sumsOf = once((strata: readonly BlockedStratum[]) =>
    sumStrata(strata, { perRun, pairs, steady, rankedOf }),
  )
  const sums = measures.map(sumsOf)
  const spread = moderatedVariances(
    sums.map(({ logVariance }) => logVariance),
    sums.map(({ logDf }) => logDf),
    { weighed: true },
  )
  const design = designEffects(sums, {
    lasts: pairs === 'time' ? false : 'flicker',
    ...(steady && { maxShared: 1 }),
  })
  return sums.map((sum, i): ModeratedShift => {
    const { beforeCount, afterCount, rankDifference, rankVariance, logDifference } = sum
    const effect = design.effects[i] as number
    const excess = effect - 1
    const blockDf = excess === 0 ? 0 : excess ** 2 / (design.df[i] as number)
    const logVariance = (spread.variances[i] as number) * sum.logScale * effect
    const logDf = effect ** 2 / (blockDf + 1 / (spread.df[i] as number))
    const rankDf = effect ** 2 / blockDf
    const rankP =
      rankVariance > 0
        ? twoSidedTP(rankDifference / Math.sqrt(rankVariance * effect), rankDf)
        : Number.NaN
    const probabilitySlower = withoutRounding(0.5 + rankDifference / sum.rankWeight)
    const isApart =
      Math.max(beforeCount, afterCount) >= MIN_BESIDE && Math.abs(probabilitySlower - 0.5) === 0.5
    const isEnough = Math.min(beforeCount, afterCount) >= (isApart ? MIN_APART : MIN_VALUES)
    const isKnown = isEnough && logVariance > 0 && logDf > 0
    const ofLogs = isKnown ? twoSidedTP(logDifference / Math.sqrt(logVariance), logDf) : Number.NaN
    const logP = sum.arrangementP === null ? ofLogs : isEnough ? sum.arrangementP : Number.NaN
    return {
      beforeCount,
      afterCount,
      rankP,
      logP,
      p: bonferroni([rankP, logP]),
      probabilitySlower,
      factor: Math.exp(logDifference),
      designEffect: effect,
      rankDf,
      logDf,
      direction: directionOf(probabilitySlower - 0.5),
    }
  })
}

/** Removes rounding: exactly 0 or 1 for samples that do not overlap, exactly ½ for strata that cancel. */
function withoutRounding(share: number): number {
  return Math.round(share * 1e12) / 1e12
}

type RankedStratum = ReturnType<typeof rankStratum>

/** Ranks a stratum, however many measures have it. */
function rankStratum(
  { before, after }: BlockedStratum,
  sampleOf: typeof logSample,
  scoreOf: ShiftOptions['scoreOf'],
) {
  const samples = [sampleOf(before), sampleOf(after)] as const
  const ranks = midranks(samples[0].values, samples[1].values)
  if (scoreOf !== undefined) toScores(ranks, scoreOf)
  const ofStretches = [byStretch(ranks[0], samples[0]), byStretch(ranks[1], samples[1])] as const
  const meanOf = (period: 0 | 1) => sum(ofStretches[period].sums) / ranks[period].length
  return { samples, ofStretches, meanRanks: [meanOf(0), meanOf(1)] as const }
}

/** Returns the number of the ranks of each stretch of time, their sum, and that of their squares. */
function byStretch(ranks: Float64Array, { blocks }: BlockedSample) {
  let size = 0
  for (let i = 0; i < ranks.length; i++) size = Math.max(size, blocks[i]! + 1)
  const ofStretches = () => new Float64Array(size)
  const [counts, sums, squares] = [ofStretches(), ofStretches(), ofStretches()]
  for (let i = 0; i < ranks.length; i++) {
    const [block, rank] = [blocks[i]!, ranks[i]!]
    counts[block]!++
    sums[block]! += rank
    squares[block]! += rank * rank
  }
  return { counts, sums, squares }
}

/** Returns an ascending sample with its logs, however many strata have it. */
function logSample(sample: BlockedSample) {
  const { values, blocks } = ascending(sample)
  const logs = new Float64Array(values.length)
  let total = 0
  for (let i = 0; i < logs.length; i++) {
    logs[i] = logOf(values[i]!)
    total += logs[i]!
  }
  // The mean of equal values is that value: rounding would make a variance of them.
  const meanLog = isConstant(values) ? logs[0] : total / logs.length
  return { values, blocks, logs, meanLog: meanLog as number }
}

/** Whether ascending values are all the same. */
function isConstant(values: ArrayLike<number>): boolean {
  return values[0] === values[values.length - 1]
}

/** Probability that chance separates values as in strata that vary within no sample. */
class Arrangement {
  #p = 2
  #isConstant = true
  readonly #signs = new Set<number>()

  add([{ values: before }, { values: after }]: RankedStratum['samples']): void {
    this.#isConstant &&= isConstant(before) && isConstant(after)
    const difference = (after[0] as number) - (before[0] as number)
    if (!this.#isConstant || difference === 0) return
    this.#signs.add(Math.sign(difference))
    const few = Math.min(before.length, after.length)
    const many = Math.max(before.length, after.length)
    for (let i = 1; i <= few; i++) this.#p *= i / (many + i)
  }

  get p(): number | null {
    if (!this.#isConstant) return null
    // Strata that are parted both ways do not go one way.
    if (this.#signs.size !== 1) return this.#signs.size === 0 ? Number.NaN : 1
    return Math.min(1, this.#p)
  }
}

/** Sums over the strata of one measure. */
function sumStrata(
  strata: readonly BlockedStratum[],
  {
    perRun,
    pairs,
    steady,
    rankedOf,
  }: Required<StretchOptions> & { readonly rankedOf: (stratum: BlockedStratum) => RankedStratum },
) {
  // `rankWeight`: twice the difference of ranks if all values after were larger.
  const whole = { beforeCount: 0, afterCount: 0, rankWeight: 0, weight: 0 }
  let [rankDifference, rankVariance, logDifference, logApart, logSquares, logDf, logScale] = [
    0, 0, 0, 0, 0, 0, 0,
  ]
  const arrangement = new Arrangement()
  const later = new StretchSums()
  const runs: StretchSums[] = []
  for (const stratum of strata) {
    if (stratum.before.values.length === 0 || stratum.after.values.length === 0) continue
    const { samples, ofStretches, meanRanks: rank } = rankedOf(stratum)
    const counts = [samples[0].values.length, samples[1].values.length] as const
    const all = counts[0] + counts[1]
    if (counts[0] === 0 || counts[1] === 0) continue
    arrangement.add(samples)
    const weight = (counts[0] * counts[1]) / all
    let squares = 0
    for (const period of [0, 1] as const) {
      const { logs, meanLog } = samples[period]
      const own = ofStretches[period]
      const runLength = period === 0 ? perRun : own.counts.length
      const scale = ((pairs && period === 0 ? -1 : 1) * weight) / counts[period]
      const isLater = pairs !== null || period === 1
      for (let first = 0, run = 0; first < own.counts.length; first += runLength, run++) {
        const end = Math.min(own.counts.length, first + runLength)
        const meanOfRun = sum(own.sums.subarray(first, end)) / sum(own.counts.subarray(first, end))
        for (let block = first; block < end; block++) {
          const count = own.counts[block]!
          if (count === 0) continue
          if (!isLater) runs[run] ??= new StretchSums()
          const sums = isLater ? later : runs[run]!
          const total = own.sums[block]!
          const ofSquares = own.squares[block]! - meanOfRun * (2 * total - count * meanOfRun)
          sums.add(
            pairs ? block % perRun : block,
            scale * (total - count * meanOfRun),
            count,
            scale ** 2 * Math.max(0, ofSquares),
          )
          squares += own.squares[block]!
        }
      }
      for (let i = 0; i < logs.length; i++) logSquares += (logs[i]! - meanLog) ** 2
    }
    whole.weight += weight
    whole.beforeCount += counts[0]
    whole.afterCount += counts[1]
    whole.rankWeight += (weight * all) / (all + 1)
    rankDifference += weight * (rank[1] - rank[0])
    if (all > 1) rankVariance += (weight * squares) / (all - 1)
    const difference = samples[1].meanLog - samples[0].meanLog
    logDifference += weight * difference
    logApart += weight * difference ** 2
    logScale += weight
    logDf += all - 1
  }
  const { weight, ...counted } = whole
  // Lone values of a stratum tell of their variance by how much its shift differs from the others'.
  const apart = logApart - logDifference ** 2 / weight
  if (apart > ROUNDING * logApart) logSquares += apart
  logDf = Math.max(0, logDf - 1)
  return {
    ...counted,
    /** Weighted difference of mean ranks, and its variance if values were independent. */
    rankDifference,
    rankVariance,
    logDf,
    /** Deviations of ranks from the mean of their run, by stretch of time: runs before, then after. */
    periods: [...runs.filter((run) => run !== undefined), ...(steady ? [] : [later])],
    logDifference: weight === 0 ? 0 : logDifference / weight,
    /** Variance of log values about their stratum and one shift of all strata. */
    logVariance: logDf === 0 ? Number.NaN : logSquares / logDf,
    /** Variance of `logDifference` over that of one value. */
    logScale: weight === 0 ? Number.NaN : logScale / weight ** 2,
    /** p for values that vary within no sample; `NaN` if all are equal, `null` if some vary. */
    arrangementP: arrangement.p,
  }
}

/** Returns finite values in ascending order, each with its block: sums then do not hang on the order given. */
function ascending(sample: BlockedSample): BlockedSample {
  if (isInOrder(sample)) return sample
  const { values, blocks } = sample
  const known = Uint32Array.from({ length: values.length }, (_, i) => i).filter((i) =>
    Number.isFinite(values[i]),
  )
  const byBlock = ascendingOrder(Float64Array.from(blocks), known)
  const order = ascendingOrder(Float64Array.from(values), byBlock)
  return {
    values: Float64Array.from(order, (i) => values[i]!),
    blocks: Float64Array.from(order, (i) => blocks[i]!),
  }
}

/** Whether values are finite and ascend, equal ones by their blocks. */
function isInOrder({ values, blocks }: BlockedSample): boolean {
  for (let i = 1; i < values.length; i++) {
    if (values[i - 1]! < values[i]!) continue
    if (values[i - 1] !== values[i] || blocks[i - 1]! > blocks[i]!) return false
  }
  return values.length === 0 || Number.isFinite(values[values.length - 1]! - values[0]!)
}

/** Midranks of both ascending samples together over their number + 1, less ½. */
function midranks(before: ArrayLike<number>, after: ArrayLike<number>) {
  const [size1, size2] = [before.length, after.length]
  const [ranks1, ranks2] = [new Float64Array(size1), new Float64Array(size2)]
  let [from1, from2] = [0, 0]
  while (from1 < size1 || from2 < size2) {
    const isFirst = from2 === size2 || (from1 < size1 && before[from1]! < after[from2]!)
    const value = isFirst ? before[from1] : after[from2]
    let end1 = from1
    let end2 = from2
    while (end1 < size1 && before[end1] === value) end1++
    while (end2 < size2 && after[end2] === value) end2++
    const rank = (from1 + from2 + end1 + end2 + 1) / 2 / (size1 + size2 + 1) - 0.5
    while (from1 < end1) ranks1[from1++] = rank
    while (from2 < end2) ranks2[from2++] = rank
  }
  return [ranks1, ranks2] as const
}

/** Turns midranks less ½ into scores less their mean. */
function toScores(ranks: readonly Float64Array[], scoreOf: (rank: number) => number): void {
  for (const own of ranks) for (let i = 0; i < own.length; i++) own[i] = scoreOf(own[i]! + 0.5)
  const mean = sum(ranks, (own) => sum(own)) / sum(ranks, ({ length }) => length)
  for (const own of ranks) for (let i = 0; i < own.length; i++) own[i]! -= mean
}

/** Returns the log of a value, of at least 1, as it is compared. */
export function logOf(value: number): number {
  return Math.log(Math.max(FLOOR, value))
}

/** Computes a result once a key. */
function once<K, V>(compute: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return (key) => {
    const value = known.get(key) ?? compute(key)
    known.set(key, value)
    return value
  }
}

/** Variances shrunk towards their common value. */
export interface ModeratedVariances {
  /** Variance of all, s₀². */
  readonly prior: number
  /** Degrees of freedom that the prior is worth, d₀; `Infinity` if all variances agree. */
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

/** Weighs each log by its variance and that of all, so that their squares sum to the expected value. */
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

/** Argument from which the asymptotic series are exact to double precision. */
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

/** Returns the x > 0 at which a falling function has a value. */
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

export class StretchSums {
  #count = 0
  #squares = 0
  #size = 0
  readonly #sums: number[] = []

  /** Adds the sum of some deviations of one stretch, and the sum of their squares. */
  add(stretch: number, sum: number, count = 1, squares = sum ** 2): void {
    this.#count += count
    this.#squares += squares
    const known = this.#sums[stretch]
    if (known === undefined) this.#size++
    this.#sums[stretch] = (known ?? 0) + sum
  }

  get count(): number {
    return this.#count
  }

  get size(): number {
    return this.#size
  }

  /** Variance of the sum of all, if they were independent. */
  get independent(): number {
    return (this.#squares * this.#count) / Math.max(1, this.#count - 1)
  }

  /** Sums of the squares of the stretches' sums, and of the products of neighbors. */
  products() {
    // Stretches without values are holes of the array.
    const sums = this.#sums.filter(() => true)
    let [squares, neighbors] = [0, 0]
    sums.forEach((own, i) => {
      squares += own ** 2
      neighbors += own * (sums[i - 1] ?? 0)
    })
    return { squares, neighbors }
  }
}

export interface Wandering {
  readonly periods: readonly StretchSums[]
  readonly kurtosis?: number
}

/** How long levels last: as flicker noise, slow and quick in equal parts; learned from all stretches; not at all. */
export type Lasting = 'flicker' | 'learned' | false

/** See `designEffects`. */
export interface DesignOptions {
  readonly lasts?: Lasting
  readonly maxShared?: number
}

/** A design effect is estimated from at least this many stretches of time in all. */
const MIN_DF = 4
/** Prior of the part of a level that neighbors keep, for little drift, and its worth in measures. */
const PRIOR_KEPT = 0.3
const PRIOR_MEASURES = 0.5
/** Levels that keep more are drifts, whose length ten stretches cannot show. */
const MAX_KEPT = 0.9
/** Most degrees of freedom of an effect, as a multiple of its own, however many measures moderate it. */
const MAX_SHARED = 2

/**
 * Returns the ratio of the variance of each measure's sum to that of independent values, because neighbors in time are
 * similar.
 *
 * All measures share one correlation of values in one stretch of time; each measure's own effect moderates the effect
 * expected from it (`moderatedVariances`). Levels last, so whole periods differ by more than their stretches show. Ten
 * stretches hardly tell how long: by default, levels drift as flicker noise does, slowly as well as quickly, because the
 * machine warms up, caches fill, neighbors come. Of many measures it can be learned: a first-order autoregression, the
 * median over measures, weighted by their drift.
 *
 * @param options.lasts duration of levels; default `'flicker'`. Use `false` for differences between periods of the same
 *   time, which drift together
 * @param options.maxShared most degrees of freedom of an effect, as a multiple of its own, however many measures
 *   moderate it; default 2
 *
 * Sources: Kish 1965, "Survey Sampling", §5.4; Smyth 2004 (see `moderatedVariances`); Kendall 1954, "Note on bias in
 * the estimation of autocorrelation".
 */
export function designEffects(
  measures: readonly Wandering[],
  { lasts = 'flicker', maxShared = MAX_SHARED }: DesignOptions = {},
) {
  const seen = measures.map(seenEffect)
  const isKnown = seen.map(({ effect, df }) => df >= MIN_DF && effect > 0)
  let [excess, neighbors, pooledDf] = [0, 0, 0]
  seen.forEach(({ effect, df, perStretch }, i) => {
    if (!isKnown[i]) return
    excess += df * (effect - 1)
    neighbors += df * (perStretch - 1)
    pooledDf += df
  })
  const correlation = neighbors > 0 ? Math.max(0, excess / neighbors) : 0
  const sizes = measures.flatMap(({ periods }) => periods.map(({ size }) => size))
  const stretches = Math.max(2, ...sizes)
  const known = measures.filter((_, i) => isKnown[i])
  const growth =
    lasts === false
      ? 1
      : lasts === 'flicker'
        ? flickerGrowth(stretches)
        : learnedGrowth(known, stretches)
  const expected = seen.map(({ perStretch }) => 1 + Math.max(0, perStretch - 1) * correlation)
  const ratios = moderatedVariances(
    seen.map(({ effect }, i) => (isKnown[i] ? effect / (expected[i] as number) : Number.NaN)),
    seen.map(({ df }) => df),
  )
  const typicalDf = Math.max(0, ...seen.map(({ df }) => df))
  return {
    effects: expected.map((one, i) => {
      const ratio = ratios.variances[i] as number
      const moderated = Number.isNaN(ratio) ? one : one * ratio
      // Single values a stretch are as good as independent, and stay so over longer stretches.
      return 1 + Math.max(0, moderated - 1) * growth
    }),
    // Measures of one system drift together: all others are worth no more than one of its own.
    df: Array.from(ratios.df, (df, i) => {
      const own = seen[i]?.df ?? 0
      const known = isKnown[i] ? Math.min(df, maxShared * own) : Math.min(pooledDf, typicalDf)
      return known > 0 ? known : Number.POSITIVE_INFINITY
    }),
  }
}

function seenEffect({ periods, kurtosis = 0 }: Wandering) {
  let [independent, variance, stretches, df, count] = [0, 0, 0, 0, 0]
  for (const period of periods) {
    const { size } = period
    independent += period.independent
    variance += size < 2 ? period.independent : (period.products().squares * size) / (size - 1)
    stretches += size
    df += Math.max(0, size - 1)
    count += period.count
  }
  const perStretch = count / Math.max(1, stretches)
  return {
    effect: independent === 0 ? Number.NaN : variance / independent,
    // Sums of few rare events vary more than normal ones, and tell less of their variance.
    df: df / (1 + Math.max(0, kurtosis) / (2 * perStretch)),
    perStretch,
  }
}

/** Returns the ratio of the drift of whole periods to that expected from their stretches, as learned from these. */
function learnedGrowth(measures: readonly Wandering[], stretches: number): number {
  const seen = [{ ratio: lasting(PRIOR_KEPT, stretches).seen, weight: PRIOR_MEASURES }]
  for (const { periods } of measures) {
    let [own, squares, df] = [0, 0, 0]
    for (const period of periods) {
      const unit = period.independent / period.size
      if (period.size < 3 || !(unit > 0)) continue
      const products = period.products()
      const rest = period.size - 1
      own += products.neighbors / unit + rest / period.size
      squares += products.squares / unit
      df += rest
    }
    // With little drift, neighbors say little.
    if (squares > df) seen.push({ ratio: own / (squares - df), weight: 1 - df / squares })
  }
  const typical = weightedMedian(seen)
  let [low, high] = [0, MAX_KEPT]
  for (let round = 0; round < 50; round++) {
    const middle = (low + high) / 2
    if (lasting(middle, stretches).seen < typical) low = middle
    else high = middle
  }
  return lasting((low + high) / 2, stretches).growth
}

function weightedMedian(all: { readonly ratio: number; readonly weight: number }[]): number {
  const half = all.reduce((sum, { weight }) => sum + weight, 0) / 2
  let below = 0
  for (const { ratio, weight } of all.sort((a, b) => a.ratio - b.ratio)) {
    below += weight
    if (below >= half) return ratio
  }
  return 0
}

/** Returns the correlation and the variance of a level of which each stretch keeps a part. */
function lasting(kept: number, stretches: number): { readonly seen: number; growth: number } {
  const rows = Array.from(
    { length: stretches },
    (_, i) => (1 + kept - kept ** (i + 1) - kept ** (stretches - i)) / (1 - kept),
  )
  const all = rows.reduce((sum, row) => sum + row, 0)
  let neighbors = 0
  for (let i = 1; i < stretches; i++) {
    const means = ((rows[i - 1] as number) + (rows[i] as number)) / stretches
    neighbors += kept - means + all / stretches ** 2
  }
  const squares = stretches - all / stretches
  return { seen: neighbors / squares, growth: ((all / stretches) * (stretches - 1)) / squares }
}

/**
 * Returns the ratio of the drift of whole periods to that expected from their stretches, if levels drift as flicker
 * noise does: means of long stretches then differ from their neighbors by as much as those of short ones (a constant
 * Allan variance).
 */
export function flickerGrowth(stretches: number): number {
  return (2 * (stretches - 1) * Math.LN2) / Math.log(stretches)
}
