import { FlowdeltaError } from '../../core/errors.ts'
import { readOptions } from '../../core/options.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import type { ResponseTimeMutations } from '../mutations/response-time-mutations.ts'
import type { Precursors } from '../precursors/precursors.ts'
import {
  type Centre,
  RANKING_OPTIONS,
  type RankedMutation,
  Ranking,
  type RankingOptions,
} from './ranking.ts'
import { typicalTimeUs } from './typical-time.ts'

type Unranked = Omit<RankedMutation, 'rank' | 'precursors' | 'significant'>

/**
 * Ranks mutations by what they contribute to the change in the sum of response times.
 *
 * - response-time: requests before × (mean after − mean before);
 * - structural: additional requests × (mean after − weighted mean of the precursors' times). A
 *   precursor's time is its mean after, or before where it has no request left. A mutation
 *   without a precursor contributes 0: what its requests took before is not known.
 *
 * A category that is both is split into two virtual ones, one of each kind. Changes that save
 * time have negative contributions and stand at the end.
 *
 * @param options.centre what stands for a category's response times: `'mean'` (default, as in the
 *   thesis), `'median'`, or `'trimmed'` (the mean without the extreme tenths)
 * @param options.evidence the mutations that hold when corrected, such as `comparison.evidence`:
 *   only they are marked significant. Without it, all of the ranking are
 * @throws FlowdeltaError when the two stages come from different categories, OptionError for an
 *   unknown centre
 *
 * Source: Sambasivan 2013, §2.4.4 and Figure 2.4.
 *
 * @example
 * rankMutations(findResponseTimeMutations(categories), matchPrecursors(structural)).mutations[0]
 */
export function rankMutations(
  responseTime: ResponseTimeMutations,
  precursors: Precursors,
  { evidence, ...given }: Partial<RankingOptions> & { readonly evidence?: Ranking } = {},
): Ranking {
  const options = readOptions(RANKING_OPTIONS, given)
  const { centre } = options
  const { categories } = responseTime
  if (precursors.structural.categories !== categories) {
    throw new FlowdeltaError(
      'The response-time and the structural mutations come from different categories. ' +
        'Find both from one `categorize` result.',
    )
  }
  const unranked = [
    ...precursors.structural.mutations.map((category) => structural(precursors, category, centre)),
    ...responseTime.mutations.map((category) => timed(categories, category, centre)),
  ]
  const significant = evidence && new Set(evidence.mutations.map(mutationKey))
  const mutations = unranked
    .sort(
      (a, b) =>
        b.contributionUs - a.contributionUs ||
        a.category - b.category ||
        a.kind.localeCompare(b.kind, 'en'),
    )
    .map(({ category, kind, requests, contributionUs }, i) => ({
      rank: i + 1,
      ...{ category, kind, requests, contributionUs },
      significant: significant?.has(mutationKey({ category, kind })) ?? true,
      get precursors() {
        return kind === 'structural' ? precursors.of(category) : []
      },
    }))
  return new Ranking(responseTime, precursors, { mutations, options })
}

function mutationKey({ category, kind }: Pick<RankedMutation, 'category' | 'kind'>): string {
  return `${category} ${kind}`
}

function structural(precursors: Precursors, category: number, centre: Centre): Unranked {
  const { categories, changes } = precursors.structural
  const candidates = precursors.columns(category)
  let usedToTakeUs = 0
  for (let i = 0; i < candidates.weights.length; i++) {
    const candidate = candidates.categories[i] as number
    usedToTakeUs += (candidates.weights[i] as number) * usualTimeUs(categories, candidate, centre)
  }
  const known = candidates.weights.length > 0
  const requests = changes[category] as number
  const addedUs = known ? usualTimeUs(categories, category, centre) - usedToTakeUs : 0
  return { category, kind: 'structural', requests, contributionUs: requests * addedUs }
}

function timed(categories: Categories, category: number, centre: Centre): Unranked {
  const requests = categories.count(category, BEFORE)
  const before = typicalTimeUs(categories, { category, period: BEFORE, centre })
  const after = typicalTimeUs(categories, { category, period: AFTER, centre })
  return { category, kind: 'response-time', requests, contributionUs: requests * (after - before) }
}

/** Typical response time after, or before where there is no request after. */
export function usualTimeUs(categories: Categories, category: number, centre: Centre): number {
  const period = categories.count(category, AFTER) > 0 ? AFTER : BEFORE
  return typicalTimeUs(categories, { category, period, centre })
}
