import { sum } from 'd3-array'
import { printable } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { place } from '../../flows/node-labels.ts'
import { normalP, normalQuantile } from '../../stats/distributions.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { ResponseTimeMutations } from '../mutations/find-response-time-mutations.ts'
import { typicalTimeUs } from '../ranking/rank-mutations.ts'
import type { Segment } from '../segments/segments.ts'
import { countByPeriod } from '../steps/compare-errors.ts'
import { slowSample } from '../steps/slow-sample.ts'
import { changedStrata, type StepChanges } from '../steps/step-changes.ts'
import { isOfOneStep } from '../steps/step-times.ts'
import { commonStep, namePlace, type Place } from './common-step.ts'
import { deadlineOf } from './deadlines.ts'
import type { Deadline, RestOfRequests } from './evidence.ts'
import { type Draft, NO_EVIDENCE } from './finding.ts'
import { byRequestsAfter, categoriesOf, requestsOf, surest } from './names.ts'
import type { Prices } from './prices.ts'
import { requestsAfter } from './segment-findings.ts'
import { findingStep } from './step-findings.ts'

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

/** Findings account for requests that changed when they add up to this share of it. */
const MIN_ACCOUNTED = 0.8
/** Segments of requests are less sure than their steps: others account for one from this share of it on. */
const MIN_ACCOUNTED_SEGMENT = 0.5

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
  const left = leftIn(
    { changeUs, errorUs, requests },
    { drafts, prices, accounted: MIN_ACCOUNTED_SEGMENT },
  )
  if (left === null || left.us * changeUs < 0) return []
  const eachUs = left.us / count
  const eachInterval = [eachUs + low, eachUs + high] as const
  const sureness = surenessOf(left, steps, { ...draft, eachInterval })
  if (sureness === null) return []
  const place = left.isAll ? commonStep(steps.times, new Set(requests), changeUs) : null
  const deadline = left.isAll ? deadlineOf(flows, requests) : null
  const rest: RestOfRequests = {
    eachUs,
    allUs: changeUs / count,
    isAll: left.isAll,
    place: placeOfRest(flows, requests, place),
    deadline,
  }
  return [
    {
      ...draft,
      evidence: { of: 'segment', left: rest },
      contributionUs: left.us,
      ...sureness,
      ...servicesOf(place, deadline),
    },
  ]
}

/** Names the step with most of the requests' excess time. */
function placeOfRest(flows: FlowSet, requests: readonly number[], place: Place | null) {
  if (place === null) return null
  const { name } = namePlace(flows, place, new Set(requests))
  return { name, look: printable(place.service) }
}

function servicesOf(place: Place | null, deadline: Deadline | null): Partial<Draft> {
  if (deadline !== null) return { services: deadline.services }
  if (place === null) return {}
  return { services: [place.service, ...(place.caller === null ? [] : [place.caller])] }
}

function rootsLeft(changes: StepChanges, { drafts, edges, prices }: Told): Draft[] {
  const { steps, times, flows } = changes
  const { categories } = edges
  return steps.flatMap((step): Draft | [] => {
    const { kind, changed, service, operations, shiftUs, requests } = step
    if (kind !== 'request' || !changed) return []
    const changedOnes = operations.filter((one) => one.changed)
    const all = changedStrata(times, step).flatMap((one) => [...one.after.recorded.requests])
    const after = requests.filter((request) => flows.period[request] === AFTER)
    const concerned = countByPeriod(flows, requests)
    const each = concerned[AFTER] / after.length
    const left = leftIn(
      { requests: all, changeUs: step.observedUs * each, errorUs: step.observedError * each },
      { drafts, prices, accounted: MIN_ACCOUNTED },
    )
    if (left === null || left.us * shiftUs < 0) return []
    const operation = changedOnes[0] ?? operations[0]
    const eachUs = left.us / concerned[AFTER]
    const [low, high] = step.interval.map((bound) => bound - shiftUs + eachUs) as [number, number]
    const of = { ...step, requests: concerned[AFTER], eachInterval: [low, high] as const }
    const sureness = surenessOf(left, changes, of)
    if (sureness === null) return []
    const slower = shiftUs > 0
    const told = drafts.flatMap((draft) => draft.steps)
    const others = times.filter((one) => !told.some((own) => isOfOneStep(own, one)))
    const place = commonStep(others, new Set(all), left.us)
    const deadline = left.isAll ? deadlineOf(flows, after) : null
    const rest: RestOfRequests = {
      eachUs,
      allUs: shiftUs,
      isAll: left.isAll,
      place: placeOfRest(flows, all, place),
      deadline,
    }
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
      ...servicesOf(place, deadline),
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
