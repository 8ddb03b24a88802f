import { defineOptions, type OptionsOf, oneOf } from '../../core/options.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import type { ResponseTimeMutations } from '../mutations/response-time-mutations.ts'
import type { PrecursorCandidate, Precursors } from '../precursors/precursors.ts'

/** Options of `rankMutations`. */
export const RANKING_OPTIONS = defineOptions({
  centre: oneOf(['mean', 'median', 'trimmed'], {
    default: 'mean',
    sentence:
      "What stands for a category's response times; 'trimmed' leaves out the extreme tenths",
    flag: 'centre <statistic>',
  }),
})

/** Options that mutations were ranked with. */
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
  /** What this change adds to the sum of all response times, in µs; negative where it saves. */
  readonly contributionUs: number
  /**
   * Whether it holds when tests are corrected for their number, as findings require. What is not
   * significant may be chance.
   */
  readonly significant: boolean
  readonly precursors: readonly PrecursorCandidate[]
}

/** All mutations, the one that contributes most to the change first. */
export class Ranking extends Stage {
  readonly responseTime: ResponseTimeMutations
  readonly precursors: Precursors
  readonly mutations: readonly RankedMutation[]
  readonly options: RankingOptions

  constructor(
    responseTime: ResponseTimeMutations,
    precursors: Precursors,
    { mutations, options }: { mutations: readonly RankedMutation[]; options: RankingOptions },
  ) {
    super()
    this.responseTime = responseTime
    this.precursors = precursors
    this.mutations = mutations
    this.options = options
  }

  /**
   * One row a mutation, in order of rank. `direction` is where the test sees the distribution
   * move; where it disagrees with the sign of `contributionUs`, a few extreme requests carry the
   * mean.
   */
  table(): StageTable {
    const { categories } = this.responseTime
    const { mutations } = this
    return stageTable({
      rank: mutations.map(({ rank }) => rank),
      kind: mutations.map(({ kind }) => kind),
      category: mutations.map(({ category }) => category),
      root: mutations.map(({ category }) => categories.root(category)),
      direction: mutations.map(({ kind, category }) =>
        kind === 'structural' ? '' : this.responseTime.test(category).direction,
      ),
      requests: mutations.map(({ requests }) => requests),
      contributionUs: mutations.map(({ contributionUs }) => contributionUs),
      significant: mutations.map(({ significant }) => significant),
      precursors: mutations.map(({ precursors }) =>
        precursors.map(({ category, weight }) => `${category} (${percent(weight)})`).join(', '),
      ),
    })
  }
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}
