import type { Categories } from '../categories/categories.ts'
import type { EdgeChanges } from '../edges/edge-changes.ts'
import { place } from '../edges/edge-pool.ts'
import { AFTER, BEFORE } from '../flows/flow-set.ts'
import type { ResponseTimeMutations } from '../mutations/response-time-mutations.ts'
import { typicalTimeUs } from '../ranking/typical-time.ts'
import { formatDuration } from '../units.ts'
import { byRequestsAfter, requestsAfter } from './concerned.ts'
import { stepName } from './edge-words.ts'
import type { Draft } from './finding.ts'

/**
 * Categories whose response times changed though no edge accounts for it, by their root: many steps
 * that each changed a little, or time between what was traced. The shift is that of medians.
 *
 * @param sources.explained categories that a changed edge accounts for
 * @param sources.edges whose options say what is large enough
 */
export function requestDrafts(
  responseTime: ResponseTimeMutations,
  { explained, edges }: { explained: ReadonlySet<number>; edges: EdgeChanges },
): Draft[] {
  const { categories } = responseTime
  const { minimumEffect, minimumShare } = edges.options
  const groups = new Map<string, number[]>()
  for (const category of responseTime.mutations) {
    const { beforeUs, shiftUs } = medians(categories, category)
    if (explained.has(category) || Math.abs(shiftUs) < minimumEffect * beforeUs) continue
    const direction = shiftUs < 0 ? 'faster' : 'slower'
    const key = `${direction} ${categories.root(category)}`
    groups.set(key, [...(groups.get(key) ?? []), category])
  }
  return [...groups]
    .map(([key, members]): Draft => {
      const shifts = members.map((category) => {
        return medians(categories, category).shiftUs * categories.count(category, AFTER)
      })
      const contributionUs = shifts.reduce((sum, shift) => sum + shift, 0)
      const requests = requestsAfter(categories, members)
      const direction = key.startsWith('faster') ? ('faster' as const) : ('slower' as const)
      const shift = formatDuration(Math.abs(contributionUs) / requests)
      const root = stepName(categories.nodeLabel(members[0] as number, 0))
      return {
        ...{ kind: 'requests', key, direction, requests, contributionUs },
        ...{ changedEdges: [], changedStructure: [], moves: [] },
        title: `Requests for ${root} take ${shift} ${direction === 'slower' ? 'longer' : 'less'}, no single step of them`,
        categories: byRequestsAfter(categories, members),
        services: [place(categories.nodeLabel(members[0] as number, 0))].filter(
          (name) => name !== '',
        ),
        q: Math.min(...members.map((category) => responseTime.test(category).q)),
      }
    })
    .filter(({ contributionUs }) => Math.abs(contributionUs) >= minimumShare * edges.usualUs)
}

function medians(categories: Categories, category: number) {
  const median = (period: 0 | 1) =>
    typicalTimeUs(categories, { category, period, centre: 'median' })
  const beforeUs = median(BEFORE)
  return { beforeUs, shiftUs: median(AFTER) - beforeUs }
}
