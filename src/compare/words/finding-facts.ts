import {
  changeWords,
  formatAmount,
  moreText,
  partAndRestText,
  partText,
  type Quantity,
  signedAmount,
} from '../../core/quantity.ts'
import {
  certaintyText,
  formatDuration,
  grouped,
  MAX_NAMED,
  percent,
  printable,
} from '../../core/words.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { arrivals } from '../../flows/overlap.ts'
import type { Draft, Finding } from '../findings/finding.ts'
import { isOpen } from '../findings/finding-size.ts'
import { calledName } from '../findings/names.ts'
import { wholeShifts } from '../findings/request-findings.ts'
import type { TimedEvent } from '../onset/events.ts'
import type { Bursts, Onset } from '../onset/onset.ts'

/** Longer ids of traces lose their end. */
const MAX_ID_LENGTH = 12
const SHORT_ID_LENGTH = 8

/** Share of pairs that means no change. */
const NO_CHANGE = 0.5
/** Below this share of pairs, the text adds that share. */
const HARDLY = 0.65

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
    ...(chance > NO_CHANGE
      ? [
          `${how} than ${chance === 1 ? 'all' : `${percent(chance)} of`} comparable requests before${chance < HARDLY ? ' (no change: 50 %)' : ''}`,
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

/** A mean this far from the typical shift in the title is labeled as a mean. */
const FAR_OFF = 0.05

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
  const isFar = !isTypical && Math.abs(each / step.shiftUs - 1) > FAR_OFF
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
  const short = (id: string) =>
    id.length > MAX_ID_LENGTH ? `${id.slice(0, SHORT_ID_LENGTH)}…` : id
  const traces = [
    ...(before[0] === undefined ? [] : [`${short(before[0])} (before)`]),
    ...(after[0] === undefined ? [] : [`${short(after[0])} (after)`]),
  ]
  return `look at ${look}${traces.length === 0 ? '' : ` · traces: ${traces.join(', ')}`}`
}
