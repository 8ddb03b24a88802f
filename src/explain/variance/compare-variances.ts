import { range } from 'd3-array'
import { Categories } from '../../compare/categories/categories.ts'
import { rejectUnknownOptions, requireStage } from '../../core/errors.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { type KsResult, ksTwoSample } from '../../stats/ks-two-sample.ts'

/**
 * Tests whether response times within categories vary more, or less, than before: a Kolmogorov-Smirnov test of the
 * variances of large categories, before against after.
 *
 * Null hypothesis: the categories' variances come from one distribution in both periods. If it is not rejected, a
 * slowdown without mutations is not hidden in the categories' variance either.
 *
 * @param options.large categories with more requests than this in both periods count; default 10
 *
 * Source: Sambasivan 2013, §3.3.6.
 *
 * @example
 * compareVariances(categories).p
 */
export function compareVariances(
  categories: Categories,
  options: { readonly large?: number } = {},
): KsResult {
  rejectUnknownOptions(options, ['large'])
  const { large = 10 } = options
  requireStage('compareVariances(categories)', categories, Categories)
  const isLarge = (id: number, period: Period) => categories.count(id, period) > large
  const compared = range(categories.size).filter((id) => isLarge(id, BEFORE) && isLarge(id, AFTER))
  const variances = (period: Period) =>
    compared.map((id) => categories.responseTimeMoments(id, period).variance)
  return ksTwoSample(variances(BEFORE), variances(AFTER))
}
