import { bootstrapInterval } from '../../stats/bootstrap-interval.ts'
import { detectableShift } from '../../stats/detectable-shift.ts'
import { mannWhitney } from '../../stats/mann-whitney.ts'
import type { Measure } from '../../stats/measure.ts'
import { equalPair, equalSamples, type SamplePair, sortedPair } from '../../stats/two-sample.ts'
import { wassersteinDistance } from '../../stats/wasserstein.ts'

/** Size of a difference, whatever its p. */
export interface MedianEffect {
  /** Median after − median before, in µs. */
  readonly medianShiftUs: number
  /** Bootstrap confidence interval of that shift at 95 %. */
  readonly interval: readonly [low: number, high: number]
  /** Chance that a random request after is slower than a random one before; ½ for no difference. */
  readonly probabilitySlower: number
}

/** A median effect, with measures that take longer to compute. */
export interface EffectSize extends MedianEffect {
  /** Mean after − mean before, in µs. */
  readonly meanShiftUs: number
  readonly meanInterval: readonly [low: number, high: number]
  /** 95th percentile after − before, in µs: the change for the slowest requests. */
  readonly p95ShiftUs: number
  readonly p95Interval: readonly [low: number, high: number]
  /** 99th percentile after − before, in µs; of fewer than some 300 requests its interval is vague. */
  readonly p99ShiftUs: number
  readonly p99Interval: readonly [low: number, high: number]
  /** Mean difference of a request's time between the periods, in any direction, in µs. */
  readonly wassersteinUs: number
  /**
   * The smallest shift that one rank test at 5 %, not corrected for others, sees in four of five samples of this size,
   * in µs.
   */
  readonly detectableShiftUs: number
}

export function medianEffect({ before, after, ...weights }: SamplePair): MedianEffect {
  const given = sortedPair(before, after, false, weights)
  const [beforeWeights, afterWeights] = given.weights ?? []
  const { estimate, low, high } = bootstrapInterval(given.first, given.second, {
    sorted: true,
    beforeWeights,
    afterWeights,
  })
  const { first, second } = given.isUneven ? equalPair(given) : given
  const { probabilitySlower } = mannWhitney(first, second, { sorted: true })
  return { medianShiftUs: estimate, interval: [low, high], probabilitySlower }
}

export function effectSize(samples: SamplePair): EffectSize {
  const { before, after, ...weights } = samples
  const shift = (measure: Measure) => {
    const { estimate, low, high } = bootstrapInterval(before, after, { measure, ...weights })
    return { estimate, interval: [low, high] as const }
  }
  const mean = shift('mean')
  const p95 = shift({ quantile: 0.95 })
  const p99 = shift({ quantile: 0.99 })
  const equal = equalSamples(samples)
  return {
    ...medianEffect(samples),
    meanShiftUs: mean.estimate,
    meanInterval: mean.interval,
    p95ShiftUs: p95.estimate,
    p95Interval: p95.interval,
    p99ShiftUs: p99.estimate,
    p99Interval: p99.interval,
    wassersteinUs: wassersteinDistance(equal.before, equal.after).distance,
    detectableShiftUs: detectableShift(equal.before, equal.after.length).shift,
  }
}
