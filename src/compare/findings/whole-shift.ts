import { BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { bootstrapInterval } from '../../stats/bootstrap-interval.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'

/** Mean or median of all requests in both periods, and the difference with its 95 % interval. */
export interface WholeShift {
  readonly measure: 'mean' | 'median'
  readonly beforeUs: number
  readonly afterUs: number
  readonly shiftUs: number
  readonly interval: readonly [low: number, high: number]
}

const known = new WeakMap<FlowSet, readonly [mean: WholeShift, median: WholeShift]>()

/** Returns by how much mean and median of all response times moved; NaN if a period is empty. */
export function wholeShifts(flows: FlowSet): readonly [mean: WholeShift, median: WholeShift] {
  const shifts = known.get(flows) ?? [shiftOf(flows, 'mean'), shiftOf(flows, 'median')]
  known.set(flows, shifts)
  return shifts
}

/** Whether the interval of a shift leaves 0 out. */
export function isClear({ interval: [low, high] }: WholeShift): boolean {
  return low > 0 || high < 0
}

function shiftOf(flows: FlowSet, measure: WholeShift['measure']): WholeShift {
  const split = flows.count(BEFORE)
  const before = flows.responseTimeUs.slice(0, split).sort()
  const after = flows.responseTimeUs.slice(split).sort()
  const { estimate, low, high } = bootstrapInterval(before, after, { measure, sorted: true })
  const beforeUs = measure === 'mean' ? moments(before).mean : quantile(before, 0.5)
  return {
    measure,
    beforeUs,
    afterUs: beforeUs + estimate,
    shiftUs: estimate,
    interval: [low, high],
  }
}

/** Whether the 95 % interval of the difference of the mean response times leaves 0 out. */
export function meansDiffer(flows: FlowSet): boolean {
  const split = flows.count(BEFORE)
  const before = moments(flows.responseTimeUs.subarray(0, split))
  const after = moments(flows.responseTimeUs.subarray(split))
  const error = Math.sqrt(before.variance / before.count + after.variance / after.count)
  return Math.abs(after.mean - before.mean) > normalQuantile(0.975) * error
}
