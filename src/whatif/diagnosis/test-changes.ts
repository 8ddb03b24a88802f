// Over the values of every scenario: the loops index with `!`.
import type { ChoiceCounts } from '../../compare/steps/call-counts.ts'
import { compareCounts } from '../../compare/steps/compare-counts.ts'
import { BLOCKS, MIN_SHARED } from '../../compare/steps/time-blocks.ts'
import { bonferroni } from '../../stats/bonferroni.ts'
import { quantile } from '../../stats/quantile.ts'
import { pooledValues } from '../../stats/two-sample.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import type { EvidenceSample } from '../scenarios/scenario.ts'

/** The stretch of time that each request of a period began in. */
export interface Stretches {
  readonly before: Uint8Array
  /** Those of after follow on those of before. */
  readonly after: Uint8Array
  /** Whether both periods are of the same time, as a canary: what both share is no difference. */
  readonly aligned: boolean
}

/** Divides each period into ten stretches of as many requests; periods of the same time at the same moments. */
export function stretchesOf(base: RequestModel, target: RequestModel): Stretches {
  const [own, theirs] = [startsUs(base), startsUs(target)]
  const [first, second] = [own.toSorted(), theirs.toSorted()]
  const lengthUs = (times: Float64Array) => times.at(-1)! - times[0]!
  const sharedUs = Math.min(first.at(-1)!, second.at(-1)!) - Math.max(first[0]!, second[0]!)
  const aligned = sharedUs / Math.max(lengthUs(first), lengthUs(second)) >= MIN_SHARED
  if (!aligned) return { before: divided(own), after: divided(theirs, BLOCKS), aligned }
  const both = divided(Float64Array.from([...own, ...theirs]))
  const after = both.slice(own.length).map((stretch) => stretch + BLOCKS)
  return { before: both.slice(0, own.length), after, aligned }
}

/** When each request began, µs; on the clock of its period. */
function startsUs({ forest }: RequestModel): Float64Array {
  const { requestOffsets, requestTrace, serverSpan, traces } = forest
  const epochUs = Number(traces.epochNs / 1000n)
  return Float64Array.from(
    requestTrace,
    (_, request) => epochUs + traces.spans.startUs[serverSpan[requestOffsets[request]!]!]!,
  )
}

function divided(startUs: Float64Array, from = 0): Uint8Array {
  const stretch = new Uint8Array(startUs.length)
  Uint32Array.from(startUs.keys())
    .sort((a, b) => startUs[a]! - startUs[b]! || a - b)
    .forEach((request, at) => {
      stretch[request] = from + Math.floor((BLOCKS * at) / startUs.length)
    })
  return stretch
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
  const add = ({ values, requests }: EvidenceSample, stretchOf: Uint8Array) =>
    values.forEach((value, i) => {
      const stretch = stretchOf[requests[i]!]!
      counts.chances[stretch]!++
      if (holds(value)) counts.made[stretch]!++
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
 * Tests whether the response times of two periods differ, and whether what each scenario changes does,
 * though neighbors in time are alike.
 *
 * Null hypothesis of each: the share of values beyond a limit, or of a kind, is that of before, wandering
 * from stretch to stretch of time as it does within the periods (`compareCounts`, whose variances rest on
 * all scenarios together). The smallest p of several limits or kinds counts, times their number.
 *
 * Limits: a drift as long as both periods is a difference.
 */
export function testScenarios(
  periods: readonly Pick<RequestModel, 'recorded'>[],
  {
    stretches,
    tried,
  }: { readonly stretches: Stretches; readonly tried: readonly ScenarioCounts[] },
): ScenarioTests {
  const [before, after] = periods.map(({ recorded: { latencyUs } }) => ({
    ...{ values: latencyUs, requests: Uint32Array.from(latencyUs.keys()) },
  })) as [EvidenceSample, EvidenceSample]
  const test = (all: readonly (readonly ChoiceCounts[])[]) => {
    const contrasts = all.flat().map((counts) => [counts])
    const tests = compareCounts(contrasts, { aligned: stretches.aligned, lasts: true })
    let at = 0
    return all.map((own) => bonferroni(own.map(() => tests[at++]!.p)))
  }
  const [changeP = Number.NaN, ...ofOthers] = test([
    countTimes(before, after, stretches),
    ...tried.flatMap(({ counts, responseCounts, isOfTime }) => [
      isOfTime ? [] : counts,
      responseCounts,
    ]),
  ])
  const ofTime = test(tried.map(({ counts, isOfTime }) => (isOfTime ? counts : [])))
  const ps = tried.map(({ isOfTime }, i) => (isOfTime ? ofTime[i] : ofOthers[2 * i])!)
  return { changeP, ps, responsePs: tried.map((_, i) => ofOthers[2 * i + 1]!) }
}
