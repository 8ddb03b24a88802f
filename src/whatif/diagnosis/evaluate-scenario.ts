// Called some hundred times for each scenario, over all its requests: the loops index with `!`.

import { bisectRight, cumsum, max, min, sum } from 'd3-array'
import { requestStartsUs } from '../../calls/call-forest.ts'
import { type ChoiceCounts, compareChoices, divideTimes } from '../../compare/steps/time-blocks.ts'
import { BLOCKS, LARGE } from '../../compare/thresholds.ts'
import { formatDuration, shortNumber } from '../../core/words.ts'
import { overlapInTime } from '../../flows/overlap.ts'
import { bonferroni } from '../../stats/bonferroni.ts'
import { chiSquareTest } from '../../stats/chi-square-test.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { ksTwoSample } from '../../stats/ks-two-sample.ts'
import { kullbackLeibler } from '../../stats/kullback-leibler.ts'
import { binCount, logBins } from '../../stats/log-bins.ts'
import type { Pairing } from '../../stats/moderated-shifts.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import { randomSource } from '../../stats/random.ts'
import { tailTest } from '../../stats/tail-test.ts'
import { pooledValues } from '../../stats/two-sample.ts'
import { differ, worthOf, worthWeights } from '../../stats/weighted-sample.ts'
import { LatencyProfile, profileOf, type WeighedLatencies } from '../recompute/latency-profile.ts'
import { countTouched, type RequestModel, type ScenarioEffect } from '../recompute/request-model.ts'
import { combineScenarios } from '../scenarios/parse-scenario.ts'
import type {
  Candidate,
  EvidenceSample,
  Scenario,
  ScenarioEvidence,
} from '../scenarios/scenario.ts'

interface Measurement {
  readonly order: ScenarioOrder
  readonly base: RequestModel
  /** The other period; null where the target is a profile only. */
  readonly target: RequestModel | null
  readonly divergenceTo: TargetDivergence
  readonly targetProfile: LatencyProfile
  /** Null where the target is a profile only. */
  readonly stretches: Stretches | null
}

/**
 * Orders of scenarios: `'evidence'` puts sure changes that move response times far first; `'divergence'` puts those
 * closest to the target first, whatever changed.
 */
export const SCENARIO_ORDERS = ['evidence', 'divergence'] as const
export type ScenarioOrder = (typeof SCENARIO_ORDERS)[number]

/** Result of one scenario: its response times in the base's order, and their distance to the target. */
export interface Evaluation extends WeighedLatencies, ScenarioCounts {
  readonly profile: LatencyProfile
  /** Divergence from the target. */
  readonly divergence: number
  /** Mean distance that requests would still have to move to match the target, in µs (Wasserstein). */
  readonly distanceUs: number
  /**
   * By how much the scenario moves the mean response time, µs: of requests before that become as after,
   * and, where that can be undone, of requests after that become as before, the mean of both.
   */
  readonly impactUs: number
  /**
   * Part of the impact that leads towards the target, in µs. All of it if the means of both periods may be equal;
   * otherwise negative if it leads away. A scenario that cannot be undone counts only as far as it comes closer,
   * because it may go too far.
   */
  readonly towardUs: number
  /** Score of how well it explains the change: more is better. */
  readonly key: number
  /** The same, or that of the best of the calls below it. */
  readonly promise: number
  /** Number of requests whose response time or weight changes, by the requests that they stand for. */
  readonly touched: number
  /**
   * KS statistic of the changed quantity, before against after: 0 to 1. NaN if there is nothing to compare, and for
   * kinds of requests.
   */
  readonly statistic: number
  /**
   * Certainty that the changed quantity did change, in units of the KS statistic's spread. It orders as p does, even if
   * p is too small for a number.
   */
  readonly strength: number
}

/** Returns the score by evidence: more is better. Below 0, and by divergence, for scenarios that cannot be compared. */
function evidenceKey({
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
  /** Evaluates several scenarios made at once, for which nothing was measured. */
  evaluateTogether(scenarios: readonly Scenario[]): Evaluation
}

export function makeEvaluator(measurement: Measurement): Evaluator {
  const { order, base, target, divergenceTo, targetProfile, stretches } = measurement
  const keyOf = (own: Parameters<typeof evidenceKey>[0]) =>
    order === 'divergence' ? -own.divergence : evidenceKey(own)
  const { recorded } = base
  const recordedUs = meanUs(recorded)
  const direction = directionOf(profileOf(recorded), targetProfile)
  const apartUs = profileGaps(profileOf(recorded), targetProfile).wasserstein
  const measure = (
    effect: ScenarioEffect,
    undone: number,
  ): Omit<Evaluation, keyof Evidence | 'key' | 'promise'> => {
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
    // Anything may come closest to a wish, so scenarios below it say no more.
    const below = target === null ? [] : candidate.below()
    const key = keyOf(own)
    const promise = Math.max(key, ...below.map((each) => evaluate(each).promise))
    const evaluation = { ...own, key, promise }
    known.set(candidate.key, evaluation)
    return evaluation
  }
  const untested = { ...UNTESTED, key: Number.NaN, promise: Number.NaN }
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

/** Returns 1 if the mean became more, −1 if it became less, 0 if that may be chance. */
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

/** Tests whether the quantity that the scenario changes did change between the periods. */
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
    const kinds = [...new Set([...before.values, ...after.values])]
    return {
      statistic: Number.NaN,
      counts: kinds.map((kind) => counted([before, after], stretches, (value) => value === kind)),
      responseCounts,
      isOfTime: mayFollow,
      strength,
    }
  }
  // Requests count as much as they stand for.
  const [own, theirs] = countedValues(before, after, stretches)
  const isUneven = differ(own.counts) || differ(theirs.counts)
  const weights = { beforeWeights: own.counts, afterWeights: theirs.counts }
  const { statistic } = ksTwoSample(own.values, theirs.values, isUneven ? weights : {})
  const [n1, n2] = [sum(own.counts), sum(theirs.counts)]
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

/** Returns the values of two samples, and how many requests each counts as. */
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

/**
 * Returns the KS statistic in units of its spread that is as unlikely: p = 2 exp(−2s²); `beyond` where p is too small
 * for a number.
 */
function strengthOf(p: number, beyond: number): number {
  return p > 0 ? Math.sqrt(Math.max(0, -Math.log(p / 2)) / 2) : beyond
}

/** Returns a share of some values, evenly spaced. */
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

/**
 * Distance of a profile from the target: `'kl'` Kullback-Leibler divergence over bins of equal width on a log axis,
 * `'wasserstein'` the mean distance that requests would have to move (µs), `'ks'` the largest gap between the two
 * distribution functions.
 */
export type DivergenceName = 'kl' | 'wasserstein' | 'ks'

export const DIVERGENCES: readonly DivergenceName[] = ['kl', 'wasserstein', 'ks']

/** Writes a divergence: `0.277`, or a time per request. */
export function divergenceText(name: DivergenceName, value: number): string {
  return name === 'wasserstein' ? formatDuration(value) : shortNumber(value)
}

/** Measures how far a profile is from one target. */
type TargetDivergence = (profile: LatencyProfile) => number

/** Range of the bins common to all profiles. */
interface DivergenceRange {
  readonly base: LatencyProfile
  /** Number of requests that the number of bins is to suit: of the smaller of the two. */
  readonly size: number
}

/**
 * Returns a function for the divergence of a profile from `target`. All profiles have the same bins, over the range of
 * base and target; values beyond count in the outermost bins.
 */
export function divergenceTo(
  target: LatencyProfile,
  name: DivergenceName,
  { base, size }: DivergenceRange,
): TargetDivergence {
  if (name !== 'kl') return (profile) => profileGaps(profile, target)[name]
  const [low, high] = positiveRange([target.latencyUs, base.latencyUs])
  const bins = logBins(low, high, binCount(size))
  const counts = target.histogram(bins)
  return (profile) => kullbackLeibler(profile.histogram(bins), counts)
}

/**
 * Returns the area between the distribution functions of two profiles, by how much requests would have to move on
 * average to get from one to the other, µs; and the largest gap between them.
 */
function profileGaps(one: LatencyProfile, other: LatencyProfile) {
  let [i, j, own, theirs, gap] = [0, 0, 0, 0, 0]
  let [wasserstein, ks] = [0, 0]
  let from = Math.min(one.latencyUs[0]!, other.latencyUs[0]!)
  while (i < one.latencyUs.length || j < other.latencyUs.length) {
    const us = Math.min(one.latencyUs[i] ?? Infinity, other.latencyUs[j] ?? Infinity)
    wasserstein += gap * (us - from)
    while (one.latencyUs[i] === us) own += one.weight[i++]!
    while (other.latencyUs[j] === us) theirs += other.weight[j++]!
    gap = Math.abs(own / one.requests - theirs / other.requests)
    if (gap > ks) ks = gap
    from = us
  }
  return { wasserstein, ks }
}

/** Returns the least time above 0, and the largest; times ascend. */
function positiveRange(samples: readonly Float64Array[]): [low: number, high: number] {
  const high = max(samples, (sample) => sample.at(-1)) ?? 0
  // If all requests took no time, all are the same.
  return high > 0 ? [min(samples, (sample) => sample.find((us) => us > 0))!, high] : [1, 1]
}

/** Shares where tails begin: a change of few calls shows beyond these quantiles, and hardly anywhere else. */
const TAILS = [0.9, 0.98]

/** Values of one period, and how many requests each counts as. */
export interface CountedValues {
  readonly values: Float64Array
  readonly counts: Float64Array
}

/**
 * Returns p of the hypothesis that equal shares of two samples lie in the tails of both together, corrected for their
 * number.
 */
export function tailsP(before: CountedValues, after: CountedValues): number {
  const isPlain = [before, after].every(({ counts }) => counts.every((count) => count === 1))
  const ps = TAILS.map((share) =>
    isPlain
      ? tailTest(before.values, after.values, { quantile: share }).p
      : countedTailP([before, after], share),
  )
  return Math.min(1, TAILS.length * Math.min(...ps))
}

/** Tests tails as `tailTest` does, for requests with unequal weights: Fisher's test of the nearest whole counts. */
function countedTailP(samples: readonly [CountedValues, CountedValues], share: number): number {
  const profiles = samples.map(({ values, counts }) => LatencyProfile.ofRequests(values, counts))
  const beyond = LatencyProfile.ofRequests(
    samples.flatMap(({ values }) => [...values]),
    samples.flatMap(({ counts }) => [...counts]),
  ).quantile(share)
  const [[ofBefore, before], [ofAfter, after]] = profiles.map((profile) => {
    const requests = Math.round(profile.requests)
    return [Math.round((1 - profile.shareWithin(beyond)) * requests), requests]
  }) as [[number, number], [number, number]]
  return fisherExact(ofBefore, before, ofAfter, after).p
}

/** Rounds of which p is a share: it is 0.002 at least. */
const ROUNDS = 499

/**
 * Tests whether the base's profile differs from one that is known exactly, such as a histogram or a wish. p is the
 * share of samples drawn from it, of as many as the base is worth, that are at least as far from it.
 */
export function knownChangeP(
  base: LatencyProfile,
  target: LatencyProfile,
  { name, range, seed }: { name: DivergenceName; range: DivergenceRange; seed: number },
): number {
  const divergence = divergenceTo(target, name, range)
  const upTo = cumsum(target.weight)
  const last = upTo.length - 1
  const random = randomSource(seed)
  const counts = new Float64Array(upTo.length)
  const size = Math.round(worthOf(base.latencyUs, base.weight))
  const observed = divergence(base)
  let found = 0
  for (let round = 0; round < ROUNDS; round++) {
    counts.fill(0)
    for (let i = 0; i < size; i++) {
      counts[Math.min(bisectRight(upTo, random.next() * upTo[last]!), last)]!++
    }
    if (divergence(target.withWeight(counts)) >= observed) found++
  }
  return (found + 1) / (ROUNDS + 1)
}

interface CountedPeriod {
  /** The stretch of time that each request began in; those of after follow on those of before. */
  readonly stretch: Uint8Array
  /** Weight of each: 1, or by sampling weights, which sum to the effective number of requests. */
  readonly counts: Float64Array
}

export interface Stretches {
  readonly before: CountedPeriod
  readonly after: CountedPeriod
  /** `'time'` where both periods are of the same time, as a canary: what both share is no difference. */
  readonly pairs: Pairing
}

/** Divides each period into ten stretches of as many requests; periods of the same time at the same moments. */
export function stretchesOf(base: RequestModel, target: RequestModel): Stretches {
  const [own, theirs] = [startsUs(base), startsUs(target)]
  const isOfOneTime = (overlapInTime(own.toSorted(), theirs.toSorted())?.share ?? 0) >= LARGE
  const stretches = isOfOneTime
    ? divideTimes(Float64Array.from([...own, ...theirs]), BLOCKS)
    : [...divideTimes(own, BLOCKS), ...divideTimes(theirs, BLOCKS)]
  const after = stretches.slice(own.length).map((stretch) => stretch + BLOCKS)
  return {
    before: {
      stretch: Uint8Array.from(stretches.slice(0, own.length)),
      counts: worthWeights(base.recorded.weight),
    },
    after: { stretch: Uint8Array.from(after), counts: worthWeights(target.recorded.weight) },
    pairs: isOfOneTime ? 'time' : null,
  }
}

/** Returns when each request began, µs; on the clock of its period. */
function startsUs({ forest }: RequestModel): Float64Array {
  const epochUs = Number(forest.traces.epochNs / 1000n)
  return requestStartsUs(forest).map((us) => epochUs + us)
}

/** Quantiles of both periods together: how many values lie beyond each is compared. */
const LIMITS = [0.1, 0.3, 0.5, 0.7, 0.9, 0.98]

/** Counts the times beyond some limits, by stretch of time. */
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

/** Counts that tell whether a scenario's change happened; empty if it cannot be compared. */
export interface ScenarioCounts {
  /** Times beyond some limits, or kinds, that the scenario changes, counted by stretch of time. */
  readonly counts: readonly ChoiceCounts[]
  /** The response times of requests that have it. */
  readonly responseCounts: readonly ChoiceCounts[]
  /** Whether it depends on time alone, as load does: then it does not show the drift of other measures. */
  readonly isOfTime: boolean
}

export interface ScenarioTests {
  /** p of the response times of all requests being as before. */
  readonly changeP: number
  /** p by scenario that the quantity it changes is as before. */
  readonly ps: readonly number[]
  /** p by scenario that the response times of requests that have it are as before. */
  readonly responsePs: readonly number[]
}

/**
 * Tests whether the response times of two periods differ, and whether the quantity that each scenario changes does.
 * Consecutive requests are similar, so whole stretches of time are compared.
 *
 * Null hypothesis of each: the share of values beyond a limit, or of a kind, is that of before, and drifts from stretch
 * to stretch of time as it does within the periods (`compareChoices`, whose variances rest on all scenarios together).
 * A change within after does not count as drift: parts of after are compared with the drift of before alone. The
 * smallest p of several limits or kinds counts, times their number. Sampled requests count by their weights.
 *
 * Limits: a drift as long as both periods counts as a difference; a change within before counts as drift.
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
      { perRun: BLOCKS, runs: 1, pairs: stretches.pairs },
      { lasts: stretches.pairs === 'time' ? false : 'learned' },
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
  // If no limit divides the times, all are the same.
  const changeP = ofAll === undefined || Number.isNaN(ofAll) ? 1 : ofAll
  return { changeP, ps, responsePs: tried.map((_, i) => ofOthers[2 * i + 1]!) }
}
