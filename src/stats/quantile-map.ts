// Applied to every call of a scenario: indexes with `!`.
import { bisectLeft, bisectRight, cumsum } from 'd3-array'
import { OptionError, rejectUnknownOptions, requireNumbers } from '../core/errors.ts'
import { valueAtWeight } from './quantile.ts'
import { ascendingSample } from './weighted-sample.ts'

/** Maps a value of one sample's distribution to the value of equal rank in another's. */
export type QuantileMap = (value: number) => number

/**
 * Maps values of one sample to the same rank in another: F'⁻¹(F(x)). A sample mapped in this way has the distribution
 * of the other.
 *
 * F(x) is the mid-rank share: values below x and half of those equal to it. F'⁻¹ interpolates
 * between the middles of neighboring values (Hazen's rule, type 5 of Hyndman and Fan); beyond the
 * outermost of them it is the smallest or largest value. Mapping a sample to itself gives every
 * value exactly.
 *
 * Neither sample needs to be sorted; both must be free of NaN. Works on a copy. With weights, each
 * value counts as often as its weight says.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §4.1; Hyndman and Fan 1996, "Sample quantiles in
 * statistical packages", The American Statistician 50(4):361-365.
 *
 * @throws OptionError for an empty sample, for NaN, and for weights that are not one above 0 a value.
 *
 * @example
 * quantileMap([1, 2, 3, 4, 5, 6, 7, 8], [10, 20, 30, 40])(2) // 12.5
 */
export function quantileMap(
  base: ArrayLike<number>,
  target: ArrayLike<number>,
  options: QuantileMapWeights = {},
): QuantileMap {
  requireNumbers({ base, target })
  rejectUnknownOptions(options, ['baseWeights', 'targetWeights'])
  const from = weighted('base', base, options.baseWeights)
  const to = weighted('target', target, options.targetWeights)
  // One division for both: where the sizes are equal, ranks come out exactly.
  const ratio = to.upTo.at(-1)! / from.upTo.at(-1)!
  const weightOf = (count: number) => from.upTo[count - 1] ?? 0
  return (value) => {
    const below = bisectLeft(from.values, value)
    const upTo = from.values[below] === value ? bisectRight(from.values, value, below) : below
    const place = ((weightOf(below) + weightOf(upTo)) / 2) * ratio
    return valueAtWeight(to.values, to.upTo, { place })
  }
}

/** Number of values that each stands for; default 1. */
export interface QuantileMapWeights {
  readonly baseWeights?: ArrayLike<number> | undefined
  readonly targetWeights?: ArrayLike<number> | undefined
}

function weighted(
  name: string,
  sample: ArrayLike<number>,
  given: ArrayLike<number> = new Float64Array(sample.length).fill(1),
) {
  if (sample.length === 0) throw new OptionError(name, 'empty', 'at least one value')
  const { values, weights } = ascendingSample(sample, given)
  if (values.length < sample.length) throw new OptionError(name, 'NaN', 'numbers')
  return { values, upTo: cumsum(weights!) }
}
