// Runs once a request: the loops index with `!`.
import { greatest, group, least, median, range, rollup, sort, sum } from 'd3-array'
import { formatAmount, moreText, type Quantity } from '../../core/quantity.ts'
import { formatDuration, grouped, printable } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { periodOverlap } from '../../flows/overlap.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { quantile } from '../../stats/quantile.ts'
import { rowsByStart } from '../load/arrivals.ts'
import { rootTypes } from '../steps/root-types.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import { type Step, type StepTimes, stepKey } from '../steps/step-times.ts'
import { ownTimes } from '../steps/work-parts.ts'
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
const MIN_HELD = 0.5
/** A span within a service is named from this share of what is held there on. */
const MIN_WITHIN = 0.7
const MAX_EXAMPLES = 3

/**
 * Finds the stretch of after with the most slow requests for its length, by a scan over time. It is
 * told where chance would hardly bring slow requests so close together (Fisher's exact test, corrected
 * for all stretches from one slow request to another), no stretch before comes near it, and no draft
 * is about its place. As levels may wander, it is no proof of a change: it shows where to look.
 *
 * Source: Kulldorff 1997, "A spatial scan statistic", Communications in Statistics 26(6):1481-1496.
 */
export function findSlowStretch(
  { flows, times }: Pick<StepChanges, 'flows' | 'times'>,
  drafts: readonly Draft[],
): SlowStretch | null {
  const { responseTimeUs, ids } = flows
  const { typeOf } = rootTypes(flows)
  const sorted = rollup(
    range(flows.count(BEFORE)),
    (own) => Float64Array.from(own, (request) => responseTimeUs[request]!).sort(),
    (request) => typeOf[request]!,
  )
  // By how much a request took longer than a share of its type before.
  const beyond = (share: number) => {
    const limits = new Map<number, number>()
    for (const [type, own] of sorted) {
      if (own.length >= MIN_BEFORE) limits.set(type, quantile(own, share))
    }
    return (request: number) => responseTimeUs[request]! - (limits.get(typeOf[request]!) ?? NaN)
  }
  const [overLimit, overLower, excess] = [beyond(SLOW), beyond(SLOW_BEFORE), beyond(0.5)]
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
  const place = placeOf(times, slow, sum(slow, excess))
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
    examples: sort(slow, (one) => -excess(one))
      .slice(0, MAX_EXAMPLES)
      .map((one) => ids[one]!),
    p,
  }
}

interface RequestTime {
  readonly request: number
  readonly us: number
}

interface Place extends Pick<Step, 'kind' | 'service' | 'caller'> {
  readonly strata: readonly StepStratum[]
}

/** Where requests of all types took most of what they took longer, on their critical paths. */
function placeOf(times: readonly StepTimes[], slow: Uint32Array, excessUs: number): Place | null {
  const isSlow = new Set(slow)
  const steps = times.filter(({ kind, part }) => kind !== 'request' && part !== 'message')
  const places = Array.from(
    group(steps, ({ kind, service, caller }) => stepKey({ kind, service, caller })).values(),
    (parts) => {
      const strata = parts.flatMap((one) => one.strata)
      return { place: { ...parts[0]!, strata }, us: sum(strata, (one) => heldUs(one, isSlow)) }
    },
  )
  const most = greatest(places, ({ us }) => us)
  return most !== undefined && most.us >= MIN_HELD * excessUs ? most.place : null
}

/**
 * Names the span within a service, or else the operation, that holds most of what a place takes
 * longer, and tells which requests take longer there, and by how much.
 */
function thereOf(
  flows: FlowSet,
  { strata, ...step }: Place,
  { slow, inside }: Record<'slow' | 'inside', Uint32Array>,
): { readonly name: string; readonly heldUs: ReadonlyMap<number, number> } {
  const [isSlow, isInside] = [new Set(slow), new Set(inside)]
  const held = rollup(
    strata,
    (own) => sum(own, (one) => heldUs(one, isSlow)),
    ({ operation }) => operation,
  )
  const [operation, us] = greatest(held, ([, us]) => us)!
  const allUs = sum(held.values())
  if (step.kind === 'work') {
    const having = strata.flatMap(({ before, after }) => [
      ...before.recorded.requests,
      ...after.recorded.requests,
    ])
    const requests = [...new Set(having)].filter(
      (request) => flows.period[request] === BEFORE || isInside.has(request),
    )
    for (const [within, [before, after]] of ownTimes(flows, { service: step.service, requests })) {
      const own = held.has(within) ? new Map<number, number>() : longerThan(before, after)
      if (sum(own, ([request, us]) => (isSlow.has(request) ? us : 0)) < MIN_WITHIN * allUs) continue
      const name = `${printable(step.service)} ${operationName({ operation: within })}`
      return { name, heldUs: own }
    }
  }
  const own = strata.flatMap(({ before, after: { recorded } }) =>
    [...longerThan(timesOf(before.recorded), timesOf(recorded))].filter(([request]) =>
      isInside.has(request),
    ),
  )
  const name = placeTitle(step, us >= MIN_HELD * allUs ? operation : '')
  return {
    name,
    heldUs: rollup(
      own,
      (same) => sum(same, ([, us]) => us),
      ([request]) => request,
    ),
  }
}

function timesOf({ requests, values, critical }: StepStratum['after']['recorded']) {
  return Array.from(requests, (request, i) => ({ request, us: critical[i]! * values[i]! }))
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

function heldUs({ before, after: { recorded } }: StepStratum, slow: ReadonlySet<number>): number {
  const usualUs = quantile(before.values, 0.5)
  const { values, requests, critical } = recorded
  return sum(values, (us, i) => (slow.has(requests[i]!) ? critical[i]! * (us - usualUs) : 0))
}

/** Whether a finding may tell of the same: of its services, or of whatever whole requests do. */
function isTold({ kind, services }: Draft, place: Place | null): boolean {
  return (
    place === null ||
    kind === 'load' ||
    kind === 'unattributed' ||
    services.some((one) => one === place.service || one === place.caller)
  )
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
  const place = where === null ? '' : `, mostly in ${where}${all}`
  const meanUs = stretch.excessUs / (inside.requests + outside.requests)
  return (
    `Slow stretch: from ${from} to ${to} ${isTimeOfDay ? 'UTC' : 'into the after period'}, ${of(inside)} requests took ` +
    `longer than ${100 * SLOW} % of their kind did before (at other times ${of(outside)}, before ${of(before)}), ` +
    `typically ${moreText(stretch.typicalUs, quantity)} than usual${place}. ` +
    `This adds ${formatAmount(meanUs, quantity)} to the mean; one such stretch may be chance. ` +
    `Slowest: ${stretch.examples.map(printable).join(', ')}.`
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
