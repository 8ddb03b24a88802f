import { rollup, sum } from 'd3-array'
import {
  FlowdeltaError,
  rejectUnknownOptions,
  requireFields,
  requireStage,
} from '../../core/errors.ts'
import { defineOptions, type OptionsOf, oneOf, readOptions } from '../../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { percent } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { quantile } from '../../stats/quantile.ts'
import { Categories } from '../categories/categories.ts'
import { ResponseTimeMutations } from '../mutations/find-response-time-mutations.ts'
import { counterOf, type StructuralMutations } from '../mutations/find-structural-mutations.ts'
import { type PrecursorCandidate, Precursors } from '../precursors/match-precursors.ts'
import { NOTABLE } from '../thresholds.ts'

type Unranked = Pick<RankedMutation, 'category' | 'kind' | 'requests' | 'contributionUs'>

/**
 * Ranks mutations by their contribution to the change in the sum of response times.
 *
 * - response-time: requests before × (mean after − mean before);
 * - structural: additional requests × (mean after − weighted mean of the precursors' times). A precursor's time is its
 *   mean after, or before where it has no request left. A mutation without a precursor (`noPrecursor`) contributes 0:
 *   the former time of its requests is unknown.
 *
 * Both kinds count requests as structural mutations do (`counts`).
 *
 * A category that is both is split into two virtual ones, one of each kind. Changes that save
 * time have negative contributions and stand at the end.
 *
 * Mutations are not independent: if a precursor became slower itself, repairing that changes the contribution of its
 * structural mutation. `remainingUs` is the contribution of a mutation once those before it are repaired; `combinedUs`
 * is the joint contribution of both mutations of its category.
 *
 * @param options.centre center of a category's response times: `'mean'` (default, as in the thesis), `'median'`, or
 *   `'trimmed'` (the mean without the extreme tenths)
 * @param options.rankBy `'mutation'` (default): each by its own contribution; `'category'`: by the joint one of both
 *   mutations of its category, which keeps these together
 * @param options.claimed mutations that a finding accounts for: only they are marked significant. By default all are
 * @throws FlowdeltaError when the two stages come from different categories, OptionError for an
 *   unknown centre
 *
 * Source: Sambasivan 2013, §2.6.4 and Figure 2.4.
 *
 * @example
 * rankMutations(findResponseTimeMutations(categories), matchPrecursors(structural)).mutations[0]
 */
export function rankMutations(
  responseTime: ResponseTimeMutations,
  precursors: Precursors,
  all: Partial<RankingOptions> & { readonly claimed?: readonly Claimed[] } = {},
): Ranking {
  const { claimed, ...given } = Object(all) as typeof all
  requireStage('rankMutations(responseTime, precursors)', responseTime, ResponseTimeMutations)
  requireStage('rankMutations(responseTime, precursors)', precursors, Precursors)
  const options = readOptions(RANKING_OPTIONS, given)
  const { centre, rankBy } = options
  const { categories } = responseTime
  if (precursors.structural.categories !== categories) {
    throw new FlowdeltaError(
      'The response-time and the structural mutations come from different categories. ' +
        'Find both from one `categorize` result.',
    )
  }
  const usualUs = usualTimes(precursors.structural, centre)
  const unranked = [
    ...precursors.structural.mutations.map((category) => structural(precursors, category, usualUs)),
    ...responseTime.mutations.map((category) => timed(precursors.structural, category, centre)),
  ]
  const significant = claimed && new Set(claimed.map(mutationKey))
  const combined = rollup(
    unranked,
    (both) => sum(both, ({ contributionUs }) => contributionUs),
    ({ category }) => category,
  )
  const combinedUs = ({ category }: Unranked) => combined.get(category) as number
  const mutations = unranked
    .sort(
      (a, b) =>
        (rankBy === 'category' ? combinedUs(b) - combinedUs(a) || a.category - b.category : 0) ||
        b.contributionUs - a.contributionUs ||
        a.category - b.category ||
        a.kind.localeCompare(b.kind, 'en'),
    )
    .map((mutation, i) => {
      const { category, kind } = mutation
      const isTimed = kind === 'response-time'
      const { contributionUs: remainingUs } = isTimed
        ? mutation
        : structural(precursors, category, usualUs)
      // Mutations below assume that this one is repaired.
      if (isTimed)
        usualUs[category] = typicalTimeUs(categories, { category, period: BEFORE, centre })
      return {
        rank: i + 1,
        ...mutation,
        combinedUs: combinedUs(mutation),
        remainingUs,
        significant: significant?.has(mutationKey({ category, kind })) ?? true,
        noPrecursor: !isTimed && precursors.columns(category).categories.length === 0,
        get precursors() {
          return isTimed ? [] : precursors.of(category)
        },
      }
    })
  return new Ranking({ responseTime, precursors, mutations, options })
}

type Claimed = Pick<RankedMutation, 'category' | 'kind'>

function mutationKey({ category, kind }: Claimed): string {
  return `${category} ${kind}`
}

/** Returns the usual time of each category that is a structural mutation or a precursor. */
function usualTimes(
  { categories, mutations, precursors }: StructuralMutations,
  centre: Centre,
): Float64Array {
  const usualUs = new Float64Array(categories.size)
  for (const one of [...mutations, ...precursors]) {
    usualUs[one] = usualTimeUs(categories, one, { centre })
  }
  return usualUs
}

function structural(precursors: Precursors, category: number, usualUs: Float64Array): Unranked {
  const { categories: candidates, weights } = precursors.columns(category)
  let usedToTakeUs = 0
  for (let i = 0; i < candidates.length; i++) {
    usedToTakeUs += (weights[i] as number) * (usualUs[candidates[i] as number] as number)
  }
  const requests = precursors.structural.changes[category] as number
  const addedUs = candidates.length > 0 ? (usualUs[category] as number) - usedToTakeUs : 0
  return { category, kind: 'structural', requests, contributionUs: requests * addedUs }
}

function timed(
  { categories, options: { counts } }: StructuralMutations,
  category: number,
  centre: Centre,
): Unranked {
  const count = counterOf(categories, counts)
  const requests = count(category, BEFORE) / categories.flows.runs.length
  const before = typicalTimeUs(categories, { category, period: BEFORE, centre })
  const after = typicalTimeUs(categories, { category, period: AFTER, centre })
  return { category, kind: 'response-time', requests, contributionUs: requests * (after - before) }
}

export function usualTimeUs(
  categories: Categories,
  category: number,
  how: { readonly centre: Centre },
): number {
  const period = categories.count(category, AFTER) > 0 ? AFTER : BEFORE
  return typicalTimeUs(categories, { category, period, ...how })
}

export const RANKING_OPTIONS = defineOptions({
  centre: oneOf(['mean', 'median', 'trimmed'], {
    default: 'mean',
    sentence:
      "Statistic of a category's response times; 'trimmed' leaves out the fastest and slowest tenth",
    flag: 'centre <statistic>',
  }),
  rankBy: oneOf(['mutation', 'category'], {
    default: 'mutation',
    sentence:
      'Rank each mutation by its own contribution, or by that of both mutations of its category',
  }),
})

export type RankingOptions = OptionsOf<typeof RANKING_OPTIONS>

/**
 * Statistic that stands for the response times of a category: their mean, as in the thesis; their
 * median; or their mean without the slowest and the fastest tenth. A mean adds up to the observed
 * total, but a few extreme requests carry it.
 */
export type Centre = RankingOptions['centre']

/** One ranked change. A category that changed in both ways appears twice. */
export interface RankedMutation {
  /** 1 for the change that contributes most. */
  readonly rank: number
  readonly category: number
  readonly kind: 'structural' | 'response-time'
  /**
   * Requests concerned: how many more there are than before (structural), or how many there were
   * before (response-time; the rest of a growing category belongs to its structural twin).
   */
  readonly requests: number
  /** Time this change adds to the sum of all response times, in µs; negative if it saves time. */
  readonly contributionUs: number
  /** Time that both mutations of its category add together, in µs. */
  readonly combinedUs: number
  /** Time it still adds once those of higher rank are repaired, in µs. */
  readonly remainingUs: number
  /**
   * Whether a finding explains it, so it holds after correction for the number of tests. Anything else may be chance.
   */
  readonly significant: boolean
  /** Whether no category lost the requests that it gained, so that its contribution is unknown. */
  readonly noPrecursor: boolean
  readonly precursors: readonly PrecursorCandidate[]
}

interface Ranked {
  readonly responseTime: ResponseTimeMutations
  readonly precursors: Precursors
  readonly mutations: readonly RankedMutation[]
  readonly options: RankingOptions
}

/** All mutations, the one that contributes most to the change first. */
export class Ranking extends columnarStage<Ranked>() {
  /**
   * Returns one row per mutation, in order of rank. `direction` is where the test sees the distribution move; where it
   * disagrees with the sign of `contributionUs`, a few extreme requests carry the mean.
   */
  table(): StageTable {
    const { categories } = this.responseTime
    const { mutations } = this
    return rowTable(
      mutations,
      {
        ...own('rank kind category'),
        root: ({ category }) => categories.root(category),
        direction: ({ kind, category }) =>
          kind === 'structural' ? '' : this.responseTime.test(category).direction,
        ...own('requests contributionUs combinedUs remainingUs significant'),
        ...(mutations.some(({ noPrecursor }) => noPrecursor) && own('noPrecursor')),
        precursors: ({ precursors }) =>
          precursors.map(({ category, weight }) => `${category} (${percent(weight)})`).join(', '),
      },
      categories.flows.quantity,
    )
  }
}

export function typicalTimeUs(
  categories: Categories,
  { category, period, centre }: { category: number; period: Period; centre: Centre },
): number {
  if (centre === 'mean') return categories.responseTimeMoments(category, period).mean
  const { values, weights } = categories.ascendingTimes(category, period)
  if (centre === 'median') return quantile(values, 0.5, weights)
  const weightAt = (row: number) => weights?.[row] ?? 1
  const all = sum(values.keys(), weightAt)
  const cut = Math.floor(NOTABLE * all)
  let upTo = 0
  const kept = values.map((_, row) => {
    const from = upTo
    upTo += weightAt(row)
    return Math.max(0, Math.min(upTo, all - cut) - Math.max(from, cut))
  })
  return sum(values, (value, row) => (kept[row] as number) * value) / sum(kept)
}

/** Trace ids of typical requests, for looking at. */
export interface Exemplars {
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/**
 * Returns typical requests of a mutation, nearest the median response time first: of its category after, and of its
 * category before, which for a structural mutation is the likeliest precursor.
 */
export function exemplars(
  categories: Categories,
  mutation: Claimed & Pick<RankedMutation, 'precursors'>,
  options: { readonly count?: number } = {},
): Exemplars {
  requireFields('exemplars(categories, mutation)', mutation, 'category', 'kind')
  rejectUnknownOptions(options, ['count'])
  const { category, kind, precursors } = mutation
  const { count = 3 } = options
  requireStage('exemplars(categories, mutation)', categories, Categories)
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
