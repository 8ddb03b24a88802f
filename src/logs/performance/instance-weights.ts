import { max } from 'd3-array'
import { OptionError, requireNumbers } from '../../core/errors.ts'
import { custom, defineOptions, number, type OptionsOf, readOptions } from '../../core/options.ts'
import { readDuration } from '../../core/words.ts'
import type { LogSet } from '../features/log-set.ts'
import { METRIC_OPTIONS, type Metric, performanceMetric } from './performance-metric.ts'

/**
 * Weights of instances: `'none'` weights all the same, `'latency'` weights by ⌊w^latency⌋ of the performance metric
 * with a w chosen from it, `{ doublingMs: 150 }` does so with a given w (see `latencyWeights`), and `{ doubling: 150 }`
 * gives it in the metric's own unit. Also takes a list of weights, one per instance.
 */
export type LogWeights =
  | 'none'
  | 'latency'
  | (Partial<LatencyWeightOptions> & { readonly doubling?: number })
  | ArrayLike<number>

/** Option of every stage that weighs instances, and the metric that weights go by. */
export const WEIGHT_OPTIONS = defineOptions({
  ...METRIC_OPTIONS,
  weights: custom<LogWeights>({
    default: 'none',
    sentence:
      "Weights of instances: 'latency' makes slow ones count more, the slowest a hundred times; latency=150ms sets the latency that doubles the weight",
    flag: 'weights <name>',
    accepts: (value) =>
      value === 'none' || value === 'latency' || (typeof value === 'object' && value !== null),
    expected:
      "'none', 'latency', { doublingMs: 150 } (latency=150ms) or a number for each instance",
    parse: (given) => {
      const [, more] = /^latency=(.+)$/.exec(given) ?? []
      if (more === undefined) return given
      return Number.isNaN(Number(more))
        ? { doublingMs: readDuration(more) / 1000 }
        : { doubling: Number(more) }
    },
  }),
})

/** Returns a weight an instance, or undefined where all are the same. NaN for those without performance. */
export function instanceWeights(
  logs: LogSet,
  { weights, metric }: { readonly weights: LogWeights; readonly metric: Metric },
): Float64Array | undefined {
  if (weights === 'none') return undefined
  if (typeof weights === 'object' && 'length' in weights) {
    const given = Float64Array.from(weights)
    if (given.length !== logs.instances.length) {
      const wanted = `'none', 'latency' or ${logs.instances.length} numbers`
      throw new OptionError('weights', weights, wanted)
    }
    const wrong = given.findIndex((weight) => !(weight > 0 && weight < Number.POSITIVE_INFINITY))
    if (wrong < 0) return given
    throw new OptionError(`weights[${wrong}]`, given[wrong], 'a number above 0')
  }
  const { values, unit, name, quantity } = performanceMetric(logs, metric)
  const { doubling, ...rest } = weights === 'latency' ? {} : weights
  const us = unit === 'absolute time' ? 1 : quantity?.us
  if (rest.doublingMs !== undefined && us === undefined) {
    const wanted = `'latency', latency=150 in whatever ${name} is in, or numbers: it is not known to be a time`
    throw new OptionError('weights', weights, wanted)
  }
  const negative = values.findIndex((value) => value < 0)
  if (negative >= 0) {
    const found = `${name} is ${values[negative]} in ${logs.instances[negative]}`
    const wanted = `'none' or numbers: ${found}, and what is below 0 has no such weight`
    throw new OptionError('weights', weights, wanted)
  }
  const scale = us ?? 1
  return latencyWeights(
    values.map((value) => value * scale),
    doubling === undefined ? rest : { ...rest, doublingMs: (doubling * scale) / 1000 },
  )
}

const LATENCY_WEIGHT_OPTIONS = defineOptions({
  doublingMs: number({
    default: 'auto',
    or: 'auto',
    min: Number.MIN_VALUE,
    unit: 'ms',
    sentence:
      'Latency that doubles a weight; by default 0.15 of the largest, so that this weighs 101, as in the paper',
  }),
  cap: number({
    default: 'auto',
    or: 'auto',
    min: 1,
    sentence: 'Largest weight; by default the number of latencies',
  }),
})
export type LatencyWeightOptions = OptionsOf<typeof LATENCY_WEIGHT_OPTIONS>

/** Share of the largest latency that doubles a weight: of 1 s 150 ms, the paper's choice. */
const DOUBLING_SHARE = 0.15

/** Returns the default increase of a latency (or another number) that doubles its weight. */
export function usualDoubling(latencies: ArrayLike<number>): number {
  return DOUBLING_SHARE * (max(Array.from(latencies).filter(Number.isFinite)) ?? 1)
}

/**
 * Returns weights that make a few very slow instances count: ⌊2^(latency / doubling)⌋, at most `cap`.
 * Where the slowest takes 1 s, up to 149 ms count once, 150 ms twice, 1 s 101 times; NaN stays NaN.
 *
 * @param latencyUs in µs
 * @param options see {@link LATENCY_WEIGHT_OPTIONS}
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §5.2.1; the cap and the share are our own.
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
  requireNumbers({ latencyUs })
  const { doublingMs, cap: given } = readOptions(LATENCY_WEIGHT_OPTIONS, options)
  const doubling = doublingMs === 'auto' ? usualDoubling(latencyUs) || 1 : 1000 * doublingMs
  const cap = given === 'auto' ? Math.max(1, latencyUs.length) : given
  return Float64Array.from(latencyUs, (latency, i) => {
    if (latency < 0) throw new OptionError(`latencyUs[${i}]`, latency, 'microseconds, 0 or more')
    return Math.min(cap, Math.floor(2 ** (latency / doubling)))
  })
}
