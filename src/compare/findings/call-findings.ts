import { sum } from 'd3-array'
import { memoized } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { MovedRequests } from '../mutations/find-structural-mutations.ts'
import { movedRequests as requestMoves } from '../precursors/moves.ts'
import type { Ranking } from '../ranking/rank-mutations.ts'
import type { Segment } from '../segments/segments.ts'
import { type CallSites, isSameCall, type Operation } from '../steps/call-order.ts'
import type { CallChange, RepeatChange, StepChanges } from '../steps/step-changes.ts'
import { changedCalls, concurrencyChanges, isOfOneCall } from './concurrency-findings.ts'
import type {
  CallsEvidence,
  OrderEvidence,
  ServiceChanges,
  StructureChange,
  ToldCall,
} from './evidence.ts'
import { type Draft, type FindingCall, NO_EVIDENCE } from './finding.ts'
import { addPrices, formsOf, movedRequests, type Price, priceOf } from './form-prices.ts'
import { categoriesOf, surest } from './names.ts'
import { alikeRepeats, changedServices, isDoneToo, partlyChanged } from './service-changes.ts'
import { groupMoves } from './structure-moves.ts'

/** Equal changes of behavior of a service's operations. */
type Alike = ToldCall | RepeatChange

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
      probabilitySlower: Number.NaN,
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
    const { service } = one
    const { call, previous } = headline(one, alike)
    return {
      kind: one.calls.length > 0 ? 'structure' : 'concurrency',
      service,
      evidence: { of: 'calls', changes: one, alike, previous },
      previous,
      called: call === null ? [] : [call],
      price,
      key: [...all.calls.map(callKey), ...all.repeats.map(callKey)].sort().join('\n'),
      calls: toldFirst(all, one),
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

function toldFirst({ calls, repeats }: ServiceChanges, told: ServiceChanges): FindingCall[] {
  const ofRepeats = repeats.map((one) => findingCall({ ...one, kind: 'repeats', previous: null }))
  const ofCalls = calls.map(findingCall)
  return told.calls.length > 0 ? [...ofCalls, ...ofRepeats] : [...ofRepeats, ...ofCalls]
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

function headline({ calls: [call], repeats: [repeat] }: ServiceChanges, alike: readonly Alike[]) {
  const isAfterSame = alike.every((one) => isSameCall(previousOf(one), previousOf(alike[0])))
  const previous = isAfterSame ? previousOf(alike[0]) : null
  return { call: call?.call ?? repeat?.call ?? null, previous }
}

function previousOf(one: Alike | undefined): Operation | null {
  return one && 'previous' in one ? one.previous : null
}

function callKey(change: CallChange | RepeatChange): string {
  const { of, call } = change
  const kind = 'kind' in change ? [change.kind, change.previous] : ['repeats']
  return JSON.stringify([of, kind, call])
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
  const [source] = from
  const [target] = to
  if (source === undefined || target === undefined) return []
  return [{ from: source, to: target, requests }]
}
