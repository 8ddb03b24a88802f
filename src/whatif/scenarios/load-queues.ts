// Over every simulated call: the loops index with `!`.
import { deviation, mean, min, sum } from 'd3-array'
import { memoized } from '../../core/remembered.ts'
import { counted, formatDuration } from '../../core/words.ts'
import { quantile } from '../../stats/quantile.ts'
import { randomSource } from '../../stats/random.ts'
import { ascendingSample, differ, equalRows } from '../../stats/weighted-sample.ts'

/** Calls of one period: when they began, how long they took, and how many each stands for. */
export interface LoadedCalls {
  readonly startUs: Float64Array
  readonly timeUs: Float64Array
  readonly weight: Float64Array
}

/** Calls that came at about the same rate. */
export interface LoadGroup {
  readonly calls: Uint32Array
  readonly perSecond: number
  /** At `SHARES`, µs. */
  readonly quantilesUs: readonly number[]
}

/** Time at each of `SHARES` under a load, µs; null where more comes than can be served. */
export type Curve = (perSecond: number) => readonly number[] | null

export interface Model {
  readonly name: string
  readonly curve: Curve
  /** Standard errors by which its mean time of a call alone is off what was seen. */
  readonly off: number
  /** The same model with other times of a call alone. */
  readonly others: readonly Model[]
}

export const SHARES = [0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99] as const
/** Calls that met the fewest others tell how long a call takes alone: at least this share, and so many. */
const ALONE = { share: 0.1, calls: 50 } as const
/** Queues whose loss is at most so many times the least are as likely … */
const AS_LIKELY = 4
/** … as by a likelihood of about so many independent residuals: χ² with 2 degrees of freedom is below 6 in 95 %. */
const RESIDUALS = 6 / Math.log(AS_LIKELY)
/** Numbers of servers that are tried. */
const SERVERS = [...Array.from({ length: 16 }, (_, i) => i + 1), 20, 24, 32, 48, 64]
/** Standard errors by which the mean time of a call alone may be off. */
const OFF = [-2, -1, 1, 2] as const
const MAX_UTILIZATION = 0.98
const SIMULATED_CALLS = 30_000
/** Gaps of more than so many usual ones are holes between recordings, not load. */
const MAX_GAP = 50

/**
 * Queues that differ in how many servers they have. What they need, times of calls alone and gaps, is
 * learned from all calls.
 */
export function queuesOf(
  { startUs, timeUs, weight }: LoadedCalls,
  groups: readonly LoadGroup[],
): Model[] {
  const sorted = Array.from(startUs.keys()).sort((a, b) => startUs[a]! - startUs[b]!)
  const met = new Uint32Array(startUs.length)
  const ends = Float64Array.from(sorted, (row) => startUs[row]! + timeUs[row]!).sort()
  let ended = 0
  sorted.forEach((row, i) => {
    while (ended < i && ends[ended]! <= startUs[row]!) ended++
    met[row] = i - ended
  })
  const enough = Math.max(ALONE.calls, ALONE.share * met.length)
  const most = met.slice().sort()[Math.min(met.length - 1, Math.ceil(enough))]!
  const alone = Uint32Array.from(met.keys()).filter((row) => met[row]! <= most)
  const aloneUs = equalTimes(
    Float64Array.from(alone, (row) => timeUs[row]!),
    Float64Array.from(alone, (row) => weight[row]!),
  )
  // Gaps by the mean gap of their group: 1 on average.
  const gaps = groups.flatMap(({ calls, perSecond }) => {
    const usual = (mean(calls, (row) => weight[row]!)! * 1e6) / perSecond
    const starts = Float64Array.from(calls, (row) => startUs[row]!).sort()
    return Array.from(starts.subarray(1), (us, i) => (us - starts[i]!) / usual).filter(
      (gap) => gap < MAX_GAP,
    )
  })
  const [usualUs, error] = [mean(aloneUs)!, (deviation(aloneUs) ?? 0) / Math.sqrt(aloneUs.length)]
  return SERVERS.map((servers) => {
    const version = (off: number): Model => {
      const meanUs = Math.max(0, usualUs + off * error)
      const timesUs = aloneUs.map((us) => (us * meanUs) / usualUs)
      // Another seed each: how far a queue wanders by itself shows too.
      const seed = 1 + off - OFF[0]
      return {
        name: `as a queue with ${counted(servers, 'server')}, where a call alone takes ${formatDuration(meanUs)}`,
        curve: memoized((perSecond: number) =>
          queueTimes({ servers, timesUs, gaps, seed }, perSecond),
        ),
        off,
        others: [],
      }
    }
    return { ...version(0), others: OFF.map(version) }
  })
}

/** Times as they are, or of calls that stand for unequally many, as many as these are worth. */
function equalTimes(timesUs: Float64Array, weights: Float64Array): Float64Array {
  if (!differ(weights)) return timesUs
  const sample = ascendingSample(timesUs, weights)
  return Float64Array.from(equalRows(sample), (row) => sample.values[row]!)
}

interface Queue {
  readonly servers: number
  readonly timesUs: Float64Array
  readonly gaps: readonly number[]
  readonly seed: number
}

function queueTimes({ servers, timesUs: aloneUs, gaps, seed }: Queue, perSecond: number) {
  if ((mean(aloneUs)! * perSecond) / 1e6 > MAX_UTILIZATION * servers) return null
  const random = randomSource(seed)
  const scaleUs = 1e6 / perSecond / mean(gaps)!
  const freeUs = new Float64Array(servers)
  let nowUs = 0
  const timesUs = new Float64Array(SIMULATED_CALLS)
  for (let call = 0; call < SIMULATED_CALLS; call++) {
    nowUs += gaps[random.integer(gaps.length)]! * scaleUs
    let first = 0
    for (let i = 1; i < servers; i++) if (freeUs[i]! < freeUs[first]!) first = i
    const ownUs = aloneUs[random.integer(aloneUs.length)]!
    freeUs[first] = Math.max(nowUs, freeUs[first]!) + ownUs
    timesUs[call] = freeUs[first]! - nowUs
  }
  timesUs.sort()
  return SHARES.map((share) => Math.max(1, quantile(timesUs, share)))
}

/** The queue whose times are nearest to those seen, and those as likely, whatever a call alone takes. */
export function likelyQueues(queues: readonly Model[], groups: readonly LoadGroup[]): Model[] {
  const likely = asLikely(queues, groups)
  return asLikely([...likely, ...likely.flatMap(({ others }) => others)], groups)
}

/** Those nearest to the times seen, by the squares of their logarithms, the nearest first. */
function asLikely(queues: readonly Model[], groups: readonly LoadGroup[]): Model[] {
  const judged = queues.map((queue) => ({
    queue,
    loss:
      sum(groups, ({ perSecond, quantilesUs }) => {
        const times = queue.curve(perSecond)
        if (times === null) return Number.POSITIVE_INFINITY
        return sum(quantilesUs, (us, i) => Math.log(us / times[i]!) ** 2)
      }) * Math.exp(queue.off ** 2 / RESIDUALS),
  }))
  const least = min(judged, ({ loss }) => loss)!
  return judged
    .sort((a, b) => a.loss - b.loss)
    .flatMap(({ queue, loss }) => (loss <= AS_LIKELY * least ? queue : []))
}
