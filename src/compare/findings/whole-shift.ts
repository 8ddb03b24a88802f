// Runs once a request: the loops index with `!`.
import { remembered } from '../../core/remembered.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { bootstrapInterval } from '../../stats/bootstrap-interval.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { mannWhitney } from '../../stats/mann-whitney.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import { equalPair, type SortedPair, sortedPair } from '../../stats/two-sample.ts'
import { worthOf } from '../../stats/weighted-sample.ts'
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
  const given = flows.responseTimes
  const pair = sortedPair(given.before, given.after, false, given)
  const [beforeWeights, afterWeights] = pair.weights ?? []
  const { first, second } = pair
  const how = { measure, sorted: true, beforeWeights, afterWeights }
  const { estimate, low, high } = bootstrapInterval(first, second, how)
  const beforeUs =
    measure === 'mean' ? moments(first, beforeWeights).mean : quantile(first, 0.5, beforeWeights)
  return {
    measure,
    beforeUs,
    afterUs: beforeUs + estimate,
    shiftUs: estimate,
    interval: [low, high],
    isRanked: Math.min(...pair.worth) >= FEW || ranksMoved(pair, estimate),
  }
}

function ranksMoved(pair: SortedPair, shiftUs: number): boolean {
  const { first, second } = pair.isUneven ? equalPair(pair) : pair
  const { p, probabilitySlower } = mannWhitney(first, second, { sorted: true })
  return p < LEVEL && (probabilitySlower - 0.5) * shiftUs > 0
}

export function meansDiffer(flows: FlowSet): boolean {
  const { before: was, after: is, beforeWeights, afterWeights } = flows.responseTimes
  const [before, after] = [moments(was, beforeWeights), moments(is, afterWeights)]
  const [had, has] = [worthOf(was, beforeWeights), worthOf(is, afterWeights)]
  const error = Math.sqrt(before.variance / had + after.variance / has)
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
    const counts = flows.countOf(request)
    total.count += counts
    total.us += counts * responseTimeUs[request]!
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
