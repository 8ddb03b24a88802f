import { selectDifference, type WeightedPair } from './difference-selection.ts'
import { normalQuantile } from './normal-quantile.ts'

/** A shift after − before with its confidence interval, in the unit of the samples. */
export interface ShiftInterval {
  readonly shift: number
  /** −∞ where the samples are too small to bound the shift. */
  readonly low: number
  /** ∞ where the samples are too small to bound the shift. */
  readonly high: number
  readonly level: number
}

/**
 * The shift at which the weighted rank statistic is zero, and those at which it is just not
 * significant: the median and two quantiles of all weighted differences. `pairs` is not empty and
 * has no empty sample.
 */
export function shiftInterval(pairs: readonly WeightedPair[], level: number): ShiftInterval {
  let total = 0
  let variance = 0
  for (const { first, second, weight } of pairs) {
    const count = first.length * second.length
    total += weight * count
    variance += (weight * weight * count * (first.length + second.length + 1)) / 12
  }
  const half = total / 2
  // Sums of weights such as 1/3 may miss the half by rounding.
  const slack = total * 1e-12
  const lower = selectDifference(pairs, half - slack)
  const upper = selectDifference(pairs, half + slack, { strictly: true })
  // Half the statistic's smallest step: the continuity correction of a test that may take any shift.
  const step = pairs.reduce(
    (least, { weight }) => Math.min(least, weight),
    Number.POSITIVE_INFINITY,
  )
  const reach = -normalQuantile((1 - level) / 2) * Math.sqrt(variance) + step / 2
  return {
    shift: lower + (upper - lower) / 2,
    low:
      reach >= half
        ? Number.NEGATIVE_INFINITY
        : selectDifference(pairs, half - reach - slack, { strictly: false }),
    high:
      reach >= half
        ? Number.POSITIVE_INFINITY
        : selectDifference(pairs, half + reach + slack, { strictly: true }),
    level,
  }
}

/** What is said of samples without a pair. */
export function noShift(level: number): ShiftInterval {
  return { shift: Number.NaN, low: Number.NaN, high: Number.NaN, level }
}
