// Runs once a request: the loops index with `!`.
import { greatest, group, max, median, range, rollup, sum } from 'd3-array'
import { remembered } from '../../core/remembered.ts'
import { printable } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import { periodOverlap } from '../../flows/overlap.ts'
import { quantile } from '../../stats/quantile.ts'
import { type Bursts, burstsOf } from '../onset/bursts.ts'
import { rowsByStart } from '../steps/arrivals.ts'
import type { ErrorChange } from '../steps/compare-errors.ts'
import { rootTypes } from '../steps/root-types.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import type { StepSample, StepStratum } from '../steps/step-strata.ts'
import { stepKey } from '../steps/step-times.ts'
import { type OwnTime, ownTimes } from '../steps/work-parts.ts'
import { commonStep, isTold, namePlace, type Place } from './common-step.ts'
import { deadlineOf } from './deadlines.ts'
import type { Deadline } from './evidence.ts'
import type { Draft } from './finding.ts'
import { placeTitle } from './names.ts'
import { findSlowWaits } from './slow-waits.ts'
import {
  FAR,
  MIN_BEFORE,
  type OverUsual,
  SLOW,
  SLOW_BEFORE,
  type SlowStretch,
  slowest,
  stretchOf,
} from './stretches.ts'

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
 * before; or messages that waited.
 */
export function slowRequests(
  steps: Times & Pick<StepChanges, 'errors' | 'options'>,
  drafts: readonly Draft[],
): SlowRequests {
  const ofRequests = findSlowStretch(steps, drafts)
  const fewSlow = findFewSlow(steps, drafts, { stretch: ofRequests })
  // If slow requests come in several bursts, a single stretch is not the whole.
  if (ofRequests !== null && (fewSlow?.bursts == null || fewSlow.excessUs < ofRequests.excessUs)) {
    return { slowStretch: ofRequests, fewSlow: null }
  }
  return { slowStretch: findSlowWaits(steps.flows, drafts), fewSlow }
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
  const [overLimit, overLower, excess] = [SLOW, SLOW_BEFORE, 0.5].map((share) =>
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
    of: 'requests',
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

/** Fewest and most far slower requests that are reported: fewer are usual for heavy tails, more are no longer few. */
const MIN_FAR = 5
const MAX_FAR = 50
/** Few requests are reported where they add as much to all response times of their kind, few calls to all. */
const MIN_ADDED = 0.05
const BURSTS_LEVEL = 0.001

function findFewSlow(
  { flows, times, errors, options }: Times & Pick<StepChanges, 'errors' | 'options'>,
  drafts: readonly Draft[],
  { stretch }: { readonly stretch: SlowStretch | null },
): FewSlow | null {
  const { typeOf } = rootTypes(flows)
  const [after = new Uint32Array()] = rowsByStart(flows, AFTER)
  const allOf = (some: Iterable<number>) => sum(some, (request) => flows.responseTimeUs[request]!)
  const allUs = allOf(after)
  const ofTypes = rollup(after, allOf, (request) => typeOf[request]!)
  const typesOf = (some: Iterable<number>) => new Set(Array.from(some, (one) => typeOf[one]!))
  const leastOf = ({ of, heldUs }: Far) =>
    of === 'calls'
      ? MIN_ADDED * allUs
      : Math.max(
          options.minimumShare * allUs,
          MIN_ADDED * sum(typesOf(heldUs.keys()), (type) => ofTypes.get(type)!),
        )
  const mostOf = (some: readonly Far[]) =>
    greatest(
      some.filter(
        (one) =>
          one.heldUs.size >= MIN_FAR &&
          one.heldUs.size <= MAX_FAR &&
          sum(one.heldUs.values()) >= leastOf(one) &&
          !drafts.some((draft) => isTold(draft, one.place)),
      ),
      ({ heldUs }) => sum(heldUs.values()),
    )
  const most =
    mostOf(farRequests({ flows, times, errors }, after)) ??
    (stretch === null
      ? mostOf(farCalls({ flows, times }, (MIN_ADDED * allUs) / MAX_FAR))
      : undefined)
  if (most === undefined) return null
  const { of, name, heldUs } = most
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
    deadline,
    failing: most.failing ?? null,
    bursts: bursts !== null && bursts.p < BURSTS_LEVEL ? bursts : null,
    typicalUs: median(heldUs.values())!,
    excessUs: sum(heldUs.values()),
    examples: slowest(requests, excess).map((one) => flows.ids[one]!),
  }
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
  const overAll = overUsual(flows, (own) => FAR * own.at(-1)!, max)
  const excess = overUsual(flows, (own) => quantile(own, 0.5), max)
  const far = Array.from(after).filter((request) => overAll(request) > 0)
  if (far.length > MAX_FAR) return []
  const placeOf = (some: readonly number[]) => commonStep(times, new Set(some), sum(some, excess))
  // If a service fails, its times and those of its callers are not compared.
  const failing = greatest(
    errors.filter(({ kind }) => kind === 'work'),
    (one) => sum(far, (request) => Number(one.failing.has(request))),
  )
  const keyOf = (request: number) => {
    const place = placeOf([request])
    return place ? stepKey(place) : failing?.failing.has(request) === true
  }
  const held = (own: readonly number[]) => new Map(own.map((one) => [one, excess(one)]))
  return Array.from(group(far, keyOf)).flatMap(([key, own]): Far | [] => {
    const heldUs = held(own)
    if (key === true) {
      const { service } = failing!
      const place = { kind: 'work', service, caller: null, operation: '', strata: [] } as const
      return {
        of: 'requests',
        place: { ...place, heldUs: sum(heldUs.values()) },
        name: printable(service),
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
      if (then.length < MIN_BEFORE) return new Map<number, number>()
      const most = FAR * max(then, ({ us }) => us)!
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
  const timesOf = (samples: readonly StepSample[]) => samples.flatMap(timesOfSample)
  return [timesOf(strata.map(({ before }) => before)), timesOf(strata.map(({ after }) => after))]
}

function timesOfSample({ recorded: { requests, criticalUs } }: StepSample): OwnTime[] {
  return Array.from(requests, (request, i) => ({ request, us: criticalUs[i]! }))
}

/** Requests after that take longer than a share of those before, and by how much beyond their median. */
function longerThan(before: readonly OwnTime[], after: readonly OwnTime[]): Map<number, number> {
  const usual = Float64Array.from(before, ({ us }) => us).sort()
  if (usual.length < MIN_BEFORE) return new Map()
  const [middle, limit] = [quantile(usual, 0.5), quantile(usual, SLOW)]
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
  for (const [type, own] of sorted) if (own.length >= MIN_BEFORE) limits.set(type, limitOf(own))
  return (request) => responseTimeUs[request]! - (limits.get(typeOf[request]!) ?? others)
}

/** Returns response times before by type, ascending. */
const usualTimes = remembered((flows: FlowSet) =>
  rollup(
    range(flows.count(BEFORE)),
    (own) => Float64Array.from(own, (request) => flows.responseTimeUs[request]!).sort(),
    (request) => rootTypes(flows).typeOf[request]!,
  ),
)
