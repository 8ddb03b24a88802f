import { normalP } from '../../stats/distributions.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import type { ChoiceCounts } from './call-counts.ts'
import { BLOCKS } from './time-blocks.ts'

/** How often something was done that could have been, in both periods. */
export interface CountsTest {
  readonly made: readonly [before: number, after: number]
  readonly chances: readonly [before: number, after: number]
  /** Difference of the shares of chances taken, after − before, within strata. */
  readonly difference: number
  /** `NaN` where no stratum has chances in both periods, or all or none of them are taken. */
  readonly p: number
}

/**
 * Tests whether a larger or smaller share of chances is taken.
 *
 * Null hypothesis: within each stratum the share is that of before, wandering from stretch to stretch
 * of time as it does within the periods. Fisher's exact test for one stratum, else Mantel and
 * Haenszel's with continuity correction; where shares of stretches of time vary more than those of
 * independent calls would, also that test with their variance, whichever p is larger. Same numbers
 * as `fisher.test` and `mantelhaen.test` of R, but for differences of less than half a call: their p
 * is 1 here, where R leaves out the continuity correction.
 *
 * Sources: Fisher 1922; Mantel and Haenszel 1959; Rao and Scott 1992 (design effect of counts).
 */
export function compareCounts(strata: readonly ChoiceCounts[]): CountsTest {
  const sum = { made: [0, 0], chances: [0, 0], excess: 0, variance: 0, weight: 0 }
  const used: [made1: number, n1: number, made2: number, n2: number][] = []
  const deviations = new Float64Array(2 * BLOCKS)
  let independent = 0
  for (const { chances, made } of strata) {
    const counts = [0, 1].map((period) => [total(made, period), total(chances, period)] as const)
    const [[x1, n1], [x2, n2]] = counts as [readonly [number, number], readonly [number, number]]
    sum.made = [(sum.made[0] as number) + x1, (sum.made[1] as number) + x2]
    sum.chances = [(sum.chances[0] as number) + n1, (sum.chances[1] as number) + n2]
    if (n1 === 0 || n2 === 0) continue
    used.push([x1, n1, x2, n2])
    const share = (x1 + x2) / (n1 + n2)
    const weight = (n1 * n2) / (n1 + n2)
    sum.weight += weight
    sum.excess += weight * (x2 / n2 - x1 / n1)
    sum.variance += (weight * (n1 + n2) * share * (1 - share)) / (n1 + n2 - 1)
    for (const [period, [x, n]] of counts.entries()) {
      independent += (weight / n) ** 2 * n * (x / n) * (1 - x / n)
      for (let block = period * BLOCKS; block < (period + 1) * BLOCKS; block++) {
        const excess = (made[block] as number) - (chances[block] as number) * (x / n)
        deviations[block] = (deviations[block] as number) + (weight / n) * excess
      }
    }
  }
  const clustered = deviations.reduce((all, one) => all + one ** 2, 0) * (BLOCKS / (BLOCKS - 1))
  return {
    made: sum.made as unknown as CountsTest['made'],
    chances: sum.chances as unknown as CountsTest['chances'],
    difference: sum.weight === 0 ? 0 : sum.excess / sum.weight,
    p: pOf(used, sum, independent > 0 ? clustered / independent : 1),
  }
}

function pOf(
  used: readonly (readonly [number, number, number, number])[],
  { excess, variance }: { excess: number; variance: number },
  designEffect: number,
): number {
  const [only] = used
  if (only === undefined) return Number.NaN
  if (variance === 0) return Number.NaN
  const corrected = Math.max(0, Math.abs(excess) - 0.5) / Math.sqrt(variance)
  const clustered = normalP(corrected / Math.sqrt(Math.max(1, designEffect)), 'two-sided')
  return used.length > 1
    ? clustered
    : Math.max(fisherExact(...only).p, designEffect > 1 ? clustered : 0)
}

function total(counts: Float64Array, period: number): number {
  return counts
    .subarray(period * BLOCKS, (period + 1) * BLOCKS)
    .reduce((sum, count) => sum + count, 0)
}
