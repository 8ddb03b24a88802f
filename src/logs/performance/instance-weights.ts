import { OptionError } from '../../core/errors.ts'
import type { LogSet } from '../features/log-set.ts'
import { type Metric, performanceMetric } from './performance-metric.ts'

/**
 * How much instances count: `'none'` all the same, `'latency'` by ⌊w^latency⌋ of the performance
 * metric (see `latencyWeights`), or numbers of your own, one an instance.
 */
export type LogWeights = 'none' | 'latency' | ArrayLike<number>

/** A weight an instance, or undefined where all are the same. NaN for those without performance. */
export function instanceWeights(
  logs: LogSet,
  { weights, metric }: { readonly weights: LogWeights; readonly metric: Metric },
): Float64Array | undefined {
  if (weights === 'none') return undefined
  if (weights !== 'latency') return requireWeights(weights, logs.instances.length)
  const { values, unit, name } = performanceMetric(logs, metric)
  if (unit !== 'absolute time') {
    throw new OptionError('weights', weights, `'none' or numbers: ${name} is no latency`)
  }
  return latencyWeights(values)
}

function requireWeights(weights: unknown, instances: number): Float64Array {
  const { length } = (weights ?? {}) as { length?: unknown }
  if (typeof weights === 'string' || length !== instances) {
    throw new OptionError('weights', weights, `'none', 'latency' or ${instances} numbers`)
  }
  const found = Float64Array.from(weights as ArrayLike<number>)
  const wrong = found.findIndex((weight) => !(weight > 0 && weight < Number.POSITIVE_INFINITY))
  if (wrong < 0) return found
  throw new OptionError(`weights[${wrong}]`, found[wrong], 'a number above 0')
}

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
