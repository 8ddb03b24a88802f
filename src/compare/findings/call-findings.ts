import { group, mean, sum } from 'd3-array'
import { MadeCalls } from '../../calls/made-calls.ts'
import { memoized } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { MovedRequests } from '../mutations/find-structural-mutations.ts'
import { movedRequests as requestMoves } from '../precursors/moves.ts'
import type { Ranking } from '../ranking/rank-mutations.ts'
import type { Segment } from '../segments/segments.ts'
import { isSameChoice } from '../steps/call-counts.ts'
import { type CallSites, isSame, isSameCall, type Operation } from '../steps/call-order.ts'
import type { CallChange, RepeatChange, StepChanges } from '../steps/step-changes.ts'
import { LARGE, PART } from '../thresholds.ts'
import {
  type CallsEvidence,
  type ConcurrencyChange,
  type Draft,
  type FindingCall,
  NO_EVIDENCE,
  type OrderEvidence,
  type ServiceChanges,
  type StructureChange,
  type ToldCall,
} from './finding.ts'
import { addPrices, formsOf, movedRequests, type Price, priceOf } from './form-prices.ts'
import { categoriesOf, surest } from './names.ts'
import { groupMoves } from './structure-findings.ts'

interface Told {
  readonly kind: Draft['kind']
  readonly service: string
  readonly evidence: CallsEvidence | OrderEvidence
  readonly key: string
  readonly previous: Operation | null
  readonly called: readonly Operation[]
  readonly calls: readonly FindingCall[]
  readonly tests: readonly Pick<CallChange, 'p' | 'q'>[]
  readonly price: Price
}

/** Drafts a finding a service that calls otherwise, and one for each thing done otherwise. */
export function callFindings(
  changes: StepChanges,
  {
    evidence,
    edges,
    segments = [],
  }: { evidence: Ranking; edges: EdgeChanges; segments?: readonly Segment[] },
): Draft[] {
  const { categories } = edges
  const { precursors } = evidence
  const { smPThreshold } = precursors.structural.options
  const least = smPThreshold === 'auto' ? 0 : smPThreshold
  const moves = requestMoves(precursors)
  const partly = changes.flows.runs.length > 1 ? [] : partlyChanged(changes, segments)
  const services = changedServices(changes, partly)
  const all = [...services.map(toldOfService(changes)), ...toldOfOrder(changes)]
  return all.flatMap((told): Draft | [] => {
    const { kind, service, evidence, key, previous, called, calls, tests } = told
    const { forms, requests, contributionUs, eachInterval } = told.price
    if (requests < least) return []
    const [to, from] = [categoriesOf(categories, forms.now), categoriesOf(categories, forms.usual)]
    const own = movesBetween(moves, { from, to, requests })
    const structure = apartFromHosts(categories, groupMoves(categories, own))
    // Requests that only lack a step in the place of new calls (or only have one more in the place of lost calls)
    // differ in something else.
    const [first] = calls.filter(({ call }) => call !== null)
    const { made, chances } = first ?? { made: [0, 0], chances: [1, 1] }
    const isMore = made[AFTER] / chances[AFTER] > made[BEFORE] / chances[BEFORE]
    const contrary = first === undefined ? null : isMore ? 'removed' : 'added'
    const isTold = structure.some(({ change }) => change !== contrary)
    const changedStructure = isTold ? structure : []
    return {
      ...NO_EVIDENCE,
      kind,
      evidence,
      key,
      requests,
      contributionUs,
      eachInterval,
      calls,
      direction: contributionUs < 0 ? 'faster' : 'slower',
      categories: [...new Set([...to, ...from])],
      concerned: [forms.counts[BEFORE][0], forms.counts[AFTER][0]],
      services: suspects(service, { previous, called, changedStructure: structure }),
      changedStructure,
      moves: own,
      forms,
      doing: forms.now,
      ...(!forms.isWhole && { did: forms.was }),
      ...surest(tests),
    }
  })
}

/** Returns the nodes that requests gained or lost, except those that only changed hosts. */
function apartFromHosts(
  categories: Categories,
  [group]: ReturnType<typeof groupMoves>,
): StructureChange[] {
  const { moves = [], changes = [] } = group ?? {}
  const has = (category: number, { service, operation, phase }: StructureChange['node']) =>
    categories.structure(category).preorder.some((at) => {
      const node = categories.nodeLabel(category, at)
      return node.service === service && node.operation === operation && node.phase === phase
    })
  return changes.filter(
    ({ change, node }) =>
      !moves.every(({ from, to }) => from !== to && has(change === 'added' ? from : to, node)),
  )
}

function toldOfService({ flows, sites }: StepChanges): (all: ServiceChanges) => Told {
  return (all) => {
    const { one, alike, price } = mostCostly({ flows, sites }, all)
    const { service, calls, repeats } = one
    const call = (calls[0] ?? repeats[0])?.call ?? null
    const isAfterSame = alike.every((other) => isSameCall(previousOf(other), previousOf(alike[0])))
    const previous = isAfterSame ? previousOf(alike[0]) : null
    const ofCalls = all.calls.map(findingCall)
    const ofRepeats = all.repeats.map((repeat) =>
      findingCall({ ...repeat, kind: 'repeats', previous: null }),
    )
    return {
      kind: calls.length > 0 ? 'structure' : 'concurrency',
      service,
      evidence: { of: 'calls', changes: one, alike, previous },
      previous,
      called: call === null ? [] : [call],
      price,
      key: [...all.calls.map(callKey), ...all.repeats.map(callKey)].sort().join('\n'),
      calls: calls.length > 0 ? [...ofCalls, ...ofRepeats] : [...ofRepeats, ...ofCalls],
      tests: [...all.calls, ...all.repeats],
    }
  }
}

function toldOfOrder(changes: StepChanges): Told[] {
  const { flows } = changes
  return concurrencyChanges(changes).map((members): Told => {
    const priced = members.map(({ isNew, calls: [call] }) => {
      const forms = formsOf(flows, isNew, { isWhole: isOfOneCall(call) })
      return priceOf(flows, forms, Math.max(1, movedRequests(forms)))
    })
    const price = priced.reduce(addPrices)
    const [{ of }] = members
    const tests = members.flatMap(({ calls }) => calls)
    const called = tests.flatMap((change) => [change.previous, change.call])
    return {
      kind: 'concurrency',
      service: of.service,
      previous: null,
      tests,
      price,
      called: called.filter((one) => one !== null),
      evidence: { of: 'order', changes: members, counts: price.forms.counts },
      key: tests.map(callKey).sort().join('\n'),
      calls: tests.map(findingCall),
    }
  })
}

export function findingCall(told: FindingCall): FindingCall {
  const { kind, of, previous, call, made, chances, worth = chances, times } = told
  return { kind, of, previous, call, made, chances, worth, ...(times && { times }) }
}

function mostCostly({ flows, sites }: Pick<StepChanges, 'flows' | 'sites'>, all: ServiceChanges) {
  const { service, calls, repeats } = all
  const parts = [
    ...(calls.length > 0 ? [{ service, calls, repeats: [] }] : []),
    ...(repeats.length > 0 ? [{ service, calls: [], repeats }] : []),
  ]
  const priced = parts.map((one) => {
    const [change, ...others] = one.calls
    const alike = change === undefined ? [] : [change, ...others.filter(isDoneToo(change))]
    const repeated = alikeRepeats(one.repeats)
    const isNew = change ? choseAnew(sites as CallSites, alike) : repeatsMore(flows, repeated)
    const forms = formsOf(flows, isNew)
    const changed = change ? Math.round(sum(alike, changedCalls)) : movedRequests(forms)
    const price = priceOf(flows, forms, Math.max(1, changed))
    return { one, alike: change ? alike : repeated, price }
  })
  const [first] = priced.sort(
    (a, b) => Math.abs(b.price.contributionUs) - Math.abs(a.price.contributionUs),
  )
  return first as (typeof priced)[number]
}

/**
 * Returns the services to suspect: the one that decides, the one whose answer it uses, those that this answer rests on,
 * and the called one.
 */
function suspects(
  service: string,
  {
    previous,
    called,
    changedStructure,
  }: Pick<Told, 'previous' | 'called'> & { changedStructure: readonly StructureChange[] },
): string[] {
  const answered = changedStructure.flatMap((change) => change.answered ?? [])
  const restsOn = answered
    .filter((answer) => answer.service === previous?.service)
    .flatMap((answer) => answer.restsOn)
  const names = [service, previous?.service, ...restsOn, ...called.map((one) => one.service)]
  return [...new Set(names.filter((name) => name !== undefined))]
}

function previousOf(one: ToldCall | RepeatChange | undefined): Operation | null {
  return one && 'previous' in one ? one.previous : null
}

function callKey(change: CallChange | RepeatChange): string {
  const kind = 'kind' in change ? [change.kind, change.previous] : ['repeats']
  return JSON.stringify([change.of, kind, change.call])
}

/** Whether a request does at least once what more do now; undefined where it had no choice. */
function choseAnew(sites: CallSites, alike: readonly ToldCall[]) {
  const [{ within, difference }] = alike as [ToldCall]
  const chances = new Set(alike.flatMap(({ chanceSites }) => [...chanceSites]))
  const made = new Set(alike.flatMap(({ madeSites }) => [...madeSites]))
  const newSites = difference > 0 ? made : new Set([...chances].filter((site) => !made.has(site)))
  return (request: number) =>
    (within?.has(request) ?? true) && sites.hasAny(request, chances)
      ? sites.hasAny(request, newSites)
      : undefined
}

function repeatsMore(flows: FlowSet, alike: readonly RepeatChange[]) {
  const verdictOf = memoized((shape: number) => {
    const verdicts = alike.flatMap(({ timesOf, beforeTimes, afterTimes }) => {
      const middle = (beforeTimes + afterTimes) / 2
      const times = timesOf.get(shape)
      return times === undefined ? [] : times > middle === afterTimes > beforeTimes
    })
    return verdicts.length === 0 ? undefined : verdicts.includes(true)
  })
  return (request: number) => verdictOf(flows.shapeOf[request] as number)
}

/** Returns the moves of requests from the usual categories to the new ones; the most frequent of each else. */
function movesBetween(
  moves: readonly MovedRequests[],
  { from, to, requests }: { from: readonly number[]; to: readonly number[]; requests: number },
): MovedRequests[] {
  const known = moves.filter((move) => from.includes(move.from) && to.includes(move.to))
  if (known.length > 0) return known.sort((a, b) => b.requests - a.requests)
  const [[source], [target]] = [from, to]
  if (source === undefined || target === undefined) return []
  return [{ from: source, to: target, requests }]
}

/** Whether another call of an operation is made as much more, or less, often as one is; `sign` of -1: the other way. */
export function isMadeWith(other: ToldCall, one: ToldCall, sign: 1 | -1 = 1): boolean {
  const { of, call, kind, difference } = one
  return (
    other.kind === 'calls' &&
    kind === 'calls' &&
    isSame(other.of, of) &&
    !isSameCall(other.call, call) &&
    Math.abs(other.difference - sign * difference) < PART * Math.abs(difference)
  )
}

/** Calls that changed in the requests of a segment alone, counted in these. */
function partlyChanged({ calls }: StepChanges, segments: readonly Segment[]): ToldCall[] {
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
function changedServices(changes: StepChanges, partly: readonly ToldCall[]): ServiceChanges[] {
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
        calls: firstTold(
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
    const isLike = (other: ToldCall | RepeatChange) =>
      'kind' in one && 'kind' in other ? isDoneToo(one)(other) : isSameCall(one.call, other.call)
    const isWith = (group: (typeof groups)[number]) =>
      shapes.some((shape) => group.shapes.has(shape)) || group.members.some(isLike)
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

function isOfSame(a: CallChange, b: RepeatChange): boolean {
  return a.call !== null && isSame(a.of, b.of) && isSame(a.call, b.call)
}

/**
 * Puts the change that a title names first: of those that cost the most, the one in most calls. A call that is left
 * out comes before an early return that hardly leaves out more. A call that alone changed is named with the call
 * before it.
 */
function firstTold(
  changed: readonly ToldCall[],
  costUs: (one: ToldCall) => number,
): readonly ToldCall[] {
  const mostUs = Math.max(...changed.map(costUs))
  const aboutUs = (one: ToldCall) => (costUs(one) > LARGE * mostUs ? mostUs : costUs(one))
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
      costUs(one) > LARGE * costUs(costliest),
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
      Math.abs(changedCalls(one) / changedCalls(first) - 1) < PART,
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
    const waited = flows.requestsOf(period).map((request) => made.waitedUs(request))
    return mean(waited, (us) => (us.length > 0 ? sum(us) : undefined)) ?? 0
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
function isDoneToo({ kind, within, difference, call, previous }: ToldCall) {
  return (one: ToldCall) =>
    one.kind === kind &&
    within === undefined &&
    one.within === undefined &&
    one.difference > 0 === difference > 0 &&
    isSameCall(one.call, call) &&
    (call !== null || isSameCall(one.previous, previous))
}

function alikeRepeats(repeats: readonly RepeatChange[]): RepeatChange[] {
  const isMore = (one: RepeatChange) => one.afterTimes > one.beforeTimes
  const [first] = repeats
  return repeats.filter(
    (one) => first && isSame(one.call, first.call) && isMore(one) === isMore(first),
  )
}

/**
 * Groups changes in how operations make the same calls: in another order, again after a failure, once more, or without
 * waiting. Operations of one service with the same change form one group.
 */
function concurrencyChanges({ calls, sites }: StepChanges): OrderEvidence['changes'][] {
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
function isOfOneCall({ kind, previous, call }: FindingCall): boolean {
  const isWithItself = kind === 'together' && isSameCall(previous, call)
  return kind === 'hedges' || isWithItself
}

function concerns({ previous, call }: CallChange, one: Operation | null): boolean {
  if (one === null) return false
  return isSameCall(previous, one) || isSameCall(call, one)
}

export function changedCalls(of: Pick<CallChange, 'difference' | 'chances'>): number {
  return Math.abs(of.difference) * of.chances[AFTER]
}
