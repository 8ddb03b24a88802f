import { max, sum } from 'd3-array'
import { chiSquareTest } from '../../stats/chi-square-test.ts'
import { ksTwoSample } from '../../stats/ks-two-sample.ts'
import { moments } from '../../stats/moments.ts'
import { differ, worthOf } from '../../stats/weighted-sample.ts'
import {
  type LatencyProfile,
  profileOf,
  type WeighedLatencies,
} from '../recompute/latency-profile.ts'
import { countTouched, type RequestModel, type ScenarioEffect } from '../recompute/request-model.ts'
import { combineScenarios } from '../scenarios/parse-scenario.ts'
import type {
  Candidate,
  EvidenceSample,
  Scenario,
  ScenarioEvidence,
} from '../scenarios/scenario.ts'
import {
  type CountedValues,
  profileGaps,
  type TargetDivergence,
  tailsP,
} from './target-divergence.ts'
import { countKinds, countTimes, type ScenarioCounts, type Stretches } from './test-changes.ts'

interface Measurement {
  readonly base: RequestModel
  /** The other period; null where the target is a profile only. */
  readonly target: RequestModel | null
  readonly divergenceTo: TargetDivergence
  readonly targetProfile: LatencyProfile
  /** Null where the target is a profile only. */
  readonly stretches: Stretches | null
}

/** What one scenario comes to: its response times in the base's order, and how close they are. */
export interface Evaluation extends WeighedLatencies, ScenarioCounts {
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
  /** How well it explains the change, or the best of the calls below it does: more is better. */
  readonly promise: number
  /** How many requests those whose response time or weight differs stand for. */
  readonly touched: number
  /**
   * KS statistic of what it changes, before against after: 0 to 1. NaN where there is nothing to
   * compare, and for kinds of requests.
   */
  readonly statistic: number
  /** How surely what it changes did change, in units of the KS statistic's spread: orders as p does, also where p is too small for a number. */
  readonly strength: number
}

/** More is better; below 0, and by divergence, for what cannot be compared. */
export function orderKey({
  strength,
  towardUs,
  divergence,
}: Pick<Evaluation, 'strength' | 'towardUs' | 'divergence'>): number {
  return Number.isNaN(strength)
    ? -1 - divergence
    : Math.max(0, strength) * Math.sqrt(Math.max(0, towardUs))
}

export interface Evaluator {
  readonly unchanged: Evaluation
  evaluate(candidate: Candidate): Evaluation
  /** What several scenarios come to that are made at once, which nothing was measured of. */
  evaluateTogether(scenarios: readonly Scenario[]): Evaluation
}

export function makeEvaluator(measurement: Measurement): Evaluator {
  const { base, target, divergenceTo, targetProfile, stretches } = measurement
  const { recorded } = base
  const recordedUs = meanUs(recorded)
  const direction = directionOf(profileOf(recorded), targetProfile)
  const apartUs = profileGaps(profileOf(recorded), targetProfile).wasserstein
  const measure = (
    effect: ScenarioEffect,
    undone: number,
  ): Omit<Evaluation, keyof Evidence | 'promise'> => {
    const after = base.after(effect)
    const profile = profileOf(after)
    const movedUs = meanUs(after) - recordedUs
    const distanceUs = profileGaps(profile, targetProfile).wasserstein
    const impactUs = Number.isNaN(undone) ? movedUs : (movedUs - undone) / 2
    const towardUs = direction === 0 ? Math.abs(impactUs) : impactUs * direction
    return {
      ...after,
      profile,
      distanceUs,
      impactUs,
      divergence: divergenceTo(profile),
      towardUs: Number.isNaN(undone) ? Math.min(towardUs, apartUs - distanceUs) : towardUs,
      touched: countTouched(recorded, after),
    }
  }
  const undoneUs = (candidate: Candidate) =>
    target === null || !candidate.isTwoWay
      ? Number.NaN
      : meanUs(target.after(candidate.apply(target, base))) - meanUs(target.recorded)
  // The same calls may be reached in several ways.
  const known = new Map<string, Evaluation>()
  const evaluate = (candidate: Candidate): Evaluation => {
    const old = known.get(candidate.key)
    if (old !== undefined) return old
    const own = {
      ...measure(candidate.apply(base, target), undoneUs(candidate)),
      ...(target === null || stretches === null
        ? UNTESTED
        : testChange(candidate.evidence(base, target), { base, target, stretches })),
    }
    // What comes nearest to a wish may be anything: nothing below it says more.
    const below = target === null ? [] : candidate.below()
    const promise = Math.max(orderKey(own), ...below.map((each) => evaluate(each).promise))
    const evaluation = { ...own, promise }
    known.set(candidate.key, evaluation)
    return evaluation
  }
  const untested = { ...UNTESTED, promise: Number.NaN }
  return {
    unchanged: { ...measure({ changes: [], weight: null }, Number.NaN), ...untested },
    evaluateTogether: (scenarios) => ({
      ...measure(combineScenarios(...scenarios).apply(base, target), Number.NaN),
      ...untested,
    }),
    evaluate,
  }
}

/** Standard errors by which means must differ to have a direction. */
const CLEARLY = 2

/** 1 where the mean became more, −1 where it became less, 0 where that may be chance. */
function directionOf(base: LatencyProfile, target: LatencyProfile): number {
  const error = ({ latencyUs, weight }: LatencyProfile) =>
    (moments(latencyUs, weight).variance || 0) / worthOf(latencyUs, weight)
  const movedUs = target.meanUs - base.meanUs
  return Math.abs(movedUs) > CLEARLY * Math.sqrt(error(base) + error(target))
    ? Math.sign(movedUs)
    : 0
}

function meanUs({ latencyUs, weight }: WeighedLatencies): number {
  return sum(latencyUs, (us, i) => us * weight[i]!) / sum(weight)
}

type Evidence = ScenarioCounts & Pick<Evaluation, 'statistic' | 'strength'>

const UNTESTED: Evidence = {
  statistic: Number.NaN,
  counts: [],
  responseCounts: [],
  isOfTime: false,
  strength: Number.NaN,
}

/** Did what the scenario changes change between the periods? */
function testChange(
  { measured, before, after, share = 1, mayFollow = false }: ScenarioEvidence,
  { base, target, stretches }: { base: RequestModel; target: RequestModel; stretches: Stretches },
): Evidence {
  const responseCounts = countTimes(timesOf(base, before), timesOf(target, after), stretches)
  if (before.values.length === 0 || after.values.length === 0) return UNTESTED
  if (measured === 'kinds') {
    const cells = 1 + Math.max(max(before.values) ?? 0, max(after.values) ?? 0)
    const count = ({ values, requests }: EvidenceSample, weigh: Float64Array) => {
      const counts = new Float64Array(cells)
      values.forEach((kind, i) => {
        counts[kind]! += weigh[requests[i]!]!
      })
      return counts
    }
    const { statistic, p, testable } = chiSquareTest(
      count(before, stretches.before.counts),
      count(after, stretches.after.counts),
    )
    if (!testable) return UNTESTED
    const strength = mayFollow ? Number.NaN : strengthOf(p, Math.sqrt(statistic) / 2)
    return {
      statistic: Number.NaN,
      counts: countKinds(before, after, stretches),
      responseCounts,
      isOfTime: mayFollow,
      strength,
    }
  }
  const { statistic, n1, n2 } = largestGap(before, after, stretches)
  const [first, second] = [thinned(before, share), thinned(after, share)]
  const ofTails = tailsP(...countedValues(first, second, stretches))
  return {
    statistic,
    counts: countTimes(first, second, stretches),
    responseCounts,
    isOfTime: false,
    strength: Math.max(statistic * Math.sqrt((n1 * n2) / (n1 + n2)), strengthOf(ofTails, 0)),
  }
}

/** The values of two samples, and how many requests each counts as. */
function countedValues(
  { values: before, requests: ofBefore }: EvidenceSample,
  { values: after, requests: ofAfter }: EvidenceSample,
  stretches: Stretches,
): [CountedValues, CountedValues] {
  const countsOf = (requests: Uint32Array, counts: Float64Array) =>
    Float64Array.from(requests, (request) => counts[request]!)
  return [
    { values: before, counts: countsOf(ofBefore, stretches.before.counts) },
    { values: after, counts: countsOf(ofAfter, stretches.after.counts) },
  ]
}

/** The KS statistic of samples whose requests count as much as they stand for, and the effective sizes. */
function largestGap(before: EvidenceSample, after: EvidenceSample, stretches: Stretches) {
  const [own, theirs] = countedValues(before, after, stretches)
  const isUneven = differ(own.counts) || differ(theirs.counts)
  const weights = { beforeWeights: own.counts, afterWeights: theirs.counts }
  const { statistic } = ksTwoSample(own.values, theirs.values, isUneven ? weights : {})
  return { statistic, n1: sum(own.counts), n2: sum(theirs.counts) }
}

/** The KS statistic in units of its spread that is as unlikely: p = 2 exp(−2s²); `beyond` where p is too small for a number. */
function strengthOf(p: number, beyond: number): number {
  return p > 0 ? Math.sqrt(Math.max(0, -Math.log(p / 2)) / 2) : beyond
}

/** A share of some values, evenly spaced. */
function thinned({ values, requests }: EvidenceSample, share: number): EvidenceSample {
  const isKept = (_: number, i: number) => Math.floor((i + 1) * share) > Math.floor(i * share)
  return { values: values.filter(isKept), requests: requests.filter(isKept) }
}

function timesOf({ recorded }: RequestModel, { requests }: EvidenceSample): EvidenceSample {
  return {
    values: Float64Array.from(requests, (request) => recorded.latencyUs[request]!),
    requests,
  }
}
