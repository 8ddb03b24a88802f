// Runs once a request: the loops index with `!`.
import { greatest, group, least, max, median, range, rollup, sort, sum } from 'd3-array'
import { formatAmount, moreText, type Quantity } from '../../core/quantity.ts'
import { remembered } from '../../core/remembered.ts'
import { counted, formatDuration, grouped, printable } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { periodOverlap } from '../../flows/overlap.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { quantile } from '../../stats/quantile.ts'
import { rowsByStart } from '../load/arrivals.ts'
import { rootTypes } from '../steps/root-types.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import { stepKey } from '../steps/step-times.ts'
import { ownTimes } from '../steps/work-parts.ts'
import { commonStep, isTold, type Place } from './common-step.ts'
import type { Draft } from './finding.ts'
import { SECONDS, timeText } from './finding-facts.ts'
import { operationName } from './names.ts'
import { placeTitle } from './step-findings.ts'

/** A stretch of time in which slow requests come close together, as they did at no time before. */
export interface SlowStretch {
  /** First and last of its slow requests, in µs since 1970, or on the clock of after. */
  readonly fromUs: number
  readonly untilUs: number
  readonly isTimeOfDay: boolean
  /** Of the stretch, of after at other times, and of before. */
  readonly inside: SlowCounts
  readonly outside: SlowCounts
  readonly before: SlowCounts
  /** Requests inside that are slow, or take longer at `where` than that share of calls like theirs did before. */
  readonly affected: number
  /**
   * What these take more, at `where` or else in all than the median of their type before: the median,
   * and the sum.
   */
  readonly typicalUs: number
  readonly excessUs: number
  /** Step that holds most of that; `null` where none does. */
  readonly where: string | null
  /** Trace ids of the slowest. */
  readonly examples: readonly string[]
  /** Of slow requests so close together by chance, corrected for all stretches of after. */
  readonly p: number
}

/** Few requests that took far longer than any of their kind before, most of it in the same step. */
export interface FewSlow extends Pick<SlowStretch, 'typicalUs' | 'excessUs' | 'examples'> {
  readonly requests: number
  readonly where: string
}

interface SlowCounts {
  readonly slow: number
  readonly requests: number
}

/** Slow requests take longer than this share of those of their type before, of which there are some. */
const SLOW = 0.999
const MIN_BEFORE = 50
/** Evidence against chance is this many times that of any stretch before, by requests beyond a lower share. */
const MIN_EVIDENCE = 2
const SLOW_BEFORE = 0.99
const LEVEL = 0.001
/** How many requests of a stretch may be slow; the least of them must be. */
const RATES = [0.1, 0.2, 0.4, 0.8]
/** Fewer slow requests in a row are usual where requests wait for each other. */
const MIN_SLOW = 10
/** A span within a service is named from this share of what is held there on. */
const MIN_WITHIN = 0.7
const MAX_EXAMPLES = 3

type Times = Pick<StepChanges, 'flows' | 'times'>

/** Finds slow requests that no draft is about: close together in time, or else few and far slower than any before. */
export function slowRequests(steps: Times, drafts: readonly Draft[]) {
  const slowStretch = findSlowStretch(steps, drafts)
  return { slowStretch, fewSlow: slowStretch === null ? findFewSlow(steps, drafts) : null }
}

/**
 * Finds the stretch of after with the most slow requests for its length, by a scan over time. It is
 * told where chance would hardly bring slow requests so close together (Fisher's exact test, corrected
 * for all stretches from one slow request to another), no stretch before comes near it, and no draft
 * is about its place. As levels may wander, it is no proof of a change: it shows where to look.
 *
 * Source: Kulldorff 1997, "A spatial scan statistic", Communications in Statistics 26(6):1481-1496.
 */
export function findSlowStretch(
  { flows, times }: Times,
  drafts: readonly Draft[],
): SlowStretch | null {
  const { ids } = flows
  const [overLimit, overLower, excess] = [SLOW, SLOW_BEFORE, 0.5].map((share) =>
    overUsual(flows, (own) => quantile(own, share)),
  ) as [OverUsual, OverUsual, OverUsual]
  const runs = rowsByStart(flows, BEFORE)
  const [after = new Uint32Array()] = rowsByStart(flows, AFTER)
  const { from, to, p } = densest(after, overLimit)
  const usual = Math.min(...runs.map((run) => densest(run, overLower).p))
  if (!(p < LEVEL && p < usual ** MIN_EVIDENCE)) return null
  const slowOf = (rows: Uint32Array) => rows.filter((request) => overLimit(request) > 0)
  const count = (...parts: readonly Uint32Array[]) => ({
    slow: sum(parts, (rows) => slowOf(rows).length),
    requests: sum(parts, ({ length }) => length),
  })
  const inside = after.subarray(from, to)
  const slow = slowOf(inside)
  const place = commonStep(times, new Set(slow), sum(slow, excess))
  if (drafts.some((draft) => isTold(draft, place))) return null
  // Of types that take long now and then, what is affected need not be slow.
  const heldUs = new Map([...slow].map((request) => [request, excess(request)]))
  const there = place && thereOf(flows, place, { slow, inside })
  for (const [request, us] of there?.heldUs ?? []) heldUs.set(request, us)
  return {
    fromUs: flows.arrivalUs(slow[0]!),
    untilUs: flows.arrivalUs(slow.at(-1)!),
    isTimeOfDay: periodOverlap(flows) !== null,
    inside: count(inside),
    outside: count(after.subarray(0, from), after.subarray(to)),
    before: count(...runs),
    affected: heldUs.size,
    typicalUs: median(heldUs.values())!,
    excessUs: sum(heldUs.values()),
    where: there?.name ?? null,
    examples: slowest(slow, excess).map((one) => ids[one]!),
    p,
  }
}

/** So many times as long as any of its kind before is far longer. */
const FAR = 2
/** Fewer far ones are usual where times have heavy tails; more are no longer few. */
const MIN_FAR = 5
const MAX_FAR = 50
/** Few requests are told where they add as much to all response times. */
const MIN_ADDED = 0.05

function findFewSlow({ flows, times }: Times, drafts: readonly Draft[]): FewSlow | null {
  const [after = new Uint32Array()] = rowsByStart(flows, AFTER)
  const overAll = overUsual(flows, (own) => FAR * own.at(-1)!, max)
  const excess = overUsual(flows, (own) => quantile(own, 0.5), max)
  const far = Array.from(after).filter((request) => overAll(request) > 0)
  if (far.length < MIN_FAR || far.length > MAX_FAR) return null
  const placed = far.flatMap((request) => {
    const place = commonStep(times, new Set([request]), excess(request))
    return place === null ? [] : [{ request, place }]
  })
  const ofStep = group(placed, ({ place }) => stepKey(place))
  const own = greatest(ofStep.values(), ({ length }) => length) ?? []
  const requests = own.map(({ request }) => request)
  const excessUs = sum(requests, excess)
  const allUs = sum(after, (request) => flows.responseTimeUs[request]!)
  if (requests.length < MIN_FAR || excessUs < MIN_ADDED * allUs) return null
  const place = commonStep(times, new Set(requests), excessUs)
  if (place === null || drafts.some((draft) => isTold(draft, place))) return null
  return {
    requests: requests.length,
    where: thereOf(flows, place, { slow: requests, inside: requests }).name,
    typicalUs: median(requests, excess)!,
    excessUs,
    examples: slowest(requests, excess).map((one) => flows.ids[one]!),
  }
}

interface RequestTime {
  readonly request: number
  readonly us: number
}

/**
 * Names the span within a service, or else the operation, that holds most of what a place takes
 * longer, and tells which requests take longer there, and by how much.
 */
function thereOf(
  flows: FlowSet,
  place: Place,
  { slow, inside }: Record<'slow' | 'inside', Iterable<number>>,
): { readonly name: string; readonly heldUs: ReadonlyMap<number, number> } {
  const { kind, service, strata } = place
  const [isSlow, isInside] = [new Set(slow), new Set(inside)]
  if (kind === 'work') {
    const having = strata.flatMap(({ before, after }) => [
      ...before.recorded.requests,
      ...after.recorded.requests,
    ])
    const requests = [...new Set(having)].filter(
      (request) => flows.period[request] === BEFORE || isInside.has(request),
    )
    for (const [operation, [before, after]] of ownTimes(flows, { service, requests })) {
      if (strata.some((one) => one.operation === operation)) continue
      const heldUs = longerThan(before, after)
      const ofSlowUs = sum(heldUs, ([request, us]) => (isSlow.has(request) ? us : 0))
      if (ofSlowUs < MIN_WITHIN * place.heldUs) continue
      return { name: `${printable(service)} ${operationName({ operation })}`, heldUs }
    }
  }
  const own = strata.flatMap(({ before, after: { recorded } }) =>
    [...longerThan(timesOf(before.recorded), timesOf(recorded))].filter(([request]) =>
      isInside.has(request),
    ),
  )
  const heldUs = rollup(
    own,
    (same) => sum(same, ([, us]) => us),
    ([request]) => request,
  )
  return { name: placeTitle(place, place.operation), heldUs }
}

function timesOf({ requests, criticalUs }: StepStratum['after']['recorded']) {
  return Array.from(requests, (request, i) => ({ request, us: criticalUs[i]! }))
}

/** Requests after that take longer than a share of those before, and by how much beyond their median. */
function longerThan(
  before: readonly RequestTime[],
  after: readonly RequestTime[],
): Map<number, number> {
  const usual = Float64Array.from(before, ({ us }) => us).sort()
  if (usual.length < MIN_BEFORE) return new Map()
  const [middle, limit] = [quantile(usual, 0.5), quantile(usual, SLOW)]
  const longer = after.filter(({ us }) => us > limit)
  return new Map(longer.map(({ request, us }) => [request, us - middle]))
}

type OverUsual = (request: number) => number

/** By how much a request took longer than a limit of its type before, or else of all; NaN of types with too few. */
function overUsual(
  flows: FlowSet,
  limitOf: (sorted: Float64Array) => number,
  ofOthers: (limits: Iterable<number>) => number | undefined = () => NaN,
): OverUsual {
  const { responseTimeUs } = flows
  const { typeOf } = rootTypes(flows)
  const sorted = usualTimes(flows)
  const others = ofOthers(Array.from(sorted.values(), limitOf)) ?? NaN
  const limits = new Map<number, number>()
  for (const [type, own] of sorted) if (own.length >= MIN_BEFORE) limits.set(type, limitOf(own))
  return (request) => responseTimeUs[request]! - (limits.get(typeOf[request]!) ?? others)
}

/** Response times before by type, ascending. */
const usualTimes = remembered((flows: FlowSet) =>
  rollup(
    range(flows.count(BEFORE)),
    (own) => Float64Array.from(own, (request) => flows.responseTimeUs[request]!).sort(),
    (request) => rootTypes(flows).typeOf[request]!,
  ),
)

function slowest(requests: Iterable<number>, excess: OverUsual): number[] {
  return sort(requests, (one) => -excess(one)).slice(0, MAX_EXAMPLES)
}

/** Says when it was, how slow its requests were and where, and which to look at. */
export function stretchText(stretch: SlowStretch, quantity: Quantity): string {
  const { fromUs, untilUs, isTimeOfDay, inside, outside, before, where, affected } = stretch
  const [from, to] = [fromUs, untilUs].map((us) =>
    isTimeOfDay ? timeText(us, SECONDS) : formatDuration(us),
  )
  const of = ({ slow, requests }: SlowCounts) => `${grouped(slow)} of ${grouped(requests)}`
  // What is slow there need not be slow for its kind.
  const all = affected > inside.slow ? `, where ${grouped(affected)} requests did` : ''
  const told = { ...stretch, where: where && where + all }
  return (
    `Slow stretch: from ${from} to ${to} ${isTimeOfDay ? 'UTC' : 'into the after period'}, ${of(inside)} requests took ` +
    `longer than ${100 * SLOW} % of their kind did before (at other times ${of(outside)}, before ${of(before)}), ` +
    `${slowText(told, inside.requests + outside.requests, quantity)}; one such stretch may be chance. ` +
    `Slowest: ${stretch.examples.map(printable).join(', ')}.`
  )
}

/** Says how many were slow, by how much and where, of so many after, and which to look at. */
export function fewSlowText(few: FewSlow, after: number, quantity: Quantity): string {
  return (
    `Few but slow: ${counted(few.requests, 'request')} took more than ${FAR} times as long as any of their kind before, ` +
    `${slowText(few, after, quantity)}; so few may be chance. ` +
    `Slowest: ${few.examples.map(printable).join(', ')}.`
  )
}

function slowText(
  { typicalUs, excessUs, where }: Pick<SlowStretch, 'typicalUs' | 'excessUs' | 'where'>,
  after: number,
  quantity: Quantity,
): string {
  return (
    `typically ${moreText(typicalUs, quantity)} than usual${where === null ? '' : `, mostly in ${where}`}. ` +
    `This adds ${formatAmount(excessUs / after, quantity)} to the mean`
  )
}

/** The part of a series from one slow request to another that chance explains least; p is corrected. */
function densest(rows: Uint32Array, overLimit: (request: number) => number) {
  const isSlow = Uint8Array.from(rows, (request) => Number(overLimit(request) > 0))
  const [all, slow] = [rows.length, sum(isSlow)]
  const stretches = (slow * (slow - 1)) / 2
  const none = { from: 0, to: 0, p: 1 }
  const found = RATES.filter((rate) => rate > (2 * slow) / all).map((rate) => {
    const scores = [Math.log((1 - rate) / (1 - slow / all)), Math.log((rate * all) / slow)] as const
    const { from, to } = heaviest(isSlow, scores)
    const own = sum(isSlow.subarray(from, to))
    if (own < Math.max(MIN_SLOW, RATES[0]! * (to - from))) return none
    // That it begins with a slow request is no chance.
    const { pMore } = fisherExact(slow - own, all - (to - from), own - 1, to - from - 1)
    return { from, to, p: Math.min(1, pMore * stretches) }
  })
  return least([none, ...found], ({ p }) => p)!
}

/** The part of a series whose scores, one of usual and one of slow requests, have the largest sum. */
function heaviest(isSlow: Uint8Array, scores: readonly [usual: number, slow: number]) {
  let best = { from: 0, to: 0, sum: 0 }
  let [from, total] = [0, 0]
  for (let i = 0; i < isSlow.length; i++) {
    if (total <= 0) [from, total] = [i, 0]
    total += scores[isSlow[i]!]!
    if (total > best.sum) best = { from, to: i + 1, sum: total }
  }
  return best
}
