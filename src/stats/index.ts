export { benjaminiHochberg } from './benjamini-hochberg.ts'
export { bonferroni } from './bonferroni.ts'
export {
  type BootstrapOptions,
  type BootstrapResult,
  bootstrapInterval,
} from './bootstrap-interval.ts'
export {
  type ChangePointOptions,
  type ChangePointResult,
  type ConstantLevelResult,
  changePoint,
  constantLevel,
} from './change-point.ts'
export { type ChiSquareResult, chiSquareTest } from './chi-square-test.ts'
export { equalPartitions } from './decision-tree/equal-partitions.ts'
export {
  type ClassificationTreeOptions,
  growClassificationTree,
} from './decision-tree/grow-classification-tree.ts'
export {
  growRegressionTree,
  type RegressionTreeOptions,
} from './decision-tree/grow-regression-tree.ts'
export {
  type CategoricalTreeColumn,
  type ClassContent,
  type ClassificationNode,
  type ClassificationTree,
  type ClassLabel,
  type NumericTreeColumn,
  type PathCondition,
  type RegressionNode,
  type RegressionTree,
  type SplitTest,
  type TargetContent,
  type TreeColumn,
  type TreeColumnInfo,
  type TreeNode,
  type TreePath,
  type TreeSplit,
  treePaths,
} from './decision-tree/tree.ts'
export {
  type DetectableShiftOptions,
  type DetectableShiftResult,
  detectableShift,
} from './detectable-shift.ts'
export { gammaQ, normalQuantile } from './distributions.ts'
export { type EDivisiveOptions, eDivisive, type SeriesChange } from './e-divisive.ts'
export { type Ecdf, ecdf } from './ecdf.ts'
export {
  editDistance,
  editDistanceFrom,
} from './edit-distance.ts'
export { type FisherExactResult, fisherExact, stratifiedFisherP } from './fisher-exact.ts'
export {
  type ShiftInterval,
  type ShiftOptions,
  type StratifiedShiftResult,
  type Stratum,
  stratifiedShift,
  type VanElterenOptions,
  type VanElterenResult,
  vanElteren,
} from './hodges-lehmann.ts'
export { isotonicRegression } from './isotonic-regression.ts'
export { type KsOptions, type KsResult, ksTwoSample } from './ks-two-sample.ts'
export { kullbackLeibler } from './kullback-leibler.ts'
export { type LogBins, logBins } from './log-bins.ts'
export { type MannWhitneyOptions, type MannWhitneyResult, mannWhitney } from './mann-whitney.ts'
export type { Measure } from './measure.ts'
export {
  type BlockedSample,
  type BlockedStratum,
  type ModeratedShift,
  type ModeratedVariances,
  moderatedShifts,
  moderatedVariances,
} from './moderated-shifts.ts'
export { type Moments, moments } from './moments.ts'
export { proportionInterval } from './proportion-interval.ts'
export { quantile } from './quantile.ts'
export { type QuantileMap, type QuantileMapWeights, quantileMap } from './quantile-map.ts'
export { type RandomSource, randomSource } from './random.ts'
export { type RotationTestResult, rotationTest } from './rotation-test.ts'
export { type RunMeasure, type RunShift, type RunStratum, runShifts } from './run-shifts.ts'
export { siblingPercentiles } from './sibling-percentile.ts'
export { type TwoProportionsResult, twoProportionsTest } from './two-proportions.ts'
export type { Direction, TwoSampleResult } from './two-sample.ts'
export { type Alternative, isTestable } from './two-sample.ts'
export { type WassersteinResult, wassersteinDistance } from './wasserstein.ts'
export { type WelchOptions, type WelchResult, welch } from './welch.ts'
