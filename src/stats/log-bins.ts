import { OptionError } from '../core/errors.ts'
import { requireCount } from './require-option.ts'

/** Bins of equal width on a logarithmic axis. */
export interface LogBins {
  readonly low: number
  readonly high: number
  readonly count: number
  /** `count` + 1 boundaries, from `low` to `high`. */
  readonly edges: Float64Array
  /** Returns the bin of a value, from 0; what lies outside is in the first or the last bin. */
  index(value: number): number
}

/**
 * `count` bins from `low` to `high`, each as wide as the others on a logarithmic axis. A value on a
 * boundary belongs to the bin above it; values below `low`, 0 and negative ones among them, belong
 * to the first bin, those from `high` on to the last. NaN belongs to none and throws.
 *
 * Where `low` equals `high`, everything from there on is in the last bin.
 *
 * @throws OptionError for a `low` that is not above 0, a `high` below it, a `count` that is not an
 *   integer from 1; from `index` for NaN.
 *
 * @example
 * logBins(1, 1000, 6).index(31.6) // 2
 */
export function logBins(low: number, high: number, count: number): LogBins {
  if (!(low > 0 && low < Number.POSITIVE_INFINITY)) {
    throw new OptionError('low', low, 'a number above 0')
  }
  if (!(high >= low && high < Number.POSITIVE_INFINITY)) {
    throw new OptionError('high', high, `a number from ${low} up, as low is`)
  }
  requireCount('count', count)
  const origin = Math.log(low)
  const width = Math.log(high / low) / count
  const edges = Float64Array.from({ length: count + 1 }, (_, i) =>
    i === 0 ? low : i === count ? high : Math.exp(origin + i * width),
  )
  return {
    low,
    high,
    count,
    edges,
    index(value) {
      if (value >= high) return count - 1
      if (value < low) return 0
      if (Number.isNaN(value)) throw new OptionError('value', value, 'a number')
      return Math.min(count - 1, Math.floor(Math.log(value / low) / width))
    },
  }
}

/** Returns the number of bins for `n` values: 2·n^⅓ (Rice's rule), from 8 to 64. */
export function binCount(n: number): number {
  return Math.min(64, Math.max(8, Math.round(2 * Math.cbrt(n))))
}
