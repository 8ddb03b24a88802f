// Over every request of every what-if: the loops index with `!`.
import { bisectRight, cumsum, sum } from 'd3-array'
import { InternalError, OptionError } from '../../core/errors.ts'
import { ascendingOrder, sortAscending } from '../../stats/ascending-order.ts'
import type { LogBins } from '../../stats/log-bins.ts'
import { valueAtWeight } from '../../stats/quantile.ts'
import { differ } from '../../stats/weighted-sample.ts'
import { rowsWhere } from '../../traces/group-rows.ts'

/** Number of values that represent a bin of a histogram, evenly spaced within it. */
const VALUES_PER_BIN = 16

/** The response time of each request of a period, µs, and how many requests it stands for. */
export interface WeighedLatencies {
  readonly latencyUs: Float64Array
  readonly weight: Float64Array
}

/** p50, p90 and p99 of a profile, µs. */
export interface ProfileQuantiles {
  readonly p50Us: number
  readonly p90Us: number
  readonly p99Us: number
}

/** Response times of all requests, summed up. */
export interface ProfileSummary extends ProfileQuantiles {
  readonly meanUs: number
}

/** The latencies of many requests, each with a weight: a sample, or a histogram spread out. */
export class LatencyProfile implements WeighedLatencies {
  /** Ascending, µs. */
  readonly latencyUs: Float64Array
  /** Number of requests that each latency stands for; more than 0. */
  readonly weight: Float64Array
  /** Sum of weights. */
  readonly requests: number
  /** Whether latencies stand for others evenly spread around them, as in a histogram. */
  readonly #isSpread: boolean
  #upTo: Float64Array | undefined

  private constructor(latencyUs: Float64Array, weight: Float64Array, isSpread = false) {
    this.latencyUs = latencyUs
    this.weight = weight
    this.requests = weight.reduce((sum, own) => sum + own, 0)
    this.#isSpread = isSpread
  }

  /**
   * Returns the profile of requests, in any order.
   *
   * @param weight how many requests each stands for; 1 each when left out. Requests of weight 0
   *   are left out.
   * @throws OptionError for a weight that is negative or not a number, and when none is above 0.
   *
   * @example
   * LatencyProfile.ofRequests([30, 10, 20]).quantile(0.5) // 20
   */
  static ofRequests(latencyUs: ArrayLike<number>, weight?: ArrayLike<number>): LatencyProfile {
    if (weight === undefined && latencyUs.length === 0) {
      throw new OptionError('latencyUs', 'empty', 'at least one latency')
    }
    const weights = weight ?? new Float64Array(latencyUs.length).fill(1)
    if (weights.length !== latencyUs.length) {
      const expected = `as many as there are latencies, ${latencyUs.length}`
      throw new OptionError('weight', `${weights.length} values`, expected)
    }
    for (let i = 0; i < weights.length; i++) {
      if (weights[i]! >= 0 && weights[i]! < Number.POSITIVE_INFINITY) continue
      throw new OptionError(`weight[${i}]`, weights[i], 'a number from 0 up')
    }
    const rows = rowsWhere(weights.length, (i) => weights[i]! > 0)
    if (rows.length === 0) throw new OptionError('weight', 'all 0', 'some weight above 0')
    const wrong = rows.find((row) => !Number.isFinite(latencyUs[row]))
    if (wrong !== undefined) {
      throw new OptionError('latencyUs', latencyUs[wrong], 'finite numbers')
    }
    const all = new Float64Array(latencyUs)
    if (!differ(weights)) return new LatencyProfile(sortAscending(all), new Float64Array(weights))
    const order = ascendingOrder(all, rows)
    return new LatencyProfile(
      Float64Array.from(order, (i) => latencyUs[i]!),
      Float64Array.from(order, (i) => weights[i]!),
    )
  }

  /**
   * Returns a profile that is known only as a histogram. Within a bin, latencies are taken as evenly spread.
   *
   * @param edgesUs ascending, one more than there are counts
   * @param counts requests in each bin
   * @throws OptionError for edges that do not ascend, counts that are negative or all 0, and numbers of edges and
   *   counts that do not match.
   *
   * @example
   * LatencyProfile.fromHistogram([0, 100, 200], [1, 3]).requests // 4
   */
  static fromHistogram(edgesUs: ArrayLike<number>, counts: ArrayLike<number>): LatencyProfile {
    if (edgesUs.length !== counts.length + 1) {
      const expected = `${counts.length + 1}, one more than there are counts`
      throw new OptionError('edgesUs', `${edgesUs.length} values`, expected)
    }
    const latencyUs: number[] = []
    const weight: number[] = []
    for (let bin = 0; bin < counts.length; bin++) {
      const low = edgesUs[bin]!
      const high = edgesUs[bin + 1]!
      if (!(low < high)) throw new OptionError(`edgesUs[${bin + 1}]`, high, `more than ${low}`)
      for (let i = 0; i < VALUES_PER_BIN; i++) {
        latencyUs.push(low + ((high - low) * (i + 0.5)) / VALUES_PER_BIN)
        weight.push(counts[bin]! / VALUES_PER_BIN)
      }
    }
    const profile = LatencyProfile.ofRequests(latencyUs, weight)
    return new LatencyProfile(profile.latencyUs, profile.weight, true)
  }

  /** Returns the same latencies with other weights, some above 0; those of weight 0 are left out. */
  withWeight(weight: Float64Array): LatencyProfile {
    return new LatencyProfile(
      this.latencyUs.filter((_, i) => weight[i]! > 0),
      weight.filter((own) => own > 0),
    )
  }

  /**
   * Returns the `q`-quantile, µs, each latency as often as its weight says: Hazen's rule (type 5 of Hyndman and Fan),
   * the outermost latencies beyond.
   *
   * @throws OptionError for a q outside 0 to 1.
   */
  quantile(q: number): number {
    if (!(q >= 0 && q <= 1)) throw new OptionError('q', q, 'a share from 0 to 1')
    this.#upTo ??= cumsum(this.weight)
    const place = q * this.requests
    return valueAtWeight(this.latencyUs, this.#upTo, { place, isSpread: this.#isSpread })
  }

  /**
   * Returns the share of requests that take at most that long, 0 to 1.
   *
   * @throws OptionError for an invalid time
   *
   * @example
   * LatencyProfile.ofRequests([30, 10, 20, 40]).shareWithin(20) // 0.5
   */
  shareWithin(us: number): number {
    if (!(us >= 0)) throw new OptionError('us', us, 'µs from 0 up')
    const end = bisectRight(this.latencyUs, us)
    return sum(this.weight.subarray(0, end)) / this.requests
  }

  /** The weighted mean, µs. */
  get meanUs(): number {
    return this.latencyUs.reduce((sum, us, i) => sum + us * this.weight[i]!, 0) / this.requests
  }

  /** Returns the weight in each of `bins`. */
  histogram(bins: LogBins): Float64Array {
    const counts = new Float64Array(bins.count)
    this.latencyUs.forEach((us, i) => {
      const bin = bins.index(us)
      if (bin >= counts.length) throw new InternalError(`bin ${bin} of ${counts.length}`)
      counts[bin]! += this.weight[i]!
    })
    return counts
  }
}

export function profileOf({ latencyUs, weight }: WeighedLatencies): LatencyProfile {
  return LatencyProfile.ofRequests(latencyUs, weight)
}

export function profileQuantiles(profile: LatencyProfile): ProfileQuantiles {
  return {
    p50Us: profile.quantile(0.5),
    p90Us: profile.quantile(0.9),
    p99Us: profile.quantile(0.99),
  }
}

export function profileSummary(profile: LatencyProfile): ProfileSummary {
  return { ...profileQuantiles(profile), meanUs: profile.meanUs }
}
