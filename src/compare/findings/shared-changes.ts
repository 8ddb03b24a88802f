// Runs once a request of a service: the loops index with `!`.

import { greatest, group, median, sum } from 'd3-array'
import { isOfPlace } from '../../calls/attribute-columns.ts'
import { allVisits } from '../../calls/visits.ts'
import { at, countBy } from '../../core/entries.ts'
import { AFTER, type FlowSet } from '../../flows/flow-set.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { stratifiedShift } from '../../stats/hodges-lehmann.ts'
import { logOf } from '../../stats/moderated-shifts.ts'
import { proportionInterval } from '../../stats/proportion-interval.ts'
import { type Condition, condition, conditionsText } from '../../traces/selection/condition.ts'
import type { Categories } from '../categories/categories.ts'
import {
  changesOfCalls,
  findPlaceChanges,
  type Place,
  type PlaceChange,
  type PlaceEnd,
  type PlaceName,
  type PlaceSources,
  placeColumns,
  thereOf,
  visitsOf,
} from '../places/places.ts'
import { FIRST_VALUE } from '../segments/request-columns.ts'
import { subjectOf } from '../segments/segment-words.ts'
import type { Segment } from '../segments/segments.ts'
import { countByPeriod, errorChangeOf } from '../steps/compare-errors.ts'
import { rootTypes } from '../steps/root-types.ts'
import { changeOfStep, excessOf, type StepChanges } from '../steps/step-changes.ts'
import { partOfStratum, type StepSample, type StepStratum } from '../steps/step-strata.ts'
import { plainStep, type Step, stepKey, strataOfStep } from '../steps/step-times.ts'
import {
  ALL,
  CLEAR,
  LARGE,
  MIN_ALIKE,
  MIN_KNOWN,
  MIN_SEVERAL,
  MOST,
  NEARLY_ALL,
  PART,
  SLOWEST,
  SURE,
  SURE_LEVEL,
} from '../thresholds.ts'
import {
  type Compared,
  type ConditionEvidence,
  type Draft,
  type FindingStep,
  NO_EVIDENCE,
  rateSize,
} from './finding.ts'
import { categoriesOf, surest } from './names.ts'
import { requestsAfter } from './segment-findings.ts'

type Values = Pick<StepSample, 'values'>
type Factor = ReturnType<typeof factorOf>

/**
 * Puts one finding before those of single services where what services do themselves takes longer,
 * or less, by about the same factor on all hosts: half of all services, and nearly all of those whose
 * factor is known well. It covers findings that say no more than that factor; what changed by more,
 * in few calls or in a segment stands out and stays apart.
 */
export function withSameFactor(
  drafts: readonly Draft[],
  { categories, steps: { flows, ownTimes, times, steps } }: Compared,
): readonly Draft[] {
  // Findings are tested: without any nothing changed, and one stands for itself.
  const inPlaces = new Set(drafts.flatMap(({ covers = [] }) => covers))
  const open = drafts.filter((one) => isOfTimes(one) && !inPlaces.has(one.key))
  const found = new Set(open.flatMap(({ services }) => services))
  if (found.size < 2) return drafts
  // If spans lie within a service's work, its last times are those that no span covers.
  const own = new Map(ownTimes.map((one) => [one.service, one.strata]))
  const all = Array.from(own, ([service, strata]) => {
    const step = steps.find((one) => one.kind === 'work' && one.service === service)
    return factorOf(service, strata, step?.designEffect)
  })
  const centre = median(all, ({ log }) => log) ?? Number.NaN
  const agreeing = agreeingWith(centre, all)
  const names = new Set(agreeing.map(({ name }) => name))
  if (names.size < Math.max(MIN_ALIKE, all.length / 2)) return drafts
  const ofAgreeing = [...own].filter(([service]) => names.has(service))
  const hosts = factorsOfHosts(flows, ofAgreeing)
  if (agreeingWith(centre, hosts).length === 0) return drafts
  const direction = centre > 0 ? 'slower' : 'faster'
  const isNoMore = (step: FindingStep) => {
    const own = factorOf(step.operation, strataOfStep(times, step))
    const isMore = Math.abs(own.log) - Math.abs(centre) > apartAt(centre, own)
    return !isMore && (step.kind !== 'work' || names.has(step.service))
  }
  const covered = open.filter(
    (draft) => draft.direction === direction && draft.steps.every(isNoMore),
  )
  if (covered.length === 0) return drafts
  const keys = new Set(covered.flatMap((draft) => draft.steps.map(stepKey)))
  const rows = new Set(steps.flatMap((step) => (keys.has(stepKey(step)) ? step.requests : [])))
  const others = all.filter(({ name }) => !names.has(name)).map(({ name }) => name)
  const evidence = {
    of: 'factor',
    factor: Math.exp(centre),
    services: [names.size, all.length],
    others,
    hosts: hosts.length,
  } as const
  const key = 'all services by the same factor'
  const head = headOf(covered, { kind: 'latency', evidence, key, categories, rows: [...rows] })
  return [head, ...drafts]
}

/** Whether a draft is of how long steps take, in whatever requests. */
function isOfTimes({ kind, steps, segment, covers }: Draft): boolean {
  const isKind = kind === 'latency' || kind === 'unattributed'
  const isOfAll = segment === undefined && steps.every(({ share }) => share === undefined)
  return isKind && isOfAll && steps.length > 0 && covers === undefined
}

/**
 * Returns the factor by which times grew: its log, and the standard error of the log, which is larger if levels drift.
 */
function factorOf(
  name: string,
  strata: readonly Record<'before' | 'after', Values>[],
  designEffect = 1,
) {
  const logs = ({ values }: Values) => values.map(logOf)
  const pairs = strata.map((one) => ({ before: logs(one.before), after: logs(one.after) }))
  const { shift, low, high } = stratifiedShift(pairs, { sorted: true })
  const error = (Math.sqrt(designEffect) * (high - low)) / 2 / normalQuantile(0.975)
  return { name, log: shift, error }
}

/** Returns the well-known factors that agree with the common one; none if they are too few. */
function agreeingWith(centre: number, factors: readonly Factor[]): readonly Factor[] {
  const known = factors.filter(({ error }) => error <= PART * Math.abs(centre))
  const agreeing = known.filter((one) => Math.abs(one.log - centre) <= apartAt(centre, one))
  return agreeing.length >= LARGE * known.length ? agreeing : []
}

function apartAt(centre: number, { error }: Factor): number {
  return Math.max(SURE * error, PART * Math.abs(centre))
}

/** Returns the factor by which times of some services grew on each host, relative to similar times before. */
function factorsOfHosts(
  flows: FlowSet,
  own: readonly (readonly [service: string, strata: readonly StepStratum[]])[],
): Factor[] {
  const visits = allVisits(flows)
  const hostOf = (request: number, service: string) => {
    const shape = flows.shapeOf[request]!
    const entry = visits.get(shape)?.visits.find((one) => one.service === service)?.entry ?? 0
    return flows.labels.get(flows.shapes.labels(shape)[2 * entry]!).host
  }
  const times = own.flatMap(([service, strata]) =>
    strata.flatMap(({ before, after: { values, requests } }) => {
      const rows = group(values.keys(), (row) => hostOf(requests[row]!, service))
      return Array.from(rows, ([host, here]) => {
        return { host, before, after: { values: Float64Array.from(here, (row) => values[row]!) } }
      })
    }),
  )
  const ofHosts = group(times, ({ host }) => host)
  return Array.from(ofHosts, ([host, strata]) => factorOf(host, strata))
}

/** Returns one finding in place of several, with the requests (`rows`) of both periods. */
function headOf(
  covered: readonly Draft[],
  {
    categories,
    rows,
    ...told
  }: Pick<Draft, 'evidence' | 'key'> &
    Partial<Pick<Draft, 'kind' | 'place' | 'failedRequests' | 'weightUs' | 'size'>> & {
      readonly categories: Categories
      readonly rows: readonly number[]
    },
): Draft {
  const largest = greatest(covered, (one) => Math.abs(one.contributionUs))
  const { kind, direction, inTime } = largest as Draft
  const us = sum(covered, (one) => one.contributionUs)
  const widths = covered.map(({ eachInterval: [low, high], requests }) => requests * (high - low))
  return {
    ...NO_EVIDENCE,
    kind,
    ...told,
    direction,
    ...changeOfRows(categories, rows, { us, widthUs: Math.hypot(...widths) / 2 }),
    services: [...new Set(covered.flatMap(({ services }) => services))],
    steps: covered.flatMap((draft) => draft.steps),
    calls: covered.flatMap((draft) => draft.calls),
    covers: covered.map(({ key }) => key),
    ...(inTime && { inTime }),
    ...surest(covered),
  }
}

/** Returns what a change of some requests of both periods (`rows`) adds to each, in µs. */
function changeOfRows(
  categories: Categories,
  rows: Iterable<number>,
  { us, widthUs }: { readonly us: number; readonly widthUs: number },
) {
  const { flows } = categories
  const concerned = countByPeriod(flows, new Set(rows))
  const [eachUs, eachWidthUs] = [us / concerned[AFTER], widthUs / concerned[AFTER]]
  return {
    categories: categoriesOf(categories, flows.within(AFTER, rows)),
    requests: concerned[AFTER],
    concerned,
    contributionUs: us,
    eachInterval: [eachUs - eachWidthUs, eachUs + eachWidthUs],
  } satisfies Partial<Draft>
}

/** A finding that is confined to some requests or calls. */
type Confined = Draft & { readonly segment: Segment }

/**
 * Puts one finding before those of several services that take longer, or fail, under the same condition only: for one
 * tenant, with one flag, in one partition. Of one place (a host, a zone, a version), it does so for failures, as
 * `placeFindings` does for times.
 */
export function withSharedConditions(drafts: readonly Draft[], sources: Sources): readonly Draft[] {
  const { flows } = sources.steps
  const covered = new Set(drafts.flatMap(({ covers = [] }) => covers))
  const places = failuresInPlaces(drafts, sources)
  for (const key of places.flatMap(({ covers = [] }) => covers)) covered.add(key)
  const open = drafts.filter((draft): draft is Confined => isOfSome(draft, flows))
  const heads = open.flatMap((leader): Draft | [] => {
    const { kind, direction, segment } = leader
    const text = textOf(segment)
    const own = open.filter(
      (one) =>
        one.kind === kind &&
        one.direction === direction &&
        !covered.has(one.key) &&
        textOf(one.segment) === text,
    )
    const names = servicesOf(own)
    if (!own.includes(leader) || names.size < MIN_SEVERAL) return []
    for (const { key } of own) covered.add(key)
    const rows = own.flatMap((one) => one.segment.requests)
    const key = JSON.stringify(['where', text, kind, direction])
    const isOfErrors = kind === 'errors'
    const { evidence, ...sizes } = isOfErrors ? failing(own, rows, sources) : taking(own)
    return headOf(own, {
      ...sizes,
      evidence: { ...evidence, condition: text, isPlace: false },
      ...sources,
      rows,
      key,
    })
  })
  return [...places, ...heads, ...drafts]
}

/**
 * Whether it changed in some requests of a kind only, while others of that kind did not: the mark of a kind is no
 * cause.
 */
function isOfSome({ kind, segment, steps, covers }: Draft, flows: FlowSet): boolean {
  const isOfServices = steps.every((step) => step.kind !== 'request' && step.part !== 'message')
  if (segment === undefined || covers !== undefined || !isOfServices) return false
  if (kind !== 'latency' && kind !== 'errors') return false
  const { conditions } = segment
  const isOfOthers = ({ op, attribute }: Condition) => /call/.test(op) || isOfPlace(attribute)
  if (conditions.length === 0 || conditions.some(isOfOthers)) return false
  const { typeOf } = rootTypes(flows)
  const ofType = (request: number) => at(typeOf, request)
  const inside = countBy(requestsAfter(segment, flows), ofType)
  const all = countBy(flows.requestsOf(AFTER), ofType)
  const ofWholeTypes = sum(inside, ([type, count]) =>
    count >= ALL * (all.get(type) ?? 0) ? count : 0,
  )
  return ofWholeTypes < sum(inside.values()) / 2
}

/** Returns the conditions of a segment, whatever service says so. */
function textOf({ conditions }: Segment): string {
  const anywhere = ({ attribute, op, values, orNotRecorded }: Condition) =>
    condition(subjectOf({ service: null, attribute }), op, values, orNotRecorded)
  return conditionsText(conditions.map(anywhere))
}

function servicesOf(own: readonly Draft[]): ReadonlySet<string> {
  return new Set(own.flatMap(({ services: [service] }) => service ?? []))
}

/** Merges failures of several services in one place, of most that run there, into one finding per place. */
function failuresInPlaces(drafts: readonly Draft[], sources: Sources): Draft[] {
  const { errors } = sources.steps
  const found = drafts.flatMap((draft) => {
    const change = draft.kind === 'errors' && errorChangeOf(errors, draft.services)
    const isOwn = change && change.kind === 'work' && draft.calls[0]?.kind === 'fails'
    const places =
      isOwn && draft.direction === 'slower'
        ? placesOfNearlyAll(change.service, change.requests, sources)
        : []
    return places.map((place) => ({ draft, place, key: JSON.stringify(place) }))
  })
  const groups = [...group(found, ({ key }) => key).values()].map((members) => {
    const own = members.map(({ draft }) => draft)
    return { own, place: members[0]!.place }
  })
  const best = greatest(
    groups.filter(({ own, place }) => own.length >= MIN_SEVERAL && mostFail(own, place, sources)),
    ({ own }) => own.length,
  )
  if (best === undefined) return []
  const { own, place } = best
  const { text } = condition(subjectOf({ service: null, attribute: place.attribute }), 'is', [
    place.value,
  ])
  const rows = [...servicesOf(own)].flatMap((service) => requestsThere(service, place, sources))
  const { evidence, ...sizes } = failing(own, rows, sources)
  const head = headOf(own, {
    ...sizes,
    evidence: { ...evidence, condition: text, isPlace: true },
    ...sources,
    rows,
    key: JSON.stringify(['failures in', place]),
    place,
  })
  const others = drafts.filter((draft) => !own.includes(draft))
  return [head, ...failuresInPlaces(others, sources)]
}

/** Places of a service that nearly all of some requests after are in, by far not all that it has. */
export function placesOfNearlyAll(
  service: string,
  some: readonly number[],
  sources: PlaceSources,
): PlaceName[] {
  const { flows } = sources.steps
  const known = new Set(
    flows
      .requestsOf(AFTER)
      .filter((one) => visitsOf(flows).get(at(flows.shapeOf, one))?.get(service) === 1),
  )
  const own = some.filter((one) => known.has(one))
  return placeColumns(service, sources.columns).flatMap(({ attribute, codes, values }) => {
    if (codes === undefined) return []
    const all = countBy(known, (one) => at(codes, one))
    return [...countBy(own, (one) => at(codes, one))].flatMap(([code, count]) => {
      const value = values[code]
      const isAll = code >= FIRST_VALUE && count >= NEARLY_ALL * own.length
      if (!isAll || value === undefined) return []
      const [least] = proportionInterval(count, own.length, { level: 1 - SURE_LEVEL })
      return least > (all.get(code) ?? 0) / known.size ? [{ attribute, value }] : []
    })
  })
}

function requestsThere(service: string, place: PlaceName, sources: Sources): number[] {
  const { flows } = sources.steps
  const step = { kind: 'work', service, caller: null } as const
  const isThere = thereOf(step, { ...place, end: 'service' }, sources)
  const visits = visitsOf(flows)
  return [...flows.period.keys()].filter(
    (row) => isThere(row) && visits.get(at(flows.shapeOf, row))?.has(service),
  )
}

/** Returns by how much calls of several services take longer. */
function taking(own: readonly Confined[]): Sized {
  const [name, ...others] = new Set(
    own.map(({ segment: { within, operation } }) => within ?? operation),
  )
  return {
    evidence: {
      of: 'condition',
      services: [...servicesOf(own)],
      times: {
        operation: name && others.length === 0 ? name : null,
        isCall: own.some(({ steps: [step] }) => step?.kind === 'call'),
        isAll: own.every(({ segment }) => segment.shareOfChange >= NEARLY_ALL),
        eachUs: own.map(({ segment }) => segment.inside.change),
      },
      failures: null,
    },
  }
}

/** Returns how many requests fail in several services. */
function failing(
  own: readonly Draft[],
  rows: readonly number[],
  { steps: { errors, flows } }: Sources,
): Sized {
  const services = servicesOf(own)
  const failed = new Set(
    errors.flatMap((one) => (services.has(one.service) ? [...one.failing] : [])),
  )
  const all = new Set(rows)
  const [made, chances] = [[...all].filter((row) => failed.has(row)), all].map((some) =>
    countByPeriod(flows, some),
  ) as [Counts, Counts]
  const failedRequests = sum(own, (one) => one.failedRequests ?? 0)
  return {
    evidence: {
      of: 'condition',
      services: [...services],
      times: null,
      failures: { made, chances, requests: failedRequests },
    },
    failedRequests,
    weightUs: sum(own, (one) => one.weightUs ?? 0),
    size: rateSize({ made, chances, worth: chances }, 'request'),
  }
}

/** What several services do, whatever condition that is under, with its sizes. */
interface Sized extends Pick<Draft, 'failedRequests' | 'weightUs' | 'size'> {
  readonly evidence: Omit<ConditionEvidence, 'condition' | 'isPlace'>
}

type Counts = [before: number, after: number]

/** Whether calls to most services that run in a place fail there, of those of which it would have been seen. */
function mostFail(own: readonly Draft[], place: PlaceName, sources: Sources): boolean {
  const { errors, flows, steps } = sources.steps
  const failing = servicesOf(own)
  const counts = [...new Set(steps.map(({ service }) => service))].map((service) => {
    const there = flows.within(AFTER, requestsThere(service, place, sources))
    const changes = errors.filter((one) => one.service === service)
    const failed = there.filter((row) => changes.some((change) => change.failing.has(row)))
    return { isOwn: failing.has(service), failed: failed.length, all: there.length }
  })
  const changed = counts.filter(({ isOwn }) => isOwn)
  const share = sum(changed, ({ failed }) => failed) / sum(changed, ({ all }) => all)
  const still = counts.filter(
    ({ isOwn, failed, all }) => !isOwn && all > 0 && proportionInterval(failed, all)[1] < share / 2,
  )
  return failing.size >= MOST * (failing.size + still.length)
}

/** Total change of the calls of steps, in µs, with its standard error. */
interface Change {
  readonly calls: number
  readonly us: number
  readonly errorUs: number
}

interface Sources extends PlaceSources {
  readonly categories: Categories
}

/**
 * Drafts a finding for each place where several services take another time. It is priced before findings of single
 * services, which then report what it leaves.
 */
export function placeFindings(sources: Sources): Draft[] {
  const { options } = sources.steps
  return findPlaceChanges(sources, options.alpha).map((change) => placeDraft(change, sources))
}

/**
 * Has each finding of a place cover those of single services that it leaves little of, or that are all
 * there; a place that adds nothing is not told.
 */
export function withCovered(drafts: readonly Draft[], sources: Sources): Draft[] {
  return drafts.flatMap((place) => {
    if (place.covers === undefined || place.place === undefined) return [place]
    const { direction, contributionUs, steps, places = [] } = place
    const sign = direction === 'slower' ? 1 : -1
    const keys = new Set(steps.map(stepKey))
    const covered = drafts.filter((draft) => {
      const isOfPlace = draft.steps.every((step) =>
        keys.has(stepKey({ kind: step.kind, service: step.service, caller: step.caller })),
      )
      if (!isOfServices(draft) || draft.direction !== direction || !isOfPlace) return false
      const left = draft.contributionUs / (draft.estimateUs ?? draft.contributionUs)
      return left < MOST || places.some((one) => isAllThere(draft, one, sources))
    })
    const allUs = contributionUs + sum(covered, (one) => one.contributionUs)
    return sign * allUs > 0 ? [{ ...place, covers: covered.map(({ key }) => key) }] : []
  })
}

/** Whether a draft is about services and the ways between them. Messages wait between places, so they do not count. */
function isOfServices({ kind, steps, covers }: Draft): boolean {
  const isTimed = steps.every((step) => step.kind !== 'request' && step.part !== 'message')
  return kind === 'latency' && covers === undefined && isTimed
}

function isAllThere(draft: Draft, place: Place, sources: Sources): boolean {
  const [inside, outside] = [true, false].map((isInside) =>
    changeOf(draft.steps, { place, isInside }, sources),
  ) as [Change, Change]
  const sign = draft.direction === 'slower' ? 1 : -1
  const us = ({ us, errorUs }: Change) => (sign * us > CLEAR * errorUs ? sign * us : 0)
  return us(inside) > 0 && us(inside) >= NEARLY_ALL * (us(inside) + us(outside))
}

/** Returns the change of the calls of steps in a place, or elsewhere. */
function changeOf(
  some: readonly Step[],
  { place, isInside }: { readonly place: Place; readonly isInside: boolean },
  sources: Sources,
): Change {
  const parts = some.map((one) => {
    const isThere = thereOf(one, place, sources)
    const calls = changesOfCalls(sources, plainStep(one), { ...place, isInside: isThere })
    if (calls !== null) return isInside ? calls.inside : calls.outside
    const strata = strataOfPlace(sources.steps, one).map((stratum) => {
      const part = partOfStratum(stratum, (request) => isThere(request) === isInside)
      // Work of that kind may be new there.
      const isKnown = part.before.values.length >= MIN_KNOWN
      return isKnown ? part : { ...part, before: stratum.before }
    })
    const compared = strata.filter(({ before }) => before.values.length > 0)
    const { us, error } = excessOf(compared, ({ after }) => after.values.length, SLOWEST)
    const { designEffect = 1 } = changeOfStep(sources.steps, one) ?? {}
    return {
      calls: sum(compared, ({ after }) => after.values.length),
      us,
      errorUs: Math.sqrt(designEffect) * error,
    }
  })
  return {
    calls: sum(parts, ({ calls }) => calls),
    us: sum(parts, ({ us }) => us),
    errorUs: Math.hypot(...parts.map(({ errorUs }) => errorUs)),
  }
}

/** Returns the times of a step; where its work is reported in parts, the times of all parts. */
export function strataOfPlace(
  { times, ownTimes }: StepChanges,
  step: Step,
): readonly StepStratum[] {
  const own = strataOfStep(times, plainStep(step))
  return own.length > 0 ? own : strataOfStep(ownTimes, plainStep(step))
}

/** Returns the end of a place that a step is of. */
export function endOf(places: readonly PlaceEnd[], { kind }: Step): PlaceEnd | undefined {
  return places.find((place) => place.kind === kind)
}

function placeDraft(change: PlaceChange, sources: Sources): Draft {
  const { places, services, steps, factor, p, q } = change
  const [{ attribute, value }] = places as readonly [PlaceEnd]
  const told = steps.map((step) => {
    const place = endOf(places, step) as PlaceEnd
    const strata = strataOfPlace(sources.steps, step)
    const isThere = thereOf(step, place, sources)
    const requests = strata.flatMap(({ before, after }) =>
      [...before.recorded.requests, ...after.recorded.requests].filter((one) => isThere(one)),
    )
    const change = changeOf([step], { place, isInside: true }, sources)
    return { step, change, requests }
  })
  const rows = new Set(told.flatMap(({ requests }) => requests))
  const us = sum(told, ({ change }) => change.us)
  const errorUs = Math.hypot(...told.map(({ change }) => change.errorUs))
  return {
    ...NO_EVIDENCE,
    kind: 'latency',
    direction: factor > 1 ? 'slower' : 'faster',
    evidence: {
      of: 'place',
      change,
      eachUs: told
        .filter(({ change: { us, errorUs } }) => Math.abs(us) > CLEAR * errorUs)
        .map(({ change: { us, calls } }) => us / calls),
    },
    key: JSON.stringify(['place', attribute, value, factor > 1]),
    place: { attribute, value },
    places,
    ...changeOfRows(sources.categories, rows, { us, widthUs: normalQuantile(0.975) * errorUs }),
    services,
    steps: told.map(({ step, change }) => ({
      ...step,
      operation: '',
      shiftUs: change.us / change.calls,
    })),
    covers: [],
    p,
    q,
  }
}
