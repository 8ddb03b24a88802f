// Runs once a request: the loops index with `!`.

import { greatest, group, least, max, median, rollup, sort, sum } from 'd3-array'
import { remembered } from '../../core/remembered.ts'
import { printable } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import { periodOverlap } from '../../flows/overlap.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { quantile } from '../../stats/quantile.ts'
import { condition } from '../../traces/selection/condition.ts'
import { type Bursts, burstsOf } from '../onset/onset.ts'
import type { PlaceSources } from '../places/places.ts'
import { RequestColumns } from '../segments/request-columns.ts'
import { subjectOf } from '../segments/segment-words.ts'
import { rowsByStart } from '../steps/arrivals.ts'
import type { ErrorChange } from '../steps/compare-errors.ts'
import { rootTypes } from '../steps/root-types.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import type { StepSample, StepStratum } from '../steps/step-strata.ts'
import { stepKey } from '../steps/step-times.ts'
import { type OwnTime, ownTimes } from '../steps/work-parts.ts'
import {
  HARDLY_ANY,
  MAX_FOLLOWED,
  MIN_KNOWN,
  MIN_SEEN,
  MIN_SPREAD,
  MOST,
  SLOWEST,
  SMALL,
  SURE_LEVEL,
  TWICE,
} from '../thresholds.ts'
import type { FindingSources } from './draft-findings.ts'
import { deadlineOf } from './error-findings.ts'
import type { Deadline, Draft } from './finding.ts'
import { placeTitle } from './names.ts'
import { placesOfNearlyAll } from './shared-changes.ts'
import { commonStep, isTold, namePlace, type Place } from './step-findings.ts'

/**
 * A few requests that took far longer than any of their type before, mostly in the same step, or calls that did so in
 * one step.
 */
export interface FewSlow extends Pick<SlowStretch, 'typicalUs' | 'excessUs' | 'examples'> {
  /** Whether whole requests took longer than any before, or their calls of a step did. */
  readonly of: 'requests' | 'calls'
  readonly requests: number
  /** Step that holds most of it, or the call that all give up at another time than before. */
  readonly where: string
  /** Host, zone or version of the service that nearly all of them are in; `null` where others are there, too. */
  readonly condition: string | null
  /** When that call is given up; `null` where none is. */
  readonly deadline: Deadline | null
  /** What fails there; `null` where the time is that of a step. */
  readonly failing: ErrorChange | null
  /** Bursts in which they come; `null` if most are alone. */
  readonly bursts: Bursts | null
}

export interface SlowRequests {
  /** A stretch of after with many slow requests that no finding is about; `null` for none. */
  readonly slowStretch: SlowStretch | null
  /** Few requests far slower than any before that neither finding nor stretch is about; `null` for none. */
  readonly fewSlow: FewSlow | null
}

type Times = Pick<StepChanges, 'flows' | 'times'>

/**
 * Finds slow requests that no draft is about: close together in time, or else few and far slower than any
 * before.
 */
export function slowRequests(
  { steps, columns = new RequestColumns(steps.flows) }: Pick<FindingSources, 'steps' | 'columns'>,
  drafts: readonly Draft[],
): SlowRequests {
  const ofRequests = findSlowStretch(steps, drafts)
  const fewSlow = findFewSlow({ steps, columns }, drafts, { stretch: ofRequests })
  // If slow requests come in several bursts, a single stretch is not the whole.
  if (ofRequests !== null && (fewSlow?.bursts == null || fewSlow.excessUs < ofRequests.excessUs)) {
    return { slowStretch: ofRequests, fewSlow: null }
  }
  return { slowStretch: null, fewSlow }
}

/**
 * Finds the stretch of after with the most slow requests for its length, by a scan over time. It is reported if chance
 * would hardly bring slow requests so close together (Fisher's exact test, corrected for all stretches from one slow
 * request to another), no stretch before comes near it, and no draft concerns its place. Levels may drift, so it does
 * not prove a change: it shows where to look.
 *
 * Source: Kulldorff 1997, "A spatial scan statistic", Communications in Statistics 26(6):1481-1496.
 */
export function findSlowStretch(
  { flows, times }: Times,
  drafts: readonly Draft[],
): SlowStretch | null {
  const { ids } = flows
  const [overLimit, overLower, excess] = [HARDLY_ANY, 1 - SLOWEST, MOST].map((share) =>
    overUsual(flows, (own) => quantile(own, share)),
  ) as [OverUsual, OverUsual, OverUsual]
  const runs = rowsByStart(flows, BEFORE)
  const [after = new Uint32Array()] = rowsByStart(flows, AFTER)
  const found = stretchOf([...runs, after], { overLimit, overLower })
  if (found === null) return null
  const { rows: inside, slow, told } = found
  const place = commonStep(times, new Set(slow), sum(slow, excess))
  if (drafts.some((draft) => isTold(draft, place))) return null
  // For types that are slow now and then, affected requests need not be slow.
  const heldUs = new Map([...slow].map((request) => [request, excess(request)]))
  const there = place && thereOf(flows, place, { slow, inside })
  for (const [request, us] of there?.heldUs ?? []) heldUs.set(request, us)
  return {
    ...told,
    fromUs: flows.arrivalUs(slow[0]!),
    untilUs: flows.arrivalUs(slow.at(-1)!),
    isTimeOfDay: periodOverlap(flows) !== null,
    affected: heldUs.size,
    typicalUs: median(heldUs.values())!,
    excessUs: sum(heldUs.values()),
    where: there?.name ?? null,
    examples: slowest(slow, excess).map((one) => ids[one]!),
  }
}

function findFewSlow(
  sources: PlaceSources,
  drafts: readonly Draft[],
  { stretch }: { readonly stretch: SlowStretch | null },
): FewSlow | null {
  const { flows, times, errors, options } = sources.steps
  const { typeOf } = rootTypes(flows)
  const [after = new Uint32Array()] = rowsByStart(flows, AFTER)
  const allOf = (some: Iterable<number>) => sum(some, (request) => flows.responseTimeUs[request]!)
  const allUs = allOf(after)
  const ofTypes = rollup(after, allOf, (request) => typeOf[request]!)
  const typesOf = (some: Iterable<number>) => new Set(Array.from(some, (one) => typeOf[one]!))
  const leastOf = ({ of, heldUs }: Far) =>
    of === 'calls'
      ? SMALL * allUs
      : Math.max(
          options.minimumShare * allUs,
          SMALL * sum(typesOf(heldUs.keys()), (type) => ofTypes.get(type)!),
        )
  const mostOf = (some: readonly Far[]) =>
    greatest(
      some.filter(
        (one) =>
          one.heldUs.size >= MIN_SEEN &&
          one.heldUs.size <= MIN_SPREAD &&
          sum(one.heldUs.values()) >= leastOf(one) &&
          !drafts.some((draft) => isTold(draft, one.place)),
      ),
      ({ heldUs }) => sum(heldUs.values()),
    )
  const most =
    mostOf(farRequests({ flows, times, errors }, after)) ??
    (stretch === null
      ? mostOf(farCalls({ flows, times }, (SMALL * allUs) / MIN_SPREAD))
      : undefined)
  if (most === undefined) return null
  const { of, name, heldUs, place } = most
  const requests = [...heldUs.keys()]
  const excess = (request: number) => heldUs.get(request)!
  // An abandoned call holds the time that its caller waited.
  const deadline = deadlineOf(flows, requests)
  const types = typesOf(requests)
  const alike = after.filter((request) => types.has(typeOf[request]!))
  const bursts = burstsOf(
    Array.from(alike, (one) => ({ timeUs: flows.arrivalUs(one), value: Number(heldUs.has(one)) })),
    { least: 2 },
  )
  return {
    of,
    requests: requests.length,
    where: deadline?.name ?? name,
    condition: place && conditionOf(place, requests, sources),
    deadline,
    failing: most.failing ?? null,
    bursts: bursts !== null && bursts.p < SURE_LEVEL ? bursts : null,
    typicalUs: median(heldUs.values())!,
    excessUs: sum(heldUs.values()),
    examples: slowest(requests, excess).map((one) => flows.ids[one]!),
  }
}

function conditionOf({ service }: Place, requests: readonly number[], sources: PlaceSources) {
  const [place] = placesOfNearlyAll(service, requests, sources)
  if (place === undefined) return null
  return condition(subjectOf({ service, attribute: place.attribute }), 'is', [place.value]).text
}

interface Far extends Pick<FewSlow, 'of'> {
  readonly place: Place | null
  readonly name: string
  /** What fails there. */
  readonly failing?: ErrorChange
  /** Excess over the usual time, by request. */
  readonly heldUs: ReadonlyMap<number, number>
}

/**
 * Finds requests far slower than any of their type before, with the step that holds most of the excess, or else the
 * failure in them.
 */
function farRequests(
  { flows, times, errors }: Times & Pick<StepChanges, 'errors'>,
  after: Uint32Array,
): Far[] {
  const overAll = overUsual(flows, (own) => TWICE * own.at(-1)!, max)
  const excess = overUsual(flows, (own) => quantile(own, 0.5), max)
  const far = Array.from(after).filter((request) => overAll(request) > 0)
  if (far.length > MIN_SPREAD) return []
  const placeOf = (some: readonly number[]) => commonStep(times, new Set(some), sum(some, excess))
  // Times of calls that fail are not compared, nor those of their callers.
  const failing = greatest(errors, (one) => sum(far, (request) => Number(one.failing.has(request))))
  const keyOf = (request: number) => {
    const place = placeOf([request])
    return place ? stepKey(place) : failing?.failing.has(request) === true
  }
  const held = (own: readonly number[]) => new Map(own.map((one) => [one, excess(one)]))
  return Array.from(group(far, keyOf)).flatMap(([key, own]): Far | [] => {
    const heldUs = held(own)
    if (key === true) {
      const { kind, service, callers } = failing!
      const [caller = null] = kind === 'call' ? callers : []
      const place = { kind, service, caller, operation: '', strata: [] } as const
      return {
        of: 'requests',
        place: { ...place, heldUs: sum(heldUs.values()) },
        name: kind === 'work' ? printable(service) : placeTitle({ kind, service, caller }, ''),
        failing: failing!,
        heldUs,
      }
    }
    const place = key === false ? null : placeOf(own)
    if (place === null) return []
    const { name } = thereOf(flows, place, { slow: own, inside: own })
    return { of: 'requests', place, name, heldUs }
  })
}

/**
 * Finds requests of any type that spend far longer in an operation of a service, or on a call's way, than any request
 * did before, even if their response times are not extreme.
 *
 * @param leastUs smallest time of the slowest, because so few are reported
 */
function farCalls({ flows, times }: Times, leastUs: number): Far[] {
  const steps = times.filter(({ kind, part }) => kind !== 'request' && part === undefined)
  return steps.flatMap(({ strata, ...step }): Far[] => {
    const slowestUs = max(strata, ({ after }) => max(after.recorded.criticalUs))
    if (!(slowestUs! >= leastUs)) return []
    const [before, after] = timesIn(strata)
    const waitedUs = new Map(after.map(({ request, us }) => [request, us]))
    const farOf = (then: readonly OwnTime[], now: readonly OwnTime[]) => {
      if (then.length < MIN_SPREAD) return new Map<number, number>()
      const most = TWICE * max(then, ({ us }) => us)!
      const usualUs = median(then, ({ us }) => us)!
      // Counts only time that is waited for.
      const waited = now.map(({ request, us }) => ({
        request,
        us: Math.min(us, waitedUs.get(request)!),
      }))
      const far = waited.filter(({ us }) => us > most)
      return new Map(far.map(({ request, us }) => [request, us - usualUs]))
    }
    const found = (operation: string, name: string, heldUs: Map<number, number>): Far => ({
      of: 'calls',
      place: { ...step, operation, strata, heldUs: sum(heldUs.values()) },
      name,
      heldUs,
    })
    if (step.kind === 'work') {
      const requests = [...new Set([...before, ...after].map(({ request }) => request))]
      return Array.from(ownTimes(flows, { service: step.service, requests }), ([operation, own]) =>
        found(
          operation,
          `${printable(step.service)} ${operationName({ operation })}`,
          farOf(...own),
        ),
      )
    }
    return Array.from(
      group(strata, ({ operation }) => operation),
      ([operation, own]) => found(operation, placeTitle(step, operation), farOf(...timesIn(own))),
    )
  })
}

/** Names a place, and tells which requests take longer there, and by how much. */
function thereOf(
  flows: FlowSet,
  place: Place,
  { slow, inside }: Record<'slow' | 'inside', Iterable<number>>,
): { readonly name: string; readonly heldUs: ReadonlyMap<number, number> } {
  const isInside = new Set(inside)
  const { name, within } = namePlace(flows, place, new Set(slow))
  const own = (within === null ? place.strata.map((one) => timesIn([one])) : [within]).flatMap(
    ([before, after]) =>
      [...longerThan(before, after)].filter(([request]) => isInside.has(request)),
  )
  const heldUs = rollup(
    own,
    (same) => sum(same, ([, us]) => us),
    ([request]) => request,
  )
  return { name, heldUs }
}

/** Returns the times that requests before and after spend in some strata. */
function timesIn(strata: readonly StepStratum[]): [before: OwnTime[], after: OwnTime[]] {
  const timesOf = ({ recorded: { requests, criticalUs } }: StepSample): OwnTime[] =>
    Array.from(requests, (request, i) => ({ request, us: criticalUs[i]! }))
  return [
    strata.flatMap(({ before }) => timesOf(before)),
    strata.flatMap(({ after }) => timesOf(after)),
  ]
}

/** Requests after that take longer than a share of those before, and by how much beyond their median. */
function longerThan(before: readonly OwnTime[], after: readonly OwnTime[]): Map<number, number> {
  const usual = Float64Array.from(before, ({ us }) => us).sort()
  if (usual.length < MIN_SPREAD) return new Map()
  const [middle, limit] = [quantile(usual, 0.5), quantile(usual, HARDLY_ANY)]
  const longer = after.filter(({ us }) => us > limit)
  return new Map(longer.map(({ request, us }) => [request, us - middle]))
}

/**
 * Returns each request's excess over a limit of its type before, or else of all types; NaN for types with too few
 * requests.
 */
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
  for (const [type, own] of sorted) if (own.length >= MIN_SPREAD) limits.set(type, limitOf(own))
  return (request) => responseTimeUs[request]! - (limits.get(typeOf[request]!) ?? others)
}

/** Returns response times before by type, ascending. */
const usualTimes = remembered((flows: FlowSet) =>
  rollup(
    flows.requestsOf(BEFORE),
    (own) => Float64Array.from(own, (request) => flows.responseTimeUs[request]!).sort(),
    (request) => rootTypes(flows).typeOf[request]!,
  ),
)

/** A stretch of time in which slow requests come close together, as they did at no time before. */
export interface SlowStretch {
  /** First and last of its slow requests, in µs since 1970, or on the clock of after. */
  readonly fromUs: number
  readonly untilUs: number
  readonly isTimeOfDay: boolean
  /** Counts in the stretch, in the rest of after, and before. */
  readonly inside: SlowCounts
  readonly outside: SlowCounts
  readonly before: SlowCounts
  /**
   * Number of slow requests inside, including those that take longer at `where` than that share of similar calls
   * before.
   */
  readonly affected: number
  /**
   * Excess over the median of the type before, at `where` or else in all: the median of the stretch's requests, and
   * their sum.
   */
  readonly typicalUs: number
  readonly excessUs: number
  /** Step that holds most of that; `null` where none does. */
  readonly where: string | null
  /** Trace ids of the slowest. */
  readonly examples: readonly string[]
  /** Probability of so many slow requests so close together by chance, corrected for all stretches of after. */
  readonly p: number
}

export interface SlowCounts {
  readonly slow: number
  readonly requests: number
}

/** Shares of slow requests that a stretch may have; the smallest is required. */
const RATES = [0.1, 0.2, 0.4, 0.8]

/** Excess of a request over a limit. */
type OverUsual = (request: number) => number

/** Returns the stretch of the last series; `null` if chance or the stretches before explain it. */
function stretchOf(
  series: readonly Uint32Array[],
  { overLimit, overLower }: Record<'overLimit' | 'overLower', OverUsual>,
) {
  const [runs, after] = [series.slice(0, -1), series.at(-1)!]
  const { from, to, p } = densest(after, overLimit)
  const usual = Math.min(...runs.map((run) => densest(run, overLower).p))
  if (!(p < SURE_LEVEL && p < usual ** TWICE)) return null
  const slowOf = (rows: Uint32Array) => rows.filter((row) => overLimit(row) > 0)
  const count = (...parts: readonly Uint32Array[]) => ({
    slow: sum(parts, (rows) => slowOf(rows).length),
    requests: sum(parts, ({ length }) => length),
  })
  const rows = after.subarray(from, to)
  const told = {
    inside: count(rows),
    outside: count(after.subarray(0, from), after.subarray(to)),
    before: count(...runs),
    p,
  }
  return { rows, slow: slowOf(rows), told }
}

/** Returns the part of a series from one slow request to another that chance explains least; p is corrected. */
function densest(rows: Uint32Array, overLimit: (request: number) => number) {
  const isSlow = Uint8Array.from(rows, (request) => Number(overLimit(request) > 0))
  const [all, slow] = [rows.length, sum(isSlow)]
  const stretches = (slow * (slow - 1)) / 2
  const none = { from: 0, to: 0, p: 1 }
  const found = RATES.filter((rate) => rate > (2 * slow) / all).map((rate) => {
    const scores = [Math.log((1 - rate) / (1 - slow / all)), Math.log((rate * all) / slow)] as const
    const { from, to } = heaviest(isSlow, scores)
    const own = sum(isSlow.subarray(from, to))
    if (own < Math.max(MIN_KNOWN, RATES[0]! * (to - from))) return none
    // A stretch begins with a slow request by construction, so the test leaves it out.
    const { pMore } = fisherExact(slow - own, all - (to - from), own - 1, to - from - 1)
    return { from, to, p: Math.min(1, pMore * stretches) }
  })
  return least([none, ...found], ({ p }) => p)!
}

/** Returns the part of a series whose scores, one of usual and one of slow requests, have the largest sum. */
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

function slowest(requests: Iterable<number>, excess: OverUsual): number[] {
  return sort(requests, (one) => -excess(one)).slice(0, MAX_FOLLOWED)
}
