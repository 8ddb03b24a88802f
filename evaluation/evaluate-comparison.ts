import type { Comparison } from '../src/comparison/comparison.ts'
import { AFTER } from '../src/flows/flow-set.ts'
import { type RankedQuality, rankedQuality } from './ranked-quality.ts'
import { categoryHas, isRelevant } from './relevance.ts'
import type { Truth } from './truth.ts'

/**
 * How good a comparison's ranked list is, given what was planted.
 *
 * Coverage counts an affected request once, however many results hold its category.
 *
 * @example
 * evaluateComparison(comparison, truth).firstRelevantRank
 */
export function evaluateComparison(comparison: Comparison, truth: Truth): RankedQuality {
  const { mutations } = comparison.ranking
  const relevant = mutations.map((mutation) => isRelevant(comparison, mutation, truth.relevant))
  const found = new Set(mutations.filter((_, i) => relevant[i]).map(({ category }) => category))
  return rankedQuality(relevant, affectedRequests(comparison, truth, found))
}

function affectedRequests(
  { categories }: Comparison,
  { affected }: Truth,
  found: ReadonlySet<number>,
) {
  if (affected === null) return null
  let requests = 0
  let covered = 0
  for (let category = 0; category < categories.size; category++) {
    if (!categoryHas(categories, category, affected)) continue
    const count = categories.count(category, AFTER)
    requests += count
    if (found.has(category)) covered += count
  }
  return { requests, covered }
}
