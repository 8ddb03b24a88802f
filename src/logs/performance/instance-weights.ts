import { OptionError } from '../../core/errors.ts'
import { custom, defineOptions, number, type OptionsOf, readOptions } from '../../core/options.ts'
import type { LogSet } from '../features/log-set.ts'
import { METRIC_OPTIONS, type Metric, performanceMetric } from './performance-metric.ts'

/**
 * How much instances count: `'none'` all the same, `'latency'` by ⌊w^latency⌋ of the performance
 * metric (see `latencyWeights`), or numbers of your own, one an instance.
 */
export type LogWeights = 'none' | 'latency' | ArrayLike<number>

/** Option of every stage that weighs instances, and the metric that weights go by. */
export const WEIGHT_OPTIONS = defineOptions({
  ...METRIC_OPTIONS,
  weights: custom<LogWeights>({
    default: 'none',
    sentence: "Weights of instances: 'latency' makes slow ones count more",
    flag: 'weights <name>',
    accepts: (value) => value === 'none' || value === 'latency' || isArrayLike(value),
    expected: "'none', 'latency' or a number for each instance",
  }),
})

function isArrayLike(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'length' in value
}

/** A weight an instance, or undefined where all are the same. NaN for those without performance. */
export function instanceWeights(
  logs: LogSet,
  { weights, metric }: { readonly weights: LogWeights; readonly metric: Metric },
): Float64Array | undefined {
  if (weights === 'none') return undefined
  if (typeof weights !== 'string') return requireWeights(weights, logs.instances.length)
  const { values, unit, name } = performanceMetric(logs, metric)
  if (unit !== 'absolute time') {
    throw new OptionError('weights', weights, `'none' or numbers: ${name} is no latency`)
  }
  return latencyWeights(values)
}

function requireWeights(weights: ArrayLike<number>, instances: number): Float64Array {
  if (weights.length !== instances) {
    throw new OptionError('weights', weights, `'none', 'latency' or ${instances} numbers`)
  }
  const found = Float64Array.from(weights)
  const wrong = found.findIndex((weight) => !(weight > 0 && weight < Number.POSITIVE_INFINITY))
  if (wrong < 0) return found
  throw new OptionError(`weights[${wrong}]`, found[wrong], 'a number above 0')
}

/** Options of `latencyWeights`. */
export const LATENCY_WEIGHT_OPTIONS = defineOptions({
  doublingMs: number({
    default: 150,
    min: Number.MIN_VALUE,
    unit: 'ms',
    sentence: 'Latency that doubles a weight',
  }),
  cap: number({
    default: 'auto',
    or: 'auto',
    min: 1,
    sentence: 'Largest weight; by default the number of latencies',
  }),
})
export type LatencyWeightOptions = OptionsOf<typeof LATENCY_WEIGHT_OPTIONS>

/**
 * Returns weights that make a few very slow instances count: ⌊w^latency⌋ with w = 2^(1/150) per
 * millisecond, at most `cap`. Up to 149 ms count once, 150 ms twice, 1 s 101 times; NaN stays NaN.
 *
 * @param latencyUs in µs
 * @param options see {@link LATENCY_WEIGHT_OPTIONS}
 * @throws OptionError for a latency below 0, or a value that an option does not take
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
  options: Partial<LatencyWeightOptions> = {},
): Float64Array {
  const { doublingMs, cap: given } = readOptions(LATENCY_WEIGHT_OPTIONS, options)
  const cap = given === 'auto' ? Math.max(1, latencyUs.length) : given
  return Float64Array.from(latencyUs, (latency, i) => {
    if (latency < 0) throw new OptionError(`latencyUs[${i}]`, latency, 'microseconds, 0 or more')
    return Math.min(cap, Math.floor(2 ** (latency / 1000 / doublingMs)))
  })
}
