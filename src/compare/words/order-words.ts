import { grouped, listed, printable } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import type { OrderEvidence } from '../findings/evidence.ts'
import { calledName } from '../findings/names.ts'
import { isSameCall, type Operation } from '../steps/call-order.ts'
import type { CallChange } from '../steps/step-changes.ts'
import type { Words } from './words.ts'

const MAX_CALLS_NAMED = 4
const MAX_OPERATIONS_NAMED = 3

/**
 * Says what operations do: `GET calls cart GET and ads LIST one after the other, no longer at the
 * same time, in 40 of 200 requests (0 of 200 before)`.
 */
export function orderWords({ changes: [first, ...others], counts }: OrderEvidence): Words {
  const service = printable(first.of.service)
  return { where: service, what: whatOrder([first, ...others], counts), look: service, notes: [] }
}

function whatOrder(
  [first, ...others]: OrderEvidence['changes'],
  counts: OrderEvidence['counts'],
): string {
  const [{ kind, difference }] = first.calls
  const isLess = (kind === 'again' || kind === 'hedges') && difference < 0
  const share = (period: Period) => {
    const [n, all] = counts[period]
    return `${grouped(isLess ? all - n : n)} of ${grouped(all)}`
  }
  const names = [first, ...others].map(({ of }) => operationName(of))
  const who = listed(names, MAX_OPERATIONS_NAMED)
  const does = wordsOf(first.calls)[names.length > 1 ? 'plural' : 'singular']
  if (isLess && counts[AFTER][0] === counts[AFTER][1]) {
    return `${who} no longer ${does} (${share(BEFORE)} requests before)`
  }
  return `${who} ${does} ${isLess ? 'only ' : ''}in ${share(AFTER)} requests (${share(BEFORE)} before)`
}

function wordsOf(changes: readonly [CallChange, ...CallChange[]]) {
  const [{ kind, of, difference }] = changes
  const isMore = difference > 0
  const named = (callsOf: (change: CallChange) => readonly (Operation | null)[]) =>
    names(of, changes.flatMap(callsOf))
  const previous = named((change) => [change.previous])
  const next = named((change) => [change.call])
  const verb = (singular: string, plural: string, rest: string) => ({
    singular: `${singular} ${rest}`,
    plural: `${plural} ${rest}`,
  })
  if (kind === 'again') return verb('retries', 'retry', `${next} after a failure`)
  if (kind === 'hedges') {
    return verb('calls', 'call', `${next} once more while a slow call runs (hedging)`)
  }
  if (kind === 'outlives') {
    return isMore
      ? verb('no longer waits', 'no longer wait', `for ${next}`)
      : verb('now waits', 'now wait', `for ${next}`)
  }
  const all = named((change) => [change.previous, change.call])
  if (kind === 'before') {
    const later = changes.flatMap((change) => change.call ?? [])
    const isClear = !changes.some((one) => later.some((other) => isSameCall(one.previous, other)))
    return verb('calls', 'call', isClear ? `${previous} before ${next}` : `${all} in another order`)
  }
  const [now, before] = isMore ? [TOGETHER, IN_TURN] : [IN_TURN, TOGETHER]
  return verb('calls', 'call', `${all} ${now}, no longer ${before},`)
}

const TOGETHER = 'at the same time'
const IN_TURN = 'one after the other'

function names(of: Operation, some: readonly (Operation | null)[]): string {
  const named = some.flatMap((one) => (one === null ? [] : [calledName(one, of.service)]))
  return listed([...new Set(named)].sort(), MAX_CALLS_NAMED)
}
