import type { StructuralMutations } from '../mutations/structural-mutations.ts'
import { type StageTable, stageTable } from '../stage-table.ts'
import type { EditTokens } from './edit-tokens.ts'

/** How precursors are matched to mutations. */
export interface PrecursorOptions {
  /** Drop a candidate that lost fewer requests than the mutation gained. */
  readonly oneToN: boolean
  readonly editTokens: EditTokens
}

/** A category that a mutation's requests may have belonged to before. */
export interface PrecursorCandidate {
  readonly category: number
  /** Normalized string-edit distance to the mutation: 0 alike, 1 nothing in common. */
  readonly nsed: number
  /** Share of the mutation's requests taken to have come from here; candidates' sum to 1. */
  readonly weight: number
}

/** The precursor candidates of every structural mutation. */
export class Precursors {
  readonly structural: StructuralMutations
  readonly options: PrecursorOptions
  readonly #candidates: ReadonlyMap<number, readonly PrecursorCandidate[]>

  constructor(
    structural: StructuralMutations,
    options: PrecursorOptions,
    candidates: ReadonlyMap<number, readonly PrecursorCandidate[]>,
  ) {
    this.structural = structural
    this.options = options
    this.#candidates = candidates
  }

  /** Candidates of one mutation, most likely first; none for a category that is not one. */
  of(mutation: number): readonly PrecursorCandidate[] {
    return this.#candidates.get(mutation) ?? []
  }

  /** One row a pair of mutation and candidate. */
  table(): StageTable {
    const { categories, changes } = this.structural
    const pairs = [...this.#candidates].flatMap(([mutation, candidates]) =>
      candidates.map((candidate) => ({ mutation, ...candidate })),
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
