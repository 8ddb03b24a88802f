import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import type { RankedMutation } from './ranking.ts'

/** Trace ids of typical requests, for looking at. */
export interface Exemplars {
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/**
 * Typical requests of a mutation, nearest the median response time first: of its category after,
 * and of what it was before, which for a structural mutation is the likeliest precursor.
 */
export function exemplars(
  categories: Categories,
  { category, kind, precursors }: RankedMutation,
  { count = 3 } = {},
): Exemplars {
  const origin = kind === 'structural' ? (precursors[0]?.category ?? category) : category
  return {
    before: typical(categories, { category: origin, period: BEFORE, count }),
    after: typical(categories, { category, period: AFTER, count }),
  }
}

function typical(
  categories: Categories,
  { category, period, count }: { category: number; period: Period; count: number },
): string[] {
  const { responseTimeUs, ids } = categories.flows
  const requests = Array.from(categories.members(category, period)).sort(
    (a, b) => (responseTimeUs[a] as number) - (responseTimeUs[b] as number) || a - b,
  )
  const first = Math.max(0, Math.floor((requests.length - count) / 2))
  const middle = requests.slice(first, first + count)
  const medianUs = responseTimeUs[requests[Math.floor(requests.length / 2)] ?? 0] as number
  const distance = (request: number) => Math.abs((responseTimeUs[request] as number) - medianUs)
  return middle.sort((a, b) => distance(a) - distance(b) || a - b).map((r) => ids[r] as string)
}
