// Called some hundred times for each scenario, over all its requests: the loops index with `!`.
import { kullbackLeibler } from '../../stats/kullback-leibler.ts'
import { binCount, logBins } from '../../stats/log-bins.ts'

/**
 * How far a profile is from the target: `'kl'` Kullback-Leibler divergence over bins that are equally
 * wide on a log axis, `'wasserstein'` by how much requests would have to move on average (µs),
 * `'ks'` the largest gap between the two distribution functions.
 */
export type DivergenceName = 'kl' | 'wasserstein' | 'ks'

export const DIVERGENCES: readonly DivergenceName[] = ['kl', 'wasserstein', 'ks']

/** How far a profile is from the target, given the weights of its requests and of the target's. */
export type WeighedDivergence = (weight: Float64Array, targetWeight: Float64Array) => number

/** Readies a profile, one latency a request, to be compared with one target under many weights. */
export type DivergenceTo = (latencyUs: Float64Array) => WeighedDivergence

/** Latencies of which the bins of all profiles are made. */
export interface DivergenceRange {
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
): DivergenceTo {
  return name === 'kl' ? klTo(target, range) : gapTo(target, name)
}

function klTo(target: Float64Array, range: DivergenceRange): DivergenceTo {
  const [low, high] = positiveRange([range.target, range.base])
  const bins = logBins(low, high, binCount(range.size))
  const numbered = (latencyUs: Float64Array) => Uint8Array.from(latencyUs, (us) => bins.index(us))
  const targetBins = numbered(target)
  return (latencyUs) => {
    const ownBins = numbered(latencyUs)
    return (weight, targetWeight) =>
      kullbackLeibler(
        counted(ownBins, weight, bins.count),
        counted(targetBins, targetWeight, bins.count),
      )
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

function gapTo(target: Float64Array, name: 'wasserstein' | 'ks'): DivergenceTo {
  const targetOrder = ascending(target)
  return (latencyUs) => {
    const order = ascending(latencyUs)
    return (weight, targetWeight) => {
      const gaps = new Gaps()
      const total = sum(weight)
      const targetTotal = sum(targetWeight)
      let i = 0
      let j = 0
      let own = 0
      let theirs = 0
      while (i < order.length || j < targetOrder.length) {
        const ownUs = i < order.length ? latencyUs[order[i]!]! : Number.POSITIVE_INFINITY
        const theirUs = j < targetOrder.length ? target[targetOrder[j]!]! : Number.POSITIVE_INFINITY
        const us = Math.min(ownUs, theirUs)
        gaps.reach(us)
        while (i < order.length && latencyUs[order[i]!]! === us) own += weight[order[i++]!]!
        while (j < targetOrder.length && target[targetOrder[j]!]! === us) {
          theirs += targetWeight[targetOrder[j++]!]!
        }
        gaps.open(Math.abs(own / total - theirs / targetTotal))
      }
      return name === 'ks' ? gaps.widest : gaps.area
    }
  }
}

/** Gap between two distribution functions, from the left to the right. */
class Gaps {
  widest = 0
  area = 0
  #gap = 0
  #from = 0

  /** The gap has been the same up to here. */
  reach(us: number): void {
    if (this.#gap > 0) this.area += this.#gap * (us - this.#from)
    this.#from = us
  }

  open(gap: number): void {
    this.#gap = gap
    if (gap > this.widest) this.widest = gap
  }
}

function ascending(values: Float64Array): Uint32Array {
  return Uint32Array.from(values, (_, i) => i).sort((a, b) => values[a]! - values[b]!)
}

function sum(values: Float64Array): number {
  let total = 0
  for (let i = 0; i < values.length; i++) total += values[i]!
  return total
}
