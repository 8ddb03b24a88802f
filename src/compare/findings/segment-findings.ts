import { greatest, least } from 'd3-array'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import type { Categories } from '../categories/categories.ts'
import type { OtherValues, Segment } from '../segments/segments.ts'
import { isSameChoice } from '../steps/call-counts.ts'
import { isSameCall } from '../steps/call-order.ts'
import { countByPeriod } from '../steps/compare-errors.ts'
import { changeOfStep, type StepChanges } from '../steps/step-changes.ts'
import { isOfOneStep } from '../steps/step-times.ts'
import { ALL, LARGE, NEARLY_ALL, PART } from '../thresholds.ts'
import { failuresOf } from './error-findings.ts'
import { type Compared, type Draft, type FindingCall, NO_EVIDENCE } from './finding.ts'
import { categoriesOf } from './names.ts'
import { firstExemplars } from './slow-examples.ts'

/** Lays segments to the drafts that show them; those of none but whole requests become drafts of their own. */
export function withSegments(
  drafts: readonly Draft[],
  segments: readonly Segment[],
  { categories, steps }: Compared,
): Draft[] {
  const { flows } = categories
  const told = drafts.map((draft) => {
    const segment = segments.find((one) => isOf(one, draft, drafts))
    if (segment === undefined || isOfOperations(segment, draft, steps)) return draft
    if (isOfAllCallers(segment, draft, steps) || isOfNearlyAll(segment, draft)) return draft
    return {
      ...draft,
      ...failureExemplars(segment, draft, categories),
      ...whereAlone(segment, draft, categories),
      segment,
    }
  })
  const own = segments.flatMap((segment) => {
    const isOwn =
      segment.step?.kind === 'request'
        ? segment.measure === 'errors' && flows.runs.length < 2
        : segment.measure === 'time'
    const isTold = drafts.some((draft) => isOf(segment, draft, drafts))
    return isOwn && !isTold ? [segmentDraft(segment, categories)] : []
  })
  return [...told, ...own]
}

/** Says why steps take longer if changed values in their calls explain it. */
export function withOtherValues(
  drafts: readonly Draft[],
  otherValues: readonly OtherValues[],
): Draft[] {
  return drafts.map((draft) => {
    const { kind, steps, calls, segment, contributionUs: us } = draft
    const [step, ...others] = steps
    const [call] = calls
    if ((segment?.conditions.length ?? 0) > 0) return draft
    if (kind === 'structure' && call !== undefined) {
      const own = otherValues.filter((one) => one.call && isSameChoice(call, one.call))
      const best = greatest(own, ({ amount }) => Math.abs(amount))
      return best === undefined ? draft : { ...draft, because: best }
    }
    if (kind !== 'latency' || !step || others.length > 0) return draft
    const own = otherValues.filter((one) => one.step && isOfOneStep(one.step, step))
    const best = least(own, ({ amount }) => Math.abs(amount - us))
    if (best !== undefined && best.amount / us >= 1 - PART) return { ...draft, because: best }
    // If all calls have another value, nobody knows how much time that adds.
    const [apart] = own.filter((one) => Number.isNaN(one.amount) && step.share === undefined)
    return apart === undefined ? draft : { ...draft, meanwhile: apart }
  })
}

/** Drafts whole requests of segments, in their own numbers. */
export function wholeRequests(segments: readonly Segment[], categories: Categories): Draft[] {
  // With several runs, steps tell which requests changed.
  if (categories.flows.runs.length > 1) return []
  return segments
    .filter(({ step, measure }) => step?.kind === 'request' && measure === 'time')
    .map((segment) => segmentDraft(segment, categories))
}

/** Whether a segment only separates changed operations from others, as the finding does. */
function isOfOperations(segment: Segment, { steps: [step] }: Draft, changes: StepChanges) {
  const { flows } = changes
  const change = step && changeOfStep(changes, step)
  if (change === undefined || change.minority !== null || segment.operation !== null) return false
  if (segment.within !== null) return false
  if (change.operations.every(({ changed }) => changed)) return false
  const all = new Set(requestsAfter(change, flows))
  const inside = requestsAfter(segment, flows)
  const shared = inside.filter((request) => all.has(request)).length
  return shared >= ALL * Math.max(inside.length, all.size)
}

/** Whether nearly all calls changed, in a segment that holds only most of it and out of it. */
function isOfNearlyAll({ shareOfChange }: Segment, { probabilitySlower, direction }: Draft) {
  const changed = direction === 'slower' ? probabilitySlower : 1 - probabilitySlower
  return changed >= NEARLY_ALL && shareOfChange < NEARLY_ALL
}

/** Whether a segment of failures only tells the requests that make the failing calls from others. */
function isOfAllCallers({ measure, requests }: Segment, draft: Draft, steps: StepChanges) {
  if (measure !== 'errors') return false
  const calling = failuresOf(draft, steps)
  const inside = new Set(requests)
  const shared = calling.filter(({ request }) => inside.has(request)).length
  return calling.length > 0 && shared >= ALL * calling.length
}

/** Returns a segment's own numbers if only its calls changed; if these are few, the change of one call. */
function whereAlone(segment: Segment, draft: Draft, categories: Categories): Partial<Draft> {
  const { inside, within, p, q } = segment
  const { flows } = categories
  const { evidence } = draft
  const [step] = draft.steps
  if (step === undefined || evidence.of !== 'steps' || !isConfined(draft, segment)) return {}
  const concerned = requestsInside(segment, flows)
  const told = {
    requests: concerned[AFTER],
    concerned,
    categories: categoriesOf(categories, requestsAfter(segment, flows)),
  }
  const [change] = evidence.steps
  const inSegment = { ...change, shiftUs: inside.change, minority: null }
  if (step.share !== undefined && within === null) {
    const [low, high] = draft.eachInterval.map((us) => (us * draft.requests) / inside.after)
    return {
      ...told,
      evidence: { ...evidence, inSegment },
      eachInterval: [low as number, high as number],
    }
  }
  if (concerned[AFTER] >= ALL * draft.requests && within === null) return {}
  const { share: _, ...ofAll } = step
  return {
    ...told,
    evidence: { ...evidence, inSegment: within === null ? inSegment : 'segment' },
    ...(draft.contributionUs !== 0 && {
      contributionUs: inside.change * inside.after * segment.waitedFor,
      eachInterval: eachIntervalOf(segment, flows),
    }),
    probabilitySlower: Number.NaN,
    steps: [{ ...ofAll, shiftUs: inside.change }],
    p,
    q,
  }
}

/** Whether all that a finding tells changed in requests of its segment. */
export function isConfined({ steps }: Draft, { inside, shareOfChange, measure }: Segment): boolean {
  const isMost = shareOfChange >= NEARLY_ALL && inside.after > 0
  return measure === 'time' && isMost && steps.length === 1
}

export function requestsAfter(
  { requests }: Pick<Segment, 'requests'>,
  { period }: FlowSet,
): number[] {
  return requests.filter((request) => period[request] === AFTER)
}

/** Requests of each period inside: of segments of spans, those that make the calls. */
function requestsInside(segment: Segment, flows: FlowSet): readonly [number, number] {
  const { inside, requests, within } = segment
  return within === null ? [inside.before, inside.after] : countByPeriod(flows, requests)
}

/** Returns the excess of a request inside; for spans, of all its spans together. */
function eachIntervalOf(segment: Segment, flows: FlowSet): [low: number, high: number] {
  const { change, error, after } = segment.inside
  const waited = after * segment.waitedFor
  const each = waited / Math.max(1, requestsInside(segment, flows)[AFTER])
  const width = normalQuantile(0.975) * error
  return [(change - width) * each, (change + width) * each]
}

/**
 * Picks examples of a failure segment: failing requests of the period with more failures, and others of the other
 * period.
 */
function failureExemplars(
  { measure, requests }: Segment,
  { direction }: Draft,
  { flows }: Categories,
): Pick<Draft, 'exemplars'> {
  const { outcomes } = flows
  if (measure !== 'errors' || outcomes === undefined) return {}
  const failing = direction === 'slower' ? AFTER : BEFORE
  const shown = requests.filter(
    (request) => outcomes.failed(request) === (flows.period[request] === failing),
  )
  return { exemplars: firstExemplars(flows, shown) }
}

function isOf(segment: Segment, draft: Draft, all: readonly Draft[]): boolean {
  const { measure, step, call, direction } = segment
  if (measure === 'errors') return isOfFailures(segment, draft, all)
  if (measure === 'structure') {
    // The title names one call or its replacement, so a segment of any other call does not belong to it.
    const moved = ({ made, chances }: FindingCall) =>
      Math.abs(made[AFTER] / chances[AFTER] - made[BEFORE] / chances[BEFORE])
    return draft.calls.some(
      (one, _, [told = one]) =>
        call !== null &&
        isSameChoice(one, call) &&
        isSameCall(one.of, told.of) &&
        !(moved(one) < LARGE * moved(told)),
    )
  }
  return (
    measure === 'time' &&
    draft.direction === direction &&
    draft.kind === 'latency' &&
    step !== null &&
    draft.steps.some((one) => isOfOneStep(one, step))
  )
}

function isOfFailures({ step, direction }: Segment, draft: Draft, all: readonly Draft[]): boolean {
  const [fails] = draft.calls
  const isMore = (direction === 'more') === (draft.direction === 'slower')
  if (fails?.kind !== 'fails' || !isMore) return false
  if (step?.kind === 'work') return fails.of.service === step.service
  if (!draft.failedRequests) return false
  const callers = all.filter(
    ({ calls: [other] }) => other?.kind === 'fails with' && isSameCall(other.previous, fails.of),
  )
  return [draft, ...callers].some(({ services }) => services[0] === step?.service)
}

export function segmentDraft(segment: Segment, categories: Categories): Draft {
  const { step, inside, measure, operation, callingOperation, direction, conditions } = segment
  const { within } = segment
  const { service = '', caller = null } = step ?? {}
  const kind = step?.kind ?? 'request'
  const { flows } = categories
  const isTime = measure === 'time'
  const concerned = requestsInside(segment, flows)
  const where = conditions.map(({ text }) => text).join(' and ')
  return {
    ...NO_EVIDENCE,
    kind: isTime ? 'latency' : 'errors',
    direction: isTime ? (direction as 'slower' | 'faster') : 'slower',
    evidence: { of: 'segment' },
    key: JSON.stringify([measure, kind, caller, service, within ?? operation, where]),
    categories: categoriesOf(categories, requestsAfter(segment, flows)),
    requests: concerned[AFTER],
    concerned,
    contributionUs: isTime ? inside.change * inside.after * segment.waitedFor : 0,
    ...(isTime && { eachInterval: eachIntervalOf(segment, flows) }),
    services: [service, ...(caller === null ? [] : [caller])],
    steps: [
      {
        kind,
        service,
        caller,
        shiftUs: isTime ? inside.change : 0,
        operation: operation ?? callingOperation ?? '',
      },
    ],
    segment,
    isOfSegment: true,
    p: segment.p,
    q: segment.q,
  }
}
