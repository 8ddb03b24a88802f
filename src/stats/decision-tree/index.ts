export { equalPartitions } from './equal-partitions.ts'
export type { GainRatioScore } from './gain-ratio.ts'
export { type GainRatioScoresOptions, gainRatioScores } from './gain-ratio.ts'
export {
  type ClassificationTreeOptions,
  growClassificationTree,
} from './grow-classification-tree.ts'
export { growRegressionTree, type RegressionTreeOptions } from './grow-regression-tree.ts'
export { addedErrors } from './pessimistic-pruning.ts'
export type {
  CategoricalTreeColumn,
  ClassContent,
  ClassificationNode,
  ClassificationTree,
  ClassLabel,
  LeftOutColumn,
  NumericTreeColumn,
  RegressionNode,
  RegressionTree,
  SplitTest,
  TargetContent,
  TreeColumn,
  TreeColumnInfo,
  TreeNode,
  TreeSplit,
} from './tree.ts'
export type { PathCondition } from './tree-paths.ts'
export {
  type ClassificationPath,
  type ClassificationPathOptions,
  type RegressionPath,
  treePaths,
} from './tree-paths.ts'
