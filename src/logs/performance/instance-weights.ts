import { OptionError } from '../../core/errors.ts'
import type { LogSet } from '../features/log-set.ts'
import { latencyWeights } from './latency-weights.ts'
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
