import { moreText } from '../../core/quantity.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import { place } from '../edges/edge-pool.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { ResponseTimeMutations } from '../mutations/find-response-time-mutations.ts'
import { typicalTimeUs } from '../ranking/rank-mutations.ts'
import { byRequestsAfter, requestsOf } from './categories-concerned.ts'
import type { Draft } from './finding.ts'
import { rootsName } from './names.ts'

/**
 * Drafts a finding of all categories slower, and one of all faster, that no edge accounts for: many
 * small changes, or time between what was traced. The shift is that of medians.
 */
export function requestFindings(
  responseTime: ResponseTimeMutations,
  { explained, edges }: { explained: ReadonlySet<number>; edges: EdgeChanges },
): Draft[] {
  const { categories } = responseTime
  const { minimumEffect } = edges.options
  const shifted = responseTime.mutations.flatMap((category) => {
    const { beforeUs, shiftUs } = medians(categories, category)
    const matters = !explained.has(category) && Math.abs(shiftUs) >= minimumEffect * beforeUs
    return matters ? [{ category, shiftUs, requests: categories.count(category, AFTER) }] : []
  })
  return (['slower', 'faster'] as const).flatMap((direction): Draft[] => {
    const found = shifted.filter(({ shiftUs }) => shiftUs < 0 === (direction === 'faster'))
    const members = found.map(({ category }) => category)
    const contributionUs = found.reduce((sum, one) => sum + one.shiftUs * one.requests, 0)
    if (members.length === 0 || Math.abs(contributionUs) < edges.negligibleUs) return []
    const counts = requestsOf(categories, members)
    const [, requests] = counts
    const concerned = byRequestsAfter(categories, members)
    const roots = concerned.map((category) => categories.nodeLabel(category, 0))
    const effects = found.map((one) => ({
      share: one.requests / requests,
      ...responseTime.medianEffect(one.category),
    }))
    const sum = (value: (effect: (typeof effects)[number]) => number) =>
      effects.reduce((total, effect) => total + effect.share * value(effect), 0)
    const shift = moreText(contributionUs / requests, categories.flows.quantity)
    return [
      {
        kind: 'unattributed',
        key: `requests ${direction}`,
        direction,
        where: rootsName(roots),
        what: `requests take ${shift}, spread over many steps`,
        categories: concerned,
        requests,
        concerned: counts,
        contributionUs,
        eachInterval: [sum(({ interval }) => interval[0]), sum(({ interval }) => interval[1])],
        probabilitySlower: sum(({ probabilitySlower }) => probabilitySlower),
        notes: [],
        look: 'what all steps share: host, runtime, load',
        services: [...new Set(roots.map(place))].filter((name) => name !== ''),
        changedEdges: [],
        changedStructure: [],
        steps: [],
        calls: [],
        moves: [],
        p: Math.min(...members.map((category) => responseTime.test(category).p)),
        q: Math.min(...members.map((category) => responseTime.test(category).q)),
      },
    ]
  })
}

function medians(categories: Categories, category: number) {
  const median = (period: 0 | 1) =>
    typicalTimeUs(categories, { category, period, centre: 'median' })
  const beforeUs = median(BEFORE)
  return { beforeUs, shiftUs: median(AFTER) - beforeUs }
}
