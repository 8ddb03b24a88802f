import { defineOptions, flag, type OptionsOf, oneOf } from '../../core/options.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import type { StructuralMutations } from '../mutations/structural-mutations.ts'

/** Options of `matchPrecursors`. */
export const PRECURSOR_OPTIONS = defineOptions({
  oneToN: flag({
    default: true,
    sentence: 'Drop a precursor that lost fewer requests than the mutation gained',
  }),
  editTokens: oneOf(['preorder', 'edges'], {
    default: 'preorder',
    sentence: 'How structures are compared: by nodes depth first, or by edges in that order',
    flag: 'edit-tokens <kind>',
  }),
})

/** Options that precursors were matched with. */
export type PrecursorOptions = OptionsOf<typeof PRECURSOR_OPTIONS>

/**
 * How a structure becomes a string for the edit distance: its nodes depth first, or its edges in
 * that order, two tokens each (as the program of 2013 does).
 */
export type EditTokens = PrecursorOptions['editTokens']

/** A category that a mutation's requests may have belonged to before. */
export interface PrecursorCandidate {
  readonly category: number
  /** Normalized string-edit distance to the mutation: 0 alike, 1 nothing in common. */
  readonly nsed: number
  /** Share of the mutation's requests taken to have come from here; candidates' sum to 1. */
  readonly weight: number
}

/** The candidates of one mutation in columns, in no particular order. */
export interface CandidateColumns {
  readonly categories: readonly number[]
  readonly nsed: Float64Array
  readonly weights: Float64Array
}

const NO_CANDIDATES: CandidateColumns = {
  categories: [],
  nsed: new Float64Array(),
  weights: new Float64Array(),
}

/** The precursor candidates of every structural mutation. */
export class Precursors extends Stage {
  readonly structural: StructuralMutations
  readonly options: PrecursorOptions
  readonly #columns: ReadonlyMap<number, CandidateColumns>
  readonly #candidates = new Map<number, readonly PrecursorCandidate[]>()

  constructor(
    structural: StructuralMutations,
    options: PrecursorOptions,
    columns: ReadonlyMap<number, CandidateColumns>,
  ) {
    super()
    this.structural = structural
    this.options = options
    this.#columns = columns
  }

  /** Candidates of one mutation, most likely first; none for a category that is not one. */
  of(mutation: number): readonly PrecursorCandidate[] {
    const known = this.#candidates.get(mutation)
    if (known !== undefined) return known
    const { categories, nsed, weights } = this.columns(mutation)
    const candidates = categories
      .map((category, i) => ({
        category,
        nsed: nsed[i] as number,
        weight: weights[i] as number,
      }))
      .sort((a, b) => b.weight - a.weight || a.category - b.category)
    this.#candidates.set(mutation, candidates)
    return candidates
  }

  /** The same in columns, unsorted: what sums over candidates need. */
  columns(mutation: number): CandidateColumns {
    return this.#columns.get(mutation) ?? NO_CANDIDATES
  }

  /** One row a pair of mutation and candidate. */
  table(): StageTable {
    const { categories, changes } = this.structural
    const pairs = [...this.#columns.keys()].flatMap((mutation) =>
      this.of(mutation).map((candidate) => ({ mutation, ...candidate })),
    )
    return stageTable({
      mutation: pairs.map(({ mutation }) => mutation),
      precursor: pairs.map(({ category }) => category),
      root: pairs.map(({ category }) => categories.root(category)),
      gained: pairs.map(({ mutation }) => changes[mutation] as number),
      lost: pairs.map(({ category }) => -(changes[category] as number)),
      nsed: pairs.map(({ nsed }) => nsed),
      weight: pairs.map(({ weight }) => weight),
    })
  }
}
