export { addedErrors } from './added-errors.ts'
export { equalPartitions } from './equal-partitions.ts'
export type { GainRatioScore } from './gain-ratio-score.ts'
export { type GainRatioScoresOptions, gainRatioScores } from './gain-ratio-scores.ts'
export {
  type ClassificationTreeOptions,
  growClassificationTree,
} from './grow-classification-tree.ts'
export { growRegressionTree, type RegressionTreeOptions } from './grow-regression-tree.ts'
export type { PathCondition } from './path-conditions.ts'
export type { CategoricalTreeColumn, NumericTreeColumn, TreeColumn } from './tree-column.ts'
export type {
  ClassContent,
  ClassificationNode,
  ClassificationTree,
  ClassLabel,
  LeftOutColumn,
  RegressionNode,
  RegressionTree,
  SplitTest,
  TargetContent,
  TreeColumnInfo,
  TreeNode,
  TreeSplit,
} from './tree-node.ts'
export {
  type ClassificationPath,
  type ClassificationPathOptions,
  type RegressionPath,
  treePaths,
} from './tree-paths.ts'
