import {
  type Deadline,
  type Draft,
  type Finding,
  isOpen,
  type RequestsEvidence,
  type RestEvidence,
  type RestOfRequests,
} from '../../compare/findings/finding.ts'
import { calledName, isMessage, mainOperation, rootsName } from '../../compare/findings/names.ts'
import { wholeShifts } from '../../compare/findings/request-findings.ts'
import type { Interference, Others } from '../../compare/interference/interference.ts'
import type { TimedEvent } from '../../compare/onset/events.ts'
import type { Bursts, Onset } from '../../compare/onset/onset.ts'
import type { StepChange } from '../../compare/steps/step-changes.ts'
import type { CountsTest } from '../../compare/steps/time-blocks.ts'
import { namedPart, type WorkPart, wayParts, workParts } from '../../compare/steps/work-parts.ts'
import {
  ID_LENGTH,
  LARGE,
  MAX_ID_LENGTH,
  MOST,
  NEARLY_ALL,
  SMALL,
} from '../../compare/thresholds.ts'
import {
  changeWords,
  formatAmount,
  moreText,
  partAndRestText,
  partText,
  type Quantity,
  signedAmount,
  TIME,
} from '../../core/quantity.ts'
import {
  certaintyText,
  formatDuration,
  grouped,
  MAX_NAMED,
  percent,
  printable,
} from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { operationAt } from '../../flows/node-labels.ts'
import { arrivals } from '../../flows/overlap.ts'

/** Sentences of a finding. */
export interface Words {
  /** Place of the change, such as `productcatalogservice → frontend`. */
  readonly where: string
  /** The change itself, such as `reply of GetProduct takes 98.5 ms longer`. */
  readonly what: string
  /** Place to look at, without traces. */
  readonly look: string
  /** Further facts. */
  readonly notes: readonly string[]
}

/** Where to look if no step stands out. */
export const EVERYWHERE = 'what all steps share: host, runtime, load'

/** Says which share of the calls took longer, unless all did. */
export function inFew({ minority }: Pick<StepChange, 'minority'>, of: string): string {
  return minority === null ? '' : ` in ${percent(minority.share)} of ${of}`
}

/** Says how long the slow calls of a step take if only some changed, or names the changed span within them. */
export function slowNotes(
  flows: FlowSet,
  step: StepChange,
  parts: readonly WorkPart[] = step.kind === 'work' ? workParts(flows, step) : [],
): string[] {
  const { minority, shiftUs } = step
  const part = namedPart(step, parts)
  const within = part?.isOfCalls ? undefined : part
  // Requests that are no longer slow are not known one by one.
  if (minority === null || (within !== undefined && shiftUs < 0)) return []
  const [usual, changed] = (within?.medianUs ?? [minority.usualUs, minority.changedUs]).map(
    (amount) => formatAmount(amount, flows.quantity),
  )
  if (within) return [`its median is ${changed} in these requests; before, ${usual} in all`]
  const of = isMessage(step) ? 'messages' : 'calls'
  if (shiftUs > 0) return [`the slow ${of} take ${changed} (median); before, ${of} took ${usual}`]
  return [`before, these ${of} took ${changed} (median), all ${of} ${usual}`]
}

/** Says which way calls take longer, of those whose both sides were recorded. */
export function wayNotes(
  flows: FlowSet,
  ways: readonly Pick<StepChange, 'kind' | 'service' | 'caller'>[],
  requests: readonly number[],
): string[] {
  if (flows.quantity !== TIME || ways.some(({ kind }) => kind !== 'call')) return []
  const parts = wayParts(flows, ways, requests)
  if (parts === null) return []
  const share = parts.thereUs / (parts.thereUs + parts.backUs)
  // Beyond all of it, the clocks of both sides moved against each other.
  if (!(share > LARGE - 1 && share < 2 - LARGE)) return []
  if (share >= LARGE) return ['the time is lost on the way to the called service, not back']
  if (share <= 1 - LARGE) return ['the time is lost on the way back from the called service']
  return [`${percent(share)} of it on the way to the called service, ${percent(1 - share)} back`]
}

type Counts = Pick<CountsTest, 'made' | 'chances'>

/** Writes a count with its chances: `31 of 160`. */
export function ofChances({ made, chances }: Counts, period: Period): string {
  return `${grouped(made[period])} of ${grouped(chances[period])}`
}

/** Returns the counts of both periods as text: `31 of 160 calls (0 of 182 before)`. */
export function callsText(counts: Counts): string {
  return `${ofChances(counts, AFTER)} calls (${ofChances(counts, BEFORE)} before)`
}

/** Says how many other operations changed the same way. */
export function alsoDone(others: number): string {
  if (others < 1) return ''
  return others === 1 ? ', as does 1 other operation' : `, as do ${others} other operations`
}

/** Says which other operation of a step changed with the one that its title names, or how many did. */
export function alsoChanged(step: StepChange): string {
  const { service, operations, contributionUs } = step
  const changed = operations.filter((one) => one.changed)
  const others = changed.filter(({ operation }) => operation !== mainOperation(step))
  const [other] = others
  if (other !== undefined && others.length === 1) {
    return `, as does ${operationAt(service, other.operation)}`
  }
  if (changed.length > 0) return alsoDone(others.length)
  const most = Math.max(0, ...operations.map((one) => one.contributionUs / contributionUs))
  const isOne = operations.length < 2 || most >= MOST
  return isOne ? '' : ', as do its other operations together'
}

/** Below this length, an interval of times is written in milliseconds. */
const SHORT_US = 2e6
/** End of times of day in ISO 8601. */
const SECONDS = 19
const MILLISECONDS = 23
/** Times of day come again in a period that is longer. */
const DAY_US = 24 * 3.6e9

/**
 * Returns what a finding says below its title.
 *
 * @param options.all requests after
 * @param options.notes further facts of its kind
 */
export function factsOf(
  draft: Draft,
  { all, quantity, notes }: { all: number; quantity: Quantity; notes: readonly string[] },
): string[] {
  const { requests, contributionUs, direction, probabilitySlower, q } = draft
  const chance = direction === 'slower' ? probabilitySlower : 1 - probabilitySlower
  const each = contributionUs / Math.max(1, requests)
  const { how } = changeWords(quantity, direction === 'slower')
  if (draft.kind === 'errors') {
    // Other findings may account for part of the excess.
    const [low, high] = draft.eachInterval
    const interval = intervalText(signed(draft.eachInterval, low + high), quantity)
    const more = `failing calls take ${moreText((low + high) / 2, quantity)} in each affected request${interval}`
    const isKnown = each * (low + high) > 0
    return [...notes, ...(isKnown ? [more] : []), certaintyText(q)]
  }
  // For clients, the title already gives the count.
  const isOfRequests = draft.kind !== 'load' || contributionUs !== 0
  const who = isOfRequests ? [`${grouped(requests)} of ${grouped(all)} requests`] : []
  return [
    ...(each === 0 ? who : [eachText(each, { who, draft, quantity })]),
    ...ofCallsFact(draft, quantity),
    // Below one half, the typical request went the other way.
    ...(chance > 0.5
      ? [
          `${how} than ${chance === 1 ? 'all' : `${percent(chance)} of`} comparable requests before${chance < LARGE ? ' (no change: 50 %)' : ''}`,
        ]
      : []),
    `${isOpen(draft) && draft.steps.length > 0 ? OWN_P : ''}${certaintyText(q)}`,
    ...notes,
  ]
}

/** Returns what each of several calls adds to a request: `quota checkQuota +14.5 ms, flags flag +906 µs`. */
function ofCallsFact({ calls, requests }: Draft, quantity: Quantity): string[] {
  const priced = calls
    .flatMap(({ of, call, us }) =>
      call === null || us === undefined ? [] : [{ name: calledName(call, of.service), us }],
    )
    .sort((a, b) => Math.abs(b.us) - Math.abs(a.us))
  if (priced.length < 2) return []
  const each = priced
    .slice(0, MAX_NAMED)
    .map(({ name, us }) => `${name} ${signedAmount(us / requests, quantity)}`)
  return [each.join(', ')]
}

/** Says that p is about the whole distribution, next to a mean that may be the same. */
export const OWN_P = 'times changed, though perhaps not their mean: '

/** `46 of 100 requests take 425 µs longer (95 % CI 370–479 µs)`. */
function eachText(
  each: number,
  {
    who: [who],
    draft,
    quantity,
  }: { readonly who: readonly string[]; readonly draft: Draft; readonly quantity: Quantity },
): string {
  const [step, ...others] = draft.steps
  const isTypical = step === undefined || others.length > 0 || step.share !== undefined
  const isFar = !isTypical && Math.abs(each / step.shiftUs - 1) > SMALL
  const more = `${who ?? 'requests'} take ${moreText(each, quantity)}${isFar ? ' on average' : ''}`
  return more + intervalText(signed(draft.eachInterval, each), quantity)
}

/** Returns an interval of what a value is the size of. */
function signed([low, high]: readonly [number, number], value: number): readonly [number, number] {
  return value < 0 ? [-high, -low] : [low, high]
}

/**
 * `since 11:15:03 UTC (95 % CI …), 40 s after deploy checkout 2.0`, or `in all of the after period`; and until when.
 */
export function sinceFact(
  since: Onset | null,
  { follows, flows }: { readonly follows: TimedEvent | null; readonly flows: FlowSet },
): string[] {
  if (since === null) return []
  const days = hasDays(flows)
  const until = since.until === null ? '' : `, until ${placedText(since.until, since, { days })}`
  if (follows === null) return [sinceText(since, days) + until]
  const words = printable(follows.words)
  const lagUs = since.fromStart ? 0 : Math.max(0, since.timeUs - follows.atUs)
  if (lagUs === 0) return [`${sinceText(since, days)}${until}; at its start, ${words}`]
  // A lag is no surer than the moment it is counted from.
  const isSure = lagUs > since.highUs - since.lowUs
  const upTo = formatDuration(since.highUs - follows.atUs)
  const lag = isSure ? `${formatDuration(lagUs)} ` : `at most ${upTo} `
  return [`${sinceText(since, days)}, ${lag}after ${words}${until}`]
}

/** @param days whether to write dates with times of day, see {@link areDays} */
export function sinceText(since: Onset, days: boolean): string {
  const { timeUs, fromStart, gradual, perhapsGradual, isTimeOfDay, until } = since
  const growing = gradual ? 'growing ' : ''
  if (fromStart) {
    const where = until === null ? 'in all of the' : 'from the start of the'
    const time = isTimeOfDay ? ` (first seen ${timeText(timeUs, { days })} UTC)` : ''
    return `${growing}${where} after period${time}`
  }
  const condition = perhapsGradual ? ', if it began suddenly' : ''
  return `${growing}since ${gradual || perhapsGradual ? 'about ' : ''}${placedText(since, since, { days, condition })}`
}

/** `11:15:03 UTC (95 % CI 11:15:01 to 11:15:04)`. */
function placedText(
  { timeUs, lowUs, highUs }: NonNullable<Onset['until']>,
  { isTimeOfDay }: Onset,
  { days, condition = '' }: { readonly days: boolean; readonly condition?: string },
): string {
  const length = highUs - lowUs < SHORT_US ? MILLISECONDS : SECONDS
  const text = (us: number, isDated: boolean) =>
    isTimeOfDay ? timeText(us, { length, days: days && isDated }) : formatDuration(us)
  const time = text(timeUs, true)
  // The interval writes other dates only.
  const [low, high] = [lowUs, highUs].map((us) =>
    text(us, isTimeOfDay && dayOf(us) !== dayOf(timeUs)),
  )
  return `${time} ${isTimeOfDay ? 'UTC' : 'into the after period'} (95 % CI ${low} to ${high}${condition})`
}

/** Writes a time of day: `11:15:03`, or `2026-09-30 11:15:03` with its date. */
export function timeText(us: number, { days, length = SECONDS }: TimeWords): string {
  const [date, time] = [dayOf(us), new Date(us / 1e3).toISOString().slice(11, length)]
  return days ? `${date} ${time}` : time
}

interface TimeWords {
  readonly days: boolean
  readonly length?: number
}

function dayOf(us: number): string {
  return new Date(us / 1e3).toISOString().slice(0, 10)
}

/** Whether times of day come again within the after period, so that they need dates. */
export function hasDays(flows: FlowSet): boolean {
  const [, after] = arrivals(flows)
  return areDays([after[0] ?? 0, after.at(-1) ?? 0])
}

/** Whether times of day come again within a range of times. */
export function areDays([fromUs, toUs]: readonly [number, number]): boolean {
  return toUs - fromUs > DAY_US
}

export function burstsFact({ kind, direction }: Draft, bursts: Bursts | null): string[] {
  const isLess = direction === 'faster' || !['latency', 'unattributed', 'errors'].includes(kind)
  if (bursts === null || isLess) return []
  const what = kind === 'errors' ? 'failures' : 'the slow ones'
  return [`${what} come in ${burstsText(bursts)}`]
}

export function burstsText({ count, apartUs }: Bursts): string {
  return `${count} bursts, typically ${formatDuration(apartUs)} apart`
}

export function intervalText(interval: readonly [number, number], quantity: Quantity): string {
  const [low, high] = [...interval].sort((a, b) => a - b) as [number, number]
  if (Number.isNaN(low + high)) return ''
  const [from, to] = [formatAmount(low, quantity), formatAmount(high, quantity)]
  if (from === to) return ` (95 % CI ± ${formatAmount((high - low) / 2, quantity)})`
  const [, start, unit] = /^(\S+) (.+)$/.exec(from) ?? []
  const text = to.endsWith(` ${unit}`) && low > 0 ? `${start}–${to}` : `${from} to ${to}`
  return ` (95 % CI ${text.replaceAll('-', '−')})`
}

/** The whole that a finding is part of: the change of all requests, and their number after. */
interface Whole {
  readonly findings: readonly Finding[]
  readonly observedChangeUs: number
  readonly quantity: Quantity
  readonly flows: FlowSet
  readonly requests: number
}

/** Returns a finding's part of the change: `72 % of the slowdown`, or else its total contribution; empty for 0. */
export function shareText(finding: Finding, all: Whole): string {
  const { shareOfChange, contributionUs, consequences } = finding
  const { findings, observedChangeUs, quantity } = all
  if (contributionUs === 0) return ''
  const whole = !(shareOfChange > 0)
    ? `${signedAmount(contributionUs, quantity)} summed over all requests`
    : // Of one finding, the summary says what all else does.
      findings.length === 1
      ? partText(contributionUs, observedChangeUs, quantity)
      : partOfAll(finding, all)
  return whole + belowText(consequences)
}

/** Says that a finding's share includes the slower steps listed under it. */
export function belowText(consequences: Finding['consequences']): string {
  return consequences.some((one) => one.kind === 'latency')
    ? ', including what is listed below'
    : ''
}

/** Returns a finding's part of the change; if it is surely more than all of it, also the rest. */
export function partOfAll(finding: Finding, all: Whole): string {
  const { observedChangeUs, quantity } = all
  const restUs = observedChangeUs - finding.contributionUs
  const isClear = Math.abs(restUs) > unsureUs(all, [finding])
  const text = isClear ? partAndRestText : partText
  return text(finding.contributionUs, observedChangeUs, quantity)
}

/** Returns the uncertainty of the total change without some findings, in µs. */
function unsureUs(
  { flows, requests }: Pick<Whole, 'flows' | 'requests'>,
  findings: readonly Finding[],
): number {
  const halfOf = ([low, high]: readonly [number, number], of: number) =>
    ((high - low) / 2) * of || 0
  const [{ interval }] = wholeShifts(flows)
  const ofFindings = findings.map((one) => halfOf(one.eachInterval, one.requests))
  return Math.hypot(halfOf(interval, requests), ...ofFindings)
}

export function lookText({ look, exemplars: { before, after } }: Finding): string {
  const short = (id: string) => (id.length > MAX_ID_LENGTH ? `${id.slice(0, ID_LENGTH)}…` : id)
  const traces = [
    ...(before[0] === undefined ? [] : [`${short(before[0])} (before)`]),
    ...(after[0] === undefined ? [] : [`${short(after[0])} (after)`]),
  ]
  return `look at ${look}${traces.length === 0 ? '' : ` · traces: ${traces.join(', ')}`}`
}

/** Says that whole requests of trace points take longer. */
export function requestsWords({ roots, eachUs }: RequestsEvidence, quantity: Quantity): Words {
  return {
    where: rootsName(roots),
    what: `requests take ${moreText(eachUs, quantity)}, spread over many steps`,
    look: EVERYWHERE,
    notes: [],
  }
}

/** Says how much of the change of whole requests findings leave. */
export function restWords(flows: FlowSet, { step, operation, left }: RestEvidence): Words {
  const { quantity } = flows
  const part = leftText(left, quantity)
  const mostly = mostlyText(left)
  const few = step.minority === null ? '' : `${percent(step.minority.share)} of its `
  const time = moreText(part === '' ? left.eachUs : left.allUs, quantity)
  const why = left.isAll
    ? `${mostly}; no single step changed enough to blame`
    : (part || '; no single step explains it') + mostly
  return {
    where: `${printable(step.service)} ${operationAt(step.service, operation)}`,
    what: `${few}requests take ${time}${why}`,
    look: lookAtRest(left) ?? (left.isAll ? EVERYWHERE : 'the steps of the two traces'),
    notes: slowNotes(flows, step),
  }
}

/** Says how much of a change no step explains; empty for all of it. */
export function leftText({ eachUs, allUs }: RestOfRequests, quantity: Quantity): string {
  if (Math.abs(eachUs) >= NEARLY_ALL * Math.abs(allUs)) return ''
  return `; no single step explains ${formatAmount(Math.abs(eachUs), quantity)} of it`
}

/** Names the step with most of the time, or the call that is given up later. */
export function mostlyText({ place, deadline }: RestOfRequests): string {
  if (deadline !== null) return `, mostly in ${deadline.name}, ${deadlineText(deadline)}`
  return place === null ? '' : `, mostly in ${place.name}`
}

export function lookAtRest({ place, deadline }: RestOfRequests): string | null {
  return deadline === null ? (place?.look ?? null) : printable(deadline.services[0] ?? '')
}

/** Says when calls are given up: `given up after 6 s (1 s before)`. */
export function deadlineText({ us, beforeUs, longer }: Deadline): string {
  const before =
    beforeUs === null
      ? `before, ${percent(longer)} took longer`
      : `${formatDuration(beforeUs)} before`
  return `given up after ${formatDuration(us)} (${before})`
}

export function interferenceClause(interference: Interference | null): string {
  const [first] = interference?.interferers ?? []
  return first === undefined ? '' : `, while ${first.text} ${sharing(first.shared)}`
}

/** Returns text that names the requests holding up slow calls, to follow the service of these calls. */
export function interferenceLook(interference: Interference | null): string {
  const [first] = interference?.interferers ?? []
  return first === undefined ? '' : `, and ${first.text}`
}

export function interferenceFacts(interference: Interference | null): string[] {
  return (interference?.interferers ?? []).map(
    ({ operation, text, slow, usual }) =>
      `${operation ?? text} runs during ${percent(slow)} of the time of slow calls, ${percent(usual)} of usual ones`,
  )
}

function sharing(shared: Others['shared']): string {
  if (shared === 'service') return 'is at the same service'
  return shared === 'host' ? 'is on the same host' : `uses the same ${shared}`
}
