import { listed, MAX_NAMED } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import { isSame, isSameCall, type Operation } from '../steps/call-order.ts'
import type { CallChange, RepeatChange, StepChanges } from '../steps/step-changes.ts'
import { alsoDone, calledName, callsText, ofChances } from './names.ts'

/** Largest difference between two changes of shares, as part of the change, at which they count as the same. */
export const ALIKE = 0.2

/** Whether another call of an operation is made as much more, or less, often as one is; `sign` of -1: the other way. */
export function isMadeWith(other: ToldCall, one: ToldCall, sign: 1 | -1 = 1): boolean {
  const { of, call, kind, difference } = one
  return (
    other.kind === 'calls' &&
    kind === 'calls' &&
    isSame(other.of, of) &&
    !isSameCall(other.call, call) &&
    Math.abs(other.difference - sign * difference) < ALIKE * Math.abs(difference)
  )
}

export interface ToldCall extends CallChange {
  /** Requests in which alone it changed. */
  readonly within?: ReadonlySet<number>
  readonly times?: readonly [before: number, after: number]
}

/** Changed calls of a service, and calls repeated more or fewer times. */
export interface ServiceChanges {
  readonly service: string
  readonly calls: readonly ToldCall[]
  readonly repeats: readonly RepeatChange[]
}

/**
 * Says what a service does differently: `GetAds returns without calling anything in 31 of 160 calls (0 of 182 before)`.
 */
export function callWords(
  { service, calls, repeats: [repeat] }: ServiceChanges,
  {
    isTime,
    previous,
    sites,
  }: { readonly isTime: boolean; readonly previous: Operation | null } & Pick<StepChanges, 'sites'>,
): string {
  const change = calls[0] && asOnlyCall(calls[0], sites)
  if (change === undefined) {
    const { of, call, beforeTimes, afterTimes } = repeat as RepeatChange
    const times = `${rounded(afterTimes)} times instead of ${rounded(beforeTimes)}`
    return `${operationName(of)} calls ${calledName(call, service)} ${times}`
  }
  const { of, kind, call, difference, made } = change
  const name = operationName(of)
  const timesOf = ({ times }: ToldCall) => rounded(times?.[AFTER] || 1)
  const shareOf = (one: ToldCall, alike = [one]) => {
    const each = timesOf(one)
    const isOf = each !== '1' && alike.every((other) => timesOf(other) === each)
    return `in ${callsText(one)}${isOf ? `, ${each} times each` : ''}`
  }
  // Amounts know no order of calls.
  const after = previous === null || !isTime ? '' : `after ${calledName(previous, service)}`
  const nothing = previous === null ? 'without calling anything' : 'without further calls'
  const returns = after === '' ? nothing : `right ${after}`
  const replaced = calls.find((other) => isMadeWith(other, change, -1))
  if (call !== null && replaced !== undefined) {
    const [now, no] = difference > 0 ? [call, replaced.call] : [replaced.call, call]
    const isBetween = (outer: Operation | null, inner: Operation | null) =>
      sites?.sites.some(
        ({ of, callees }) => isSameCall(of, outer) && callees.some((one) => isSameCall(one, inner)),
      )
    const [one, other] = [now, no].map((operation) => calledName(operation, service))
    const often = shareOf(difference > 0 ? change : replaced)
    if (isBetween(now, no)) return `${one} now stands between ${name} and ${other}, ${often}`
    if (isBetween(no, now)) return `${other} no longer stands between ${name} and ${one}, ${often}`
    return `${name} calls ${one} instead of ${other}, ${often}`
  }
  if (call === null) {
    return `${name} returns ${returns} ${difference > 0 ? '' : 'only '}${shareOf(change)}`
  }
  const together =
    kind === 'calls' ? [change, ...calls.filter((other) => isMadeWith(other, change))] : [change]
  const names = together.map((other) => calledName(other.call, service))
  const shares = shareOf(change, together)
  const what = `${listed(names, MAX_NAMED)}${kind === 'next' && after !== '' ? ` ${after}` : ''}`
  if (difference > 0)
    return `${name} ${made[BEFORE] === 0 ? 'now calls' : 'calls'} ${what} ${shares}`
  return made[AFTER] === 0
    ? `${name} no longer calls ${what} (${ofChances(change, BEFORE)} calls before)`
    : `${name} calls ${what} only ${shares}`
}

/** Treats making no calls less often as making a call more often, if the operation has only that callee. */
function asOnlyCall(change: ToldCall, sites: StepChanges['sites']): ToldCall {
  const { of, call, previous, made, chances, difference } = change
  if (call !== null || previous !== null) return change
  const callees = (sites?.sites ?? []).flatMap((site) => (isSame(site.of, of) ? site.callees : []))
  const [only] = callees
  if (only === undefined || !callees.every((callee) => isSame(callee, only))) return change
  const others = [chances[BEFORE] - made[BEFORE], chances[AFTER] - made[AFTER]] as const
  return { ...change, kind: 'calls', call: only, made: others, difference: -difference }
}

function rounded(times: number): string {
  return Number(times.toPrecision(2)).toString()
}

/** Says how many other operations do the same. */
export function doneToo(alike: readonly Pick<RepeatChange, 'of'>[]): string {
  return alsoDone(new Set(alike.map(({ of }) => of.operation)).size - 1)
}
