// Called some hundred times for each scenario, over all its requests: the loops index with `!`.
import { bisectRight, cumsum, max, min } from 'd3-array'
import { formatDuration, shortNumber } from '../../core/words.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { kullbackLeibler } from '../../stats/kullback-leibler.ts'
import { binCount, logBins } from '../../stats/log-bins.ts'
import { randomSource } from '../../stats/random.ts'
import { tailTest } from '../../stats/tail-test.ts'
import { worthOf } from '../../stats/weighted-sample.ts'
import { LatencyProfile } from '../recompute/latency-profile.ts'

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

/** Measures how far a profile is from one target. */
export type TargetDivergence = (profile: LatencyProfile) => number

/** What the bins of all profiles are made of. */
interface DivergenceRange {
  readonly base: LatencyProfile
  /** Number of requests that the number of bins is to suit: of the smaller of the two. */
  readonly size: number
}

/**
 * The divergence from anything to `target`. All profiles are measured with the same bins, over the
 * range of base and target; what is beyond counts in the outermost.
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
 * The area between the distribution functions of two profiles, by how much requests would have to
 * move on average to get from one to the other, µs; and the largest gap between them.
 */
export function profileGaps(one: LatencyProfile, other: LatencyProfile) {
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

/** The least time above 0, and the largest; times ascend. */
function positiveRange(samples: readonly Float64Array[]): [low: number, high: number] {
  const high = max(samples, (sample) => sample.at(-1)) ?? 0
  // Requests that all took no time are all alike.
  return high > 0 ? [min(samples, (sample) => sample.find((us) => us > 0))!, high] : [1, 1]
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

interface ChangeTest {
  readonly name: DivergenceName
  readonly range: DivergenceRange
  readonly seed: number
}

/**
 * Is the base's profile another than one that is known exactly, as a histogram or a wish? p is the
 * share of samples drawn from it, of as many as the base is worth, that are at least as far from it.
 */
export function knownChangeP(
  base: LatencyProfile,
  target: LatencyProfile,
  { name, range, seed }: ChangeTest,
): number {
  const divergence = divergenceTo(target, name, range)
  const upTo = cumsum(target.weight)
  const last = upTo.length - 1
  const random = randomSource(seed)
  const counts = new Float64Array(upTo.length)
  const size = Math.round(worthOf(base.latencyUs, base.weight))
  return shareAtLeast(divergence(base), () => {
    counts.fill(0)
    for (let i = 0; i < size; i++) {
      counts[Math.min(bisectRight(upTo, random.next() * upTo[last]!), last)]!++
    }
    return divergence(target.withWeight(counts))
  })
}

function shareAtLeast(observed: number, draw: () => number): number {
  let found = 0
  for (let round = 0; round < ROUNDS; round++) if (draw() >= observed) found++
  return (found + 1) / (ROUNDS + 1)
}
