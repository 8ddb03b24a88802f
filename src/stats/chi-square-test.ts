import { OptionError, requireNumbers } from '../core/errors.ts'
import { gammaQ } from './distributions.ts'

export interface ChiSquareResult {
  /** χ² = Σ (observed − expected)² / expected. */
  readonly statistic: number
  /** Cells with any count, less one. */
  readonly df: number
  readonly p: number
  /** The smallest expected count of the cells with any count. */
  readonly expectedMin: number
  /**
   * For each cell how far after lies from its expected count, in standard errors: positive where it
   * is more frequent in after. Those of before are the opposite. NaN for a cell without any count.
   */
  readonly residuals: Float64Array
  readonly beforeCount: number
  readonly afterCount: number
  /** Whether no expected count is below 1 and at most a fifth of them are below 5. */
  readonly testable: boolean
}

/**
 * Tests whether both periods spread requests over the same cells in the same shares (χ² test of homogeneity).
 *
 * Null hypothesis: both periods have the same probabilities of the cells. Alternative: some cell
 * has another probability. The statistic has no direction; each cell's residual has one.
 *
 * `before[i]` and `after[i]` count the same cell. A cell that is 0 in both is left out. With fewer
 * than two cells left there is nothing to tell the periods apart: statistic 0, df 0, p 1, not
 * testable. When a period has no counts, statistic, p, expectedMin and residuals are NaN.
 *
 * Limits: counts must be of independent requests. Trust p only with `testable: true` (Cochran's
 * rule). No continuity correction, also for two cells.
 *
 * Sources: Pearson 1900; Cochran 1954, "Some methods for strengthening the common χ² tests",
 * Biometrics 10(4):417-451; Haberman 1973, "The analysis of residuals in cross-classified tables",
 * Biometrics 29(1):205-220.
 *
 * @throws OptionError for periods with different numbers of cells, or a count below 0.
 *
 * @example
 * chiSquareTest([30, 20, 10], [20, 20, 20]).df // 2
 */
export function chiSquareTest(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
): ChiSquareResult {
  requireNumbers({ before, after })
  if (before.length !== after.length) {
    throw new OptionError('after.length', after.length, `as many cells as before, ${before.length}`)
  }
  const beforeCount = sumOfCounts('before', before)
  const afterCount = sumOfCounts('after', after)
  const total = beforeCount + afterCount
  const residuals = new Float64Array(before.length).fill(Number.NaN)
  const expected: number[] = []
  let statistic = 0
  for (let cell = 0; cell < before.length; cell++) {
    const found = Number(after[cell])
    const share = (Number(before[cell]) + found) / total
    if (!(share > 0)) continue
    const expectedAfter = share * afterCount
    const excess = found - expectedAfter
    expected.push(share * beforeCount, expectedAfter)
    statistic += (excess * excess) / (share * beforeCount) + (excess * excess) / expectedAfter
    const variance = expectedAfter * (beforeCount / total) * (1 - share)
    residuals[cell] = variance === 0 && total > 0 ? 0 : excess / Math.sqrt(variance)
  }
  const cells = expected.length / 2
  const counts = { beforeCount, afterCount, df: Math.max(0, cells - 1) }
  if (beforeCount === 0 || afterCount === 0) {
    residuals.fill(Number.NaN)
    return { ...counts, ...NOTHING, residuals }
  }
  const expectedMin = expected.reduce((least, value) => Math.min(least, value))
  if (cells === 1) return { ...counts, statistic: 0, p: 1, expectedMin, residuals, testable: false }
  const small = expected.filter((value) => value < 5).length
  const testable = expectedMin >= 1 && small <= expected.length / 5
  const p = gammaQ(counts.df / 2, statistic / 2)
  return { ...counts, statistic, p, expectedMin, residuals, testable }
}

const NOTHING = {
  statistic: Number.NaN,
  p: Number.NaN,
  expectedMin: Number.NaN,
  testable: false,
} as const

function sumOfCounts(period: string, counts: ArrayLike<number>): number {
  let sum = 0
  for (let cell = 0; cell < counts.length; cell++) {
    const count = Number(counts[cell])
    if (!(count >= 0 && count < Number.POSITIVE_INFINITY)) {
      throw new OptionError(`${period}[${cell}]`, counts[cell], 'a count, 0 or more')
    }
    sum += count
  }
  return sum
}
