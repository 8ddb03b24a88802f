// Runs once a request: the loops index with `!`.
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { bootstrapInterval } from '../../stats/bootstrap-interval.ts'
import { normalQuantile, tQuantile } from '../../stats/distributions.ts'
import { mannWhitney } from '../../stats/mann-whitney.ts'
import { designEffects, StretchSums } from '../../stats/moderated-shifts.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import { equalPair, type SamplePair, type SortedPair, sortedPair } from '../../stats/two-sample.ts'
import { rootTypes } from '../steps/root-types.ts'
import { timeBlocks } from '../steps/time-blocks.ts'

/**
 * Mean or median of all requests in both periods, and the difference with its 95 % interval: that of independent
 * requests (bootstrap), widened by the drift of times, which tests of steps learn the same way (`designEffects`).
 *
 * Limits: measured coverage at 95 % of means and medians of 200 to 3,000 requests, log-normal, Pareto (α 1.5 to 3) or
 * mixed: 91 to 100 % where requests are independent or levels of 10 % last a twentieth of a period, 79 to 96 % if
 * levels drift as far over whole periods, which no two periods can show.
 */
export interface WholeShift {
  readonly measure: 'mean' | 'median'
  readonly beforeUs: number
  readonly afterUs: number
  readonly shiftUs: number
  readonly interval: readonly [low: number, high: number]
  /** Whether the ranks of a small sample moved, too, as surely and in the same direction. */
  readonly isRanked: boolean
}

/**
 * Smallest number of requests in a period for intervals of means; with fewer, they are too narrow, because rare slow
 * requests are missing.
 */
const FEW = 200
const LEVEL = 0.05

type Shifts = readonly [mean: WholeShift, median: WholeShift]

/** Returns by how much mean and median of all response times moved; NaN if a period is empty. */
export const wholeShifts = remembered((flows: FlowSet): Shifts => {
  const weightOf = (request: number) => flows.countOf(request)
  return shiftsOf({ flows, pair: pairOf(flows.responseTimes), weightOf })
})

/**
 * Returns the shifts of requests after weighted as if their types had the shares of before; NaN without types of both
 * periods. Requests that end before they show their type count as recorded, because a fault may have ended them.
 *
 * Source: Holt and Smith 1979, "Post stratification", Journal of the Royal Statistical Society A 142:33-46.
 */
const shiftsOfSameMix = remembered((flows: FlowSet): Shifts => {
  const { names, typeOf, unknown } = rootTypes(flows)
  const wholes = [...flows.period.keys()].filter((request) => !flows.isPart(request))
  const counts = names.map((): [number, number] => [0, 0])
  for (const one of wholes) counts[typeOf[one]!]![flows.period[one]!]! += flows.countOf(one)
  const all = flows.countedIn(BEFORE) / flows.countedIn(AFTER)
  const factors = counts.map(([before, after], type) => (unknown.has(type) ? all : before / after))
  const weightOf = (request: number) => {
    const factor = factors[typeOf[request]!]!
    const isOfBoth = factor > 0 && factor < Number.POSITIVE_INFINITY
    return isOfBoth ? flows.countOf(request) * (flows.period[request] === BEFORE ? 1 : factor) : 0
  }
  const samples = [BEFORE, AFTER].map((period) => {
    const own = wholes.filter((one) => flows.period[one] === period && weightOf(one) > 0)
    return [
      Float64Array.from(own, (one) => flows.responseTimeUs[one]!),
      Float64Array.from(own, weightOf),
    ] as const
  })
  const [[before, beforeWeights], [after, afterWeights]] = samples as [Sample, Sample]
  return shiftsOf({ flows, pair: pairOf({ before, after, beforeWeights, afterWeights }), weightOf })
})

type Sample = readonly [times: Float64Array, weights: Float64Array]

interface Weighed {
  readonly flows: FlowSet
  readonly pair: SortedPair
  readonly weightOf: (request: number) => number
}

function pairOf(given: SamplePair): SortedPair {
  return sortedPair(given.before, given.after, false, given)
}

function shiftsOf(of: Weighed): Shifts {
  return [shiftOf(of, 'mean'), shiftOf(of, 'median')]
}

/**
 * Returns the mean or median that surely moved, unless a random change of mix explains it; `null` for neither.
 *
 * @param mixChanged whether the mix surely changed, which is then reported
 */
export function clearShift(
  flows: FlowSet,
  { mixChanged }: { readonly mixChanged: boolean },
): WholeShift | null {
  const ofSameMix = shiftsOfSameMix(flows)
  const isOfMix = (one: WholeShift) => !Number.isNaN(one.shiftUs) && !isClear(one)
  const isSure = (shift: WholeShift, i: number) =>
    isClear(shift) && (mixChanged || !isOfMix(ofSameMix[i]!))
  return wholeShifts(flows).find(isSure) ?? null
}

export function isClear(shift: WholeShift): boolean {
  return shift.isRanked && differs(shift)
}

/** Whether its interval leaves 0 out. */
export function differs({ interval: [low, high] }: WholeShift): boolean {
  return low > 0 || high < 0
}

function shiftOf(of: Weighed, measure: WholeShift['measure']): WholeShift {
  const { pair } = of
  const [beforeWeights, afterWeights] = pair.weights ?? []
  const { first, second } = pair
  const how = { measure, sorted: true, beforeWeights, afterWeights }
  const { estimate, low, high } = bootstrapInterval(first, second, how)
  const levelOf = (values: ArrayLike<number>, weights?: ArrayLike<number>) =>
    measure === 'mean' ? moments(values, weights).mean : quantile(values, 0.5, weights)
  const beforeUs = levelOf(first, beforeWeights)
  const wider = widening(of, measure, [beforeUs, levelOf(second, afterWeights)])
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

/**
 * Returns how many times wider an interval is than for independent requests, because requests close in time are
 * similar.
 */
function widening(
  { flows, weightOf }: Weighed,
  measure: WholeShift['measure'],
  levels: readonly [before: number, after: number],
): number {
  const { of: blocks, perRun, pairs } = timeBlocks(flows)
  const sums: StretchSums[] = []
  const sizes = [0, 0] as [before: number, after: number]
  const weights = Float64Array.from(flows.period, (period, request) => {
    const weight = flows.isPart(request) ? 0 : weightOf(request)
    sizes[period as Period] += weight
    return weight
  })
  for (let request = 0; request < flows.size; request++) {
    if (weights[request] === 0) continue
    const period = flows.period[request] as Period
    const apartUs = flows.responseTimeUs[request]! - levels[period]
    const apart = measure === 'mean' ? apartUs : Math.sign(apartUs)
    const sign = pairs && period === BEFORE ? -1 : 1
    const stretch = pairs ? blocks[request]! % perRun : blocks[request]!
    const run = pairs ? 0 : Math.floor(stretch / perRun)
    sums[run] ??= new StretchSums()
    sums[run]!.add(stretch, (sign * weights[request]! * apart) / sizes[period])
  }
  const { effects, df } = designEffects([{ periods: sums.filter(() => true) }], {
    lasts: pairs === 'time' ? false : 'flicker',
  })
  const effect = effects[0]!
  if (!(effect > 1)) return 1
  return (Math.sqrt(effect) * tQuantile(LEVEL, df[0]!)) / normalQuantile(1 - LEVEL / 2)
}
