import type { ResponseTimeMutations } from '../../compare/mutations/response-time-mutations.ts'
import {
  type CategoryCurveOptions,
  expectedCategoryCurves,
} from '../../explain/explosion/expected-categories.ts'
import type { VarianceSources } from '../../explain/variance/variance-sources.ts'
import type { Divergence } from '../../logs/divergence/divergence.ts'
import { type CovariancesChartOptions, covariancesChart } from './covariances.ts'
import {
  type ExpectedCategoriesChartOptions,
  expectedCategoriesChart,
} from './expected-categories.ts'
import { type LogVariableChartOptions, logVariableChart } from './log-variable.ts'
import { responseTimesChart } from './response-times.ts'
import { type VarianceWaterfallChartOptions, varianceWaterfallChart } from './variance-waterfall.ts'

export { arrivalsChart as plotArrivals } from './arrivals.ts'
export { breakdownChart as plotBreakdown } from './breakdown.ts'
export { categoryCountsChart as plotCategoryCounts } from './category-counts.ts'
export { contributionsChart as plotContributions } from './contributions.ts'
export { diagnosisChart as plotDiagnosis } from './diagnosis.ts'
export { divergenceChart as plotDivergence } from './divergence.ts'
export { edgeChangesChart as plotEdgeChanges } from './edge-changes.ts'
export { explosionChart as plotExplosion } from './explosion.ts'
export { findingsChart as plotFindings } from './findings.ts'
export { foldedSizesChart as plotCollapsedSizes } from './folded-sizes.ts'
export { hostClassesChart as plotHostClasses } from './host-classes.ts'
export { latencyProfilesChart as plotLatencyProfiles } from './latency-profiles.ts'
export { singleChangesChart as plotSingleChanges } from './single-changes.ts'
export {
  squaredVariationChart as plotSquaredVariation,
  variationSetsChart as plotVariationSets,
} from './squared-variation.ts'

export function plotResponseTimeEcdf(responseTime: ResponseTimeMutations, category: number) {
  return responseTimesChart(responseTime, { category })
}

export function plotCovariances(
  variance: VarianceSources,
  category: number,
  options: Partial<CovariancesChartOptions> = {},
) {
  return covariancesChart(variance, { ...options, category })
}

export function plotVarianceWaterfall(
  variance: VarianceSources,
  category: number,
  options: Partial<VarianceWaterfallChartOptions> = {},
) {
  return varianceWaterfallChart(variance, { ...options, category })
}

export function plotLogVariable(
  divergence: Divergence,
  name: string,
  options: Partial<LogVariableChartOptions> = {},
) {
  return logVariableChart(divergence, { ...options, name })
}

export function plotExpectedCategories({
  observed = [],
  ...curves
}: Partial<CategoryCurveOptions & ExpectedCategoriesChartOptions> = {}) {
  return expectedCategoriesChart(expectedCategoryCurves(curves), { observed })
}
