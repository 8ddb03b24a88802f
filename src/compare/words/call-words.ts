import { TIME } from '../../core/quantity.ts'
import { listed, MAX_NAMED, printable } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { callName, operationAt } from '../../flows/node-labels.ts'
import { messageReceivers } from '../../flows/span-tree.ts'
import type { CallsEvidence, ToldCall } from '../findings/evidence.ts'
import { calledName } from '../findings/names.ts'
import { isMadeWith } from '../findings/service-changes.ts'
import { isSame, isSameCall, type Operation } from '../steps/call-order.ts'
import type { RepeatChange, StepChanges } from '../steps/step-changes.ts'
import { alsoDone, callsText, ofChances } from './counts-words.ts'
import type { Words } from './words.ts'

/** Says what a service does differently, and where to look. */
export function callsWords(evidence: CallsEvidence, steps: StepChanges): Words {
  const { changes, alike, previous } = evidence
  const service = printable(changes.service)
  const isElsewhere = previous !== null && previous.service !== changes.service
  return {
    where: service,
    what: whatCalls(evidence, steps) + doneToo(alike),
    look: `${service}${isElsewhere ? `, and the answer of ${calledName(previous, '')}` : ''}`,
    notes: [],
  }
}

/** Such as `GetAds returns without calling anything in 31 of 160 calls (0 of 182 before)`. */
function whatCalls({ changes, previous }: CallsEvidence, { flows, sites }: StepChanges): string {
  const {
    service,
    calls,
    repeats: [repeat],
  } = changes
  const isTime = flows.quantity === TIME
  const change = calls[0] && asOnlyCall(calls[0], sites)
  if (change === undefined) {
    const { of, call, beforeTimes, afterTimes } = repeat as RepeatChange
    const times = `${rounded(afterTimes)} times instead of ${rounded(beforeTimes)}`
    return `${operationAt(service, of.operation)} calls ${calledName(call, service)} ${times}`
  }
  const { of, kind, call, difference, made } = change
  const name = operationAt(service, of.operation)
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
  const areReceived = together.every(
    (other) => other.call !== null && messageReceivers(flows).has(callName(other.call)),
  )
  // Whoever sends messages shows nothing of who receives them.
  if (areReceived && made[AFTER] === 0) {
    return `no ${what} follows ${name} (${ofChances(change, BEFORE)} before): not received, or not recorded`
  }
  if (areReceived && made[BEFORE] === 0) {
    return `${what} follows ${name} ${shares}: not received before, or not recorded`
  }
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
function doneToo(alike: readonly Pick<RepeatChange, 'of'>[]): string {
  return alsoDone(new Set(alike.map(({ of }) => of.operation)).size - 1)
}
