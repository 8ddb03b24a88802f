export {
  type AndersonDarlingOptions,
  type AndersonDarlingResult,
  andersonDarling,
} from './anderson-darling.ts'
export {
  type AndersonDarlingTwoSampleResult,
  andersonDarlingTwoSample,
} from './anderson-darling-two-sample.ts'
export { benjaminiHochberg } from './benjamini-hochberg.ts'
export {
  type BootstrapOptions,
  type BootstrapResult,
  bootstrapInterval,
} from './bootstrap-interval.ts'
export { type BrownForsytheResult, brownForsythe } from './brown-forsythe.ts'
export { type ChiSquareResult, chiSquareTest } from './chi-square-test.ts'
export * from './decision-tree/index.ts'
export {
  type DetectableShiftOptions,
  type DetectableShiftResult,
  detectableShift,
} from './detectable-shift.ts'
export { type Ecdf, ecdf } from './ecdf.ts'
export { editDistance, normalizedEditDistance } from './edit-distance.ts'
export { editDistanceFrom } from './edit-distance-from.ts'
export { editDistanceLowerBound } from './edit-distance-lower-bound.ts'
export { type FisherExactResult, fisherExact } from './fisher-exact.ts'
export { gammaQ } from './gamma-q.ts'
export { type HodgesLehmannResult, hodgesLehmann, type ShiftOptions } from './hodges-lehmann.ts'
export {
  type Alternative,
  isTestable,
  type KsOptions,
  type KsResult,
  ksTwoSample,
} from './ks-two-sample.ts'
export { kullbackLeibler } from './kullback-leibler.ts'
export { type LogBins, logBins } from './log-bins.ts'
export { type MannWhitneyOptions, type MannWhitneyResult, mannWhitney } from './mann-whitney.ts'
export type { Measure } from './measure.ts'
export { type Moments, moments, squaredCoefficientOfVariation } from './moments.ts'
export { normalQuantile } from './normal-quantile.ts'
export {
  type PermutationTestOptions,
  type PermutationTestResult,
  permutationTest,
} from './permutation-test.ts'
export { quantile } from './quantile.ts'
export { type QuantileMap, quantileMap } from './quantile-map.ts'
export { type RandomSource, randomSource } from './random.ts'
export type { ShiftInterval } from './shift-interval.ts'
export { siblingPercentiles } from './sibling-percentile.ts'
export { type StratifiedShiftResult, stratifiedShift } from './stratified-shift.ts'
export { type TwoProportionsResult, twoProportionsTest } from './two-proportions.ts'
export type { Direction, TwoSampleResult } from './two-sample-result.ts'
export {
  type Stratum,
  type VanElterenOptions,
  type VanElterenResult,
  vanElteren,
} from './van-elteren.ts'
export { type WassersteinResult, wassersteinDistance } from './wasserstein.ts'
export { type WelchOptions, type WelchResult, welch } from './welch.ts'
