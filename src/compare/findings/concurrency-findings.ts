import { group } from 'd3-array'
import { grouped, listed } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import { isSame, isSameCall, type Operation } from '../steps/call-order.ts'
import type { CallChange, StepChanges } from '../steps/step-changes.ts'
import type { FindingCall, RequestCounts } from './finding.ts'
import { calledName } from './names.ts'

export interface ConcurrencyChange {
  readonly of: Operation
  readonly calls: readonly [CallChange, ...CallChange[]]
  readonly isNew: (request: number) => boolean | undefined
}

const MAX_CALLS_NAMED = 4
const MAX_OPERATIONS_NAMED = 3

/**
 * Groups changes in how operations make the same calls: in another order, again after a failure, once more, or without
 * waiting. Operations of one service with the same change form one group.
 */
export function concurrencyChanges({ calls, sites }: StepChanges): ConcurrencyChange[][] {
  const changed = calls.filter((call) => call.changed)
  const ofKind = (kind: CallChange['kind']) => changed.filter((call) => call.kind === kind)
  const [outliving, hedged] = [ofKind('outlives'), ofKind('hedges')]
  // A call that nobody waits for overlaps whatever comes next, one that is made once more itself.
  const pairs = ofKind('together').filter(
    (pair) =>
      !outliving.some((other) => isSame(other.of, pair.of) && concerns(pair, other.call)) &&
      !(
        isOfOneCall(pair) &&
        hedged.some((one) => isSame(one.of, pair.of) && concerns(pair, one.call))
      ),
  )
  const members = [
    ...[...ofKind('again'), ...hedged, ...outliving].map((one) => [one]),
    ...group(pairs, ({ of, difference }) => JSON.stringify([of, difference > 0])).values(),
    ...group(ofKind('before'), ({ of }) => JSON.stringify(of)).values(),
  ]
  const found = members.map((some): ConcurrencyChange => {
    const sorted = some.toSorted((a, b) => changedCalls(b) - changedCalls(a))
    const [first] = sorted as [CallChange]
    const union = (sitesOf: (one: CallChange) => ReadonlySet<number>) =>
      new Set(sorted.flatMap((one) => [...sitesOf(one)]))
    const chances = union(({ chanceSites }) => chanceSites)
    const made = union(({ madeSites }) => madeSites)
    return {
      of: first.of,
      calls: sorted as [CallChange, ...CallChange[]],
      isNew: (request) =>
        sites?.hasAny(request, chances)
          ? sites.hasAny(request, made) === first.difference > 0
          : undefined,
    }
  })
  return [...group(found, ({ of, calls }) => JSON.stringify([of.service, wordsOf(calls)])).values()]
}

/**
 * Says what operations do: `GET calls cart GET and ads LIST one after the other, no longer at the
 * same time, in 40 of 200 requests (0 of 200 before)`.
 */
export function concurrencyWords(
  [first, ...others]: readonly ConcurrencyChange[],
  counts: RequestCounts,
): string {
  if (first === undefined) return ''
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
  if (kind === 'again') return verb('calls', 'call', `${next} again after a failure`)
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

/**
 * Whether the change is that one call repeats while it runs, or overlaps itself. Both depend on what requests meet, so
 * the cost is the extra time of all requests that do it.
 */
export function isOfOneCall({ kind, previous, call }: FindingCall): boolean {
  const isWithItself = kind === 'together' && isSameCall(previous, call)
  return kind === 'hedges' || isWithItself
}

function concerns({ previous, call }: CallChange, one: Operation | null): boolean {
  if (one === null) return false
  return isSameCall(previous, one) || isSameCall(call, one)
}

export function changedCalls({
  difference,
  chances,
}: Pick<CallChange, 'difference' | 'chances'>): number {
  return Math.abs(difference) * chances[AFTER]
}
