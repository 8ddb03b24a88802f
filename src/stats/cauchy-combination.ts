import { requireNumbers } from '../core/errors.ts'

/**
 * A p above this says no more than this: one test that cannot differ must not outweigh others.
 * The p of two independent tests is then below 5 % in 5.1 %, and below 1 % in 1.01 % (simulated).
 */
const LARGEST = 0.9
/** Below this, the cotangent is the inverse to all digits. */
const SMALLEST = 1e-15

/**
 * Returns the joint p of several tests that may depend on each other: the p of the mean of their Cauchy-distributed
 * scores. If all tests agree, it equals theirs; if one alone is small, it is up to that p over its weight.
 *
 * Null hypothesis: all of theirs. Exact for small p, whatever the dependence. A NaN stands for a test that was not
 * performed and does not count; NaN if none was.
 *
 * Source: Liu and Xie 2020, "Cauchy combination test: a powerful test with analytic p-value calculation under
 * arbitrary dependency structures", Journal of the American Statistical Association 115(529):393-402.
 *
 * @param weights weight of each test; default: all equal
 *
 * @example
 * cauchyCombination([0.01, 0.01, NaN]) // 0.01
 */
export function cauchyCombination(p: readonly number[], weights?: readonly number[]): number {
  requireNumbers({ p })
  let [score, total, least] = [0, 0, 1]
  for (const [i, one] of p.entries()) {
    if (Number.isNaN(one)) continue
    const weight = weights?.[i] ?? 1
    const bounded = Math.min(LARGEST, one)
    score +=
      weight * (bounded < SMALLEST ? 1 / (Math.PI * bounded) : 1 / Math.tan(Math.PI * bounded))
    total += weight
    least = Math.min(least, one)
  }
  if (total === 0) return Number.NaN
  const mean = score / total
  const all = mean > 1 / (Math.PI * SMALLEST) ? 1 / (Math.PI * mean) : Math.atan2(1, mean) / Math.PI
  return Math.max(least, Math.min(1, all))
}
