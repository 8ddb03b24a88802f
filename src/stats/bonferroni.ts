import { requireNumbers } from '../core/errors.ts'

/**
 * Returns the p of several tests together: the smallest, times how many there are, 1 at the most.
 *
 * Null hypothesis: that of each of them. Valid however the tests depend on each other. A NaN stands for a
 * test that was not performed and does not count; NaN if none was.
 *
 * Source: Dunn 1961, "Multiple comparisons among means", Journal of the American Statistical
 * Association 56(293):52-64.
 *
 * @example
 * bonferroni([0.25, NaN, 0.125]) // 0.25
 */
export function bonferroni(p: readonly number[]): number {
  requireNumbers({ p })
  const known = p.filter((one) => !Number.isNaN(one))
  return known.length === 0 ? Number.NaN : Math.min(1, known.length * Math.min(...known))
}
