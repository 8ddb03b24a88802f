import { rejectUnknownOptions, requireList } from '../core/errors.ts'
import { normalP } from './distributions.ts'
import { rankCounts, rankVariance } from './mann-whitney.ts'
import { requireOneOf } from './require-option.ts'
import {
  ALTERNATIVES,
  directionOf,
  isTestable,
  type SidedOptions,
  sortedFinite,
  type TwoSampleResult,
} from './two-sample.ts'

/** Requests of one kind in the two periods. */
export interface Stratum {
  readonly before: ArrayLike<number>
  readonly after: ArrayLike<number>
}

export type VanElterenOptions = SidedOptions

/** Counts are those of the strata used. */
export interface VanElterenResult extends TwoSampleResult {
  /** Σ U_h / (N_h + 1), with U_h of the after sample of stratum h and N_h its number of values. */
  readonly statistic: number
  /** The statistic less its mean over its standard deviation; positive when after is slower. */
  readonly z: number
  /** P(after > before) + ½·P(equal) of a random pair of one stratum, each weighing 1/(N_h + 1). */
  readonly probabilitySlower: number
  /** How many strata have values in both periods; the others contribute nothing. */
  readonly strata: number
}

/**
 * Van Elteren's test (Wilcoxon's, stratified): do requests of the same kind tend to be slower?
 *
 * Null hypothesis: within every stratum both samples come from one distribution. Alternative
 * `'two-sided'`: within strata, values of after tend to be larger than those of before, or smaller;
 * `'slower'`: larger; `'faster'`: smaller. Values are compared only within their stratum: neither
 * differences between strata nor another mixture of strata is evidence. The weights 1/(N_h + 1)
 * have the most power against one shift common to all strata.
 *
 * Ties have midranks, and the variance is corrected for them. NaN and infinite values are left out;
 * those of the strata used are counted as dropped. When all values of each stratum are equal, z is
 * 0, p 1. When no stratum has values in both periods, statistic, z, p and probabilitySlower are NaN
 * and the result is not testable.
 *
 * Limits: a normal approximation without continuity correction; `testable` asks the rule of
 * `isTestable` of the summed counts. Opposite shifts in different strata cancel.
 *
 * Sources: van Elteren 1960, "On the combination of independent two-sample tests of Wilcoxon",
 * Bulletin of the International Statistical Institute 37:351-361; Lehmann 1975, "Nonparametrics",
 * §3.3.
 *
 * @throws OptionError for an unknown alternative, or unsorted samples with `sorted`.
 *
 * @example
 * const reads = { before: [1, 2, 3, 4, 5], after: [4, 5, 6, 7, 8] }
 * const writes = { before: [100, 200, 300], after: [250, 350, 450, 550] }
 * vanElteren([reads, writes]).direction // 'slower'
 * vanElteren([reads, writes]).strata // 2
 */
export function vanElteren(
  strata: readonly Stratum[],
  options: VanElterenOptions = {},
): VanElterenResult {
  requireList('strata', strata, 'before', 'after')
  rejectUnknownOptions(options, ['alternative', 'sorted'])
  const { alternative = 'two-sided', sorted = false } = options
  requireOneOf('alternative', alternative, ALTERNATIVES)
  const sum = sumOverStrata(strata, sorted)
  const { beforeCount, afterCount, droppedBefore, droppedAfter, variance } = sum
  const used = sum.strata > 0
  // Strata that cancel leave the rounding of their weights, which has no direction.
  const excess = Math.abs(sum.excess) <= 1e-14 * sum.pairs ? 0 : sum.excess
  const z = variance === 0 ? 0 : excess / Math.sqrt(variance)
  // Runs for thousands of edges: an object is filled without spreading others into it.
  return {
    beforeCount,
    afterCount,
    droppedBefore,
    droppedAfter,
    statistic: used ? sum.statistic : Number.NaN,
    z: used ? z : Number.NaN,
    p: !used ? Number.NaN : variance === 0 ? 1 : normalP(z, alternative),
    probabilitySlower: used ? sum.statistic / sum.pairs : Number.NaN,
    direction: directionOf(excess),
    strata: sum.strata,
    testable: used && isTestable(beforeCount, afterCount),
  }
}

function sumOverStrata(strata: readonly Stratum[], sorted: boolean) {
  const sum = {
    strata: 0,
    statistic: 0,
    excess: 0,
    pairs: 0,
    variance: 0,
    beforeCount: 0,
    afterCount: 0,
    droppedBefore: 0,
    droppedAfter: 0,
  }
  for (const { before, after } of strata) {
    const first = sortedFinite(before, { sorted })
    const second = sortedFinite(after, { sorted })
    const n1 = first.values.length
    const n2 = second.values.length
    if (n1 === 0 || n2 === 0) continue
    const weight = 1 / (n1 + n2 + 1)
    const { u, tieTerm } = rankCounts(first.values, second.values)
    sum.strata++
    sum.statistic += weight * u
    sum.excess += weight * (u - (n1 * n2) / 2)
    sum.pairs += weight * n1 * n2
    sum.variance += weight * weight * rankVariance(n1, n2, tieTerm)
    sum.beforeCount += n1
    sum.afterCount += n2
    sum.droppedBefore += first.dropped
    sum.droppedAfter += second.dropped
  }
  return sum
}
