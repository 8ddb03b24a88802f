// Over the values of every scenario: the loops index with `!`.

import { requestStartsUs } from '../../calls/call-forest.ts'
import { compareChoices } from '../../compare/steps/between-runs.ts'
import {
  BLOCKS,
  type ChoiceCounts,
  divideTimes,
  MIN_SHARED,
} from '../../compare/steps/time-blocks.ts'
import { overlapInTime } from '../../flows/overlap.ts'
import { bonferroni } from '../../stats/bonferroni.ts'
import { quantile } from '../../stats/quantile.ts'
import { pooledValues } from '../../stats/two-sample.ts'
import { worthWeights } from '../../stats/weighted-sample.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import type { EvidenceSample } from '../scenarios/scenario.ts'

interface CountedPeriod {
  /** The stretch of time that each request began in; those of after follow on those of before. */
  readonly stretch: Uint8Array
  /** How much each counts: 1, or by sampling weights, which sum to the effective number of requests. */
  readonly counts: Float64Array
}

export interface Stretches {
  readonly before: CountedPeriod
  readonly after: CountedPeriod
  /** Whether both periods are of the same time, as a canary: what both share is no difference. */
  readonly aligned: boolean
}

/** Divides each period into ten stretches of as many requests; periods of the same time at the same moments. */
export function stretchesOf(base: RequestModel, target: RequestModel): Stretches {
  const [own, theirs] = [startsUs(base), startsUs(target)]
  const aligned = (overlapInTime(own.toSorted(), theirs.toSorted())?.share ?? 0) >= MIN_SHARED
  const stretches = aligned
    ? divideTimes(Float64Array.from([...own, ...theirs]), BLOCKS)
    : [...divideTimes(own, BLOCKS), ...divideTimes(theirs, BLOCKS)]
  const after = stretches.slice(own.length).map((stretch) => stretch + BLOCKS)
  return {
    before: {
      stretch: Uint8Array.from(stretches.slice(0, own.length)),
      counts: worthWeights(base.recorded.weight),
    },
    after: { stretch: Uint8Array.from(after), counts: worthWeights(target.recorded.weight) },
    aligned,
  }
}

/** When each request began, µs; on the clock of its period. */
function startsUs({ forest }: RequestModel): Float64Array {
  const epochUs = Number(forest.traces.epochNs / 1000n)
  return requestStartsUs(forest).map((us) => epochUs + us)
}

/** Quantiles of both periods together: how many values lie beyond each is compared. */
const LIMITS = [0.1, 0.3, 0.5, 0.7, 0.9, 0.98]

/** How many times lie beyond some limits, by stretch of time. */
export function countTimes(
  before: EvidenceSample,
  after: EvidenceSample,
  stretches: Stretches,
): ChoiceCounts[] {
  if (before.values.length === 0 || after.values.length === 0) return []
  const pooled = pooledValues({
    first: before.values.toSorted(),
    second: after.values.toSorted(),
  })
  const limits = LIMITS.map((share) => quantile(pooled, share))
  return limits.map((limit) => counted([before, after], stretches, (value) => value > limit))
}

/** How many are of each kind, by stretch of time. */
export function countKinds(
  before: EvidenceSample,
  after: EvidenceSample,
  stretches: Stretches,
): ChoiceCounts[] {
  const kinds = [...new Set([...before.values, ...after.values])]
  return kinds.map((kind) => counted([before, after], stretches, (value) => value === kind))
}

function counted(
  [before, after]: readonly [EvidenceSample, EvidenceSample],
  stretches: Stretches,
  holds: (value: number) => boolean,
): ChoiceCounts {
  const counts = { chances: new Float64Array(2 * BLOCKS), made: new Float64Array(2 * BLOCKS) }
  const add = ({ values, requests }: EvidenceSample, period: CountedPeriod) =>
    values.forEach((value, i) => {
      const stretch = period.stretch[requests[i]!]!
      const count = period.counts[requests[i]!]!
      counts.chances[stretch]! += count
      if (holds(value)) counts.made[stretch]! += count
    })
  add(before, stretches.before)
  add(after, stretches.after)
  return counts
}

/** What tells whether a scenario's change did happen; empty where that cannot be compared. */
export interface ScenarioCounts {
  /** What it changes: times beyond some limits or kinds, counted by stretch of time. */
  readonly counts: readonly ChoiceCounts[]
  /** The response times of requests that have it. */
  readonly responseCounts: readonly ChoiceCounts[]
  /** Whether it goes by time alone, as load does: then it does not say how far all else wanders. */
  readonly isOfTime: boolean
}

export interface ScenarioTests {
  /** p of the response times of all requests being as before. */
  readonly changeP: number
  /** By scenario: p of what it changes being as before. */
  readonly ps: readonly number[]
  /** By scenario: p of the response times of requests that have it being as before. */
  readonly responsePs: readonly number[]
}

/**
 * Tests whether the response times of two periods differ, and whether what each scenario changes
 * does. Requests that follow each other are alike, so whole stretches of time are compared.
 *
 * Null hypothesis of each: the share of values beyond a limit, or of a kind, is that of before, wandering
 * from stretch to stretch of time as it does within the periods (`compareChoices`, whose variances rest on
 * all scenarios together). A change within after is no wander: its parts are held against that of before
 * alone. The smallest p of several limits or kinds counts, times their number.
 * Sampled requests count by their weights.
 *
 * Limits: a drift as long as both periods is a difference; what changes within before counts as wander.
 */
export function testScenarios(
  periods: readonly Pick<RequestModel, 'recorded'>[],
  {
    stretches,
    tried,
  }: { readonly stretches: Stretches; readonly tried: readonly ScenarioCounts[] },
): ScenarioTests {
  const [before, after] = periods.map(({ recorded: { latencyUs } }) => ({
    values: latencyUs,
    requests: Uint32Array.from(latencyUs.keys()),
  })) as [EvidenceSample, EvidenceSample]
  const test = (all: readonly (readonly ChoiceCounts[])[]) => {
    const tests = compareChoices(
      all.flat().map((counts) => ({ strata: [counts] })),
      { perRun: BLOCKS, runs: 1, aligned: stretches.aligned },
      { lasts: 'learned' },
    )
    let at = 0
    return all.map((own) => bonferroni(own.map(() => tests[at++]!.p)))
  }
  const [ofAll, ...ofOthers] = test([
    countTimes(before, after, stretches),
    ...tried.flatMap(({ counts, responseCounts, isOfTime }) => [
      isOfTime ? [] : counts,
      responseCounts,
    ]),
  ])
  const ofTime = test(tried.map(({ counts, isOfTime }) => (isOfTime ? counts : [])))
  const ps = tried.map(({ isOfTime }, i) => (isOfTime ? ofTime[i] : ofOthers[2 * i])!)
  // Where no limit divides the times, all are the same.
  const changeP = ofAll === undefined || Number.isNaN(ofAll) ? 1 : ofAll
  return { changeP, ps, responsePs: tried.map((_, i) => ofOthers[2 * i + 1]!) }
}
