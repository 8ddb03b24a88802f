// Runs once a request: the loops index with `!`.
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { bootstrapInterval } from '../../stats/bootstrap-interval.ts'
import { designEffects, StretchSums } from '../../stats/design-effects.ts'
import { normalQuantile, tQuantile } from '../../stats/distributions.ts'
import { mannWhitney } from '../../stats/mann-whitney.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import { equalPair, type SortedPair, sortedPair } from '../../stats/two-sample.ts'
import { rootTypes } from '../steps/root-types.ts'
import { timeBlocks } from '../steps/time-blocks.ts'

/**
 * Mean or median of all requests in both periods, and the difference with its 95 % interval: that of
 * independent requests (bootstrap), as many times wider as times wander, which tests of steps learn
 * alike (`designEffects`).
 *
 * Limits: measured coverage at 95 % of means and medians of 200 to 3,000 requests, log-normal, Pareto
 * (α 1.5 to 3) or mixed: 91 to 100 % where requests are independent or levels of 10 % last a twentieth
 * of a period, 79 to 96 % where levels wander as far over whole periods, as no two periods can tell.
 */
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
  (flows: FlowSet): readonly [mean: WholeShift, median: WholeShift] => {
    const given = flows.responseTimes
    const pair = sortedPair(given.before, given.after, false, given)
    return [shiftOf(flows, pair, 'mean'), shiftOf(flows, pair, 'median')]
  },
)

export function isClear(shift: WholeShift): boolean {
  return shift.isRanked && differs(shift)
}

/** Whether its interval leaves 0 out. */
export function differs({ interval: [low, high] }: WholeShift): boolean {
  return low > 0 || high < 0
}

function shiftOf(flows: FlowSet, pair: SortedPair, measure: WholeShift['measure']): WholeShift {
  const [beforeWeights, afterWeights] = pair.weights ?? []
  const { first, second } = pair
  const how = { measure, sorted: true, beforeWeights, afterWeights }
  const { estimate, low, high } = bootstrapInterval(first, second, how)
  const levelOf = (values: ArrayLike<number>, weights?: ArrayLike<number>) =>
    measure === 'mean' ? moments(values, weights).mean : quantile(values, 0.5, weights)
  const beforeUs = levelOf(first, beforeWeights)
  const wider = widening(flows, measure, [beforeUs, levelOf(second, afterWeights)])
  return {
    measure,
    beforeUs,
    afterUs: beforeUs + estimate,
    shiftUs: estimate,
    interval: [estimate - wider * (estimate - low), estimate + wider * (high - estimate)],
    isRanked: Math.min(...pair.worth) >= FEW || ranksMoved(pair, estimate),
  }
}

function ranksMoved(pair: SortedPair, shiftUs: number): boolean {
  const { first, second } = pair.isUneven ? equalPair(pair) : pair
  const { p, probabilitySlower } = mannWhitney(first, second, { sorted: true })
  return p < LEVEL && (probabilitySlower - 0.5) * shiftUs > 0
}

/** How many times wider than of independent requests an interval is, as neighbors in time are alike. */
function widening(
  flows: FlowSet,
  measure: WholeShift['measure'],
  levels: readonly [before: number, after: number],
): number {
  const { of: blocks, perRun, aligned } = timeBlocks(flows)
  const sums: StretchSums[] = []
  const scales = [BEFORE, AFTER].map((period) => 1 / flows.countedIn(period))
  for (let request = 0; request < flows.size; request++) {
    if (flows.isPart(request)) continue
    const period = flows.period[request] as typeof BEFORE | typeof AFTER
    const apartUs = flows.responseTimeUs[request]! - levels[period]
    const apart = measure === 'mean' ? apartUs : Math.sign(apartUs)
    const sign = aligned && period === BEFORE ? -1 : 1
    const stretch = aligned ? blocks[request]! % perRun : blocks[request]!
    const run = aligned ? 0 : Math.floor(stretch / perRun)
    sums[run] ??= new StretchSums()
    sums[run]!.add(stretch, sign * scales[period]! * flows.countOf(request) * apart)
  }
  const { effects, df } = designEffects([{ periods: sums.filter(() => true) }], {
    lasts: aligned ? false : 'flicker',
  })
  const effect = effects[0]!
  if (!(effect > 1)) return 1
  return (Math.sqrt(effect) * tQuantile(LEVEL, df[0]!)) / normalQuantile(1 - LEVEL / 2)
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
 *
 * @param failing requests with the failures that changed: others fail in another way, as before
 */
export function failureShift(flows: FlowSet, failing: ReadonlySet<number>): FailureShift | null {
  const { outcomes, responseTimeUs, period } = flows
  if (outcomes === undefined) return null
  const { names, typeOf } = rootTypes(flows)
  const emptyTotal = () => ({ count: 0, us: 0 })
  const types = names.map(() => [0, 1].map(() => [emptyTotal(), emptyTotal()]))
  for (let request = 0; request < flows.size; request++) {
    if (flows.isPart(request)) continue
    const failed = Number(failing.has(request) && outcomes.failed(request))
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
