// Runs once a stretch of time: the loops index with `!`.
import { sum } from 'd3-array'
import { incompleteBeta } from './distributions.ts'
import { flickerGrowth } from './moderated-shifts.ts'

/** Counts of a possible event, and its chances, by short stretch of time. */
export interface CountsInTime {
  readonly made: Float64Array
  readonly chances: Float64Array
}

export interface ClusteredCountsTest {
  readonly made: readonly [before: number, after: number]
  /** Mean size of a cluster; counts are divided by it to give their worth. */
  readonly clusterSize: number
  /** Standard deviation of the log of the ratio of both periods' rates, from drift. */
  readonly wander: number
  /** `NaN` if none was done. */
  readonly p: number
}

/**
 * Numbers of neighboring stretches to merge, to see clusters of every length; the largest ones show the drift of
 * levels.
 */
const LENGTHS = [1, 2, 4, 8]
const MIN_STRETCHES = 3
/** Degrees of freedom by which dispersions of few stretches are moderated towards 1. */
const PRIOR_DF = 8
/**
 * Least drift of rates: for recorded periods without a change, the variance of the log ratio is 0.4, as much as their
 * stretches show on average, but single periods show none.
 */
const MIN_WANDER = 0.3
/** Range of the sum over drifts in standard deviations, and its step. */
const [REACH, STEP] = [6, 0.25]

/**
 * Tests whether rare events that come in clusters became more or less frequent.
 *
 * Null hypothesis: both periods have one rate, within strata; clusters come by chance, and the log of the rate drifts.
 * Two-sided. Given the number of clusters, those of after are binomial. The number of clusters is the count over its
 * index of dispersion, the largest of either period and of stretches of every length, so a burst counts about once,
 * whatever its size. This p is averaged over drifting rates. Their drift is the excess variation of the longest
 * stretches over that of clusters, and it lasts, as flicker noise does. For rare events the ratio of rates tells more
 * than their difference: the ratio may be large although the difference is small compared with the drift of the larger
 * rate.
 *
 * Limits: a change that consists of one burst is not found. Rates that drift in waves longer than the periods are taken
 * for changed.
 *
 * @param strata stretches of before, then of after; strata without chances are left out
 * @param split number of the first stretch of after
 *
 * Sources: Cox and Lewis 1966, "The statistical analysis of series of events", §9.3 (two rates given their sum; index
 * of dispersion); Leadbetter 1983, "Extremes and local dependence in stationary sequences" (clusters of exceedances are
 * independent).
 */
export function clusteredCountsTest(
  strata: readonly CountsInTime[],
  split: number,
): ClusteredCountsTest {
  const size = strata[0]?.made.length ?? split
  const [made, expected] = [new Float64Array(size), new Float64Array(size)]
  for (const one of strata) {
    const share = sum(one.made) / sum(one.chances)
    if (!(share > 0)) continue
    for (let i = 0; i < size; i++) {
      made[i]! += one.made[i]!
      expected[i]! += share * one.chances[i]!
    }
  }
  const [before, after] = [
    [0, split],
    [split, size],
  ].map(([from, to]) => dispersionOf(made.subarray(from, to), expected.subarray(from, to)))
  const counts = [before!.made, after!.made] as const
  const clusterSize = Math.max(before!.clusterSize, after!.clusterSize)
  const wander = Math.max(MIN_WANDER, Math.sqrt(Math.max(before!.wander, after!.wander)))
  const odds = after!.expected / before!.expected
  if (!(odds > 0 && odds < Number.POSITIVE_INFINITY)) {
    return { made: counts, clusterSize, wander, p: Number.NaN }
  }
  let [total, weights] = [0, 0]
  for (let z = -REACH; z <= REACH; z += STEP) {
    const weight = Math.exp((-z * z) / 2)
    const wandered = odds * Math.exp(z * wander)
    weights += weight
    total += weight * binomialP(counts[0] / clusterSize, counts[1] / clusterSize, wandered)
  }
  return { made: counts, clusterSize, wander, p: total / weights }
}

/** Returns the size of clusters and the drift of one period. */
function dispersionOf(made: Float64Array, expected: Float64Array) {
  const [all, chances] = [sum(made), sum(expected)]
  let [clusterSize, wander] = [1, 0]
  for (const length of LENGTHS) {
    if (all === 0) break
    let [squares, stretches] = [0, 0]
    for (let from = 0; from < made.length; from += length) {
      const usual = (all / chances) * sum(expected.subarray(from, from + length))
      if (usual === 0) continue
      squares += (sum(made.subarray(from, from + length)) - usual) ** 2 / usual
      stretches++
    }
    if (stretches < MIN_STRETCHES) continue
    const dispersion = (squares + PRIOR_DF) / (stretches - 1 + PRIOR_DF)
    clusterSize = Math.max(clusterSize, dispersion)
    const inPeriod = made.length / length
    const ofLog = Math.max(0, dispersion - 1) / (all / stretches)
    wander = (2 * flickerGrowth(inPeriod) * ofLog) / inPeriod
  }
  return { made: all, expected: chances, clusterSize, wander }
}

/** Returns the two-sided p of `after` among all, whole numbers or not, at these odds. */
function binomialP(before: number, after: number, odds: number): number {
  const [share, other] = [odds / (1 + odds), 1 / (1 + odds)]
  const more = after === 0 ? 1 : incompleteBeta(after, before + 1, share, other)
  const fewer = before === 0 ? 1 : incompleteBeta(before, after + 1, other, share)
  return Math.min(1, 2 * Math.min(more, fewer))
}
