import { fTail, normalP } from './distributions.ts'
import { moderatedVariances } from './moderated-variances.ts'
import { type Direction, directionOf } from './two-sample.ts'

/** Values of one period, each with the stretch of time it comes from. */
export interface BlockedSample {
  /** Values; NaN and infinite ones are left out. */
  readonly values: ArrayLike<number>
  /** Number of the stretch of time of each value, from 0, in the order of time. */
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
  /** Of log values alone; `NaN` with fewer than three values a side. */
  readonly logP: number
  /** P(after > before) + ½·P(equal) of a random pair of one stratum. */
  readonly probabilitySlower: number
  /** exp of the mean difference of log values: by what factor values grew. */
  readonly factor: number
  /** How many times larger the variance of the shift is than independent values would have. */
  readonly designEffect: number
  readonly direction: Direction
}

/** Fewest values a side for a t-test of log values: of two, the variance is hardly known. */
const MIN_VALUES = 3
/** Values below this, in their own unit, count as this much when logs are taken. */
const FLOOR = 1
/** A design effect is estimated from at least this many stretches of time in all. */
const MIN_BLOCK_DF = 4

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
 * than independent values would. It grows with the values in a stretch, and where halves of periods
 * wander more than their shorter stretches let expect; its size is that of all measures together,
 * moderated by each measure's own. So p of one measure depends on which others are given.
 *
 * Equal values share the mean of their ranks, and the variance of ranks is that of these; if all
 * values of every stratum are equal, there is no `rankP`. A measure without a stratum that has
 * values in both periods gets counts of 0 and NaN for p.
 *
 * Limits: a drift longer than a period is not seen, and one that lasts for several stretches only in
 * part: where a tenth of a period keeps half the level of the one before, about 7 % of p are below
 * 0.05. With one stretch a period there is no design effect. Both p-values rest on a normal or t distribution: of three values a side or fewer, `rankP`
 * is too small by up to a half. Values below 1 count as 1 in log values, so give them in a small unit.
 *
 * @param measures strata of each measure; those without values in both periods are left out
 * @returns one result a measure, in the same order
 *
 * Sources: van Elteren 1960, "On the combination of independent two-sample tests of Wilcoxon"; Smyth
 * 2004 (see `moderatedVariances`); Kish 1965, "Survey Sampling", §5.4 (design effect); Satterthwaite
 * 1946, "An approximate distribution of estimates of variance components" (degrees of freedom).
 *
 * @example
 * const block = (values) => ({ values, blocks: values.map((_, i) => i) })
 * const [slow] = moderatedShifts([[{ before: block([10, 11, 9, 10]), after: block([90, 99, 95]) }]])
 * slow.direction // 'slower'
 */
export function moderatedShifts(
  measures: readonly (readonly BlockedStratum[])[],
): ModeratedShift[] {
  const sums = measures.map(sumStrata)
  const spread = moderatedVariances(
    sums.map(({ logVariance }) => logVariance),
    sums.map(({ logDf }) => logDf),
  )
  const design = moderatedDesign(sums)
  return sums.map((sum, i): ModeratedShift => {
    const { beforeCount, afterCount, rankDifference, rankVariance, logDifference } = sum
    const effect = design.effects[i] as number
    const excess = effect - 1
    const blockDf = excess === 0 ? 0 : excess ** 2 / (design.df[i] as number)
    const logVariance = (spread.variances[i] as number) * sum.logScale * effect
    const logDf = effect ** 2 / (blockDf + 1 / (spread.df[i] as number))
    const rankP =
      rankVariance > 0
        ? twoSided(rankDifference / Math.sqrt(rankVariance * effect), effect ** 2 / blockDf)
        : Number.NaN
    const isEnough = Math.min(beforeCount, afterCount) >= MIN_VALUES && logVariance > 0 && logDf > 0
    const logP = isEnough ? twoSided(logDifference / Math.sqrt(logVariance), logDf) : Number.NaN
    const known = [rankP, logP].filter((p) => !Number.isNaN(p))
    return {
      ...{ beforeCount, afterCount, rankP, logP },
      p: known.length === 0 ? Number.NaN : Math.min(1, known.length * Math.min(...known)),
      probabilitySlower:
        sum.pairs === 0 ? Number.NaN : withoutRounding(sum.slowerPairs / sum.pairs),
      factor: Math.exp(logDifference),
      designEffect: effect,
      direction: directionOf(rankDifference),
    }
  })
}

/** Of samples that do not overlap, exactly 0 or 1. */
function withoutRounding(share: number): number {
  return Math.round(share * 1e12) / 1e12
}

function twoSided(t: number, df: number): number {
  if (!(df < 1e9)) return normalP(t, 'two-sided')
  return fTail(t * t, 1, df)
}

/** Sums over the strata of one measure. */
interface StrataSums {
  readonly beforeCount: number
  readonly afterCount: number
  readonly pairs: number
  readonly slowerPairs: number
  /** Weighted difference of mean ranks, and its variance if values were independent. */
  readonly rankDifference: number
  readonly rankVariance: number
  readonly logDifference: number
  /** Pooled variance of log values within strata and periods. */
  readonly logVariance: number
  readonly logDf: number
  /** Variance of `logDifference` over that of one value. */
  readonly logScale: number
  /** Observed design effect of ranks, its degrees of freedom, and values a stretch of time. */
  readonly effect: number
  /** Design effect by halves of the periods. */
  readonly halvesEffect: number
  readonly blockDf: number
  readonly perBlock: number
}

function sumStrata(strata: readonly BlockedStratum[]): StrataSums {
  const sum = { beforeCount: 0, afterCount: 0, pairs: 0, slowerPairs: 0, weight: 0 }
  let [rankDifference, rankVariance, logDifference, logSquares, logDf, logScale] = [
    0, 0, 0, 0, 0, 0,
  ]
  const blocks = [new BlockSums(), new BlockSums()] as const
  for (const stratum of strata) {
    const samples = [ascending(stratum.before), ascending(stratum.after)] as const
    const [{ values: before }, { values: after }] = samples
    const counts = [before.length, after.length] as const
    const all = counts[0] + counts[1]
    if (counts[0] === 0 || counts[1] === 0) continue
    const weight = (counts[0] * counts[1]) / all
    const ranks = midranks(before, after)
    const logs = [logsOf(before), logsOf(after)] as const
    const [rank, log] = [meansOf(ranks), meansOf(logs)]
    let squares = 0
    for (const period of [0, 1] as const) {
      const scale = weight / counts[period]
      const { blocks: blockOf } = samples[period]
      for (let i = 0; i < counts[period]; i++) {
        const own = (ranks[period][i] as number) - rank[period]
        blocks[period].add(blockOf[i] as number, scale * own)
        squares += (ranks[period][i] as number) ** 2
        logSquares += ((logs[period][i] as number) - log[period]) ** 2
      }
    }
    sum.weight += weight
    sum.beforeCount += counts[0]
    sum.afterCount += counts[1]
    sum.pairs += weight
    sum.slowerPairs += weight * (0.5 + ((rank[1] - rank[0]) * (all + 1)) / all)
    rankDifference += weight * (rank[1] - rank[0])
    if (all > 1) rankVariance += (weight * squares) / (all - 1)
    logDifference += weight * (log[1] - log[0])
    logScale += weight
    logDf += Math.max(0, all - 2)
  }
  const { weight, ...counted } = sum
  const [first, second] = blocks
  const independent = first.independent + second.independent
  return {
    ...counted,
    ...{ rankDifference, rankVariance, logDf },
    logDifference: weight === 0 ? 0 : logDifference / weight,
    logVariance: logDf === 0 ? Number.NaN : logSquares / logDf,
    logScale: weight === 0 ? Number.NaN : logScale / weight ** 2,
    effect: independent === 0 ? Number.NaN : (first.variance + second.variance) / independent,
    halvesEffect:
      independent === 0
        ? Number.NaN
        : (first.varianceOfHalves + second.varianceOfHalves) / independent,
    blockDf: first.df + second.df,
    perBlock: (sum.beforeCount + sum.afterCount) / Math.max(1, first.size + second.size),
  }
}

/** Adds up deviations by stretch of time. */
class BlockSums {
  #count = 0
  #squares = 0
  readonly #sums = new Map<number, number>()

  add(block: number, deviation: number): void {
    this.#count++
    this.#squares += deviation ** 2
    this.#sums.set(block, (this.#sums.get(block) ?? 0) + deviation)
  }

  get size(): number {
    return this.#sums.size
  }

  get df(): number {
    return Math.max(0, this.size - 1)
  }

  /** Variance of the sum of all, if they were independent. */
  get independent(): number {
    return (this.#squares * this.#count) / Math.max(1, this.#count - 1)
  }

  /** Variance of the sum of all, by its stretches of time. */
  get variance(): number {
    if (this.size < 2) return this.independent
    const squares = this.#byBlock().reduce((sum, [, own]) => sum + own ** 2, 0)
    return (squares * this.size) / (this.size - 1)
  }

  #byBlock(): [block: number, sum: number][] {
    return [...this.#sums].sort(([a], [b]) => a - b)
  }

  /** Variance of the sum of all, by its first and second half of time. */
  get varianceOfHalves(): number {
    const middle = Math.max(...this.#sums.keys()) / 2
    let [first, second] = [0, 0]
    for (const [block, own] of this.#byBlock()) {
      if (block < middle) first += own
      else second += own
    }
    return 2 * (first ** 2 + second ** 2)
  }
}

/**
 * The design effect of each measure. All measures share one correlation of neighbors; each measure's
 * own effect moderates what that correlation lets expect of it.
 */
function moderatedDesign(sums: readonly StrataSums[]) {
  const known = sums.map(({ effect, blockDf }) => blockDf >= MIN_BLOCK_DF && effect > 0)
  let [excess, neighbors] = [0, 0]
  sums.forEach(({ effect, perBlock, blockDf }, i) => {
    if (!known[i]) return
    excess += blockDf * (effect - 1)
    neighbors += blockDf * (perBlock - 1)
  })
  const correlation = neighbors > 0 ? Math.max(0, excess / neighbors) : 0
  const growth = growthOf(sums.filter((_, i) => known[i]))
  const expected = sums.map(({ perBlock }) => 1 + Math.max(0, perBlock - 1) * correlation)
  const ratios = moderatedVariances(
    sums.map(({ effect }, i) => (known[i] ? effect / (expected[i] as number) : Number.NaN)),
    sums.map(({ blockDf }) => blockDf),
  )
  const pooledDf = sums.reduce((all, { blockDf }, i) => (known[i] ? all + blockDf : all), 0)
  return {
    effects: expected.map((one, i) => {
      const ratio = ratios.variances[i] as number
      const moderated = Number.isNaN(ratio) ? one : one * ratio
      // Single values a stretch are as good as independent, and stay so over longer stretches.
      return 1 + Math.max(0, moderated - 1) * growth
    }),
    // Without one of its own, an effect is as sure as that of all others together.
    df: ratios.df.map((df) => (df > 0 ? df : pooledDf > 0 ? pooledDf : Number.POSITIVE_INFINITY)),
  }
}

/** Mean of the log of χ² with two degrees of freedom over 2: minus Euler's constant. */
const MEAN_LOG_OF_TWO = -0.5772156649

/**
 * By how much halves of periods wander more than their shorter stretches let expect, over all
 * measures; 1 where they do not.
 */
function growthOf(sums: readonly StrataSums[]): number {
  const seen = sums.filter(({ halvesEffect }) => halvesEffect > 0)
  const logs = seen.map(({ effect, halvesEffect }) => Math.log(halvesEffect / effect))
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length
  return logs.length === 0 ? 1 : Math.max(1, Math.exp(mean - MEAN_LOG_OF_TWO))
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
function midranks(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
): readonly [Float64Array, Float64Array] {
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

function logsOf(values: ArrayLike<number>): Float64Array {
  return Float64Array.from(values, (value) => Math.log(Math.max(FLOOR, value)))
}

function meansOf([before, after]: readonly [Float64Array, Float64Array]): [number, number] {
  const mean = (values: Float64Array) =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  return [mean(before), mean(after)]
}
