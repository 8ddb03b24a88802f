import { max, variance } from 'd3-array'
import { chiSquareTest } from '../../stats/chi-square-test.ts'
import { ksTwoSample } from '../../stats/ks-two-sample.ts'
import type { ScenarioEffect } from '../recompute/latency-change.ts'
import {
  type LatencyProfile,
  profileOf,
  type WeighedLatencies,
} from '../recompute/latency-profile.ts'
import { countTouched, type RequestModel } from '../recompute/request-model.ts'
import type { Candidate } from '../scenarios/scenario.ts'
import { profileDistanceUs, type TargetDivergence, tailsP } from './target-divergence.ts'

interface Measurement {
  readonly base: RequestModel
  /** The other period; null where the target is a profile only. */
  readonly target: RequestModel | null
  /** Of requests of the target, in the order that `divergenceTo` was made with. */
  readonly targetWeight: Float64Array
  readonly divergenceTo: TargetDivergence
  readonly targetProfile: LatencyProfile
}

/** What one scenario comes to: its response times in the base's order, and how close they are. */
export interface Evaluation extends WeighedLatencies {
  readonly profile: LatencyProfile
  /** From the target. */
  readonly divergence: number
  /** By how much requests would still have to move on average to be the target's, µs (Wasserstein). */
  readonly distanceUs: number
  /**
   * By how much the scenario moves the mean response time, µs: of requests before that become as after,
   * and, where that can be undone, of requests after that become as before, the mean of both.
   */
  readonly impactUs: number
  /**
   * What of the impact leads towards the target, µs: all of it where the means of both periods may be
   * alike, else negative where it leads away. Of what cannot be undone no more than it comes closer, as
   * it may go too far.
   */
  readonly towardUs: number
  /** Requests whose response time or weight differs. */
  readonly touched: number
  /**
   * KS statistic of what it changes, before against after: 0 to 1. NaN where there is nothing to
   * compare, and for kinds of requests.
   */
  readonly statistic: number
  /** p of that (KS and tail, or χ² of kinds); NaN where it was not or cannot be tested. */
  readonly p: number
  /** How surely what it changes did change, in units of the KS statistic's spread: orders as p does, also where p is too small for a number. */
  readonly strength: number
}

export interface Evaluator {
  readonly unchanged: Evaluation
  evaluate(candidate: Candidate): Evaluation
}

export function makeEvaluator(measurement: Measurement): Evaluator {
  const { base, target, targetWeight, divergenceTo, targetProfile } = measurement
  const { recorded } = base
  const recordedUs = meanUs(recorded)
  const direction = directionOf(profileOf(recorded), targetProfile)
  const apartUs = profileDistanceUs(profileOf(recorded), targetProfile)
  const weighedTarget = divergenceTo.weigh(targetWeight)
  const measure = (effect: ScenarioEffect, undone: number): Omit<Evaluation, keyof Evidence> => {
    const after = base.after(effect)
    const { latencyUs, weight } = after
    const profile = profileOf(after)
    const movedUs = meanUs(after) - recordedUs
    const distanceUs = profileDistanceUs(profile, targetProfile)
    const impactUs = Number.isNaN(undone) ? movedUs : (movedUs - undone) / 2
    const towardUs = direction === 0 ? Math.abs(impactUs) : impactUs * direction
    return {
      ...{ ...after, profile, distanceUs, impactUs },
      divergence: divergenceTo.from(latencyUs)(weight, weighedTarget),
      towardUs: Number.isNaN(undone) ? Math.min(towardUs, apartUs - distanceUs) : towardUs,
      touched: countTouched(recorded, after),
    }
  }
  const undoneUs = (candidate: Candidate) =>
    target === null || !candidate.isTwoWay
      ? Number.NaN
      : meanUs(target.after(candidate.apply(target, base))) - meanUs(target.recorded)
  return {
    unchanged: { ...measure({ changes: [], weight: null }, Number.NaN), ...UNTESTED },
    evaluate: (candidate) => ({
      ...measure(candidate.apply(base, target), undoneUs(candidate)),
      ...(target === null ? UNTESTED : testChange(candidate, base, target)),
    }),
  }
}

/** Standard errors by which means must differ to have a direction. */
const CLEARLY = 2

/** 1 where the mean became more, −1 where it became less, 0 where that may be chance. */
function directionOf(base: LatencyProfile, target: LatencyProfile): number {
  const error = ({ latencyUs }: LatencyProfile) => (variance(latencyUs) ?? 0) / latencyUs.length
  const movedUs = target.meanUs - base.meanUs
  return Math.abs(movedUs) > CLEARLY * Math.sqrt(error(base) + error(target))
    ? Math.sign(movedUs)
    : 0
}

function meanUs({ latencyUs, weight }: WeighedLatencies): number {
  let [sum, requests] = [0, 0]
  for (let i = 0; i < latencyUs.length; i++) {
    sum += (latencyUs[i] as number) * (weight[i] as number)
    requests += weight[i] as number
  }
  return sum / requests
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
    const strength = strengthOf(p, Math.sqrt(statistic) / 2)
    return { ...UNTESTED, p, strength: mayFollow ? Number.NaN : strength }
  }
  const { statistic, beforeCount: n1, afterCount: n2 } = ksTwoSample(before, after)
  const [first, second] = [thinned(before, share), thinned(after, share)]
  const { p, testable } = ksTwoSample(first, second)
  const ofWhole = statistic * Math.sqrt((n1 * n2) / (n1 + n2))
  if (!testable) return { ...UNTESTED, statistic, strength: ofWhole }
  const ofTails = tailsP(first, second)
  return {
    statistic,
    p: Math.min(1, 2 * Math.min(p, ofTails)),
    strength: Math.max(ofWhole, strengthOf(ofTails, 0)),
  }
}

/** The KS statistic in units of its spread that is as unlikely: p = 2 exp(−2s²); `beyond` where p is too small for a number. */
function strengthOf(p: number, beyond: number): number {
  return p > 0 ? Math.sqrt(Math.max(0, -Math.log(p / 2)) / 2) : beyond
}

/** A share of some values, evenly spaced. */
function thinned(values: Float64Array, share: number): Float64Array {
  if (share === 1) return values
  return values.filter((_, i) => Math.floor((i + 1) * share) > Math.floor(i * share))
}
