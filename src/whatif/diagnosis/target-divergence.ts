// Called some hundred times for each scenario, over all its requests: the loops index with `!`.
import { bisectRight } from 'd3-array'
import { formatDuration, shortNumber } from '../../core/words.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { kullbackLeibler } from '../../stats/kullback-leibler.ts'
import { binCount, logBins } from '../../stats/log-bins.ts'
import { randomSource } from '../../stats/random.ts'
import { tailTest } from '../../stats/tail-test.ts'
import { worthOf } from '../../stats/weighted-sample.ts'
import { LatencyProfile, type WeighedLatencies } from '../recompute/latency-profile.ts'

/**
 * How far a profile is from the target: `'kl'` Kullback-Leibler divergence over bins that are equally
 * wide on a log axis, `'wasserstein'` by how much requests would have to move on average (µs),
 * `'ks'` the largest gap between the two distribution functions.
 */
export type DivergenceName = 'kl' | 'wasserstein' | 'ks'

export const DIVERGENCES: readonly DivergenceName[] = ['kl', 'wasserstein', 'ks']

/** Writes a divergence: `0.277`, or a time per request. */
export function divergenceText(name: DivergenceName, value: number): string {
  return name === 'wasserstein' ? formatDuration(value) : shortNumber(value)
}

/** A target under some weights of its requests: counts of bins, or its distribution function. */
export type WeighedTarget = Float64Array

/** Measures how far profiles are from one target, under many weights of the requests of both. */
export interface TargetDivergence {
  /** Readies the target under some weights, for many profiles. */
  weigh(targetWeight: Float64Array): WeighedTarget
  /** Readies a profile, one latency a request, for many weights. */
  from(latencyUs: Float64Array): (weight: Float64Array, target: WeighedTarget) => number
}

/** Latencies of which the bins of all profiles are made. */
interface DivergenceRange {
  readonly base: Float64Array
  readonly target: Float64Array
  /** Number of requests that the number of bins is to suit: of the smaller of the two. */
  readonly size: number
}

/**
 * The divergence from anything to `target`. All profiles are measured with the same bins, over the
 * range of base and target; what is beyond counts in the outermost.
 */
export function divergenceTo(
  target: Float64Array,
  name: DivergenceName,
  range: DivergenceRange,
): TargetDivergence {
  return name === 'kl' ? klTo(target, range) : gapTo(target, name)
}

/**
 * By how much requests would have to move on average to get from one profile to the other, µs: the
 * area between their distribution functions.
 */
export function profileDistanceUs(one: LatencyProfile, other: LatencyProfile): number {
  let [i, j, own, theirs, area] = [0, 0, 0, 0, 0]
  let from = Math.min(one.latencyUs[0]!, other.latencyUs[0]!)
  while (i < one.latencyUs.length || j < other.latencyUs.length) {
    const us = Math.min(one.latencyUs[i] ?? Infinity, other.latencyUs[j] ?? Infinity)
    area += Math.abs(own / one.requests - theirs / other.requests) * (us - from)
    while (one.latencyUs[i] === us) own += one.weight[i++]!
    while (other.latencyUs[j] === us) theirs += other.weight[j++]!
    from = us
  }
  return area
}

function klTo(target: Float64Array, range: DivergenceRange): TargetDivergence {
  const [low, high] = positiveRange([range.target, range.base])
  const bins = logBins(low, high, binCount(range.size))
  const numbered = (latencyUs: Float64Array) => Uint8Array.from(latencyUs, (us) => bins.index(us))
  const targetBins = numbered(target)
  return {
    weigh: (targetWeight) => counted(targetBins, targetWeight, bins.count),
    from: (latencyUs) => {
      const ownBins = numbered(latencyUs)
      return (weight, counts) => kullbackLeibler(counted(ownBins, weight, bins.count), counts)
    },
  }
}

function counted(bins: Uint8Array, weight: Float64Array, count: number): Float64Array {
  const counts = new Float64Array(count)
  for (let i = 0; i < bins.length; i++) counts[bins[i]!]! += weight[i]!
  return counts
}

function positiveRange(samples: readonly Float64Array[]): [low: number, high: number] {
  let low = Number.POSITIVE_INFINITY
  let high = 0
  for (const sample of samples) {
    for (const us of sample) {
      if (us > 0 && us < low) low = us
      if (us > high) high = us
    }
  }
  // Requests that all took no time are all alike.
  return high > 0 ? [low, high] : [1, 1]
}

function gapTo(target: Float64Array, name: 'wasserstein' | 'ks'): TargetDivergence {
  const targetOrder = ascending(target)
  return {
    weigh: (targetWeight) => distribution(targetOrder, targetWeight),
    from: (latencyUs) => {
      const order = ascending(latencyUs)
      const { widthUs, upTo, targetUpTo } = commonSteps(
        Float64Array.from(order, (row) => latencyUs[row]!),
        Float64Array.from(targetOrder, (row) => target[row]!),
      )
      return (weight, targetShares) => {
        const shares = distribution(order, weight)
        let [widest, area] = [0, 0]
        for (let step = 0; step < widthUs.length; step++) {
          const gap = Math.abs(shares[upTo[step]!]! - targetShares[targetUpTo[step]!]!)
          if (gap > widest) widest = gap
          if (gap > 0) area += gap * widthUs[step]!
        }
        return name === 'ks' ? widest : area
      }
    },
  }
}

/** Share of the weight that the first 0, 1, 2 … rows have. */
function distribution(order: Uint32Array, weight: Float64Array): Float64Array {
  const shares = new Float64Array(order.length + 1)
  let total = 0
  for (let i = 0; i < weight.length; i++) total += weight[i]!
  let upTo = 0
  for (let i = 0; i < order.length; i++) {
    upTo += weight[order[i]!]!
    shares[i + 1] = upTo / total
  }
  return shares
}

/** Between neighboring latencies of either side, both ascending: how many of each are up to there. */
function commonSteps(latencyUs: Float64Array, target: Float64Array) {
  const steps = latencyUs.length + target.length
  const widthUs = new Float64Array(steps)
  const [upTo, targetUpTo] = [new Uint32Array(steps), new Uint32Array(steps)]
  let [i, j, count] = [0, 0, 0]
  while (i + j < steps) {
    const us = Math.min(latencyUs[i] ?? Infinity, target[j] ?? Infinity)
    while (latencyUs[i] === us) i++
    while (target[j] === us) j++
    ;[upTo[count], targetUpTo[count]] = [i, j]
    widthUs[count++] = Math.min(latencyUs[i] ?? Infinity, target[j] ?? Infinity) - us
  }
  // Nothing lies beyond the last.
  const end = Math.max(0, count - 1)
  return { widthUs: widthUs.subarray(0, end), upTo, targetUpTo }
}

function ascending(values: Float64Array): Uint32Array {
  return Uint32Array.from(values, (_, i) => i).sort((a, b) => values[a]! - values[b]!)
}

/** Where tails begin: a change of few calls shows beyond these quantiles, and hardly anywhere else. */
const TAILS = [0.9, 0.98]

/** Values of one period, and how many requests each counts as. */
export interface CountedValues {
  readonly values: Float64Array
  readonly counts: Float64Array
}

/** p of the same share of two samples being in the tails of both together, corrected for their number. */
export function tailsP(before: CountedValues, after: CountedValues): number {
  const isPlain = [before, after].every(({ counts }) => counts.every((count) => count === 1))
  const ps = TAILS.map((share) =>
    isPlain
      ? tailTest(before.values, after.values, { quantile: share }).p
      : countedTailP([before, after], share),
  )
  return Math.min(1, TAILS.length * Math.min(...ps))
}

/** As `tailTest`, of requests that count unequally: Fisher's test of the nearest whole counts. */
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

export interface ChangeTest {
  readonly name: DivergenceName
  readonly range: DivergenceRange
  readonly seed: number
}

/**
 * Is the base's profile another than one that is known exactly, as a histogram or a wish? p is the
 * share of samples drawn from it, of as many as the base is worth, that are at least as far from it.
 */
export function knownChangeP(
  base: WeighedLatencies,
  target: WeighedLatencies,
  { name, range, seed }: ChangeTest,
): number {
  const divergence = divergenceTo(target.latencyUs, name, range)
  const weighedTarget = divergence.weigh(target.weight)
  const observed = divergence.from(base.latencyUs)(base.weight, weighedTarget)
  const ofSample = divergence.from(target.latencyUs)
  const upTo = target.weight.slice()
  for (let i = 1; i < upTo.length; i++) upTo[i]! += upTo[i - 1]!
  const last = upTo.length - 1
  const random = randomSource(seed)
  const counts = new Float64Array(upTo.length)
  const size = Math.round(worthOf(base.latencyUs, base.weight))
  return shareAtLeast(observed, () => {
    counts.fill(0)
    for (let i = 0; i < size; i++) {
      counts[Math.min(bisectRight(upTo, random.next() * upTo[last]!), last)]!++
    }
    return ofSample(counts, weighedTarget)
  })
}

function shareAtLeast(observed: number, draw: () => number): number {
  let found = 0
  for (let round = 0; round < ROUNDS; round++) if (draw() >= observed) found++
  return (found + 1) / (ROUNDS + 1)
}
