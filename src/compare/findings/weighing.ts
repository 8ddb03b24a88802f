import { range, sum } from 'd3-array'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { Draft } from './finding.ts'

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
