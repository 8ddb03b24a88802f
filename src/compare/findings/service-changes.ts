import { mean, range, sum } from 'd3-array'
import { MadeCalls } from '../../calls/made-calls.ts'
import { memoized } from '../../core/remembered.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import type { Segment } from '../segments/segments.ts'
import { isSameChoice } from '../steps/call-counts.ts'
import { type CallSites, isSame, isSameCall } from '../steps/call-order.ts'
import type { CallChange, RepeatChange, StepChanges } from '../steps/step-changes.ts'
import { changedCalls } from './concurrency-findings.ts'
import type { ServiceChanges, ToldCall } from './evidence.ts'

/** Largest difference between two changes of shares, as part of the change, at which they count as the same. */
const ALIKE = 0.2

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

/** Calls that changed in the requests of a segment alone, counted in these. */
export function partlyChanged({ calls }: StepChanges, segments: readonly Segment[]): ToldCall[] {
  return segments.flatMap(({ call, inside, requests, p, q }) => {
    const change = calls.find((one) => call !== null && isSameChoice(one, call))
    if (change === undefined || change.changed) return []
    const { before, after, beforeMean, afterMean } = inside
    const made = [Math.round(beforeMean * before), Math.round(afterMean * after)] as const
    const within = new Set(requests)
    return { ...change, made, chances: [before, after], difference: inside.change, p, q, within }
  })
}

/**
 * Groups changed calls by service: one entry for all changes in the same requests or of the same kind, including
 * changes of only some requests (`partly`).
 */
export function changedServices(
  changes: StepChanges,
  partly: readonly ToldCall[],
): ServiceChanges[] {
  const { calls, repeats, sites } = changes
  const changed: ToldCall[] = [
    ...calls.filter(({ changed: is, kind }) => is && (kind === 'calls' || kind === 'next')),
    ...partly,
  ].map((one) => {
    const repeat = one.kind === 'calls' && repeats.find((other) => isOfSame(one, other))
    return repeat ? { ...one, times: [repeat.beforeTimes, repeat.afterTimes] as const } : one
  })
  const again = calls.filter(
    ({ changed: is, kind }) => is && (kind === 'again' || kind === 'hedges'),
  )
  // Repeats after a failure, or while the call runs, are reported as such.
  const repeated = repeats.filter(
    (repeat) => repeat.changed && !again.some((one) => isOfSame(one, repeat)),
  )
  const costUs = costsOf(changes, changed)
  const services = new Set([...changed, ...repeated].map(({ of }) => of.service))
  return [...services].flatMap((service) =>
    apartInRequests(
      {
        service,
        calls: toldFirst(
          changed.filter(({ of }) => of.service === service),
          costUs,
        ),
        repeats: repeated.filter(({ of }) => of.service === service),
      },
      sites as CallSites,
    ),
  )
}

/** Splits a service's changes if no request can have both, unless they are of the same kind. */
function apartInRequests(
  { service, calls, repeats }: ServiceChanges,
  { callers }: CallSites,
): ServiceChanges[] {
  let groups: { shapes: Set<number>; members: (ToldCall | RepeatChange)[] }[] = []
  for (const one of [...calls, ...repeats]) {
    const isOf = (shape: number) => callers[shape]?.some(({ kind }) => isSame(kind.of, one.of))
    const shapes = [...callers.keys()].filter(isOf)
    const isWith = (group: (typeof groups)[number]) =>
      shapes.some((shape) => group.shapes.has(shape)) ||
      group.members.some((other) => isAlike(one, other))
    const own = groups.filter(isWith)
    groups = [
      ...groups.filter((group) => !own.includes(group)),
      {
        shapes: new Set([...shapes, ...own.flatMap((group) => [...group.shapes])]),
        members: [one, ...own.flatMap(({ members }) => members)],
      },
    ]
  }
  return groups.map(({ members }) => ({
    service,
    calls: calls.filter((one) => members.includes(one)),
    repeats: repeats.filter((one) => members.includes(one)),
  }))
}

function isAlike(a: ToldCall | RepeatChange, b: ToldCall | RepeatChange): boolean {
  if ('kind' in a && 'kind' in b) return isDoneToo(a)(b)
  return isSameCall(a.call, b.call)
}

function isOfSame(a: CallChange, b: RepeatChange): boolean {
  return a.call !== null && isSame(a.of, b.of) && isSame(a.call, b.call)
}

/**
 * Puts the change that a title names first: of those that cost the most, the one in most calls. A call that is left
 * out comes before an early return that hardly leaves out more. A call that alone changed is named with the call
 * before it.
 */
function toldFirst(
  changed: readonly ToldCall[],
  costUs: (one: ToldCall) => number,
): readonly ToldCall[] {
  const mostUs = Math.max(...changed.map(costUs))
  const aboutUs = (one: ToldCall) => (costUs(one) > (1 - ALIKE) * mostUs ? mostUs : costUs(one))
  const calls = changed.toSorted(
    (a, b) =>
      aboutUs(b) - aboutUs(a) || changedCalls(b) - changedCalls(a) || plainness(b) - plainness(a),
  )
  const [costliest] = calls
  const leftOut = calls.find(
    (one) =>
      costliest?.call === null &&
      one.kind === 'calls' &&
      isSame(one.of, costliest.of) &&
      one.difference > 0 !== costliest.difference > 0 &&
      costUs(one) > (1 - ALIKE) * costUs(costliest),
  )
  const first = leftOut ?? costliest
  if (first === undefined) return calls
  const isAlone =
    first.kind === 'calls' &&
    first.times === undefined &&
    !calls.some(
      (one) =>
        one !== first &&
        (isMadeWith(one, first) || isMadeWith(one, first, -1) || isDoneToo(first)(one)),
    )
  const next = calls.find(
    (one) =>
      one.kind === 'next' &&
      isSame(one.of, first.of) &&
      isSameCall(one.call, first.call) &&
      Math.abs(changedCalls(one) / changedCalls(first) - 1) < ALIKE,
  )
  const told = (isAlone && next) || first
  return [told, ...calls.filter((one) => one !== told)]
}

/**
 * Returns how long all requests wait for a change, in µs: for calls that are made more or less often, or for all calls
 * that an early return leaves out. Another order of calls costs nothing where the same calls are counted.
 */
function costsOf({ flows }: StepChanges, changed: readonly ToldCall[]): (one: ToldCall) => number {
  const isCounted = ({ of, call }: ToldCall) =>
    changed.some((one) => one.kind === 'calls' && isSame(one.of, of) && isSameCall(one.call, call))
  const eachUs = memoized(({ of, call, previous, difference }: ToldCall): number => {
    const made =
      call === null
        ? new MadeCalls(flows, of, () => true, previous)
        : new MadeCalls(flows, of, (one) => isSame(one, call))
    const period = difference > 0 !== (call === null) ? AFTER : BEFORE
    const own = range(flows.size).filter((request) => flows.period[request] === period)
    const waited = own.map((request) => made.waitedUs(request)).filter(({ length }) => length > 0)
    return mean(waited, (us) => sum(us)) ?? 0
  })
  const isTold = (one: ToldCall) =>
    one.call === null ? one.difference < 0 : one.kind === 'next' && isCounted(one)
  return memoized((one) => {
    if (isTold(one)) return 0
    const alike = changed.filter((other) => other === one || isDoneToo(one)(other))
    return sum(alike, (other) => changedCalls(other) * eachUs(other))
  })
}

/** Ranks changes of as many calls: new or gone first, then calls, more often, other services. */
function plainness({ kind, of, call, difference, made }: CallChange): number {
  const isWhole = call !== null && made.some((count) => count === 0)
  const isElsewhere = call !== null && call.service !== of.service
  return 8 * +isWhole + 4 * +(kind === 'calls') + 2 * +(difference > 0) + +isElsewhere
}

/** Finds what else changed as a call did: as the same is called more, or less, elsewhere. */
export function isDoneToo({ kind, within, difference, call, previous }: ToldCall) {
  return (one: ToldCall) =>
    one.kind === kind &&
    within === undefined &&
    one.within === undefined &&
    one.difference > 0 === difference > 0 &&
    isSameCall(one.call, call) &&
    (call !== null || isSameCall(one.previous, previous))
}

export function alikeRepeats(repeats: readonly RepeatChange[]): RepeatChange[] {
  const isMore = (one: RepeatChange) => one.afterTimes > one.beforeTimes
  const [first] = repeats
  return repeats.filter(
    (one) => first && isSame(one.call, first.call) && isMore(one) === isMore(first),
  )
}
