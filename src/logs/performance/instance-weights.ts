import { max } from 'd3-array'
import { OptionError } from '../../core/errors.ts'
import { custom, defineOptions } from '../../core/options.ts'
import { readDuration } from '../../core/words.ts'
import type { LogSet } from '../features/log-set.ts'
import { METRIC_OPTIONS, type Metric, performanceMetric } from './performance-metric.ts'

/**
 * Weights of instances: `'none'` weights all the same, `'latency'` weights by ⌊2^(latency / doubling)⌋ of the
 * performance metric, with a doubling of 0.15 of the largest, so that this weighs 101, as in the paper.
 * `{ doublingMs: 150 }` gives the latency that doubles a weight in ms, and `{ doubling: 150 }` in the metric's own unit.
 * Also takes a list of weights, one per instance.
 */
export type LogWeights =
  | 'none'
  | 'latency'
  | { readonly doublingMs?: number; readonly doubling?: number }
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
  const refused = (wanted: string) => new OptionError('weights', weights, wanted)
  if (typeof weights === 'object' && 'length' in weights) {
    const { length } = logs.instances
    if (weights.length !== length) throw refused(`'none', 'latency' or ${length} numbers`)
    const given = Float64Array.from(weights)
    const wrong = given.findIndex((weight) => !(weight > 0 && weight < Number.POSITIVE_INFINITY))
    if (wrong < 0) return given
    throw new OptionError(`weights[${wrong}]`, given[wrong], 'a number above 0')
  }
  const { values, unit, name, quantity } = performanceMetric(logs, metric)
  const { doublingMs, doubling = usualDoubling(values) } = weights === 'latency' ? {} : weights
  const us = unit === 'absolute time' ? 1 : quantity?.us
  if (doublingMs !== undefined && us === undefined) {
    throw refused(
      `'latency', latency=150 in whatever ${name} is in, or numbers: it is not known to be a time`,
    )
  }
  const own = doublingMs === undefined ? doubling : (doublingMs * 1000) / (us ?? 1)
  if (!(own > 0)) throw refused('a latency above 0 that doubles the weight')
  const negative = values.findIndex((value) => value < 0)
  if (negative < 0) return latencyWeights(values, own, values.length)
  throw refused(
    `'none' or numbers: ${name} is ${values[negative]} in ${logs.instances[negative]}, and what is below 0 has no such weight`,
  )
}

/** Share of the largest latency that doubles a weight: of 1 s 150 ms, the paper's choice. */
const DOUBLING_SHARE = 0.15

export function usualDoubling(latencies: ArrayLike<number>): number {
  return DOUBLING_SHARE * (max(Array.from(latencies).filter(Number.isFinite)) ?? 1) || 1
}

/**
 * Returns weights that make a few very slow instances count: ⌊2^(latency / doubling)⌋, at most `cap`.
 * Where the slowest takes 1 s, up to 149 ms count once, 150 ms twice, 1 s 101 times; NaN stays NaN.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §5.2.1; the cap and the share are our own.
 */
export function latencyWeights(
  latencies: ArrayLike<number>,
  doubling: number,
  cap: number,
): Float64Array {
  return Float64Array.from(latencies, (latency) =>
    Math.min(cap, Math.floor(2 ** (latency / doubling))),
  )
}
