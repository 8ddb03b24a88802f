import type { Comparison } from '../../../compare/comparison.ts'
import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { counted } from '../../../core/words.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import { Widget } from '../widget.ts'
import { MEASURES, type Measure, variationData } from './variation-model.ts'
import { VariationPicture } from './variation-picture.tsx'

/** How variation is shown. */
export interface VariationOptions {
  /**
   * Only categories of more requests than this, period by period, are in the distribution. Default
   * 10, as in the thesis.
   */
  readonly large?: number
  /** What the categories lie by, a column of their table: to the right. Default `'before'`. */
  readonly across?: Measure
  /** And upwards. Default `'after'`. */
  readonly up?: Measure
  /** What the comparison is called in the line of code. Default `'comparison'`. */
  readonly name?: string
}

/**
 * How predictable response times are, category by category: the distribution of the squared
 * coefficient of variation C² = variance / mean² in both periods, beside all categories by two
 * measures of choice (requests, mean response time, C²; before or after). Pointing at a category in
 * one shows it in the other; a click pins it and gives the code to go on with, its edges. A frame
 * around several lists them.
 *
 * Categories without a value, or with 0 on a logarithmic axis, stand at "none".
 *
 * Source: Sambasivan 2013, §3.2 and Figures 3.2 and 3.3.
 *
 * @param comparison from `compare`
 * @param options see {@link VariationOptions}
 * @throws OptionError for a number of requests that is negative or no number, or a measure that
 *   there is not; FlowdeltaError for an unknown option
 *
 * @example
 * exploreVariation(comparison, { across: 'beforeC2', up: 'afterC2' }).title // 'Variation'
 */
export function exploreVariation(comparison: Comparison, options: VariationOptions = {}): Widget {
  rejectUnknownOptions(options, ['large', 'across', 'up', 'name'])
  const { large = 10, across = 'before', up = 'after', name = 'comparison' } = options
  if (!(large >= 0)) throw new OptionError('large', large, 'a number of requests, 0 or more')
  requireMeasure('across', across)
  requireMeasure('up', up)
  const data = variationData(comparison, { large, name, axes: [across, up] })
  return new Widget({
    ...{ view: 'variation', title: 'Variation', data },
    description:
      `How predictable ${counted(comparison.categories.size, 'category', 'categories')} are, and how ` +
      'they changed; point at one to see it in both plots, click to pin it.',
    picture: () => renderSvg(VariationPicture({ data })),
  })
}

function requireMeasure(option: string, measure: Measure): void {
  if (!MEASURES.includes(measure)) {
    throw new OptionError(option, measure, `one of ${MEASURES.join(', ')}`)
  }
}
