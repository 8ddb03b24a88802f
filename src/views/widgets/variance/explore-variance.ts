import type { Comparison } from '../../../compare/comparison.ts'
import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { findVariance } from '../../../explain/variance/find-variance.ts'
import type { VarianceOptions } from '../../../explain/variance/variance-sources.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import { Widget } from '../widget.ts'
import { varianceData } from './variance-data.ts'
import { VariancePicture } from './variance-picture.tsx'

/** How variance is explored; beyond these, the options of `findVariance`. */
export interface ExploreVarianceOptions extends Partial<VarianceOptions> {
  /** The category that is open at first. Default none. */
  readonly category?: number
  /** How many categories, the highest C² first, carry their flow and edges. Default 12. */
  readonly limit?: number
  /** What the comparison is called in the line of code. Default `'comparison'`. */
  readonly name?: string
}

/**
 * Which kinds of request are unpredictable, and why: categories by C² = variance / mean² of response
 * times, beside their distribution; one that is opened shows its flow, each edge of the critical
 * path the redder and thicker the larger its share of the variance; and an edge that is chosen, the
 * edges it varies together with.
 *
 * An edge can be marked as intentional, inadvertent or intrinsic. Marks stand below as the code that
 * makes them, and as a file to keep; what they do to a comparison, `accountForMarks` says.
 *
 * @param comparison from `compare`
 * @param options see {@link ExploreVarianceOptions}
 * @throws OptionError for a limit that is no number or negative, a category that is not among those
 *   ranked, and as `findVariance` does; FlowdeltaError for an unknown option
 *
 * Source: Sambasivan 2013, §5.4.
 *
 * @example
 * exploreVariance(comparison, { period: 'after' }).title // 'Variance'
 */
export function exploreVariance(
  comparison: Comparison,
  options: ExploreVarianceOptions = {},
): Widget {
  const known = ['large', 'period', 'marks', 'category', 'limit', 'name']
  rejectUnknownOptions(options, known)
  const { category, limit = 12, name = 'comparison', ...of } = options
  if (!(limit >= 0)) throw new OptionError('limit', limit, 'a number of categories, 0 or more')
  const variance = findVariance(comparison, of)
  if (category !== undefined && !variance.ranked.some((spread) => spread.category === category)) {
    const large = `more than ${variance.options.large} requests`
    throw new OptionError('category', category, `the number of a category of ${large}`)
  }
  const data = varianceData(variance, { name, limit, category: category ?? null })
  return new Widget({
    ...{ view: 'variance', title: 'Variance', data },
    description:
      'Kinds of request by how unpredictable they are; open one to see which edges of its flow ' +
      'make it so, what these vary together with, and to mark why.',
    picture: () => renderSvg(VariancePicture({ data })),
  })
}
