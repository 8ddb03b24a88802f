import { sum } from 'd3-array'
import { isOfPlace } from '../../calls/attribute-columns.ts'
import { moreFailed } from '../../compare/findings/error-findings.ts'
import type {
  Draft,
  FailureEvidence,
  Finding,
  SegmentEvidence,
} from '../../compare/findings/finding.ts'
import { calledName } from '../../compare/findings/names.ts'
import type { Segment, ValueChange } from '../../compare/segments/segments.ts'
import type { ErrorChange, InnerCall } from '../../compare/steps/compare-errors.ts'
import { isOfOneStep } from '../../compare/steps/step-times.ts'
import { workParts } from '../../compare/steps/work-parts.ts'
import { LARGE, MOST, NEARLY_ALL, SURE_LEVEL, TWICE } from '../../compare/thresholds.ts'
import { callerSide, moreText, type Quantity } from '../../core/quantity.ts'
import { counted, grouped, listed, MAX_NAMED, percent, printable } from '../../core/words.ts'
import { saysTarget } from '../../flows/call-targets.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { operationAt, operationName } from '../../flows/node-labels.ts'
import { proportionInterval } from '../../stats/proportion-interval.ts'
import { twoProportionsTest } from '../../stats/two-proportions.ts'
import { condition } from '../../traces/selection/condition.ts'
import {
  callsText,
  deadlineText,
  leftText,
  lookAtRest,
  mostlyText,
  ofChances,
  type Words,
  wayNotes,
} from './finding-facts.ts'

const OPERATION = { service: null, attribute: 'operation', isAttribute: false }

/** Says what changed in a segment, in its own numbers. */
export function segmentWords(flows: FlowSet, { left }: SegmentEvidence, segment: Segment): Words {
  const { step, measure, requests } = segment
  const { service = '', caller = null } = step ?? {}
  const kind = step?.kind ?? 'request'
  const name = nameOf(segment)
  const from = caller === null ? '' : `${printable(caller)} → `
  const isTime = measure === 'time'
  const what = isTime ? timeWords(segment, flows) : failureWords(segment)
  return {
    where: `${from}${printable(service)}${kind === 'request' && name !== '' ? ` ${name}` : ''}`,
    what: left ? what + leftText(left, flows.quantity) + mostlyText(left) : what,
    notes: [
      ...segmentFacts(segment),
      ...(isTime ? wayNotes(flows, [{ kind, service, caller }], requests) : []),
    ],
    look: (left && lookAtRest(left)) ?? lookFor(segment, printable(service)),
  }
}

/** Names the conditions a change is confined to: `, only where tenant.tier = enterprise`, or `mostly`. */
export function segmentClause({
  segment,
  steps,
  what,
}: Pick<Finding, 'segment' | 'steps' | 'what'>): string {
  if (segment === undefined) return ''
  const { step, measure, operation, callingOperation, conditions, text, shareOfChange } = segment
  const { within } = segment
  const isUntold = (name: string | null): name is string =>
    name !== null && name !== '' && !what.includes(operationAt(step?.service ?? '', name))
  // A service that fails may be asked for other operations, too.
  const isRoot = measure === 'errors' && within === null && isUntold(operation)
  const of = isRoot ? `${condition(OPERATION, 'is', [operation]).text} and ` : ''
  const calls = [
    ...(measure === 'time' && isUntold(operation) ? [`in ${operationName({ operation })}`] : []),
    ...(isUntold(callingOperation)
      ? [`for ${operationName({ operation: callingOperation })}`]
      : []),
  ]
  const isAll =
    !(shareOfChange < NEARLY_ALL) && (step === null || steps.every((one) => isOfOneStep(one, step)))
  const where = conditions.length === 0 ? [] : ['where', `${of}${text}`]
  if (where.length + calls.length === 0) return ''
  return `, ${[isAll ? 'only' : 'mostly', ...calls, ...where].join(' ')}`
}

/** Facts of a draft's segment; adds `, take 2.35 ms longer` where the title has the typical call of all. */
export function segmentNotes(
  segment: Segment,
  { steps: [step, ...others] }: Pick<Draft, 'steps'>,
  quantity: Quantity,
): string[] {
  const { measure, inside } = segment
  const isTold =
    measure !== 'time' ||
    others.length > 0 ||
    step?.share !== undefined ||
    step?.shiftUs === inside.change
  return segmentFacts(segment, isTold ? '' : `, take ${moreText(inside.change, quantity)}`)
}

function segmentFacts(segment: Segment, taking = ''): string[] {
  const { shareOfChange, equivalents, inside, outside, conditions, text, measure, within } = segment
  if (conditions.length === 0) return []
  const all = grouped(inside.after + outside.after)
  const same = equivalents.find((one) => !one.endsWith(text))
  const also = same === undefined ? '' : `; the same requests have ${same}`
  const failed = (share: number, of: number) => grouped(Math.round(share * of))
  const failing =
    measure === 'errors'
      ? `, ${failed(inside.afterMean, inside.after)} of them fail (${failed(inside.beforeMean, inside.before)} of ${grouped(inside.before)} before)`
      : ''
  const searched =
    within === null
      ? `requests ${searchedIn(segment)}`
      : `calls of ${within === '' ? printable(segment.step?.service ?? '') : operationName({ operation: within })}`
  return [
    `${grouped(inside.after)} of ${all} ${searched} meet this condition${taking}${failing} and account for ${percent(shareOfChange)} of the change${also}`,
    ...(isLoaded(segment) ? [loadText(segment)] : []),
  ]
}

/** Whether slower calls are those to a place that gets many times the share of calls that it got. */
function isLoaded({ conditions, step, inside, outside, direction }: Segment): boolean {
  const [then, now] = [inside.before + outside.before, inside.after + outside.after]
  const isMore = inside.before > 0 && inside.after / now >= (TWICE * inside.before) / then
  if (direction !== 'slower' || !isMore) return false
  const { p } = twoProportionsTest(inside.before, then, inside.after, now)
  const isThere = conditions.some(
    ({ service, attribute }) =>
      service === step?.service && isOfPlace(attribute) && attribute !== 'version',
  )
  return isThere && p < SURE_LEVEL
}

function loadText({ inside, outside }: Segment): string {
  const share = (own: number, others: number) => percent(own / (own + others))
  return `it gets ${share(inside.after, outside.after)} of the calls, ${share(inside.before, outside.before)} before: calls may queue there`
}

export function lookFor(segment: Segment, look: string): string {
  const ways = 'how calls are spread over its hosts, queues, threads, connections'
  return isLoaded(segment) ? `${printable(segment.step?.service ?? '')} (${ways})` : look
}

/** Says which requests a segment divides: `through checkout-api`, `with mds index get`. */
function searchedIn({ step, call, measure, operation, callingOperation }: Segment): string {
  if (step === null) return call === null ? '' : `with ${calledName(call.of, '')}`
  const service = printable(step.service)
  // Failures are known by the operation of roots.
  const isTime = measure === 'time'
  const caller = isTime ? callingOperation : operation
  const by = forCaller(caller, isTime ? operation : null)
  if (!isTime) return `through ${service}${by}`
  if (operation !== null) return `with ${service} ${operationName({ operation })}${by}`
  return step.caller === null
    ? `through ${service}`
    : `in which ${printable(step.caller)} calls ${service}`
}

/** Names the calling operation, unless it has the same name. */
function forCaller(caller: string | null, operation: string | null): string {
  return caller && caller !== operation ? ` for ${operationName({ operation: caller })}` : ''
}

/** Returns the operation that a segment is of: of spans theirs, which may lie within that; empty for several. */
function nameOf(segment: Segment): string {
  const { step, operation, within } = segment
  const service = step?.service ?? ''
  const name = operation === null ? '' : operationAt(service, operation)
  if (!isInner(segment)) return name
  const names = [within as string, ...(segment.alike ?? [])].map((one) => operationAt(service, one))
  const inner = listed(names, MAX_NAMED)
  return step?.kind === 'work' && name !== '' ? `${inner} within ${name}` : inner
}

/** Whether its spans lie within the operation, not at its start. */
function isInner({ within, operation }: Segment): boolean {
  return within !== null && within !== '' && within !== operation
}

/** Says how much longer calls of a segment take. */
export function timeWords(segment: Segment, flows: FlowSet): string {
  const { quantity } = flows
  const { step, inside, callingOperation, within } = segment
  const name = nameOf(segment)
  const time = moreText(inside.change, quantity) + (within === null ? '' : ' per call')
  if (step?.kind === 'work' && isInner(segment))
    return `${name} ${segment.alike ? 'take' : 'takes'} ${time}`
  const by = forCaller(callingOperation, segment.operation)
  if (step?.kind === 'request') return `requests take ${time}`
  if (step?.kind === 'call')
    return `${name === '' ? 'its call' : name}${by} takes ${time}${step.caller === null ? '' : callerSide(quantity)}`
  const inner = innerOf(segment, flows)
  if (inner !== null)
    return `${operationName({ operation: inner })} within ${name}${by} takes ${time}`
  return `${name === '' ? 'its work' : `${name} itself`}${by} takes ${time}`
}

function failureWords({ inside: { before, after, beforeMean, afterMean } }: Segment): string {
  return (
    `${grouped(afterMean * after)} of ${grouped(after)} requests fail ` +
    `(${grouped(beforeMean * before)} of ${grouped(before)} before)`
  )
}

/** Returns the operation within another's work that holds most of the requests' extra time. */
function innerOf({ step, operation, inside, requests, within }: Segment, flows: FlowSet) {
  const isOne = operation !== null && (within === null || within === operation)
  if (step?.kind !== 'work' || !isOne) return null
  const parts = workParts(flows, { service: step.service, requests, minority: null })
  const allUs = sum(parts, ({ meanUs }) => meanUs)
  const part = parts.find(({ meanUs }) => meanUs / allUs >= LARGE)
  const isIt = part && !part.isOfCalls && part.operation !== operation
  return isIt && allUs * inside.change > 0 ? part.operation : null
}

type Counts = FailureEvidence['counts']

/** Says what fails, how often, and where to look. */
export function failuresWords({ change, passed, counts, deadline }: FailureEvidence): Words {
  const { kind, callers, inner } = change
  const service = printable(change.service)
  // Failures that only callers recorded may never have reached the service: an open breaker, or no connection.
  const look = listed(
    [...callers, change.service, ...(inner?.peer ? [inner.peer] : [])].map(printable),
    MAX_NAMED,
  )
  if (passed !== null) {
    return {
      where: printable(passed.of.service),
      what: `${operationAt(passed.of.service, passed.of.operation)} fails in ${callsText(counts)}`,
      look,
      notes: [rateText(counts)],
    }
  }
  const from = kind === 'work' ? '' : `${listed(callers.map(printable), MAX_NAMED)} → `
  return {
    where: from + service,
    what: errorWords(change, counts),
    look,
    notes: [
      rateText(counts),
      failedText(change),
      ...(deadline === null ? [] : [`calls are ${deadlineText(deadline)}`]),
    ],
  }
}

/** Says what fails: `POST /pay fails with “no such promo” in 193 of 2,741 calls (14 of 2,823 before)`. */
export function errorWords(
  change: ErrorChange,
  counts: Pick<Counts, 'made' | 'chances'> = change.inner ?? change,
): string {
  const { operations, said, messages, made, difference, inner } = change
  const isOne = operations.length === 1 || inner !== null
  const names = operations.map((operation) => operationAt(change.service, operation))
  const call = inner === null ? '' : `${operationName(inner)}${toPeer(inner)} within `
  const what = call + listed(names, MAX_NAMED)
  const [message] = messages
  const moved = Math.abs(made[AFTER] - made[BEFORE])
  const isMost =
    message !== undefined && Math.abs(message.made[1] - message.made[0]) >= MOST * moved
  const words = said ?? (isMost ? message.text : '')
  const saying = words === '' ? '' : ` with “${printable(words)}”`
  if (made[AFTER] === 0) {
    return `${what} no longer ${isOne ? 'fails' : 'fail'}${saying} (${ofChances(counts, BEFORE)} calls before)`
  }
  const only = difference > 0 ? '' : 'only '
  return `${what} ${isOne ? 'fails' : 'fail'}${saying} ${only}in ${callsText(counts)}`
}

function toPeer({ operation, peer }: Pick<InnerCall, 'operation' | 'peer'>): string {
  return peer === '' || saysTarget(operation) ? '' : ` to ${printable(peer)}`
}

function rateText({ made, chances, worth }: Counts): string {
  const share = (period: Period) => rate(made[period] / Math.max(1, chances[period]))
  const interval = (period: Period) => {
    const failed = (made[period] * worth[period]) / Math.max(1, chances[period])
    const [low, high] = proportionInterval(failed, worth[period])
    return `${rate(low).replace(' %', '')}–${rate(high)}`
  }
  return `${share(AFTER)} of calls (95 % CI ${interval(AFTER)}), ${share(BEFORE)} before (${interval(BEFORE)})`
}

function rate(share: number): string {
  return `${Number((100 * share).toPrecision(2))} %`
}

/** `179 more failed requests`. */
export function failuresText(more: number): string {
  return counted(Math.abs(more), `${more > 0 ? 'more' : 'fewer'} failed request`)
}

function failedText(change: ErrorChange): string {
  const more = moreFailed(change)
  if (more !== 0) return failuresText(more)
  const { failed } = change
  return failed[AFTER] === 0 ? 'no request fails because of it' : 'the same number of requests fail'
}

/** Returns `faas.coldstart = true comes more often (46 % of calls, 3 % before)`. */
export function valueChangeText(change: ValueChange | null): string {
  if (change === null) return ''
  const { condition: value, before } = change
  if (change.of === 'numbers') return `typically ${value} (${before} before)`
  const now = percent(change.after)
  return before === 0
    ? `${value} in ${now} of calls (0 % before)`
    : `${value} comes more often (${now} of calls, ${percent(change.before)} before)`
}
