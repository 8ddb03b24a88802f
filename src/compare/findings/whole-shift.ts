// Runs once a request: the loops index with `!`.
import { remembered } from '../../core/remembered.ts'
import { BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { bootstrapInterval } from '../../stats/bootstrap-interval.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { mannWhitney } from '../../stats/mann-whitney.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import { rootTypes } from '../steps/root-types.ts'

/** Mean or median of all requests in both periods, and the difference with its 95 % interval. */
export interface WholeShift {
  readonly measure: 'mean' | 'median'
  readonly beforeUs: number
  readonly afterUs: number
  readonly shiftUs: number
  readonly interval: readonly [low: number, high: number]
  /** Of few requests, whether their ranks moved too, as sure and in the same direction. */
  readonly isRanked: boolean
}

/** Of fewer requests in a period, intervals of means are too narrow: rare slow ones are not among them. */
const FEW = 200
const LEVEL = 0.05

/** Returns by how much mean and median of all response times moved; NaN if a period is empty. */
export const wholeShifts = remembered(
  (flows: FlowSet): readonly [mean: WholeShift, median: WholeShift] => [
    shiftOf(flows, 'mean'),
    shiftOf(flows, 'median'),
  ],
)

export function isClear({ interval: [low, high], isRanked }: WholeShift): boolean {
  return isRanked && (low > 0 || high < 0)
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
    isRanked: Math.min(before.length, after.length) >= FEW || ranksMoved(before, after, estimate),
  }
}

function ranksMoved(before: Float64Array, after: Float64Array, shiftUs: number): boolean {
  const { p, probabilitySlower } = mannWhitney(before, after, { sorted: true })
  return p < LEVEL && (probabilitySlower - 0.5) * shiftUs > 0
}

export function meansDiffer(flows: FlowSet): boolean {
  const split = flows.count(BEFORE)
  const before = moments(flows.responseTimeUs.subarray(0, split))
  const after = moments(flows.responseTimeUs.subarray(split))
  const error = Math.sqrt(before.variance / before.count + after.variance / after.count)
  return Math.abs(after.mean - before.mean) > normalQuantile(0.975) * error
}

/** What it changes in all that more or fewer requests fail, and whether failing ones take less. */
export interface FailureShift {
  readonly moreFailed: number
  readonly isFaster: boolean
  readonly changeUs: number
}

/**
 * How much another number of failures changes times: within types, those failed more, times how
 * much longer these take. `null` where outcomes are not known or as many fail.
 */
export function failureShift(flows: FlowSet): FailureShift | null {
  const { outcomes, responseTimeUs, period } = flows
  if (outcomes === undefined) return null
  const { names, typeOf } = rootTypes(flows)
  const emptyTotal = () => ({ count: 0, us: 0 })
  const types = names.map(() => [0, 1].map(() => [emptyTotal(), emptyTotal()]))
  for (let request = 0; request < flows.size; request++) {
    const failed = Number(outcomes.failed(request))
    const total = types[typeOf[request]!]![period[request]!]![failed]!
    total.count++
    total.us += responseTimeUs[request]!
  }
  let [moreFailed, changeUs] = [0, 0]
  for (const [before, after] of types) {
    const [usual, then] = before!
    const now = after![1]!
    const share = (usual!.count + then!.count) / (after![0]!.count + now.count)
    const more = now.count - then!.count / share
    const { count, us } = more > 0 ? now : then!
    if (usual!.count === 0 || count === 0) continue
    moreFailed += more
    changeUs += more * (us / count - usual!.us / usual!.count)
  }
  return changeUs === 0 ? null : { moreFailed, isFaster: changeUs * moreFailed < 0, changeUs }
}
