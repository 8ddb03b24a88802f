import type { Comparison } from '../../compare/comparison.ts'
import type { RankedMutation } from '../../compare/ranking/ranking.ts'
import { typicalTimeUs } from '../../compare/ranking/typical-time.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { rootName } from '../charts/node-names.ts'

/** A ranked mutation as a row of a short table. */
export interface MutationRow {
  readonly rank: number
  readonly kind: RankedMutation['kind']
  readonly name: string
  readonly category: number
  readonly requests: number
  /** Median response time before, for other work that of what the requests most likely did then. */
  readonly beforeUs: number
  readonly afterUs: number
  /** 95 % interval of the difference; `NaN` where there is nothing to compare with. */
  readonly interval: readonly [low: number, high: number]
  readonly q: number
  readonly contributionUs: number
}

/** The first ranked mutations. */
export function mutationRows(comparison: Comparison, limit: number): MutationRow[] {
  return comparison.ranking.mutations
    .slice(0, limit)
    .map((mutation) => mutationRow(comparison, mutation))
}

function mutationRow(comparison: Comparison, mutation: RankedMutation): MutationRow {
  const { categories, responseTime, structural } = comparison
  const { rank, kind, category, requests, contributionUs, precursors } = mutation
  const origin = kind === 'structural' ? precursors[0]?.category : category
  const median = (of: number, period: typeof BEFORE | typeof AFTER) =>
    typicalTimeUs(categories, { category: of, period, centre: 'median' })
  const known = { rank, kind, category, requests: Math.round(requests), contributionUs }
  const name = rootName(categories, category, 60)
  const afterUs = median(category, categories.count(category, AFTER) > 0 ? AFTER : BEFORE)
  const { q } = kind === 'structural' ? structural.test(category) : responseTime.test(category)
  if (origin === undefined) {
    return { ...known, name, beforeUs: Number.NaN, afterUs, interval: [Number.NaN, Number.NaN], q }
  }
  const beforeUs = median(origin, categories.count(origin, BEFORE) > 0 ? BEFORE : AFTER)
  const { interval } = responseTime.medianEffect(category, origin)
  return { ...known, name, beforeUs, afterUs, interval, q }
}
