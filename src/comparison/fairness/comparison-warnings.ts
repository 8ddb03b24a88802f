import { arrivals } from '../../flows/overlap.ts'
import type {
  ComparedPeriods,
  ComparisonWarning,
  FairnessCheck,
  WarningCode,
} from './comparison-warning.ts'
import {
  extremeRequest,
  hostsDiffer,
  missingIntervals,
  noDurations,
  nothingInCommon,
  noWeights,
  smallPeriods,
  timeRanges,
  undecidedStructures,
  unequalLoad,
  unmeasured,
  unsteadyBefore,
  versionsDiffer,
} from './period-problems.ts'
import { otherKinds, requestMix, samplingDiffers } from './request-types.ts'
import {
  clockSkew,
  dataQuality,
  duplicateTraces,
  idleWaits,
  linkedRequests,
  orphans,
  recordedAnew,
  slowPreferred,
  truncatedTraces,
} from './trace-problems.ts'

/** Ordered by severity: a screen may not have room for all, so warnings that may invalidate every result come first. */
const CHECKS: readonly FairnessCheck[] = [
  duplicateTraces,
  nothingInCommon,
  ({ flows }) => timeRanges(arrivals(flows)),
  recordedAnew,
  idleWaits,
  otherKinds,
  slowPreferred,
  samplingDiffers,
  orphans,
  requestMix,
  truncatedTraces,
  clockSkew,
  versionsDiffer,
  hostsDiffer,
  unsteadyBefore,
  ({ flows }) => missingIntervals(arrivals(flows)),
  unequalLoad,
  undecidedStructures,
  extremeRequest,
  noDurations,
  noWeights,
  unmeasured,
  linkedRequests,
  smallPeriods,
]

/** Warnings without which findings mislead: they come first. */
const VITAL: ReadonlySet<WarningCode> = new Set([
  'recorded-otherwise',
  'orphans',
  'sampling-differs',
])

export function isVital({ code }: Pick<ComparisonWarning, 'code'>): boolean {
  return VITAL.has(code)
}

/** Whether a warning only tells how to see more: findings are valid without it. */
export function isHint({ code, advice }: Pick<ComparisonWarning, 'code' | 'advice'>): boolean {
  return code === 'small-periods' && advice['omitHosts'] === true
}

/** Checks whether the comparison is fair: looks for differences that make the periods hard to compare. */
export function comparisonWarnings(periods: ComparedPeriods): ComparisonWarning[] {
  const found = CHECKS.flatMap((check) => check(periods))
  const quality = [periods.before, periods.after].flatMap((traces) =>
    dataQuality(traces, found, periods),
  )
  return [...found.filter(isVital), ...quality, ...found.filter((one) => !isVital(one))]
}
