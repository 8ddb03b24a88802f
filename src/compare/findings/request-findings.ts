// Runs once a request: the loops index with `!`.

import { sum } from 'd3-array'
import { remembered } from '../../core/remembered.ts'
import { printable } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { place } from '../../flows/node-labels.ts'
import { bootstrapInterval } from '../../stats/bootstrap-interval.ts'
import { normalP, normalQuantile, tQuantile } from '../../stats/distributions.ts'
import { mannWhitney } from '../../stats/mann-whitney.ts'
import { designEffects, StretchSums } from '../../stats/moderated-shifts.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import { equalPair, type SamplePair, type SortedPair, sortedPair } from '../../stats/two-sample.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { ResponseTimeMutations } from '../mutations/find-response-time-mutations.ts'
import { typicalTimeUs } from '../ranking/rank-mutations.ts'
import type { Segment } from '../segments/segments.ts'
import { countByPeriod } from '../steps/compare-errors.ts'
import { rootTypes } from '../steps/root-types.ts'
import { slowSample } from '../steps/slow-sample.ts'
import { changedStrata, type StepChanges } from '../steps/step-changes.ts'
import { isOfOneStep } from '../steps/step-times.ts'
import { timeBlocks } from '../steps/time-blocks.ts'
import { LARGE, LEVEL, MIN_MEANS, MOST } from '../thresholds.ts'
import { deadlineOf } from './error-findings.ts'
import { type Draft, NO_EVIDENCE, type RestOfRequests } from './finding.ts'
import { byRequestsAfter, categoriesOf, requestsOf, surest } from './names.ts'
import type { Prices } from './prices.ts'
import { requestsAfter } from './segment-findings.ts'
import { commonStep, findingStep, namePlace, type Place } from './step-findings.ts'

/**
 * Drafts a finding for all slower categories, and one for all faster ones, that no edge explains: many small changes,
 * or time between the traced points. The shift is that of medians.
 */
export function requestFindings(
  responseTime: ResponseTimeMutations,
  { explained, edges }: { explained: ReadonlySet<number>; edges: EdgeChanges },
): Draft[] {
  const { categories } = responseTime
  const { minimumEffect } = edges.options
  const shifted = responseTime.mutations.flatMap((category) => {
    const { beforeUs, shiftUs } = medians(categories, category)
    const matters = !explained.has(category) && Math.abs(shiftUs) >= minimumEffect * beforeUs
    return matters ? [{ category, shiftUs, requests: categories.count(category, AFTER) }] : []
  })
  return (['slower', 'faster'] as const).flatMap((direction): Draft | [] => {
    const found = shifted.filter(({ shiftUs }) => shiftUs < 0 === (direction === 'faster'))
    const members = found.map(({ category }) => category)
    const contributionUs = found.reduce((sum, one) => sum + one.shiftUs * one.requests, 0)
    if (members.length === 0 || Math.abs(contributionUs) < edges.negligibleUs) return []
    const counts = requestsOf(categories, members)
    const [, requests] = counts
    const concerned = byRequestsAfter(categories, members)
    const roots = concerned.map((category) => categories.shownNode(category, 0))
    const effects = found.map((one) => ({
      share: one.requests / requests,
      ...responseTime.medianEffect(one.category),
    }))
    const mean = (value: (effect: (typeof effects)[number]) => number) =>
      effects.reduce((total, effect) => total + effect.share * value(effect), 0)
    return {
      ...NO_EVIDENCE,
      kind: 'unattributed',
      key: `requests ${direction}`,
      direction,
      evidence: { of: 'requests', roots, eachUs: contributionUs / requests },
      categories: concerned,
      requests,
      concerned: counts,
      contributionUs,
      eachInterval: [mean(({ interval }) => interval[0]), mean(({ interval }) => interval[1])],
      probabilitySlower: mean(({ probabilitySlower }) => probabilitySlower),
      services: [...new Set(roots.map(place))].filter((name) => name !== ''),
      ...surest(members.map((category) => responseTime.test(category))),
    }
  })
}

function medians(categories: Categories, category: number) {
  const median = (period: 0 | 1) =>
    typicalTimeUs(categories, { category, period, centre: 'median' })
  const beforeUs = median(BEFORE)
  return { beforeUs, shiftUs: median(AFTER) - beforeUs }
}

interface Told {
  readonly drafts: readonly Draft[]
  readonly edges: EdgeChanges
  readonly prices: Prices
}

/**
 * Drafts what findings do not account for: requests of a segment, then all of a root, that changed
 * by more than the findings of these requests say, by a part that is large and no chance.
 *
 * @param whole the draft of `wholeRequests`, for the time of the change
 */
export function unattributedFindings(
  steps: StepChanges,
  { drafts, edges, whole, prices }: Told & { readonly whole: readonly Draft[] },
): Draft[] {
  // A sample that prefers slow requests makes all of them look slower.
  if (slowSample(steps.flows) !== null) return []
  const ofSegments = whole.flatMap((draft) => segmentLeft(draft, steps, { drafts, edges, prices }))
  for (const draft of ofSegments) {
    prices.spread(draft, requestsAfter(draft.segment as Segment, steps.flows))
  }
  return [...ofSegments, ...rootsLeft(steps, { drafts: [...drafts, ...ofSegments], edges, prices })]
}

/** Change of some requests that findings do not explain. */
interface Left {
  readonly us: number
  readonly unsureUs: number
  /** Whether no finding accounts for any of it. */
  readonly isAll: boolean
  /** p of the rest beside findings; `NaN` without findings, because all requests were tested then. */
  readonly p: number
}

/** Returns what findings leave of the change of some requests; `null` if that is small or may be chance. */
function leftIn(
  changed: Record<'changeUs' | 'errorUs', number> & { readonly requests: readonly number[] },
  { drafts, prices, accounted }: Omit<Told, 'edges'> & { readonly accounted: number },
): Left | null {
  const parts = drafts.map((draft) => {
    const { contributionUs, eachInterval, requests } = draft
    const us = prices.addedTo(changed.requests, draft)
    const [low, high] = eachInterval
    const share = Math.abs(us / contributionUs)
    return { us, unsureUs: (share * requests * (high - low)) / 2 || 0 }
  })
  const us = changed.changeUs - sum(parts, (part) => part.us)
  const isAll = parts.every((part) => part.us === 0)
  const unsureUs = Math.hypot(
    isAll ? 0 : normalQuantile(0.975) * changed.errorUs,
    ...parts.map((part) => part.unsureUs),
  )
  const isLarge = Math.abs(us) > Math.max(unsureUs, (1 - accounted) * Math.abs(changed.changeUs))
  const p = isAll ? Number.NaN : normalP((normalQuantile(0.975) * us) / unsureUs, 'two-sided')
  return isLarge ? { us, isAll, unsureUs, p } : null
}

function segmentLeft(draft: Draft, steps: StepChanges, { drafts, prices }: Told): Draft[] {
  const { flows } = steps
  const { contributionUs: changeUs, requests: count } = draft
  const requests = requestsAfter(draft.segment as Segment, flows)
  const [low, high] = draft.eachInterval.map((us) => us - changeUs / count) as [number, number]
  const errorUs = ((high - low) / 2 / normalQuantile(0.975)) * count
  const left = leftIn({ changeUs, errorUs, requests }, { drafts, prices, accounted: MOST })
  if (left === null || left.us * changeUs < 0) return []
  const eachUs = left.us / count
  const eachInterval = [eachUs + low, eachUs + high] as const
  const sureness = surenessOf(left, steps, { ...draft, eachInterval })
  if (sureness === null) return []
  const place = left.isAll ? commonStep(steps.times, new Set(requests), changeUs) : null
  const told = { isAll: left.isAll, eachUs, allUs: changeUs / count }
  const { rest, services } = restOf(flows, told, { place, requests, after: requests })
  const evidence = { of: 'segment', left: rest } as const
  return [{ ...draft, evidence, contributionUs: left.us, ...sureness, ...services }]
}

/** Tells where most of the rest is: in the step with most of the requests' excess time, or in a call that is given up. */
function restOf(
  flows: FlowSet,
  told: Pick<RestOfRequests, 'isAll' | 'eachUs' | 'allUs'>,
  of: { place: Place | null; requests: readonly number[]; after: readonly number[] },
): { readonly rest: RestOfRequests; readonly services: Partial<Draft> } {
  const deadline = told.isAll ? deadlineOf(flows, of.after) : null
  if (of.place === null) {
    const services = deadline === null ? {} : { services: deadline.services }
    return { rest: { ...told, place: null, deadline }, services }
  }
  const { service, caller } = of.place
  const { name } = namePlace(flows, of.place, new Set(of.requests))
  const services = deadline?.services ?? (caller === null ? [service] : [service, caller])
  const place = { name, look: printable(service) }
  return { rest: { ...told, place, deadline }, services: { services } }
}

function rootsLeft(changes: StepChanges, { drafts, edges, prices }: Told): Draft[] {
  const { steps, times, flows } = changes
  const { categories } = edges
  return steps.flatMap((step): Draft | [] => {
    const { kind, changed, service, operations, shiftUs, requests } = step
    if (kind !== 'request' || !changed) return []
    const changedOnes = operations.filter((one) => one.changed)
    const all = changedStrata(times, step).flatMap((one) => [...one.after.recorded.requests])
    const after = flows.within(AFTER, requests)
    const concerned = countByPeriod(flows, requests)
    const each = concerned[AFTER] / after.length
    const left = leftIn(
      { requests: all, changeUs: step.observedUs * each, errorUs: step.observedError * each },
      { drafts, prices, accounted: LARGE },
    )
    if (left === null || left.us * shiftUs < 0) return []
    const operation = changedOnes[0] ?? operations[0]
    const eachUs = left.us / concerned[AFTER]
    const [low, high] = step.interval.map((bound) => bound - shiftUs + eachUs) as [number, number]
    const of = { ...step, requests: concerned[AFTER], eachInterval: [low, high] as const }
    const sureness = surenessOf(left, changes, of)
    if (sureness === null) return []
    const slower = shiftUs > 0
    const known = drafts.flatMap((draft) => draft.steps)
    const others = times.filter((one) => !known.some((own) => isOfOneStep(own, one)))
    const place = commonStep(others, new Set(all), left.us)
    const told = { isAll: left.isAll, eachUs, allUs: shiftUs }
    const { rest, services } = restOf(flows, told, { place, requests: all, after })
    return {
      ...NO_EVIDENCE,
      kind: 'unattributed',
      direction: slower ? 'slower' : 'faster',
      key: `requests ${slower ? 'slower' : 'faster'} ${service}`,
      evidence: { of: 'rest', step, operation: operation?.operation ?? '', left: rest },
      categories: categoriesOf(categories, after),
      requests: concerned[AFTER],
      concerned,
      contributionUs: left.us,
      ...sureness,
      probabilitySlower: step.probabilitySlower,
      ...services,
      steps: [findingStep(step)],
    }
  })
}

/**
 * Returns the certainty of the rest: that of the whole change if no finding explains any of it, else its own, as one of
 * all tested steps. Returns `null` if it may be chance.
 */
function surenessOf(
  { us, unsureUs, p, isAll }: Left,
  { tested, options }: StepChanges,
  { requests, ...all }: Pick<Draft, 'p' | 'q' | 'eachInterval' | 'requests'>,
): Pick<Draft, 'p' | 'q' | 'eachInterval'> | null {
  if (isAll) return { p: all.p, q: all.q, eachInterval: all.eachInterval }
  const q = Math.max(1, tested) * p
  const eachInterval = [(us - unsureUs) / requests, (us + unsureUs) / requests] as const
  return q < options.alpha ? { p, q, eachInterval } : null
}

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
  const samples = ([BEFORE, AFTER] as const).map((period) => {
    const own = flows.within(period, wholes).filter((one) => weightOf(one) > 0)
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
    isRanked: Math.min(...pair.worth) >= MIN_MEANS || ranksMoved(pair, estimate),
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
