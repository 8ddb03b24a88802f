export { benjaminiHochberg } from './benjamini-hochberg.ts'
export { type Ecdf, ecdf } from './ecdf.ts'
export { editDistance, normalizedEditDistance } from './edit-distance.ts'
export { editDistanceFrom } from './edit-distance-from.ts'
export { editDistanceLowerBound } from './edit-distance-lower-bound.ts'
export {
  type Alternative,
  isTestable,
  type KsOptions,
  type KsResult,
  ksTwoSample,
} from './ks-two-sample.ts'
export { type Moments, moments, squaredCoefficientOfVariation } from './moments.ts'
export { quantile } from './quantile.ts'
export { type RandomSource, randomSource } from './random.ts'
export { type TwoProportionsResult, twoProportionsTest } from './two-proportions.ts'
