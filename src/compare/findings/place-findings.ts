import { sum } from 'd3-array'
import { AFTER } from '../../flows/flow-set.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import type { Categories } from '../categories/categories.ts'
import { SLOWEST } from '../edges/edge-times.ts'
import { findPlaceChanges, type PlaceChange } from '../places/place-changes.ts'
import {
  changesOfCalls,
  type Place,
  type PlaceEnd,
  type PlaceSources,
  thereOf,
} from '../places/places.ts'
import { MIN_REQUESTS } from '../segments/request-columns.ts'
import { countByPeriod } from '../steps/compare-errors.ts'
import { excessOf } from '../steps/describe-step.ts'
import { changeOfStep, type StepChanges } from '../steps/step-changes.ts'
import { partOfStratum, type StepStratum } from '../steps/step-strata.ts'
import { type Step, stepKey, strataOfStep } from '../steps/step-times.ts'
import { type Draft, NO_EVIDENCE } from './finding.ts'
import { categoriesOf } from './names.ts'
import { ALL_OF_IT } from './segment-findings.ts'

/** Total change of the calls of steps, in µs, with its standard error. */
interface Change {
  readonly calls: number
  readonly us: number
  readonly errorUs: number
}

export interface Sources extends PlaceSources {
  readonly categories: Categories
}

/** Standard errors beyond which something changed. */
const SURE = 2

/**
 * Drafts a finding for each place where several services take another time. It is priced before findings of single
 * services, which then report what it leaves.
 */
export function placeFindings(sources: Sources): Draft[] {
  const { options } = sources.steps
  return findPlaceChanges(sources, options.alpha).map((change) => placeDraft(change, sources))
}

/** A place covers a finding of which it leaves less than this share. */
const MOST_LEFT = 0.5

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
      return left < MOST_LEFT || places.some((one) => isAllThere(draft, one, sources))
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
  const us = ({ us, errorUs }: Change) => (sign * us > SURE * errorUs ? sign * us : 0)
  return us(inside) > 0 && us(inside) >= ALL_OF_IT * (us(inside) + us(outside))
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
      const isKnown = part.before.values.length >= MIN_REQUESTS
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

function plainStep({ kind, service, caller, part }: Step): Step {
  return { kind, service, caller, ...(part && { part }) }
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
  const { categories } = sources
  const { flows } = categories
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
  const after = [...rows].filter((request) => flows.period[request] === AFTER)
  const concerned = countByPeriod(flows, rows)
  const contributionUs = sum(told, ({ change }) => change.us)
  const errorUs = Math.hypot(...told.map(({ change }) => change.errorUs))
  const [eachUs, widthUs] = [contributionUs, normalQuantile(0.975) * errorUs].map(
    (us) => us / concerned[AFTER],
  ) as [number, number]
  return {
    ...NO_EVIDENCE,
    kind: 'latency',
    direction: factor > 1 ? 'slower' : 'faster',
    evidence: {
      of: 'place',
      change,
      eachUs: told
        .filter(({ change: { us, errorUs } }) => Math.abs(us) > SURE * errorUs)
        .map(({ change: { us, calls } }) => us / calls),
    },
    key: JSON.stringify(['place', attribute, value, factor > 1]),
    place: { attribute, value },
    places,
    categories: categoriesOf(categories, after),
    requests: concerned[AFTER],
    concerned,
    contributionUs,
    eachInterval: [eachUs - widthUs, eachUs + widthUs],
    probabilitySlower: Number.NaN,
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
