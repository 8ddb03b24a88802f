import { moments } from '../../stats/moments.ts'

/** Where a normal distribution has 0.27 % of its values: four times that is a heavy tail. */
const FAR_SD = 3
const HEAVY_SHARE = 0.011
/** One value beyond 3σ is 1.1 % of 90 and says nothing about a tail. */
const FEWEST_OUTLIERS = 2

export interface HeavyTail {
  /** How many finite values there are. */
  readonly count: number
  /** How many of them are farther than three standard deviations from the mean. */
  readonly outliers: number
  /** outliers / count; NaN without values. */
  readonly fraction: number
  readonly isHeavy: boolean
}

/**
 * Whether more values lie outside mean ± 3σ than in four normal distributions together: more than
 * 1.1 %, and two of them at least.
 *
 * NaN and infinite values are left out. Limits: of ten values or fewer none can lie that far out.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.1; that one outlier is no tail is our own.
 *
 * @example
 * const values = Array.from({ length: 150 }, (_, i) => (i < 148 ? i % 7 : 60))
 * const { outliers, isHeavy } = heavyTail(values)
 * outliers // 2
 * isHeavy // true
 */
export function heavyTail(sample: ArrayLike<number>): HeavyTail {
  const values = Float64Array.from(sample).filter(Number.isFinite)
  const { mean, sd } = moments(values)
  const outliers = values.filter((value) => Math.abs(value - mean) > FAR_SD * sd).length
  const fraction = outliers / values.length
  const isHeavy = fraction > HEAVY_SHARE && outliers >= FEWEST_OUTLIERS
  return { count: values.length, outliers, fraction, isHeavy }
}
