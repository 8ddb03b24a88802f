import { group } from 'd3-array'
import { grouped } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { isSame, type Operation } from '../steps/call-order.ts'
import type { CallChange, StepChanges } from '../steps/step-changes.ts'
import { listed, operationName, printable } from './names.ts'

/** What one operation does otherwise with the same calls. */
export interface ConcurrencyChange {
  readonly of: Operation
  /** Calls concerned. */
  readonly callees: readonly Operation[]
  /** What it rests on, that of most calls first. */
  readonly calls: readonly CallChange[]
  /** Whether a request does what more do now; `undefined` where it could not. */
  readonly isNew: (request: number) => boolean | undefined
  /** Says what it does: `calls cart GET and ads LIST one after the other`. */
  readonly what: string
}

const MAX_CALLS_NAMED = 4

/**
 * Finds what operations do otherwise with calls that they make all the same: at the same time or one
 * after the other, in another order, again after a failure, or without waiting for them.
 */
export function concurrencyChanges({ calls, sites }: StepChanges): ConcurrencyChange[] {
  const changed = calls.filter((call) => call.changed)
  const ofKind = (kind: CallChange['kind']) => changed.filter((call) => call.kind === kind)
  const outliving = ofKind('outlives')
  // A call that nobody waits for overlaps whatever comes next.
  const pairs = ofKind('together').filter(
    ({ of, call, previous }) =>
      !outliving.some(
        (other) => isSame(other.of, of) && [call, previous].some((one) => isCall(other, one)),
      ),
  )
  const groups = [
    ...[...ofKind('again'), ...outliving].map((one) => [one]),
    ...group(pairs, ({ of, difference }) => JSON.stringify([of, difference > 0])).values(),
    ...group(ofKind('before'), ({ of }) => JSON.stringify(of)).values(),
  ]
  return groups.map((members) => {
    const sorted = members.toSorted((a, b) => changedCalls(b) - changedCalls(a))
    const [first] = sorted as [CallChange]
    const callees = sorted.flatMap(({ previous, call }) => [previous, call]).filter(isOperation)
    const union = (sitesOf: (one: CallChange) => ReadonlySet<number>) =>
      new Set(sorted.flatMap((one) => [...sitesOf(one)]))
    const chances = union(({ chanceSites }) => chanceSites)
    const made = union(({ madeSites }) => madeSites)
    return {
      of: first.of,
      callees: callees.filter((one, i) => callees.findIndex((other) => isSame(one, other)) === i),
      calls: sorted,
      isNew: (request) =>
        sites?.hasAny(request, chances)
          ? sites.hasAny(request, made) === first.difference > 0
          : undefined,
      what: wordsOf(sorted),
    }
  })
}

/**
 * Says what an operation does, in how many of the requests that could:
 * `GET calls cart GET and ads LIST one after the other in 40 of 200 requests (0 of 200 before)`.
 *
 * @param counts by period, requests that do what more do now, and those that could
 */
export function concurrencyWords(
  { of, what, calls: [first] }: ConcurrencyChange,
  counts: Readonly<Record<Period, readonly [n: number, of: number]>>,
): string {
  const isLess = first?.kind === 'again' && first.difference < 0
  const share = (period: Period) => {
    const [n, all] = counts[period]
    return `${grouped(isLess ? all - n : n)} of ${grouped(all)}`
  }
  const [does, ...before] = what.split(';')
  const shares = `${isLess ? 'only ' : ''}in ${share(AFTER)} requests (${share(BEFORE)} before)`
  return [`${operationName(of)} ${does} ${shares}`, ...before].join(';')
}

function wordsOf(changes: readonly CallChange[]): string {
  const [{ kind, of, call, difference }] = changes as [CallChange]
  const more = difference > 0
  const name = (one: Operation) =>
    `${one.service === of.service ? '' : `${printable(one.service)} `}${operationName(one)}`
  const names = (some: readonly (Operation | null)[]) =>
    listed([...new Set(some.filter(isOperation).map(name))].sort(), MAX_CALLS_NAMED)
  const [previous, next] = [
    changes.map((change) => change.previous),
    changes.map((change) => change.call),
  ]
  const all = names([...previous, ...next])
  if (kind === 'again') return `calls ${names([call])} again after a failure`
  if (kind === 'outlives') return `${more ? 'does not wait' : 'waits'} for ${names([call])}`
  if (kind === 'before') return `calls ${names(previous)} before ${names(next)}`
  return more
    ? `calls ${all} at the same time; before, one after the other`
    : `calls ${all} one after the other; before, at the same time`
}

function isOperation(one: Operation | null): one is Operation {
  return one !== null
}

function isCall({ call }: CallChange, one: Operation | null): boolean {
  return call !== null && one !== null && isSame(call, one)
}

/** How many calls do otherwise. */
export function changedCalls({ difference, chances }: CallChange): number {
  return Math.abs(difference) * chances[AFTER]
}
