import { mean } from 'd3-array'
import { rejectUnknownOptions, requireList } from '../core/errors.ts'
import { bonferroni } from './bonferroni.ts'
import { designEffects, StretchSums } from './design-effects.ts'
import { twoSidedTP } from './distributions.ts'
import { moderatedVariances } from './moderated-variances.ts'
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

/** What one measure says, judged together with all others. */
export interface ModeratedShift {
  /** Values in strata that have some in both periods. */
  readonly beforeCount: number
  readonly afterCount: number
  /** Smaller of the p-values of ranks and of log values, times 2; `NaN` if neither could be had. */
  readonly p: number
  /** Of ranks alone; `NaN` if all values of each stratum are equal. */
  readonly rankP: number
  /**
   * Of log values alone; `NaN` with fewer than three values a side, or two that lie beyond at
   * least eight of the other side.
   */
  readonly logP: number
  /**
   * P(after > before) + ½·P(equal) of a random pair of one stratum; strata count as they do in the
   * test of ranks.
   */
  readonly probabilitySlower: number
  /** exp of the mean difference of log values: by what factor values grew. */
  readonly factor: number
  /** How many times larger the variance of the shift is than independent values would have. */
  readonly designEffect: number
  readonly direction: Direction
}

/** How stretches of time are numbered. */
export interface StretchOptions {
  readonly perRun?: number
  readonly aligned?: boolean
  /** Whether how far levels wander is learned from before alone; default false. */
  readonly steady?: boolean
}

/** Fewest values a side for a t-test of log values: of two, the variance is hardly known. */
const MIN_VALUES = 3
/** Fewest where they lie beyond all of at least 8 of the other side: chance does that to 1 in 22. */
const MIN_APART = 2
const MIN_BESIDE = 8
/** Values below this, in their own unit, count as this much when logs are taken. */
const FLOOR = 1

/**
 * Tests whether measures shifted between two periods, few values or many, though neighbors in time
 * are alike.
 *
 * Null hypothesis of each: within every stratum both samples come from one distribution whose level
 * wanders from stretch to stretch of time as it does within the periods. The alternative is
 * two-sided; `direction` says which of the samples ranks higher.
 *
 * Two statistics, corrected for being two: ranks within strata (van Elteren) for many values, and a
 * t-test of log values, whose variance is shrunk towards that of all measures, for few. Both
 * variances are multiplied by the design effect: how much more the sums over stretches of time vary
 * than independent values would (`designEffects`), which rests on all measures. So p of one measure
 * depends on which others are given.
 *
 * Equal values share the mean of their ranks, and the variance of ranks is that of these; if all
 * values of every stratum are equal, there is no `rankP`. A measure without a stratum that has
 * values in both periods gets counts of 0 and NaN for p.
 *
 * Limits: levels are taken to wander as flicker noise does. Of levels that do, 2 % of p are below
 * 0.05, as of independent values; 3 to 8 % where a tenth of a period keeps 70 % of the level of the one
 * before, and 13 % where it keeps 90 %. With one stretch a period there is no design effect. Both p-values rest on a normal or t
 * distribution: of three values a side or fewer, `rankP` is too small by up to a half. Values below 1
 * count as 1 in log values, so give them in a small unit.
 *
 * Where before is several runs, values are held against the mean of their run: how runs differ from
 * each other is not tested here, but by `runShifts`.
 *
 * @param measures strata of each measure; those without values in both periods are left out
 * @param options.perRun stretches of time that each run before has; default: before is one run
 * @param options.aligned whether stretches of after are those of before, `perRun` later: what happens
 *   to both at the same time is then no difference; default false
 * @param options.steady whether how far levels wander is learned from before alone, so that a change
 *   within after is none of it; each measure's is then as sure as its own stretches; default false
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
  options: StretchOptions = {},
): ModeratedShift[] {
  requireList('measures', measures, 'length')
  rejectUnknownOptions(options, ['perRun', 'aligned', 'steady'])
  const { perRun = Number.POSITIVE_INFINITY, aligned = false, steady = false } = options
  const ranked = new Map<BlockedStratum, RankedStratum>()
  const known = new Map<readonly BlockedStratum[], StrataSums>()
  const sums = measures.map((strata) => {
    const own = known.get(strata) ?? sumStrata(strata, { perRun, aligned, steady, ranked })
    known.set(strata, own)
    return own
  })
  const spread = moderatedVariances(
    sums.map(({ logVariance }) => logVariance),
    sums.map(({ logDf }) => logDf),
    { weighed: true },
  )
  const design = designEffects(sums, {
    lasts: aligned ? false : 'flicker',
    ...(steady && { maxShared: 1 }),
  })
  return sums.map((sum, i): ModeratedShift => {
    const { beforeCount, afterCount, rankDifference, rankVariance, logDifference } = sum
    const effect = design.effects[i] as number
    const excess = effect - 1
    const blockDf = excess === 0 ? 0 : excess ** 2 / (design.df[i] as number)
    const logVariance = (spread.variances[i] as number) * sum.logScale * effect
    const logDf = effect ** 2 / (blockDf + 1 / (spread.df[i] as number))
    const rankP =
      rankVariance > 0
        ? twoSidedTP(rankDifference / Math.sqrt(rankVariance * effect), effect ** 2 / blockDf)
        : Number.NaN
    const probabilitySlower = withoutRounding(0.5 + rankDifference / sum.rankWeight)
    const isApart =
      Math.max(beforeCount, afterCount) >= MIN_BESIDE && Math.abs(probabilitySlower - 0.5) === 0.5
    const isEnough = Math.min(beforeCount, afterCount) >= (isApart ? MIN_APART : MIN_VALUES)
    const isKnown = isEnough && logVariance > 0 && logDf > 0
    const logP = isKnown ? twoSidedTP(logDifference / Math.sqrt(logVariance), logDf) : Number.NaN
    return {
      beforeCount,
      afterCount,
      rankP,
      logP,
      p: bonferroni([rankP, logP]),
      probabilitySlower,
      factor: Math.exp(logDifference),
      designEffect: effect,
      direction: directionOf(probabilitySlower - 0.5),
    }
  })
}

/** Of samples that do not overlap, exactly 0 or 1; of strata that cancel, exactly ½. */
function withoutRounding(share: number): number {
  return Math.round(share * 1e12) / 1e12
}

/** Sums over the strata of one measure. */
interface StrataSums {
  readonly beforeCount: number
  readonly afterCount: number
  /** Weighted difference of mean ranks, and its variance if values were independent. */
  readonly rankDifference: number
  /** What `rankDifference` would be if all values after were larger, times 2. */
  readonly rankWeight: number
  readonly rankVariance: number
  readonly logDifference: number
  /** Pooled variance of log values within strata and periods. */
  readonly logVariance: number
  readonly logDf: number
  /** Variance of `logDifference` over that of one value. */
  readonly logScale: number
  /** Deviations of ranks from the mean of their run, by stretch of time: runs before, then after. */
  readonly periods: readonly StretchSums[]
}

/** What is summed of a stratum, however many measures have it. */
interface RankedStratum {
  readonly samples: readonly [before: BlockedSample, after: BlockedSample]
  readonly ranks: readonly [before: Float64Array, after: Float64Array]
  readonly logs: readonly [before: Float64Array, after: Float64Array]
  readonly meanRanks: readonly [before: number, after: number]
  readonly meanLogs: readonly [before: number, after: number]
}

function rankStratum(stratum: BlockedStratum): RankedStratum {
  const samples = [ascending(stratum.before), ascending(stratum.after)] as const
  const [{ values: before }, { values: after }] = samples
  const ranks = midranks(before, after)
  const logs = [Float64Array.from(before, logOf), Float64Array.from(after, logOf)] as const
  return { samples, ranks, logs, meanRanks: meansOf(ranks), meanLogs: meansOf(logs) }
}

function sumStrata(
  strata: readonly BlockedStratum[],
  {
    perRun,
    aligned,
    steady,
    ranked,
  }: Required<StretchOptions> & { readonly ranked: Map<BlockedStratum, RankedStratum> },
): StrataSums {
  const sum = { beforeCount: 0, afterCount: 0, rankWeight: 0, weight: 0 }
  let [rankDifference, rankVariance, logDifference, logSquares, logDf, logScale] = [
    0, 0, 0, 0, 0, 0,
  ]
  const later = new StretchSums()
  const runs: StretchSums[] = []
  for (const stratum of strata) {
    if (stratum.before.values.length === 0 || stratum.after.values.length === 0) continue
    const known = ranked.get(stratum) ?? rankStratum(stratum)
    ranked.set(stratum, known)
    const { samples, ranks, logs, meanRanks: rank, meanLogs: log } = known
    const counts = [ranks[0].length, ranks[1].length] as const
    const all = counts[0] + counts[1]
    if (counts[0] === 0 || counts[1] === 0) continue
    const weight = (counts[0] * counts[1]) / all
    let squares = 0
    for (const period of [0, 1] as const) {
      const scale = weight / counts[period]
      const { blocks: blockOf } = samples[period]
      const runOf = (i: number) => (period === 0 ? Math.floor((blockOf[i] as number) / perRun) : 0)
      const rankOf = meansByRun(ranks[period], runOf)
      for (let i = 0; i < counts[period]; i++) {
        const run = runOf(i)
        const own = (ranks[period][i] as number) - (rankOf[run] as number)
        const block = blockOf[i] as number
        if (aligned) later.add(block % perRun, (period === 0 ? -scale : scale) * own)
        else {
          const sums = period === 0 ? (runs[run] ?? new StretchSums()) : later
          if (period === 0) runs[run] = sums
          sums.add(block, scale * own)
        }
        squares += (ranks[period][i] as number) ** 2
        logSquares += ((logs[period][i] as number) - log[period]) ** 2
      }
    }
    sum.weight += weight
    sum.beforeCount += counts[0]
    sum.afterCount += counts[1]
    sum.rankWeight += (weight * all) / (all + 1)
    rankDifference += weight * (rank[1] - rank[0])
    if (all > 1) rankVariance += (weight * squares) / (all - 1)
    logDifference += weight * (log[1] - log[0])
    logScale += weight
    logDf += Math.max(0, all - 2)
  }
  const { weight, ...counted } = sum
  return {
    ...counted,
    rankDifference,
    rankVariance,
    logDf,
    periods: [...runs.filter((run) => run !== undefined), ...(steady ? [] : [later])],
    logDifference: weight === 0 ? 0 : logDifference / weight,
    logVariance: logDf === 0 ? Number.NaN : logSquares / logDf,
    logScale: weight === 0 ? Number.NaN : logScale / weight ** 2,
  }
}

/** Mean of the values of each run. */
function meansByRun(values: Float64Array, runOf: (i: number) => number): number[] {
  const sums: number[] = []
  const counts: number[] = []
  values.forEach((value, i) => {
    const run = runOf(i)
    sums[run] = (sums[run] ?? 0) + value
    counts[run] = (counts[run] ?? 0) + 1
  })
  return sums.map((sum, run) => sum / (counts[run] as number))
}

/** The values in ascending order, each with its block: sums then do not hang on the order given. */
function ascending(sample: BlockedSample): BlockedSample {
  const { values, blocks } = sample
  if (isAscending(sample)) return sample
  const known = Array.from(values).flatMap((value, i) => (Number.isFinite(value) ? [i] : []))
  const order = Uint32Array.from(known).sort(
    (a, b) =>
      (values[a] as number) - (values[b] as number) ||
      (blocks[a] as number) - (blocks[b] as number),
  )
  return {
    values: Float64Array.from(order, (i) => values[i] as number),
    blocks: Float64Array.from(order, (i) => blocks[i] as number),
  }
}

/** Whether values are finite and ascending, and blocks among equal ones. */
function isAscending({ values, blocks }: BlockedSample): boolean {
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    if (!Number.isFinite(value)) return false
    const last = i === 0 ? Number.NEGATIVE_INFINITY : (values[i - 1] as number)
    if (value < last || (value === last && (blocks[i] as number) < (blocks[i - 1] as number))) {
      return false
    }
  }
  return true
}

/** Midranks of both ascending samples together over their number + 1, less ½. */
function midranks(before: ArrayLike<number>, after: ArrayLike<number>) {
  const size = before.length + after.length
  const ranks = [new Float64Array(before.length), new Float64Array(after.length)] as const
  let [first, second] = [0, 0]
  while (first + second < size) {
    const value = Math.min(
      before[first] ?? Number.POSITIVE_INFINITY,
      after[second] ?? Number.POSITIVE_INFINITY,
    )
    const start = first + second
    const [from1, from2] = [first, second]
    while (before[first] === value) first++
    while (after[second] === value) second++
    const rank = (start + first + second + 1) / 2 / (size + 1) - 0.5
    ranks[0].fill(rank, from1, first)
    ranks[1].fill(rank, from2, second)
  }
  return ranks
}

/** Log of a value, of at least 1, as it is compared. */
export function logOf(value: number): number {
  return Math.log(Math.max(FLOOR, value))
}

function meansOf([before, after]: readonly [Float64Array, Float64Array]) {
  return [mean(before) as number, mean(after) as number] as const
}
