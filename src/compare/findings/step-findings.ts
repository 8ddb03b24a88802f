import { extent, greatest, group, mean, rollup, sum } from 'd3-array'
import { callersOf } from '../../calls/unrecorded-callees.ts'
import { at } from '../../core/entries.ts'
import { printable } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { operationName, place } from '../../flows/node-labels.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { calledPlace } from '../edges/edge-times.ts'
import type { EdgeChange, EdgeChanges } from '../edges/find-edge-changes.ts'
import { countByPeriod } from '../steps/compare-errors.ts'
import type { StepChange, StepChanges } from '../steps/step-changes.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import { plainStep, type Step, type StepTimes, stepKey } from '../steps/step-times.ts'
import { type OwnTime, ownTimes } from '../steps/work-parts.ts'
import { FAR, LARGE, MOST } from '../thresholds.ts'
import {
  type Draft,
  type FindingStep,
  NO_EVIDENCE,
  type StepScope,
  type StepsEvidence,
} from './finding.ts'
import { changedMost, isMessage, mainOperation, placeTitle, surest } from './names.ts'

type Direction = Draft['direction']

/** Drafts a finding for steps that take another time: those of one scope together. */
export function stepFindings({ steps, flows }: StepChanges, edges: EdgeChanges): Draft[] {
  const { categories } = edges
  return (['slower', 'faster'] as const).flatMap((direction) =>
    groupSteps(steps, direction).map(
      (evidence): Draft => ({
        ...NO_EVIDENCE,
        kind: 'latency',
        direction,
        evidence,
        ...changeOfSteps(flows, evidence.steps),
        key: evidence.steps.map(partKey).sort().join('\n'),
        categories: changedMost(categories, requestsOf(evidence.steps), direction),
        services: servicesToLookAt(flows, evidence),
        changedEdges: evidence.steps.flatMap((step) => edgesOf(step, edges, direction)),
        ...surest(evidence.steps),
      }),
    ),
  )
}

/** Returns the requests of both periods that changed steps are about. */
export function requestsOf(steps: readonly StepChange[]): number[] {
  return [...new Set(steps.flatMap((step) => step.requests))]
}

/** Returns by how much steps changed, in how many requests, and how much that adds. */
export function changeOfSteps(flows: FlowSet, steps: StepsEvidence['steps']) {
  const [first] = steps
  const requests = requestsOf(steps)
  const concerned = countByPeriod(flows, requests)
  const recorded = recordedAfter(flows, requests)
  const totalUs = totalOf(steps)
  const eachUs = totalUs / recorded
  const error = Math.hypot(...steps.map(({ contributionError }) => contributionError))
  const width = (normalQuantile(0.975) * error) / recorded
  return {
    requests: concerned[AFTER],
    concerned,
    contributionUs: totalUs * (concerned[AFTER] / recorded),
    eachInterval: [eachUs - width, eachUs + width],
    probabilitySlower: first.probabilitySlower,
    ...(isMessage(first) && {
      size: { value: first.shiftUs, unit: 'µs', per: 'message', interval: first.interval },
    }),
    steps: steps.map(findingStep),
  } satisfies Partial<Draft>
}

function recordedAfter(flows: FlowSet, requests: readonly number[]): number {
  return Math.max(1, flows.within(AFTER, requests).length)
}

function totalOf(steps: readonly StepChange[]): number {
  return steps.reduce((sum, step) => sum + step.contributionUs, 0)
}

/** Returns the time that steps add to each request that they are about. */
export function eachOfSteps(flows: FlowSet, steps: readonly StepChange[]): number {
  return totalOf(steps) / recordedAfter(flows, requestsOf(steps))
}

function groupSteps(steps: readonly StepChange[], direction: Direction): StepsEvidence[] {
  return groupChanges<StepChange, StepScope>(
    steps.filter(({ kind }) => kind !== 'request'),
    {
      isWanted: ({ changed, shiftUs }) => changed && shiftUs > 0 === (direction === 'slower'),
      scopesOf,
      isWithin,
      isCompared: ({ q }) => !Number.isNaN(q),
      callOf: partKey,
      isOneKind: (a, b) => (a.minority === null) === (b.minority === null),
      isAlike: (a, b, { of }) => of !== 'operation' && areAlike([a.shiftUs, b.shiftUs]),
      alone: { of: 'step' },
    },
  ).map(({ scope, members }) => ({
    of: 'steps',
    scope,
    steps: members as unknown as StepsEvidence['steps'],
  }))
}

/** Whether times are much the same, all longer or all shorter. */
export function areAlike(us: readonly number[]): boolean {
  const [low, high] = extent(us) as [number, number]
  return low * high > 0 && high / low <= FAR && low / high <= FAR
}

function partKey({ kind, caller, service, part }: StepChange): string {
  const name = kind === 'call' ? `${caller} → ${service}` : service
  return part === undefined ? name : `${part} ${name}`
}

function scopesOf(step: StepChange): StepScope[] {
  const { kind, service, caller } = step
  // Each topic has consumers of its own.
  if (isMessage(step)) return []
  const operation = mainOperation(step)
  if (kind === 'work') {
    return [
      { of: 'service', service },
      { of: 'operation', operation },
    ]
  }
  // Calls of a callee without spans are one step, whoever makes them.
  if (caller === null) return []
  const by = caller
  return [
    { of: 'calls to', service },
    { of: 'calls by', service: by },
    { of: 'service', service },
    { of: 'service', service: by },
  ]
}

function isWithin(step: StepChange, scope: StepScope): boolean {
  const { kind, service, caller } = step
  if (isMessage(step)) return false
  switch (scope.of) {
    case 'step':
      return false
    case 'operation':
      return kind === 'work' && step.operations.some((one) => one.operation === scope.operation)
    case 'calls to':
      return kind === 'call' && service === scope.service
    case 'calls by':
      return kind === 'call' && caller === scope.service
    case 'service':
      return service === scope.service || caller === scope.service
  }
}

export function findingStep(step: StepChange): FindingStep {
  const { shiftUs, minority } = step
  const share = minority === null ? {} : { share: minority.share }
  return { ...plainStep(step), operation: mainOperation(step), shiftUs, ...share }
}

function servicesToLookAt(flows: FlowSet, { scope, steps }: StepsEvidence): string[] {
  const called = steps.map(({ service }) => service)
  const callers = steps.flatMap(({ service, caller }) => caller ?? callersOf(flows, service))
  const first = 'service' in scope ? [scope.service] : []
  return [...new Set([...first, ...called, ...callers])]
}

/** Whether an edge lies within what changed of a step. */
export function isOfStep(edge: EdgeChange, step: StepChange): boolean {
  const { kind, service, caller, operations } = step
  const { fromNode, toNode } = edge
  if (kind === 'work') return edge.kind === 'self' && place(fromNode) === service
  if (caller === null) {
    return operations.some(({ operation }) =>
      [fromNode, toNode].every((node) => node.operation === operation),
    )
  }
  const callee = place(toNode) === service && calledPlace(edge) === service ? toNode : fromNode
  const ends = [place(fromNode), place(toNode)]
  if (edge.kind !== 'network' || !ends.includes(service) || !ends.includes(caller)) {
    return false
  }
  const changed = operations.filter((one) => one.changed)
  return changed.length === 0 || changed.some(({ operation }) => operation === callee.operation)
}

/** Returns the significant edges of a step, largest first; else the likeliest, as sure as its step. */
function edgesOf(step: StepChange, edges: EdgeChanges, direction: Direction): EdgeChange[] {
  const all = edges.edges.filter((edge) => isOfStep(edge, step))
  const isSo = ({ shiftUs }: EdgeChange) =>
    shiftUs !== 0 && shiftUs > 0 === (direction === 'slower')
  const changed = all.filter((edge) => edge.significant && isSo(edge))
  if (changed.length > 0) return changed
  const [likeliest] = edges
    .measured(all)
    .filter(isSo)
    .sort(
      (a, b) => (a.p || 1) - (b.p || 1) || Math.abs(b.contributionUs) - Math.abs(a.contributionUs),
    )
  if (likeliest === undefined) return []
  const { p, q } = step
  return [{ ...likeliest, p, q, significant: true, changed: true, why: null }]
}

interface ChangeGroup<T, S> {
  readonly scope: S
  readonly members: readonly T[]
}

interface Grouping<T, S> {
  readonly isWanted: (item: T) => boolean
  readonly scopesOf: (item: T) => readonly S[]
  readonly isWithin: (item: T, scope: S) => boolean
  /** Whether an item could have changed for all that is known. */
  readonly isCompared: (item: T) => boolean
  /** Name of the call that an item belongs to: items of one call count once. */
  readonly callOf: (item: T) => string
  /** Whether two items can be one change at all, as both of many calls are, or both of few. */
  readonly isOneKind?: (a: T, b: T) => boolean
  /** Whether two items of a scope changed by as much: one cause may do that, whatever else is there. */
  readonly isAlike?: (a: T, b: T, scope: S) => boolean
  readonly alone: S
}

/**
 * Groups changes repeatedly by the scope that explains the most. A scope's score is the contribution of its changes
 * times the share of its calls that changed, which is small for callers of one common callee; or the contribution of
 * the changes as large as its largest.
 */
export function groupChanges<T extends { readonly contributionUs: number }, S>(
  items: readonly T[],
  grouping: Grouping<T, S>,
): ChangeGroup<T, S>[] {
  const left = new Set(items.filter(grouping.isWanted))
  const candidates = new Map<string, ChangeGroup<T, S>>()
  for (const scope of [...left].flatMap(grouping.scopesOf)) {
    const key = JSON.stringify(scope)
    if (candidates.has(key)) continue
    const members = items.filter((item) => grouping.isWithin(item, scope))
    candidates.set(key, { scope, members })
  }
  const groups: ChangeGroup<T, S>[] = []
  while (left.size > 0) {
    const best = bestCandidate([...candidates.values()], left, grouping)
    groups.push(best)
    for (const member of best.members) left.delete(member)
  }
  return groups
}

function bestCandidate<T extends { readonly contributionUs: number }, S>(
  candidates: readonly ChangeGroup<T, S>[],
  left: ReadonlySet<T>,
  { isCompared, callOf, isOneKind, isAlike, alone }: Grouping<T, S>,
): ChangeGroup<T, S> {
  const sizeOf = ({ contributionUs }: T) => Math.abs(contributionUs)
  const [first] = [...left].sort((a, b) => sizeOf(b) - sizeOf(a)) as [T]
  let best: ChangeGroup<T, S> = { scope: alone, members: [first] }
  let bestScore = sizeOf(first)
  for (const { scope, members } of candidates) {
    const all = members.filter((member) => left.has(member))
    const largest = greatest(all, sizeOf)
    const changed = all.filter((one) => isOneKind?.(one, largest as T) ?? true)
    const calls = new Set(members.filter(isCompared).map(callOf)).size
    const share = calls === 0 ? 0 : new Set(changed.map(callOf)).size / calls
    const alike = changed.filter((one) => largest === one || isAlike?.(one, largest as T, scope))
    const found = [
      { share: share < MOST ? 0 : share, members: changed },
      { share: 1, members: alike },
    ]
    for (const { share, members } of found) {
      const score = share * sum(members, sizeOf)
      if (members.length < 2 || score <= bestScore) continue
      bestScore = score
      best = { scope, members }
    }
  }
  return best
}

export interface Place extends Pick<Step, 'kind' | 'service' | 'caller'> {
  /** Operation that holds most of it; empty where none does. */
  readonly operation: string
  readonly strata: readonly StepStratum[]
  /** Total time the requests took longer there. */
  readonly heldUs: number
}

/**
 * Returns the step that holds most of the excess time of these requests (`excessUs` in all), on critical paths and
 * compared with similar requests before; `null` if no step holds half of it.
 */
export function commonStep(
  times: readonly StepTimes[],
  requests: ReadonlySet<number>,
  excessUs: number,
): Place | null {
  const own = times.filter(({ kind, part }) => kind !== 'request' && part !== 'message')
  const places = Array.from(
    group(own, ({ kind, service, caller }) => stepKey({ kind, service, caller })).values(),
    (parts) => {
      const strata = parts.flatMap((one) => one.strata)
      const held = rollup(
        strata,
        (some) => sum(some, (stratum) => heldUs(stratum, requests)),
        ({ operation }) => operation,
      )
      const [{ kind, service, caller }] = parts as [StepTimes]
      return { kind, service, caller, strata, held, heldUs: sum(held.values()) }
    },
  )
  const most = greatest(places, (place) => place.heldUs / excessUs)
  if (most === undefined || !(most.heldUs / excessUs >= MOST)) return null
  const { held, ...place } = most
  const [operation, us] = greatest(held, ([, us]) => us / excessUs) as [string, number]
  return { ...place, operation: us / place.heldUs >= MOST ? operation : '' }
}

function heldUs({ before, after: { recorded } }: StepStratum, slow: ReadonlySet<number>): number {
  const usualUs = mean(before.recorded.criticalUs) ?? Number.NaN
  const { requests, criticalUs } = recorded
  return sum(requests, (request, row) => (slow.has(request) ? at(criticalUs, row) - usualUs : 0))
}

interface NamedPlace {
  readonly name: string
  /** Times of requests in the named span within the service; `null` if the operation gives the name. */
  readonly within: readonly [before: readonly OwnTime[], after: readonly OwnTime[]] | null
}

/** Returns the name of the span within the service that holds most of the excess there, or else of the operation. */
export function namePlace(
  flows: FlowSet,
  { strata, ...place }: Place,
  requests: ReadonlySet<number>,
): NamedPlace {
  const name = placeTitle(place, place.operation)
  if (place.kind !== 'work') return { name, within: null }
  const having = strata.flatMap(({ before, after }) => [
    ...before.recorded.requests,
    ...after.recorded.requests,
  ])
  const { service } = place
  for (const [operation, own] of ownTimes(flows, { service, requests: [...new Set(having)] })) {
    if (strata.some((one) => one.operation === operation)) continue
    const usualUs = mean(own[BEFORE], ({ us }) => us) ?? Number.NaN
    const [, after] = own
    const heldUs = sum(after, ({ request, us }) => (requests.has(request) ? us - usualUs : 0))
    if (heldUs / place.heldUs >= LARGE)
      return { name: `${printable(service)} ${operationName({ operation })}`, within: own }
  }
  return { name, within: null }
}

/**
 * Whether a finding may tell of the same: of its services, or of whatever whole requests do.
 */
export function isTold({ kind, services }: Draft, place: Place | null): boolean {
  if (kind === 'load' || kind === 'unattributed') return true
  return place === null || services.some((one) => one === place.service || one === place.caller)
}
