import { clockSkew } from './clock-skew.ts'
import type { ComparedPeriods, ComparisonWarning, FairnessCheck } from './comparison-warning.ts'
import { dataQuality } from './data-quality.ts'
import { duplicateTraces } from './duplicate-traces.ts'
import { extremeRequest } from './extreme-request.ts'
import { hostsDiffer } from './hosts-differ.ts'
import { missingIntervals } from './missing-intervals.ts'
import { noDurations } from './no-durations.ts'
import { noWeights } from './no-weights.ts'
import { nothingInCommon } from './nothing-in-common.ts'
import { orphans } from './orphans.ts'
import { requestMix } from './request-mix.ts'
import { samplingDiffers } from './sampling-differs.ts'
import { smallPeriods } from './small-periods.ts'
import { timeRanges } from './time-ranges.ts'
import { truncatedTraces } from './truncated-traces.ts'
import { undecidedStructures } from './undecided-structures.ts'
import { unequalLoad } from './unequal-load.ts'
import { unfinishedFolding } from './unfinished-folding.ts'
import { versionsDiffer } from './versions-differ.ts'

/** Everything that is looked for, in the order it is told. */
const CHECKS: readonly FairnessCheck[] = [
  unequalLoad,
  smallPeriods,
  nothingInCommon,
  requestMix,
  samplingDiffers,
  timeRanges,
  missingIntervals,
  hostsDiffer,
  versionsDiffer,
  clockSkew,
  orphans,
  truncatedTraces,
  duplicateTraces,
  undecidedStructures,
  unfinishedFolding,
  extremeRequest,
  noDurations,
  noWeights,
]

/** Is the comparison fair? Looks for what makes the two periods hard to compare. */
export function comparisonWarnings(periods: ComparedPeriods): ComparisonWarning[] {
  const found = CHECKS.flatMap((check) => check(periods))
  const quality = [periods.before, periods.after].flatMap((traces) => dataQuality(traces, found))
  return [...found, ...quality]
}
