// Runs once a value of a request: the loops index with `!`.

import { greatest, group, max, range, sum } from 'd3-array'
import { SEVERAL } from '../../calls/visits.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { arrivals, lengthUs, periodOverlap } from '../../flows/overlap.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { midranks } from '../../stats/midranks.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import { worthOf } from '../../stats/weighted-sample.ts'
import { rowsWhere } from '../../traces/group-rows.ts'
import type { Categories } from '../categories/categories.ts'
import { burstsOf, findOnset, type Onset, type Timed } from '../onset/onset.ts'
import type { Segment } from '../segments/segments.ts'
import { rowsByStart } from '../steps/arrivals.ts'
import type { CallChoice } from '../steps/call-counts.ts'
import { isSame, isSameCall, type Operation } from '../steps/call-order.ts'
import {
  changedStrata,
  changeOfStep,
  describePart,
  type Limits,
  limitsOf,
  type StepChange,
  type StepChanges,
} from '../steps/step-changes.ts'
import { partOfStratum, type StepStratum } from '../steps/step-strata.ts'
import { isOfOneStep, type StepTimes, stepKey, strataOfStep } from '../steps/step-times.ts'
import { LEVEL, NOTHING, PART, SMALL } from '../thresholds.ts'
import { type Failure, failuresOf, failuresThen } from './error-findings.ts'
import type { Compared, Draft, FindingCall, FindingStep, InTime, StepsEvidence } from './finding.ts'
import { isConfined, segmentDraft } from './segment-findings.ts'
import { changeOfSteps } from './step-findings.ts'

const TAILS = [0.9, 0.99]

/** A value of one request that a finding is about; compared within its stratum only. */
interface Value extends Failure {
  /** Stratum of the value; missing if all are compared. */
  readonly stratum?: string
}

/** Adds onsets and bursts to findings; those after the start must be significant among all. */
export function onsetsOf(
  drafts: readonly Draft[],
  { categories, steps }: Compared,
): ReadonlyMap<Draft, InTime> {
  const clock = clockOf(categories.flows)
  const found = drafts.map((draft) => {
    const { segment } = draft
    const inside = segment && new Set(segment.requests)
    // A segment with no requests before is compared with all requests before.
    const isNew = segment?.inside.before === 0
    const values = valuesOf(draft, { categories, steps })
    const scores = scoresOf(
      categories.flows,
      inside === undefined
        ? values
        : values.filter(
            ({ request }) =>
              inside.has(request) || (isNew && categories.flows.period[request] === BEFORE),
          ),
    )
    const [before, after] = timedScores(categories.flows, scores)
    const found = findOnset({ before, after, ...clock })
    const later = inside && found?.onset.fromStart && beginningOf(inside, values, categories.flows)
    const onset = later ? { p: later.p, onset: { ...found.onset, ...later.began } } : found
    const isThroughout = onset === null || (onset.onset.fromStart && onset.onset.until === null)
    return { onset, bursts: isThroughout ? burstsOf(after) : null }
  })
  const corrected = (ps: readonly (number | undefined)[]) =>
    benjaminiHochberg(ps.map((p) => p ?? Number.NaN))
  const q = corrected(found.map(({ onset }) => onset?.p))
  const burstsQ = corrected(found.map(({ bursts }) => bursts?.p))
  return new Map(
    found.map(({ onset, bursts }, i) => {
      const isTold = onset?.onset.fromStart || q[i]! < LEVEL
      const began = (isTold && onset?.onset) || null
      return [drafts[i]!, { began, bursts: burstsQ[i]! < LEVEL ? bursts : null }]
    }),
  )
}

/**
 * Returns when the first request of a segment arrived after others of its step, such as those of an older version, and
 * the chance that as many others come first; `null` if that may be chance.
 */
function beginningOf(inside: ReadonlySet<number>, values: readonly Value[], flows: FlowSet) {
  const own = flows
    .within(AFTER, new Set(values.map(({ request }) => request)))
    .sort((a, b) => flows.arrivalUs(a) - flows.arrivalUs(b))
  const first = own.findIndex((request) => inside.has(request))
  const members = own.filter((request) => inside.has(request)).length
  const p = Math.exp(sum(range(members), (i) => Math.log1p(-first / (own.length - i))))
  if (!(p < LEVEL)) return null
  const others = Math.log(LEVEL) / Math.log1p(-members / (own.length - first))
  const [lowUs, timeUs] = [Math.max(0, first - Math.ceil(others) - 1), first].map((at) =>
    flows.arrivalUs(own[at]!),
  ) as [number, number]
  return { p, began: { timeUs, lowUs, highUs: timeUs, fromStart: false } }
}

/**
 * Returns the scores of each period in the order of time. If weights differ, returns means over neighbors instead, of
 * as many requests as stand for the mean weight: as many values as the requests are worth, of equally many requests
 * each.
 */
function timedScores(flows: FlowSet, scores: readonly Score[]): [before: Timed[], after: Timed[]] {
  const counts = flows.countsOf(scores.map(({ request }) => request))
  const each = counts === undefined ? 1 : sum(counts) / worthOf(counts, counts)
  const seriesOf = (period: Period) => {
    const own = scores.filter(({ request }) => flows.period[request] === period)
    const timesUs = Float64Array.from(own, ({ request }) => flows.arrivalUs(request))
    const series: Timed[] = []
    let [sumOfScores, sumOfAmounts, count, startUs] = [0, 0, 0, 0]
    for (const i of ascendingOrder(timesUs)) {
      const { request, mean, amount } = own[i]!
      const counted = flows.countOf(request)
      if (count === 0) startUs = timesUs[i]!
      sumOfScores += counted * mean
      sumOfAmounts += counted * amount
      count += counted
      if (count < each * (1 - NOTHING)) continue
      series.push({ timeUs: startUs, value: sumOfScores / count, amount: sumOfAmounts / count })
      sumOfScores = 0
      sumOfAmounts = 0
      count = 0
    }
    return series
  }
  return [seriesOf(BEFORE), seriesOf(AFTER)]
}

function clockOf(flows: FlowSet) {
  const [before, after] = arrivals(flows)
  const overlap = periodOverlap(flows)
  const gapUs = (after[0] ?? 0) - (before.at(-1) ?? 0)
  const isJoined =
    overlap?.kind === 'apart' &&
    (after[0] ?? 0) > (before[0] ?? 0) &&
    gapUs <= SMALL * Math.min(lengthUs(before), lengthUs(after))
  return { isTimeOfDay: overlap !== null, isJoined }
}

function valuesOf(draft: Draft, { categories, steps }: Compared): Value[] {
  if (draft.kind === 'load') return gapValues(categories.flows)
  if (draft.kind === 'errors') return failuresOf(draft, steps)
  // With several steps, takes the segment's, or else the one with the largest change: others may have followed later.
  const { step: ofSegment = null } = draft.segment ?? {}
  const held = (step: FindingStep) =>
    ofSegment !== null && isOfOneStep(step, ofSegment)
      ? Number.POSITIVE_INFINITY
      : Math.abs(changeOfStep(steps, step)?.contributionUs ?? 0)
  const main = greatest(draft.steps, held)
  if (main !== undefined) return stepValues(main, steps.times)
  const [call] = draft.calls
  if (call !== undefined) return callValues(call, steps)
  if (draft.moves.length > 0) return moveValues(draft, categories)
  const { flows, categoryOf } = categories
  return requestsIn(categories, draft.categories).map((request) => ({
    request,
    value: flows.responseTimeUs[request] as number,
    stratum: String(categoryOf[request]),
  }))
}

function gapValues(flows: FlowSet): Value[] {
  const orders = [...rowsByStart(flows, BEFORE), ...rowsByStart(flows, AFTER)]
  return orders.flatMap((rows) =>
    Array.from(rows.subarray(1), (request, i) => ({
      request,
      // The requests that it stands for came one after another in between.
      value:
        (flows.arrivalUs(request) - flows.arrivalUs(rows[i] as number)) / flows.countOf(request),
    })),
  )
}

function stepValues(step: FindingStep, times: readonly StepTimes[]): Value[] {
  return strataOfStep(times, step).flatMap(({ before, after }, number) =>
    [before, after].flatMap(({ recorded: { requests, values } }) =>
      Array.from(requests, (request, i) => ({
        request,
        value: values[i] as number,
        stratum: String(number),
      })),
    ),
  )
}

/** Returns 1 for requests that make a call, 0 for those that could; for repeats, the number of calls. */
function callValues(call: FindingCall, { flows, sites, calls, repeats, logs }: StepChanges) {
  const isIt = (one: { readonly of: Operation; readonly call: Operation | null }) =>
    isSame(one.of, call.of) && isSameCall(one.call, call.call)
  if (call.kind === 'repeats') {
    const timesOf = repeats.find(isIt)?.timesOf
    return Array.from(flows.shapeOf).flatMap((shape, request) => {
      const value = timesOf?.get(shape)
      return value === undefined ? [] : { request, value }
    })
  }
  const isSameChoice = (one: CallChoice) =>
    one.kind === call.kind && isIt(one) && isSameCall(one.previous, call.previous)
  const logged = logs.find(isSameChoice)
  if (logged !== undefined) {
    return [...logged.able].map((request) => ({ request, value: +logged.doing.has(request) }))
  }
  const choice = calls.find(isSameChoice)
  if (choice === undefined || sites === null) return []
  return Array.from(flows.period.keys())
    .filter((request) => sites.hasAny(request, choice.chanceSites))
    .map((request) => ({ request, value: Number(sites.hasAny(request, choice.madeSites)) }))
}

/** Returns 1 for requests of the form that more have now, 0 for those of the form that it replaces. */
function moveValues({ moves }: Draft, categories: Categories): Value[] {
  const to = new Set(moves.map((move) => move.to))
  const from = moves.map((move) => move.from)
  return requestsIn(categories, [...new Set([...to, ...from])]).map((request) => ({
    request,
    value: to.has(categories.categoryOf[request] as number) ? 1 : 0,
  }))
}

function requestsIn(categories: Categories, ids: readonly number[]): number[] {
  const members = ids.flatMap((id) =>
    ([BEFORE, AFTER] as const).flatMap((period) => [...categories.members(id, period)]),
  )
  return members.sort((a, b) => a - b)
}

/** Values that are compared with each other, and those before, ascending. */
interface Stratum {
  readonly members: readonly Value[]
  readonly before: readonly number[]
}

interface Score {
  readonly request: number
  readonly mean: number
  /** Difference from the values before, in units of their interquartile range. */
  readonly amount: number
}

/** Returns one score per request, 0 on average before: its rank, or whether it is in the most informative tail. */
function scoresOf(flows: FlowSet, values: readonly Value[]): readonly Score[] {
  const isBefore = ({ request }: Value) => flows.period[request] === BEFORE
  const strata = [...group(values, ({ stratum }) => stratum).values()].flatMap((members) => {
    const before = members
      .filter(isBefore)
      .map(({ value }) => value)
      .sort((a, b) => a - b)
    const isCompared = before.length > 0 && before.length < members.length
    return isCompared ? [{ members, before }] : []
  })
  // Numbered from 1 in the order in which they come.
  const numberOf = new Uint32Array(flows.size)
  const requests: number[] = []
  const counts: number[] = []
  const amounts: number[] = []
  for (const { members, before } of strata) {
    const middle = quantile(before, 0.5)
    const spread = quantile(before, 0.75) - quantile(before, 0.25) || Math.abs(middle) || 1
    for (const { request, value } of members) {
      numberOf[request] ||= requests.push(request)
      const at = numberOf[request]! - 1
      counts[at] = (counts[at] ?? 0) + 1
      amounts[at] = (amounts[at] ?? 0) + (value - middle) / spread
    }
  }
  const kinds = [
    ({ members }: Stratum) => {
      const ranks = midranks(Float64Array.from(members, ({ value }) => value))
      return ranks.map((rank) => (rank - 0.5) / members.length)
    },
    ...TAILS.map((tail) => ({ members, before }: Stratum) => {
      const limit = quantile(before, tail)
      return members.map(({ value }) => (value > limit ? 1 : 0))
    }),
  ]
  const scored = kinds.map((scoreOf) => {
    const means = new Float64Array(requests.length)
    for (const stratum of strata) {
      const { members } = stratum
      const scores = scoreOf(stratum)
      let [sumBefore, countBefore] = [0, 0]
      for (let i = 0; i < scores.length; i++) {
        if (!isBefore(members[i]!)) continue
        sumBefore += flows.countOf(members[i]!.request) * scores[i]!
        countBefore += flows.countOf(members[i]!.request)
      }
      const usual = sumBefore / countBefore
      members.forEach(({ request }, i) => {
        means[numberOf[request]! - 1]! += scores[i]! - usual
      })
    }
    for (let at = 0; at < means.length; at++) means[at]! /= counts[at]!
    return { means, contrast: contrast(flows, requests, means) }
  })
  const { means } = scored.reduce((best, one) => (one.contrast > best.contrast ? one : best))
  return requests.map((request, at) => ({
    request,
    mean: means[at]!,
    amount: amounts[at]! / counts[at]!,
  }))
}

type Known = ReturnType<typeof moments> & { readonly worth: number }

function contrast(flows: FlowSet, requests: readonly number[], scores: Float64Array): number {
  const [before, after] = ([BEFORE, AFTER] as const).map((period) => {
    const own = rowsWhere(requests.length, (at) => flows.period[requests[at]!] === period)
    const values = Float64Array.from(own, (at) => scores[at]!)
    const weights = flows.countsOf(own.map((at) => requests[at]!))
    return { ...moments(values, weights), worth: worthOf(values, weights) }
  }) as [Known, Known]
  const error = Math.sqrt(before.variance / before.worth + after.variance / after.worth)
  const difference = Math.abs(after.mean - before.mean)
  return difference === 0 ? 0 : difference / error
}

type IsThen = (request: number) => boolean

/**
 * Finds when drafts began and ended, and tells changes of times and failures by the requests that arrive in
 * between, where these lie within after and are known well: the others are as before, and would
 * dilute it. Intervals hold those for either end of the intervals of the start and of the end.
 */
export function draftsInTime(given: readonly Draft[], compared: Compared): Draft[] {
  const limits = limitsOf(compared.steps.flows, compared.steps.options)
  return Array.from(onsetsOf(given, compared), ([one, inTime]): Draft => {
    const draft = { ...one, inTime }
    const { segment, isOfSegment = false } = draft
    const isSized = isOfSteps(draft) || isOfSegment || draft.kind === 'errors'
    const spans = isSized ? spansOf(compared.categories.flows, inTime.began) : []
    const isOnly = segment && (isOfSegment || isConfined(draft, segment))
    if (isOnly && segment.requests.every((one) => spans.every((isThen) => isThen(one))))
      return draft
    if (draft.kind === 'errors') {
      const [isThen] = spans
      return isThen ? failuresThen(draft, compared.steps.flows, isThen) : draft
    }
    const resized = spans.map((isThen) => resizedBy(draft, { ...compared, isThen, limits }))
    const [told] = resized
    if (!told || resized.includes(null)) return draft
    const intervals = resized.map((one) => (one as Draft).eachInterval)
    const low = Math.min(...intervals.map(([from]) => from))
    const high = Math.max(...intervals.map(([, to]) => to))
    return { ...told, eachInterval: [low, high] }
  })
}

/** Whether a draft tells how long steps take, in numbers of its own: not what others leave of it. */
function isOfSteps({ kind, steps: [step], evidence, isOfSegment }: Draft): boolean {
  const isOwn = evidence.of === 'steps' || (isOfSegment === true && step?.kind !== 'request')
  return kind === 'latency' && isOwn
}

/**
 * Returns the requests before, and those after from start to end: as reported, at most, and at least. Returns none if
 * the times cannot be limited.
 */
export function spansOf(flows: FlowSet, began: Onset | null): IsThen[] {
  if (began === null || (began.fromStart && began.until === null)) return []
  const { fromStart, timeUs, lowUs, highUs } = began
  const never = Number.POSITIVE_INFINITY
  const until = began.until ?? { timeUs: never, lowUs: never, highUs: never }
  const arrivedUs = (request: number) =>
    flows.period[request] === AFTER ? flows.arrivalUs(request) : Number.NEGATIVE_INFINITY
  const lastUs = Math.min(until.timeUs, max(flows.period.keys(), arrivedUs) as number)
  const unsureUs = [fromStart ? 0 : highUs - lowUs, until.highUs - until.lowUs || 0]
  if (Math.max(...unsureUs) > PART * (lastUs - timeUs)) return []
  return [
    [timeUs, until.timeUs] as const,
    [lowUs, until.highUs] as const,
    [highUs, until.lowUs] as const,
  ].map(([fromUs, untilUs]) => (request) => {
    if (flows.period[request] === BEFORE) return true
    const us = arrivedUs(request)
    return (fromStart || us >= fromUs) && us < untilUs
  })
}

/** Returns a draft in the numbers of some requests; `null` where these did not change as it says. */
function resizedBy(
  draft: Draft,
  {
    categories,
    steps,
    isThen,
    limits,
  }: Compared & { readonly isThen: IsThen; readonly limits: Limits },
): Draft | null {
  const { flows, times } = steps
  const { segment, isOfSegment = false, evidence, direction } = draft
  const changes = draft.steps.flatMap((step) => changeOfStep(steps, step) ?? [])
  const partsOf = (isPart: (request: number, stratum: StepStratum) => boolean, isKnown: boolean) =>
    changes.map((change) => {
      const step = times.find((one) => stepKey(one) === stepKey(change)) as StepTimes
      return describePart(change, step, { limits, isPart, isKnown })
    })
  // Times of a step are means of a request's calls: of several, some may be outside.
  const areSeveral = changes.some(({ callsEach }) => callsEach >= SEVERAL)
  if (segment && segment.within !== null && areSeveral) return null
  const isInside = segment && insideOf(segment, flows)
  const isOnly = segment !== undefined && (isOfSegment || isConfined(draft, segment))
  const isPart = (request: number, stratum: StepStratum) =>
    isThen(request) && (!isOnly || isInside?.(request, stratum) === true)
  const parts = partsOf(isPart, isOnly)
  const strata = parts.flatMap((part) =>
    changedStrata(times, part).map((one) => partOfStratum(one, (request) => isPart(request, one))),
  )
  const isSo = ({ shiftUs }: StepChange) =>
    shiftUs !== 0 && shiftUs > 0 === (direction === 'slower')
  if (parts.length === 0 || parts.length < draft.steps.length || !parts.every(isSo)) return null
  const change = changeOfSteps(flows, parts as unknown as StepsEvidence['steps'])
  const told = {
    ...draft,
    ...change,
    strata,
    ...(evidence.of === 'steps' && {
      evidence: {
        of: evidence.of,
        scope: evidence.scope,
        steps: parts as unknown as StepsEvidence['steps'],
      },
    }),
  }
  if (segment === undefined) return told
  const ofSegment = isOnly
    ? parts
    : partsOf((request, stratum) => isThen(request) && isInside?.(request, stratum) === true, true)
  const own = ofSegment.find((one) => segment.step && isOfOneStep(one, segment.step))
  const inside = own ?? ofSegment[0]!
  const then = segmentThen(segment, {
    change: inside.shiftUs * (inside.minority?.share ?? 1),
    isThen,
    strata: strataOfStep(times, inside),
    flows,
  })
  const { steps: toldSteps } = isOfSegment ? segmentDraft(then, categories) : told
  return { ...told, steps: toldSteps, segment: then, isOfSegment: false }
}

/** Returns whether calls are of a segment; if none was inside before, any comparable call of before counts. */
function insideOf(segment: Segment, { period }: FlowSet) {
  const { requests, inside } = segment
  const own = new Set(requests)
  const isNew = inside.before === 0
  return (request: number, stratum: StepStratum) =>
    isAmong(stratum, segment) && (own.has(request) || (isNew && period[request] === BEFORE))
}

function isAmong(stratum: StepStratum, { operation, callingOperation }: Segment): boolean {
  return (
    (operation ?? stratum.operation) === stratum.operation &&
    (callingOperation ?? stratum.callingOperation) === stratum.callingOperation
  )
}

/** Returns a segment by those of its requests after, and of the others of its step, that arrive then. */
function segmentThen(
  segment: Segment,
  {
    change,
    isThen,
    strata,
    flows,
  }: {
    readonly change: number
    readonly isThen: IsThen
    readonly strata: readonly StepStratum[]
    readonly flows: FlowSet
  },
): Segment {
  const own = new Set(segment.requests)
  const sides = [0, 0]
  const all = new Set(
    strata
      .filter((stratum) => isAmong(stratum, segment))
      .flatMap(({ after }) => [...after.recorded.requests].filter(isThen)),
  )
  for (const request of all) sides[Number(own.has(request))]! += flows.countOf(request)
  const [outside, inside] = sides.map(Math.round) as [number, number]
  return {
    ...segment,
    inside: { ...segment.inside, after: inside, change },
    outside: { ...segment.outside, after: outside },
    requests: segment.requests.filter(isThen),
  }
}
