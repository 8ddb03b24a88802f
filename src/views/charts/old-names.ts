import type { ResponseTimeMutations } from '../../compare/mutations/response-time-mutations.ts'
import { responseTimesChart } from './response-times.ts'

export { breakdownChart as plotBreakdown } from './breakdown.ts'
export { contributionsChart as plotContributions } from './contributions.ts'
export { edgeChangesChart as plotEdgeChanges } from './edge-changes.ts'
export { findingsChart as plotFindings } from './findings.ts'
export { latencyProfilesChart as plotLatencyProfiles } from './latency-profiles.ts'
export {
  squaredVariationChart as plotSquaredVariation,
  variationSetsChart as plotVariationSets,
} from './squared-variation.ts'

export function plotResponseTimeEcdf(responseTime: ResponseTimeMutations, category: number) {
  return responseTimesChart(responseTime, { category })
}
