import { FlowdeltaError, OptionError } from '../../core/errors.ts'
import { formatDuration } from '../../core/words.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import { LatencyProfile } from '../recompute/latency-profile.ts'
import { exactPercent } from '../scenarios/scenario.ts'

/** Latencies as counts of requests; a bin reaches from one edge to the next, µs. */
export interface HistogramTarget {
  /** Ascending, one more than there are counts, µs. */
  readonly edges: readonly number[]
  readonly counts: readonly number[]
}

/** What the latency is to become. */
export interface WishTarget {
  /** Which quantile, above 0 and below 1: 0.99 for p99. */
  readonly quantile: number
  /** What it is to be at most, µs. */
  readonly belowUs: number
}

export interface KnownTarget {
  readonly profile: LatencyProfile
  readonly title: string
}

/** What the base is to come close to: the traces of another period, a histogram, or a wish. */
export type LatencyTarget = TraceSet | HistogramTarget | WishTarget

/**
 * The profile of a histogram, whose latencies are spread evenly within a bin, or of a wish.
 *
 * @throws OptionError for what is neither, a histogram that is none, and as of `wishTarget`
 */
export function knownTarget(base: LatencyProfile, goal: HistogramTarget | WishTarget): KnownTarget {
  if ('quantile' in goal) return wishTarget(base, goal)
  if (!('edges' in goal && 'counts' in goal)) {
    const expected = 'traces, a histogram { edges, counts }, or a wish { quantile, belowUs }'
    throw new OptionError('target', goal, expected)
  }
  const profile = LatencyProfile.fromHistogram(goal.edges, goal.counts)
  return { profile, title: 'the histogram given' }
}

/**
 * The profile that a wish makes of the base: latencies up to the median stay, those above are moved
 * towards it by one factor, such that the wished quantile is met exactly. Where the wish lies below
 * the median, or is about a quantile below it, all latencies are scaled by one factor.
 *
 * @throws OptionError for a quantile outside 0 to 1, a latency that is not above 0, or a wish that
 *   the base meets already.
 */
export function wishTarget(base: LatencyProfile, wish: WishTarget): KnownTarget {
  const { quantile, belowUs } = wish
  if (!(quantile > 0 && quantile < 1)) {
    const expected = 'a share above 0 and below 1, as 0.99 for p99'
    throw new OptionError('target.quantile', quantile, expected)
  }
  if (!(belowUs > 0 && belowUs < Number.POSITIVE_INFINITY)) {
    throw new OptionError('target.belowUs', belowUs, 'µs above 0')
  }
  const nowUs = base.quantile(quantile)
  if (nowUs <= belowUs) {
    throw new FlowdeltaError(
      `The target is p${quantile * 100} below ${formatDuration(belowUs)}, but it is ${formatDuration(nowUs)} already. Give a shorter time.`,
    )
  }
  const medianUs = base.quantile(0.5)
  const isBelowMedian = quantile <= 0.5 || belowUs <= medianUs
  const factor = isBelowMedian ? belowUs / nowUs : (belowUs - medianUs) / (nowUs - medianUs)
  const moved = (us: number) => {
    if (isBelowMedian) return us * factor
    return us <= medianUs ? us : medianUs + (us - medianUs) * factor
  }
  return {
    profile: LatencyProfile.ofRequests(base.latencyUs.map(moved), base.weight),
    title: `${exactPercent(quantile)} of requests in at most ${formatDuration(belowUs)}`,
  }
}
