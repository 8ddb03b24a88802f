import { normalP } from '../../stats/distributions.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { type CallCounts, type ChoiceCounts, callCounts } from './call-counts.ts'
import { BLOCKS } from './time-blocks.ts'

/** One choice of an operation, compared between the periods. */
export interface CallChange extends CallCounts {
  readonly before: { readonly made: number; readonly of: number }
  readonly after: { readonly made: number; readonly of: number }
  /** Difference of the shares of chances taken, after − before, within strata. */
  readonly difference: number
  readonly p: number
}

/** Tests of every choice; nothing for flows that were not built from spans. */
export function findCallChanges(flows: FlowSet): CallChange[] {
  return callCounts(flows).map((counts) => ({ ...counts, ...compareCounts(counts.strata) }))
}

function total(counts: ArrayLike<number>, from: number): number {
  let sum = 0
  for (let block = from; block < from + BLOCKS; block++) sum += counts[block] as number
  return sum
}

/**
 * Mantel-Haenszel's test over strata (Fisher's, exact, for one), with the variance that the
 * stretches of time show where that is larger.
 */
function compareCounts(strata: readonly ChoiceCounts[]) {
  const [before, after] = [
    { made: 0, of: 0 },
    { made: 0, of: 0 },
  ]
  let [excess, variance, weight, used] = [0, 0, 0, 0]
  let single = 1
  const deviations = new Float64Array(2 * BLOCKS)
  let independent = 0
  for (const { chances, made } of strata) {
    const [n1, n2] = [total(chances, 0), total(chances, BLOCKS)]
    const [x1, x2] = [total(made, 0), total(made, BLOCKS)]
    before.made += x1
    before.of += n1
    after.made += x2
    after.of += n2
    const n = n1 + n2
    if (n1 === 0 || n2 === 0 || n < 2) continue
    used++
    const share = (x1 + x2) / n
    const own = (n1 * n2) / n
    weight += own
    excess += own * (x2 / n2 - x1 / n1)
    variance += (own * n * share * (1 - share)) / (n - 1)
    single = fisherExact(x1, n1, x2, n2).p
    for (let block = 0; block < 2 * BLOCKS; block++) {
      const [size, had, has] = block < BLOCKS ? [n1, x1, -1] : [n2, x2, 1]
      const chance = chances[block] as number
      const rest = (made[block] as number) - (chance * had) / size
      deviations[block] = (deviations[block] as number) + (own / size) * has * rest
      independent += (own / size) ** 2 * chance * (had / size) * (1 - had / size)
    }
  }
  const clustered = deviations.reduce((sum, one) => sum + one ** 2, 0) * (BLOCKS / (BLOCKS - 1))
  const design = independent > 0 ? Math.max(1, clustered / independent) : 1
  const corrected = Math.max(0, Math.abs(excess) - 0.5) / Math.sqrt(variance * design)
  const approximate = variance === 0 ? 1 : normalP(corrected, 'two-sided')
  const p = used === 0 ? Number.NaN : used === 1 ? Math.max(single, design > 1 ? approximate : 0) : approximate
  return { before, after, difference: weight === 0 ? 0 : excess / weight, p }
}
