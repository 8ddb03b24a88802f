import type { PathCondition } from '../../stats/decision-tree/tree-paths.ts'

/** What a tree of parameters is asked. */
export type ParameterQuestionName = 'what-differs' | 'what-is-slow'

/** What is said of the rows on a path. */
export type Prediction = 'mutation' | 'precursor' | 'slow' | 'usual'

/** A way from the root of a tree to a leaf: one explanation. */
export interface ExplainedPath {
  readonly question: ParameterQuestionName
  /** What holds for the rows on it, one condition a column, in the order of the tree. */
  readonly conditions: readonly PathCondition[]
  readonly predicts: Prediction
  /** Rows on it; a part of one where a value is missing. */
  readonly requests: number
  /** Share of all rows that are on it. */
  readonly support: number
  /** Share of the rows on it of which the prediction is true. */
  readonly precision: number
  /** Share of all rows of which the prediction is true that are on it. */
  readonly recall: number
  /** How many times as often the prediction is true on it as among all rows. */
  readonly lift: number
  /** Share of one group that is on it less that of the other: 1 separates perfectly, 0 not at all. */
  readonly separation: number
  /** Mean time of the rows on it and of all others, in µs; null where either has none. */
  readonly times: { readonly hereUs: number; readonly elsewhereUs: number } | null
}
