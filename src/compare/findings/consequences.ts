import { mean, sort, sum } from 'd3-array'
import { allVisits } from '../../calls/visits.ts'
import { at } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
import { AFTER } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { place } from '../../flows/node-labels.ts'
import { quantile } from '../../stats/quantile.ts'
import type { Categories } from '../categories/categories.ts'
import { isSame, type Operation } from '../steps/call-order.ts'
import { errorChangeOf } from '../steps/compare-errors.ts'
import { changedStrata, changeOfStep, type StepChanges } from '../steps/step-changes.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import { makesCalls, type Step, strataOfStep } from '../steps/step-times.ts'
import { innerOperation } from '../steps/work-parts.ts'
import { MOST, NEARLY_ALL, NOTABLE } from '../thresholds.ts'
import { type Compared, type Draft, type Finding, isStructural } from './finding.ts'
import { requestsOf } from './names.ts'

export function byContribution(a: Draft, b: Draft): number {
  const weight = (one: Draft) => one.weightUs ?? estimateOf(one)
  return weight(b) - weight(a) || a.q - b.q
}

/** A draft, and those that follow from it. */
export interface Group {
  cause: Draft
  readonly consequences: Draft[]
}

/**
 * Nests each draft under the draft that it is a consequence of; the largest in total comes first. Unless requests got
 * faster, a faster step is no cause, and comes after those that cost time.
 */
export function nestConsequences(compared: Compared, drafts: readonly Draft[], isFaster: boolean) {
  const causes: Group[] = []
  const givenUp = memoized((cause: Draft) =>
    drafts.some((draft) => isGivenUp(compared, { cause, draft })),
  )
  // Among services that log differently, the deepest is the likeliest cause.
  const order = (draft: Draft) => {
    if (draft.depth !== undefined) return -3 - draft.depth
    if (draft.calls[0]?.kind === 'fails') return -1
    if (drafts.some((cause) => isOfAnswer(compared, { cause, draft }))) return 0.5
    return givenUp(draft) ? -2 : Number(!isStructural(draft))
  }
  const byKind = sort(drafts, order)
  const isLast = (draft: Draft) => isGap(draft) && !givenUp(draft)
  const likeliestFirst = [...byKind.filter((draft) => !isLast(draft)), ...byKind.filter(isLast)]
  for (const draft of likeliestFirst) {
    // Consequences of a covered finding, or of failures of another cause, are listed beside it.
    const found = causes.find(({ cause, consequences }) =>
      [cause, ...consequences.filter(({ kind }) => cause.covers || kind === 'errors')].some((one) =>
        isConsequence(compared, { cause: one, draft }),
      ),
    )
    if (found === undefined) {
      causes.push({ cause: draft, consequences: [] })
      continue
    }
    const turned = { cause: draft, draft: found.cause }
    // If one choice shows in several services, the caller's is the cause.
    const isCallers =
      isSameChoice(compared, turned) && isOfCallee(compared, { cause: found.cause, draft })
    found.consequences.push(isCallers ? found.cause : draft)
    if (isCallers) found.cause = draft
  }
  for (const { consequences } of causes) consequences.sort(byContribution)
  return causes.sort(
    (a, b) =>
      placeOf(a.cause) - placeOf(b.cause) ||
      (isFaster ? 0 : isGain(a.cause) - isGain(b.cause)) ||
      toldUs(b) - toldUs(a) ||
      a.cause.q - b.cause.q,
  )
}

/** Returns the ranking weight of a cause with its consequences. */
function toldUs({ cause, consequences }: Pick<Group, 'cause' | 'consequences'>): number {
  return Math.max(cause.weightUs ?? 0, Math.abs(withConsequences(cause, consequences)))
}

function isGain({ kind, direction }: Draft): number {
  return Number(kind === 'latency' && direction === 'faster')
}

/** Returns the order of a draft: a load that may cause everything else comes first, an unexplained rest last. */
function placeOf({ kind, isFirst = false }: Draft): number {
  return isFirst ? 0 : kind === 'unattributed' ? 2 : 1
}

/**
 * Returns the time that a finding and its consequences add. One that covers others includes theirs already, unless it
 * is a place.
 */
export function withConsequences(
  { contributionUs, covers, places }: Draft,
  consequences: readonly Pick<Finding, 'contributionUs'>[],
): number {
  return contributionUs + (covers && !places ? 0 : sum(consequences, (one) => one.contributionUs))
}

/** A draft, and another that may follow from it. */
interface Pair {
  readonly cause: Draft
  readonly draft: Draft
}

/** Returns the kinds of change that a draft reports: `RELATIONS` goes by them. */
type Change = 'time' | 'calls' | 'failures' | 'logs'

interface Relation {
  readonly cause: Change
  readonly effect: Change
  readonly holds: (compared: Compared, pair: Pair) => boolean
}

/** How one change brings another about. Each row is one way, with its reason at the function. */
const RELATIONS: readonly Relation[] = [
  { cause: 'logs', effect: 'calls', holds: isOfCallee },
  { cause: 'logs', effect: 'failures', holds: isOfCallee },
  { cause: 'failures', effect: 'failures', holds: isFailingWith },
  { cause: 'failures', effect: 'calls', holds: isRetry },
  { cause: 'failures', effect: 'calls', holds: isReaction },
  { cause: 'failures', effect: 'calls', holds: isCutShort },
  { cause: 'failures', effect: 'time', holds: isTimeOfErrors },
  { cause: 'calls', effect: 'calls', holds: isSameChoice },
  { cause: 'calls', effect: 'calls', holds: isOfAnswer },
  { cause: 'calls', effect: 'time', holds: isSameWork },
  { cause: 'time', effect: 'failures', holds: isGivenUp },
  { cause: 'time', effect: 'time', holds: isPartOfWork },
  { cause: 'time', effect: 'time', holds: isSameDelay },
  { cause: 'time', effect: 'calls', holds: isPathAfter },
]

/** Whether a draft follows from another one. */
function isConsequence(compared: Compared, pair: Pair): boolean {
  const { cause, draft } = pair
  if (draft.covers !== undefined) return false
  if (cause.covers !== undefined) return cause.covers.includes(draft.key)
  const [causes, effects] = [changesOf(cause), changesOf(draft)]
  return RELATIONS.some(
    (one) =>
      causes.includes(one.cause) && effects.includes(one.effect) && one.holds(compared, pair),
  )
}

function changesOf(draft: Draft): Change[] {
  const { kind, depth } = draft
  return [
    ...(depth === undefined ? [] : (['logs'] as const)),
    ...(kind === 'latency' ? (['time'] as const) : []),
    ...(kind === 'errors' ? (['failures'] as const) : []),
    ...(isStructural(draft) ? (['calls'] as const) : []),
  ]
}

/** Returns the time a draft adds by its own evidence alone. */
function estimateOf({ estimateUs, contributionUs }: Draft): number {
  return Math.abs(estimateUs ?? contributionUs)
}

/** Whether times changed the same way; waits of messages explain no slower calls, nor the other way round. */
function isAlongside({ cause, draft }: Pair): boolean {
  const isOfMessages = [cause, draft].some(({ steps: [step] }) => step?.part === 'message')
  return cause.direction === draft.direction && !isOfMessages
}

/** Whether the same service took longer in the same requests, by no more. */
function isPartOfWork({ categories }: Compared, pair: Pair): boolean {
  return isAlongside(pair) && isOfSameService(pair) && shareRequests(categories, pair)
}

function isOfSameService({ cause, draft }: Pair): boolean {
  return draft.services[0] === cause.services[0] && estimateOf(draft) <= estimateOf(cause)
}

/** Whether work or a gap elsewhere is longer by as much, in the same requests, for it waits for the slower call. */
function isSameDelay({ categories }: Compared, pair: Pair): boolean {
  const { cause, draft } = pair
  const [step] = cause.changedEdges
  const [other] = draft.changedEdges
  if (!isAlongside(pair) || isOfSameService(pair) || !step || !other) return false
  const isWork = draft.changedEdges.every(({ kind }) => kind === 'self')
  const isElsewhere = !draft.services.some((service) => service === cause.services[0])
  const canShowIt = isGap(draft) ? !isGap(cause) : isWork && step.kind === 'network'
  const isAlike = Math.abs(other.shiftUs - step.shiftUs) <= NOTABLE * Math.abs(step.shiftUs)
  return canShowIt && isElsewhere && isAlike && shareRequests(categories, pair)
}

/** Whether requests take another path after a slower call. */
function isPathAfter(_: Compared, pair: Pair): boolean {
  const { cause, draft } = pair
  const [other] = draft.changedEdges
  return isAlongside(pair) && other !== undefined && cause.changedEdges.includes(other)
}

/** Whether time passes between two operations of a service, which no span covers. */
function isGap({ kind, changedEdges }: Draft): boolean {
  return (
    kind === 'latency' &&
    changedEdges.length > 0 &&
    changedEdges.every(
      ({ kind, fromNode, toNode }) => kind === 'self' && fromNode.operation !== toNode.operation,
    )
  )
}

/** Whether one choice shows in several services. */
function isSameChoice({ categories }: Compared, pair: Pair): boolean {
  const both = doingBoth(pair)
  return both > 0 && both < NEARLY_ALL * requestsOf(categories, pair.draft.categories)[AFTER]
}

/** Returns the number of requests after with both changes, if nearly all with one have the other; else 0. */
function doingBoth({ cause, draft }: Pair): number {
  const [some, others] = [cause.doing, draft.doing]
  if (!some || !others || !isStructural(cause) || !isStructural(draft)) return 0
  const known = new Set(some)
  const both = others.filter((one) => known.has(one)).length
  return both >= NEARLY_ALL * Math.max(known.size, others.length) ? both : 0
}

/** Whether a service does something else after the answer of one that does so in the same requests, be these all. */
function isOfAnswer({ categories }: Compared, { cause, draft }: Pair): boolean {
  const [service, below] = [draft.services[0], cause.services[0]]
  if (service === undefined || below === undefined || service === below) return false
  const isAfter = draft.calls.some(
    ({ kind, previous }) => kind === 'next' && previous?.service === below,
  )
  return isAfter && doingBoth({ cause, draft }) > 0 && isAbove(categories, service, below)
}

/** Whether a service does or logs something else, or fails, where one below it does: it has its answer. */
function isOfCallee({ categories }: Compared, { cause, draft }: Pair): boolean {
  const [service, below] = [draft.services[0], cause.services[0]]
  const isAnswer = isStructural(draft) || draft.kind === 'errors'
  if (!isAnswer || service === undefined || below === undefined || service === below) return false
  return isAbove(categories, service, below) && shareRequests(categories, { cause, draft })
}

function isAbove({ flows }: Categories, service: string, below: string): boolean {
  return [...allVisits(recordedFlows(flows)).values()].some(({ visits }) =>
    visits.some((visit) => {
      if (visit.service !== below) return false
      let above = visit.caller
      while (above !== null && above.service !== service) above = above.caller
      return above !== null
    }),
  )
}

function shareRequests(categories: Categories, { cause, draft }: Pair): boolean {
  const known = new Set(cause.categories)
  const count = (ids: readonly number[]) =>
    ids.reduce((sum, category) => sum + categories.count(category, AFTER), 0)
  const shared = count(draft.categories.filter((category) => known.has(category)))
  return shared >= MOST * count(draft.categories)
}

/** Whether a service fails because calls of it do. */
function isFailingWith(_: Compared, { cause, draft }: Pair): boolean {
  const [fails] = draft.calls
  return fails?.kind === 'fails with' && isFailing(cause, fails.previous)
}

function isFailing({ calls: [failing] }: Draft, one: Operation | null): boolean {
  return one !== null && failing !== undefined && isSame(one, failing.of)
}

/** Whether failing calls, what fails within them, or callers that fail with them are called again. */
function isRetry({ steps }: Compared, { cause, draft }: Pair): boolean {
  const change = errorChangeOf(steps.errors, cause.services)
  const [failing] = cause.calls
  const isWithin = (one: Operation | null) =>
    one?.service === failing?.of.service && one?.operation === change?.inner?.operation
  const isWith = (one: Operation | null) =>
    one !== null && change?.passedOn.some(({ of }) => isSame(of, one)) === true
  return draft.calls.some(
    ({ kind, call }) =>
      (kind === 'again' || kind === 'hedges') &&
      (isFailing(cause, call) || isWithin(call) || isWith(call)),
  )
}

/** Whether a caller does something else in nearly only those requests in which its calls fail. */
function isReaction({ steps }: Compared, { cause, draft }: Pair): boolean {
  const change = errorChangeOf(steps.errors, cause.services)
  const { doing = [] } = draft
  const failed = doing.filter((one) => change?.failing.has(one)).length
  const isCaller = change?.callers.includes(draft.services[0] ?? '')
  return isCaller === true && doing.length > 0 && failed >= NEARLY_ALL * doing.length
}

/** Whether requests that fail make other calls: around the failing one, or within it. */
function isCutShort({ categories }: Compared, { cause, draft }: Pair): boolean {
  if (!cause.failedRequests) return false
  const { calls } = draft
  return (
    calls.some(({ previous, call }) => isFailing(cause, previous) || isFailing(cause, call)) ||
    (calls.some(({ of }) => isFailing(cause, of)) && shareRequests(categories, { cause, draft }))
  )
}

/**
 * Whether calls fail because their caller gives them up: the step that they wait for takes longer, longest in these.
 */
function isGivenUp({ categories, steps }: Compared, { cause, draft }: Pair): boolean {
  const {
    kind,
    direction,
    steps: [step],
  } = cause
  const isOfCalls = draft.calls[0]?.kind === 'fails' && draft.services.length > 1
  if (kind !== 'latency' || !isOfCalls || !isWorkOrCallee(step)) return false
  const [callee = ''] = draft.services
  const isBelow = step.service === callee || isAbove(categories, callee, step.service)
  const change = errorChangeOf(steps.errors, draft.services)
  if (direction !== 'slower' || draft.direction !== direction || !isBelow || !change) return false
  const [failing, longer] = [new Set<number>(), new Set<number>()]
  for (const { after } of strataOf(cause, steps)) {
    const { requests, values } = after.recorded
    const others = values.filter((_, i) => !change.failing.has(at(requests, i)))
    if (others.length === 0) continue
    const most = quantile(others, NEARLY_ALL)
    for (const [i, request] of requests.entries()) {
      if (!change.failing.has(request)) continue
      failing.add(request)
      // Of several calls of a request, one that fails is enough.
      if (at(values, i) > most) longer.add(request)
    }
  }
  return failing.size > 0 && longer.size >= NEARLY_ALL * failing.size
}

/** Whether a step is the work of a service, or all that a callee without spans does. */
function isWorkOrCallee(step: Step | undefined): step is Step {
  return step !== undefined && step.kind !== 'request' && step.caller === null
}

/** Returns the excess time of the selected requests' calls over similar calls before, and their numbers. */
function excessIn(strata: readonly StepStratum[], isOf: (request: number) => boolean) {
  let [us, before, after] = [0, 0, 0]
  for (const stratum of strata) {
    const [then, now] = [stratum.before, stratum.after].map(({ recorded: { requests, values } }) =>
      values.filter((_, i) => isOf(at(requests, i))),
    ) as [Float64Array, Float64Array]
    if (then.length === 0) continue
    us += sum(now) - now.length * (mean(then) as number)
    before += then.length
    after += now.length
  }
  return { us, before, after, eachUs: us / after || 0 }
}

/**
 * Whether a failing service, or its caller, works longer because of the failure: it waits for another try, or for a
 * timeout. Slower work of the callee of failing calls may instead be the reason for the failures.
 */
function isTimeOfErrors({ categories, steps }: Compared, { cause, draft }: Pair): boolean {
  const [failing = '', ...callers] = cause.services
  const [service = ''] = draft.services
  const isRelated =
    service === failing
      ? callers.length === 0
      : callers.includes(service) || isAbove(categories, service, failing)
  const change = errorChangeOf(steps.errors, cause.services)
  const isWork = draft.steps.length > 0 && draft.steps.every(isWorkOrCallee)
  if (!isWork || !isRelated || change === undefined || cause.direction !== draft.direction) {
    return false
  }
  const strata = strataOf(draft, steps)
  // Calls that are not given up may all be among the fastest.
  const without = excessIn(strata, (request) => !change.failing.has(request))
  return without.eachUs / excessIn(strata, () => true).eachUs < MOST
}

/**
 * Whether a service's work changed as it does something else, or for the answer to a call. What changed within
 * one operation of its work is that of another cause, unless that is called otherwise.
 */
function isSameWork({ categories, steps }: Compared, { cause, draft }: Pair): boolean {
  const [service] = cause.services
  const change = draft.steps[0] && changeOfStep(steps, draft.steps[0])
  const inner = draft.segment?.within || (change && innerOperation(steps.flows, change))
  const called = cause.calls.flatMap(({ call }) => call ?? [])
  const isOther = called.length > 0 && called.every(({ operation }) => operation !== inner)
  if (inner && inner !== draft.steps[0]?.operation && isOther) return false
  const isAlike = cause.direction === draft.direction
  const isSmall = estimateOf(draft) < estimateOf(cause)
  const isOwn =
    draft.steps.some((step) => step.kind === 'work' && step.service === service) ||
    draft.changedEdges.some(({ kind, fromNode }) => kind === 'self' && place(fromNode) === service)
  const isCallOf =
    service !== undefined &&
    draft.services.includes(service) &&
    draft.steps.some((step) => makesCalls(step, service))
  const isShown = (isAlike && isOwn) || (isSmall && isCallOf)
  if (!isShown || !shareRequests(categories, { cause, draft })) return false
  // Calls that take longer although the requests call the same as before have another cause.
  if (cause.did === undefined || cause.doing === undefined) return true
  const strata = strataOfDraft(draft, steps)
  const does = new Set([...cause.did, ...cause.doing])
  const all = excessIn(strata, () => true)
  const alike = [true, false]
    .map((is) => excessIn(strata, (request) => does.has(request) === is))
    .filter(({ before, after }) => before >= NOTABLE * all.before && after >= NOTABLE * all.after)
  const eachUs = sum(alike, ({ us }) => us) / sum(alike, ({ after }) => after) || 0
  return eachUs / all.eachUs < MOST
}

/** Returns the times of all operations of a draft's steps; its steps name but the first of these. */
function strataOf({ steps, segment }: Draft, { times }: StepChanges): readonly StepStratum[] {
  const operation = segment?.operation ?? ''
  return steps.flatMap((step) => strataOfStep(times, { ...step, operation }))
}

/** Returns the strata of a draft's changed steps, limited to the time that it is reported in. */
export function strataOfDraft(
  { strata, steps }: Draft,
  changes: StepChanges,
): readonly StepStratum[] {
  return (
    strata ??
    steps.flatMap((step) => changedStrata(changes.times, changeOfStep(changes, step) ?? step))
  )
}
