import { bisectRight } from 'd3-array'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { pooledQuantile, quantile } from '../../stats/quantile.ts'
import type { StepSample, StepStratum } from './step-times.ts'
import type { ChoiceCounts, TimeBlocks } from './time-blocks.ts'

const TAILS = [0.9, 0.95, 0.99]
/** A tail of fewer values a period is one value or none. */
const MIN_VALUES = 20
/** Quantiles of both periods together between which a share that changed is looked for. */
const LIMITS = [0.5, 0.6, 0.7, 0.8, ...TAILS]

/**
 * Counts values in three tails by stretch, for `compareCounts`: a minority that changed moves
 * neither ranks nor logs. None of several runs, whose tails differ so that 7 to 9 % of simulations
 * would find changes. Source: Mood 1954, "On the asymptotic efficiency of certain nonparametric
 * two-sample tests".
 */
export function tailCounts(
  strata: readonly StepStratum[],
  { perRun, runs }: Pick<TimeBlocks, 'perRun' | 'runs'>,
): readonly ChoiceCounts[][] {
  const size = perRun * (runs + 1)
  const used = comparable(strata)
  const fewest = Math.min(
    ...[BEFORE, AFTER].map((period) =>
      used.reduce((sum, samples) => sum + samples[period as Period].values.length, 0),
    ),
  )
  if (fewest < MIN_VALUES || runs > 1) return []
  const countAbove = (samples: readonly StepSample[], limit: number) => {
    const counts = new Float64Array(size)
    for (const { values, blocks } of samples) {
      for (let i = bisectRight(values, limit); i < values.length; i++) counts[blocks[i]!]!++
    }
    return counts
  }
  const chances = used.map((samples) => countAbove(samples, Number.NEGATIVE_INFINITY))
  return TAILS.map((share) =>
    used.map((samples, i) => ({
      chances: chances[i]!,
      made: countAbove(samples, limitOf(samples, share)),
    })),
  )
}

/** Calls that changed while most did not. */
export interface Minority {
  /** Share of the calls that changed, at least. */
  readonly share: number
  /** What a typical one of them takes, and a typical call before, in µs. */
  readonly changedUs: number
  readonly usualUs: number
  /** Requests after that have them. */
  readonly requests: readonly number[]
}

/**
 * The share of calls that became slower (`sign` 1) or no longer are (−1): the largest difference of
 * the distributions within strata (one-sided D), a lower bound.
 */
export function minorityOf(strata: readonly StepStratum[], sign: number): Minority {
  const used = comparable(strata)
  const size = used.reduce((sum, samples) => sum + samples[AFTER].values.length, 0)
  const shares = LIMITS.map((share) =>
    used.reduce((sum, samples) => {
      const limit = limitOf(samples, share)
      const [was, is] = samples.map(({ values }) => shareBeyond(values, limit))
      return sum + (sign * (is! - was!) * samples[AFTER].values.length) / size
    }, 0),
  )
  const share = Math.max(0, ...shares)
  const slowest = used.map((samples) => {
    const { values, requests } = samples[sign > 0 ? AFTER : BEFORE]
    const from = values.length - Math.round(share * values.length)
    return { values: values.subarray(from), requests: requests.subarray(from) }
  })
  return {
    share,
    changedUs: medianOf(slowest.map(({ values }) => values)),
    usualUs: medianOf(used.map((samples) => samples[BEFORE].values)),
    requests: sign > 0 ? slowest.flatMap(({ requests }) => [...requests]) : [],
  }
}

function medianOf(samples: readonly Float64Array[]): number {
  const all = new Float64Array(samples.reduce((size, { length }) => size + length, 0))
  let at = 0
  for (const values of samples) {
    all.set(values, at)
    at += values.length
  }
  return quantile(all.sort(), 0.5)
}

function comparable(strata: readonly StepStratum[]) {
  return strata
    .filter(({ before, after }) => before.values.length > 0 && after.values.length > 0)
    .map(({ before, after }) => [before, after] as const satisfies readonly StepSample[])
}

/** What a share of the values of both periods does not exceed. */
function limitOf([before, after]: readonly [StepSample, StepSample], share: number): number {
  return pooledQuantile(before.values, after.values, share)
}

function shareBeyond(values: Float64Array, limit: number): number {
  return (values.length - bisectRight(values, limit)) / values.length
}
