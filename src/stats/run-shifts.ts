// Over every run of every measure: the loops index with `!`.
import { requireList } from '../core/errors.ts'
import { fTail, gammaQ } from './distributions.ts'
import { moderatedVariances } from './moderated-shifts.ts'
import { median } from './quantile.ts'

/** Means of the runs before, in their order, and last of the run after, over values of one kind. */
export interface RunStratum {
  readonly means: ArrayLike<number>
  /** Number of values behind each mean; runs without any are left out, whatever their mean. */
  readonly counts: ArrayLike<number>
}

/** One measure in all runs. */
export interface RunMeasure {
  readonly strata: readonly RunStratum[]
  /** Variance of a single value within its run; 0 if means are all that there is. */
  readonly variance: number
}

/** Distance of the run after from the runs before. */
export interface RunShift {
  /** Level of after, less the mean level of the runs before. */
  readonly shift: number
  /** Shift over its standard error; `NaN`, as is p, where no two runs before tell how runs differ. */
  readonly t: number
  readonly df: number
  /** p of that t alone. */
  readonly ownP: number
  /** Twice the smaller p of that t, and of the shift beyond the common one of all measures. */
  readonly p: number
}

/**
 * Tests whether measures in one run differ from those in several others by more than these differ
 * from each other.
 *
 * Null hypothesis of each: its level in the run after is drawn as those of the runs before are, independently of them,
 * from a normal distribution. Two-sided. Within strata, a run's values are the stratum's plus its own level (least
 * squares), so runs may have other mixes.
 *
 * A level has two variances: that between runs, the same for all measures, and that expected from the values within the
 * run; a run weighs by their sum. Each measure's own variance between runs, with k − 1 degrees of freedom, moderates
 * that of all (`moderatedVariances`, d0 degrees of freedom): t has k − 1 + d0, but no more than half of the worth of
 * the measures that move independently from run to run: their number is a rough estimate. With one stratum, equal
 * counts and a variance of 0 these are the numbers of limma's moderated t.
 *
 * Runs are often faster or slower as a whole: on a warmer day, on a busier host. So levels are also tested less the
 * median of all measures in their run, which leaves more degrees of freedom where measures move together; the smaller
 * shift counts there, with or without the median, and only if both have one sign.
 *
 * Limits: with two runs, it is hardly known whether measures move together; if all move as one, t has k − 1 degrees of
 * freedom, and only huge shifts of few runs are significant. Runs that are not independent (stretches of one drifting
 * hour) differ less than others would.
 *
 * @param measures on one scale, such as that of logs; each with as many runs
 * @returns one result a measure, in the same order
 *
 * Sources: Smyth 2004 (see `moderatedVariances`); Paule and Mandel 1982, "Consensus values and weighting factors" (the
 * common variance of runs, here by medians, so that a few unsteady measures do not raise it for all).
 *
 * @example
 * const run = (...means) => ({ strata: [{ means, counts: means.map(() => 1) }], variance: 0 })
 * const [same, other] = runShifts([run(1, 1.1, 0.9, 1), run(2, 2.1, 1.9, 5)])
 * same.p > 0.5 && other.p < 0.01 // true
 */
export function runShifts(measures: readonly RunMeasure[]): RunShift[] {
  requireList('measures', measures, 'strata')
  const levels = measures.map(levelsOf)
  const own = testLevels(levels)
  const shared = sharedLevels(levels)
  if (shared === null) return own
  const beyond = testLevels(
    levels.map((one) => ({
      ...one,
      levels: one.levels.map((level, run) => level - shared[run]!),
    })),
  )
  return own.map((test, i) => {
    const other = beyond[i] as RunShift
    const part = Math.min(1, Math.abs(test.shift / other.shift))
    const t = other.t * (test.shift * other.shift > 0 ? part : 0)
    if (Number.isNaN(t) || Number.isNaN(test.ownP)) return test
    return { ...test, p: Math.min(1, 2 * Math.min(test.ownP, fTail(t * t, 1, other.df))) }
  })
}

function testLevels(levels: readonly Levels[]): RunShift[] {
  const common = commonVariance(levels)
  const weighed = levels.map((one) => weigh(one, common))
  const spread = moderatedVariances(
    weighed.map(({ squares, df }) => squares / df),
    weighed.map(({ df }) => df),
  )
  const most = independentMeasures(weighed, common)
  return weighed.map(({ shift, scale, df: own }, i): RunShift => {
    const df = Math.min(spread.df[i] as number, most.df * Math.max(1, most.measures / 2))
    const t = shift / Math.sqrt((spread.variances[i] as number) * scale)
    const isKnown = df > 0 && Number.isFinite(t) && own >= 0
    const p = isKnown ? fTail(t * t, 1, df) : Number.NaN
    return { shift, t: isKnown ? t : Number.NaN, df: isKnown ? df : 0, ownP: p, p }
  })
}

/** Smallest number of measures for sharing: the median of fewer is hardly more than one of them. */
const MIN_SHARING = 8

/** Returns the median level of all measures in each run, each less its mean; `null` for too few measures. */
function sharedLevels(all: readonly Levels[]): number[] | null {
  const runs = all[0]?.levels.length ?? 0
  const centered = all
    .filter(({ levels }) => !levels.some(Number.isNaN))
    .map(({ levels }) => {
      const before = levels.subarray(0, runs - 1)
      const mean = before.reduce((sum, level) => sum + level, 0) / before.length
      return levels.map((level) => level - mean)
    })
  if (centered.length < MIN_SHARING) return null
  return Array.from({ length: runs }, (_, run) => median(centered.map((levels) => levels[run]!)))
}

type Levels = ReturnType<typeof levelsOf>

const MAX_SWEEPS = 200
const SETTLED = 1e-13

/**
 * Returns levels of runs: estimates them and the levels of strata by turns until they settle, `NaN` for a run without
 * values; and their expected variances.
 */
function levelsOf({ strata, variance }: RunMeasure) {
  const runs = strata[0]?.counts.length ?? 0
  const totals = new Float64Array(runs)
  for (const { counts } of strata)
    eachCount(counts, (n, run) => {
      totals[run]! += n
    })
  let levels = new Float64Array(runs)
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    const next = new Float64Array(runs)
    for (const { means, counts } of strata) {
      let [sum, all] = [0, 0]
      eachCount(counts, (n, run) => {
        sum += n * (means[run]! - levels[run]!)
        all += n
      })
      eachCount(counts, (n, run) => {
        next[run]! += (n / totals[run]!) * (means[run]! - sum / all)
      })
    }
    const isSettled = next.every((level, run) => Math.abs(level - levels[run]!) < SETTLED)
    levels = next
    // With a single stratum, one round is enough: its own level shifts all runs equally.
    if (isSettled || strata.length === 1) break
  }
  return {
    levels: levels.map((level, run) => (totals[run]! > 0 ? level : Number.NaN)),
    variances: totals.map((n) => variance / n),
  }
}

function eachCount(counts: ArrayLike<number>, of: (n: number, run: number) => void): void {
  for (let run = 0; run < counts.length; run++) {
    const n = counts[run] as number
    if (n > 0) of(n, run)
  }
}

/** Weighs the runs of one measure by the certainty of their levels. */
function weigh({ levels, variances }: Levels, common: number) {
  const runs = levels.length - 1
  const weights = variances.map((own, run) => (Number.isNaN(levels[run]!) ? 0 : 1 / (common + own)))
  const before = weights.subarray(0, runs)
  const all = before.reduce((sum, weight) => sum + weight, 0)
  const weighted = before.map((weight, run) => (weight > 0 ? weight * levels[run]! : 0))
  const mean = weighted.reduce((sum, level) => sum + level, 0) / all
  const deviations = before.map((weight, run) => Math.sqrt(weight) * (levels[run]! - mean))
  const present = before.reduce((count, weight) => count + Number(weight > 0), 0)
  return {
    /** Weighted sum of squares of the levels before about their mean, with its degrees of freedom. */
    squares: deviations.reduce((sum, one) => sum + (Number.isNaN(one) ? 0 : one * one), 0),
    df: present - 1,
    shift: (levels[runs] as number) - mean,
    /** Variance of the shift, if `squares / df` were 1. */
    scale: 1 / all + 1 / (weights[runs] as number),
    /** Standardized deviation of each run before; `NaN` where a run has none. */
    deviations,
  }
}

const HALVINGS = 60
/** Common variances are sought down to this part of the largest. */
const LEAST = 1e-14

/** Returns the variance between runs at which half of the measures differ less from run to run than they do. */
function commonVariance(levels: readonly Levels[]): number {
  const telling = levels.filter((one) => weigh(one, 1).df > 0)
  let high = Math.max(0, ...telling.map((one) => weigh(one, 1).squares))
  if (high === 0) return 0
  let low = LEAST * high
  const isTooSmall = (common: number) => {
    let excess = 0
    for (const one of telling) {
      const { squares, df } = weigh(one, common)
      excess += 0.5 - gammaQ(df / 2, squares / 2)
    }
    return excess > 0
  }
  for (let halving = 0; halving < HALVINGS && high / low > 1 + 1e-9; halving++) {
    const middle = Math.sqrt(low * high)
    if (isTooSmall(middle)) low = middle
    else high = middle
  }
  return high
}

/**
 * Returns how many measures move independently from run to run, by the size of the sum of all moves: if all measures
 * move together, the sum is as large as it can be. A measure counts by the part of its variance that lies between runs,
 * because the rest is independent anyway.
 */
function independentMeasures(all: readonly ReturnType<typeof weigh>[], common: number) {
  const df = Math.max(0, ...all.map((one) => one.df))
  const full = all.filter((one) => one.df === df && one.squares > 0)
  const runs = full[0]?.deviations.length ?? 0
  const sums = new Float64Array(runs)
  const products = new Float64Array(runs * runs)
  let [weights, squaredWeights] = [0, 0]
  for (const { deviations, squares, scale } of full) {
    const weight = common / scale
    weights += weight
    squaredWeights += weight ** 2
    const unit = deviations.map((one) => (Number.isNaN(one) ? 0 : one / Math.sqrt(squares)))
    unit.forEach((one, i) => {
      sums[i]! += weight * one
      unit.forEach((other, j) => {
        products[i * runs + j]! += weight * one * other
      })
    })
  }
  if (df === 0 || weights === 0) return { df, measures: Number.POSITIVE_INFINITY }
  const count = weights ** 2 / squaredWeights
  if (count <= 1) return { df, measures: 1 }
  const squareSum = (values: Float64Array) => values.reduce((sum, one) => sum + one * one, 0)
  const ofSums = squareSum(sums) / squaredWeights
  const together = (squareSum(products) / squaredWeights - 1) / (count - 1)
  const alike = df > 1 ? Math.max(0, (together - 1 / df) / (1 - 1 / df)) : 0
  return { df, measures: Math.min(count / Math.max(1, ofSums), count / (1 + (count - 1) * alike)) }
}

export class RunSums implements RunStratum {
  readonly counts: Float64Array
  readonly #sums: Float64Array
  #squares = 0

  /** @param runs how many there are, after included */
  constructor(runs: number) {
    this.counts = new Float64Array(runs)
    this.#sums = new Float64Array(runs)
  }

  add(run: number, value: number): void {
    this.counts[run]! += 1
    this.#sums[run]! += value
    this.#squares += value ** 2
  }

  get means(): Float64Array {
    return this.#sums.map((sum, run) => sum / this.counts[run]!)
  }

  /** Sum of squares about the means of runs, and its degrees of freedom. */
  get within(): { readonly squares: number; readonly df: number } {
    let [squares, df] = [this.#squares, 0]
    eachCount(this.counts, (n, run) => {
      squares -= this.#sums[run]! ** 2 / n
      df += n - 1
    })
    return { squares: Math.max(0, squares), df }
  }
}

export function runMeasure(strata: readonly RunSums[]): RunMeasure {
  let [squares, df] = [0, 0]
  for (const { within } of strata) {
    squares += within.squares
    df += within.df
  }
  return { strata, variance: df === 0 ? 0 : squares / df }
}

/**
 * Returns one measure of shares: the share of each run's chances that were taken, after last. Shares are compared as
 * the arcsine of their root, whose variance does not depend on the share (Anscombe 1948).
 */
export function shareMeasure(
  strata: readonly { readonly made: ArrayLike<number>; readonly chances: ArrayLike<number> }[],
): RunMeasure {
  return {
    strata: strata.map(({ made, chances }) => ({
      counts: chances,
      means: Array.from(chances, (n, run) => Math.asin(Math.sqrt(made[run]! / n))),
    })),
    variance: 1 / 4,
  }
}

/** Returns the larger p of a test within runs and of one between them, where that is known. */
export function largerP(p: number, between: RunShift | undefined): number {
  if (between === undefined || Number.isNaN(between.p)) return p
  return Math.max(p, between.p)
}
