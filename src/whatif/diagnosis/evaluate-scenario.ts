// Some hundred weights for every request: the loops index with `!`.
import { max } from 'd3-array'
import { chiSquareTest } from '../../stats/chi-square-test.ts'
import { ksTwoSample } from '../../stats/ks-two-sample.ts'
import { randomSource } from '../../stats/random.ts'
import type { ScenarioEffect } from '../recompute/latency-change.ts'
import type { WeighedLatencies } from '../recompute/latency-profile.ts'
import { countTouched, type RequestModel } from '../recompute/request-model.ts'
import type { Candidate } from '../scenarios/scenario.ts'
import type { TargetDivergence } from './target-divergence.ts'

const ROUNDS = 200

interface Measurement {
  readonly base: RequestModel
  /** The other period; null where the target is a profile only. */
  readonly target: RequestModel | null
  /** Of requests of the target, in the order that `divergenceTo` was made with. */
  readonly targetWeight: Float64Array
  readonly divergenceTo: TargetDivergence
  /** The Wasserstein distance to the same target. */
  readonly distanceTo: TargetDivergence
  readonly seed: number
}

/** What one scenario comes to: its response times in the base's order, and how close they are. */
export interface Evaluation extends WeighedLatencies {
  /** From the target. */
  readonly divergence: number
  /** By how much requests would still have to move on average to be the target's, µs (Wasserstein). */
  readonly distanceUs: number
  /** The same for bootstrap resamples of the requests. */
  readonly resampled: Float64Array
  /** Requests whose response time or weight differs. */
  readonly touched: number
  /**
   * KS statistic of what it changes, before against after: 0 to 1. NaN where there is nothing to
   * compare, and for kinds of requests.
   */
  readonly statistic: number
  /** p of that (KS, or χ² of kinds); NaN where it was not or cannot be tested. */
  readonly p: number
  /** KS statistic in units of its spread (χ² likewise): orders as p does, also where p is too small for a number. */
  readonly strength: number
}

export interface Evaluator {
  readonly unchanged: Evaluation
  evaluate(candidate: Candidate): Evaluation
}

export function makeEvaluator(measurement: Measurement): Evaluator {
  const { base, target, targetWeight, divergenceTo, distanceTo, seed } = measurement
  const { recorded } = base
  const weighedTarget = divergenceTo.weigh(targetWeight)
  const farTarget = distanceTo.weigh(targetWeight)
  const counts = resampledCounts(recorded.latencyUs.length, seed)
  const resampledWeight = new Float64Array(targetWeight.length)
  const resampledTargets =
    target === null
      ? // A given profile is not a sample.
        counts.map(() => weighedTarget)
      : resampledCounts(targetWeight.length, ~seed).map((drawn) =>
          divergenceTo.weigh(weighted(drawn, targetWeight, resampledWeight)),
        )
  const roundWeight = new Float64Array(recorded.latencyUs.length)
  const measure = (effect: ScenarioEffect): Omit<Evaluation, keyof Evidence> => {
    const after = base.after(effect)
    const { latencyUs, weight } = after
    const divergence = divergenceTo.from(latencyUs)
    const distance = distanceTo === divergenceTo ? divergence : distanceTo.from(latencyUs)
    return {
      ...after,
      divergence: divergence(weight, weighedTarget),
      distanceUs: distance(weight, farTarget),
      resampled: Float64Array.from(counts, (drawn, round) =>
        divergence(weighted(drawn, weight, roundWeight), resampledTargets[round]!),
      ),
      touched: countTouched(recorded, after),
    }
  }
  return {
    unchanged: { ...measure({ changes: [], weight: null }), ...UNTESTED },
    evaluate: (candidate) => ({
      ...measure(candidate.apply(base, target)),
      ...(target === null ? UNTESTED : testChange(candidate, base, target)),
    }),
  }
}

type Evidence = Pick<Evaluation, 'statistic' | 'p' | 'strength'>

const UNTESTED: Evidence = { statistic: Number.NaN, p: Number.NaN, strength: Number.NaN }

/** Did what the scenario changes change between the periods? */
function testChange(candidate: Candidate, base: RequestModel, target: RequestModel): Evidence {
  const { measured, before, after, share = 1, mayFollow } = candidate.evidence(base, target)
  if (measured === 'kinds') {
    const cells = 1 + Math.max(max(before) ?? 0, max(after) ?? 0)
    const count = (kinds: Float64Array) => {
      const counts = new Float64Array(cells)
      for (const kind of kinds) counts[kind]!++
      return counts
    }
    if (before.length === 0 || after.length === 0) return UNTESTED
    const { statistic, p, testable } = chiSquareTest(count(before), count(after))
    if (!testable) return UNTESTED
    // The KS statistic in units of its spread that is as unlikely: p = 2 exp(−2s²). Where p is too
    // small for a number, it is about exp(−χ²/2).
    const strength = Math.sqrt(p > 0 ? Math.max(0, -Math.log(p / 2)) / 2 : statistic / 4)
    return { ...UNTESTED, p, strength: mayFollow ? Number.NaN : strength }
  }
  const { statistic, beforeCount: n1, afterCount: n2 } = ksTwoSample(before, after)
  const { p, testable } = ksTwoSample(thinned(before, share), thinned(after, share))
  const strength = statistic * Math.sqrt((n1 * n2) / (n1 + n2))
  return { statistic, p: testable ? p : Number.NaN, strength }
}

/** A share of some values, evenly spaced. */
function thinned(values: Float64Array, share: number): Float64Array {
  if (share === 1) return values
  return values.filter((_, i) => Math.floor((i + 1) * share) > Math.floor(i * share))
}

/**
 * Bootstrap resamples of requests: how often each is drawn, in each round. All scenarios are measured
 * on the same resamples, so that what they have in common cancels.
 */
function resampledCounts(requests: number, seed: number): Uint8Array[] {
  const random = randomSource(seed)
  return Array.from({ length: ROUNDS }, () => {
    const counts = new Uint8Array(requests)
    for (let i = 0; i < requests; i++) counts[random.integer(requests)]!++
    return counts
  })
}

function weighted(counts: Uint8Array, weight: Float64Array, into: Float64Array): Float64Array {
  for (let i = 0; i < counts.length; i++) into[i] = counts[i]! * weight[i]!
  return into
}
