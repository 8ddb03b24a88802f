import { OptionError } from '../../core/errors.ts'

export interface LatencyWeightOptions {
  /** By how many milliseconds more a weight doubles. Default 150: w = 2^(1/150) per millisecond. */
  readonly doublingMs?: number
  /** The largest weight. Default: how many latencies there are. */
  readonly cap?: number
}

/**
 * Weights that make few very slow instances count: ⌊w^latency⌋ with w = 2^(1/150) per millisecond,
 * at most `cap`. 0-149 ms count once, 150 ms twice, 1 s 101 times. NaN where a latency is NaN.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §5.2.1; the cap is our own.
 *
 * @throws OptionError for a latency below 0, a `doublingMs` not above 0, or a `cap` below 1
 *
 * @example
 * latencyWeights([0, 149_999, 150_000, 1e6], { cap: 50 }) // Float64Array(4) [ 1, 1, 2, 50 ]
 */
export function latencyWeights(
  latencyUs: ArrayLike<number>,
  { doublingMs = 150, cap = Math.max(1, latencyUs.length) }: LatencyWeightOptions = {},
): Float64Array {
  if (!(doublingMs > 0)) throw new OptionError('doublingMs', doublingMs, 'a number above 0')
  if (!(cap >= 1)) throw new OptionError('cap', cap, 'a number, 1 or more')
  return Float64Array.from(latencyUs, (latency, i) => {
    if (latency < 0) throw new OptionError(`latencyUs[${i}]`, latency, 'microseconds, 0 or more')
    return Math.min(cap, Math.floor(2 ** (latency / 1000 / doublingMs)))
  })
}
