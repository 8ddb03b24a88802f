import { group } from 'd3-array'
import { AFTER } from '../../flows/flow-set.ts'
import { isSame, isSameCall, type Operation } from '../steps/call-order.ts'
import type { CallChange, StepChanges } from '../steps/step-changes.ts'
import type { ConcurrencyChange, OrderEvidence } from './evidence.ts'
import type { FindingCall } from './finding.ts'

/**
 * Groups changes in how operations make the same calls: in another order, again after a failure, once more, or without
 * waiting. Operations of one service with the same change form one group.
 */
export function concurrencyChanges({ calls, sites }: StepChanges): OrderEvidence['changes'][] {
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
  const groups = group(found, ({ of, calls }) => JSON.stringify([of.service, ...changeOf(calls)]))
  return [...groups.values()] as unknown as OrderEvidence['changes'][]
}

/** Returns the change that calls have in common, whatever operation makes them: which calls come how. */
function changeOf(calls: ConcurrencyChange['calls']) {
  const [{ kind, difference }] = calls
  const named = (some: readonly (Operation | null)[]) =>
    [...new Set(some.map((one) => JSON.stringify(one)))].sort()
  const previous = calls.map((one) => one.previous)
  const next = calls.map(({ call }) => call)
  const first = kind === 'before' ? named(previous) : []
  return [kind, difference > 0, first, named(kind === 'together' ? [...previous, ...next] : next)]
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
