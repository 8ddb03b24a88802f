import { range, sum } from 'd3-array'
import type { Quantity } from '../../core/quantity.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { place } from '../../flows/node-labels.ts'
import { twoProportionsTest } from '../../stats/two-proportions.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { Draft, Finding, FindingCall, FindingSize } from './finding.ts'

/** Returns the size of a change: a rate of actions or failures, or the time per request. */
export function sizeOf(
  draft: Draft,
  {
    all,
    worth: ofAll,
    quantity,
  }: Record<'all' | 'worth', Draft['concerned']> & { quantity: Quantity },
): FindingSize {
  const { kind, calls, concerned, contributionUs, requests, eachInterval } = draft
  if (draft.size !== undefined) return draft.size
  if (kind === 'latency' || kind === 'unattributed' || kind === 'concurrency') {
    const value = contributionUs / Math.max(1, requests)
    return { value, unit: quantity.unit ?? 'µs', per: 'request', interval: eachInterval }
  }
  const [call] = calls
  const { made, chances, worth = chances } = call ?? { made: concerned, chances: all, worth: ofAll }
  return rateSize({ made, chances, worth }, call === undefined ? 'request' : 'call')
}

/** Returns the growth of a share of calls, or of requests. */
export function rateSize(
  { made, chances, worth }: Required<Pick<FindingCall, 'made' | 'chances' | 'worth'>>,
  per: FindingSize['per'],
): FindingSize {
  const [before, after] = worth.map((size, i) => (made[i]! * size) / (chances[i]! || 1))
  const { difference, interval } = twoProportionsTest(before!, worth[0], after!, worth[1])
  return { value: difference, unit: 'rate', per, interval }
}

/** Returns the operation of the service to look at first; `null` where only those of others are known. */
export function operationOf(draft: Draft): string | null {
  const { services, steps, calls, changedStructure, changedEdges, place: shared } = draft
  if (shared !== undefined) return null
  const nodes = [
    ...changedStructure.map(({ node }) => node),
    ...changedEdges.flatMap(({ toNode, fromNode }) => [toNode, fromNode]),
  ].map((node) => ({ service: place(node), operation: node.operation }))
  const told = [steps, calls.map(({ of }) => of), nodes].find((list) => list.length > 0) ?? []
  const [first = told[0]?.service] = services
  return told.find(({ service }) => service === first)?.operation ?? null
}

/** Returns whether the cost of a change is within noise: its interval contains 0. */
export function isOpen({ eachInterval: [low, high] }: Pick<Draft, 'eachInterval'>): boolean {
  return Math.min(low, high) < 0 && Math.max(low, high) > 0
}

/** Returns the calls that fail after, in per cent, if a finding says that more do; else 0. */
export function errorRate({ kind, direction, size, segment, calls: [call] }: Finding): number {
  if (kind !== 'errors' || direction !== 'slower') return 0
  if (call !== undefined) return (100 * call.made[1]) / call.chances[1]
  return 100 * (segment?.inside.afterMean ?? size.value)
}

/** Returns a draft of recorded requests as one of all that these stand for; the same where each counts once. */
export function weighed(draft: Draft, categories: Categories): Draft {
  const ids = draft.categories.length > 0 ? draft.categories : range(categories.size)
  const factorOf = (period: Period) =>
    sum(ids, (id) => categories.counted(id, period)) /
      sum(ids, (id) => categories.count(id, period)) || 1
  const [before, after] = [factorOf(BEFORE), factorOf(AFTER)]
  return {
    ...draft,
    requests: Math.round(draft.requests * after),
    concerned: [Math.round(draft.concerned[0] * before), Math.round(draft.concerned[1] * after)],
    contributionUs: draft.contributionUs * after,
  }
}

/**
 * Returns how much longer all requests after took than as many before, in µs, including those the recorded ones stand
 * for.
 */
export function observedChange({ observedChangeUs, categories: { flows } }: EdgeChanges): number {
  return (observedChangeUs * flows.countedIn(AFTER)) / flows.wholes(AFTER) || 0
}
