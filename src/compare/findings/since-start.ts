import { max } from 'd3-array'
import { SEVERAL } from '../../calls/visits.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import type { Onset } from '../onset/onset.ts'
import type { Segment } from '../segments/segments.ts'
import { describePart, type Limits, limitsOf } from '../steps/describe-step.ts'
import { changedStrata, changeOfStep, type StepChange } from '../steps/step-changes.ts'
import { partOfStratum, type StepStratum } from '../steps/step-strata.ts'
import { isOfOneStep, type StepTimes, stepKey, strataOfStep } from '../steps/step-times.ts'
import { failuresThen } from './error-findings.ts'
import type { StepsEvidence } from './evidence.ts'
import type { Compared, Draft } from './finding.ts'
import { onsetsOf } from './finding-onsets.ts'
import { isConfined, segmentDraft } from './segment-findings.ts'
import { changeOfSteps } from './step-findings.ts'

/** A start, or an end, is known well if its interval is at most this share of the time between them. */
const MAX_UNSURE = 0.25

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
  if (Math.max(...unsureUs) > MAX_UNSURE * (lastUs - timeUs)) return []
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
