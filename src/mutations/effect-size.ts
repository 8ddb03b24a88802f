import { bootstrapInterval } from '../stats/bootstrap-interval.ts'
import { detectableShift } from '../stats/detectable-shift.ts'
import { mannWhitney } from '../stats/mann-whitney.ts'
import { wassersteinDistance } from '../stats/wasserstein.ts'

/** How large a difference is, whatever its p. */
export interface MedianEffect {
  /** Median after − median before, in µs. */
  readonly medianShiftUs: number
  /** Bootstrap confidence interval of that shift at 95 %. */
  readonly interval: readonly [low: number, high: number]
  /** Chance that a random request after is slower than a random one before; ½ for no difference. */
  readonly probabilitySlower: number
}

/** The same with what takes longer to compute. */
export interface EffectSize extends MedianEffect {
  /** Mean after − mean before, in µs. */
  readonly meanShiftUs: number
  readonly meanInterval: readonly [low: number, high: number]
  /** By how much a request's time differs between the periods, on average and in any direction, in µs. */
  readonly wassersteinUs: number
  /** The smallest shift that would have been seen in four of five comparisons of this size, in µs. */
  readonly detectableShiftUs: number
}

interface Samples {
  readonly before: Float64Array
  readonly after: Float64Array
}

/** The shift of the median, its interval, and how often after is slower. */
export function medianEffect({ before, after }: Samples): MedianEffect {
  const { estimate, low, high } = bootstrapInterval(before, after, { measure: 'median' })
  const { probabilitySlower } = mannWhitney(before, after, { method: 'asymptotic' })
  return { medianShiftUs: estimate, interval: [low, high], probabilitySlower }
}

/** All effect sizes of a pair of samples. */
export function effectSize(samples: Samples): EffectSize {
  const { before, after } = samples
  const mean = bootstrapInterval(before, after, { measure: 'mean' })
  return {
    ...medianEffect(samples),
    meanShiftUs: mean.estimate,
    meanInterval: [mean.low, mean.high],
    wassersteinUs: wassersteinDistance(before, after).distance,
    detectableShiftUs: detectableShift(before, after.length).shift,
  }
}
