import type { Categories } from '../../compare/categories/categories.ts'
import { categoriesOf } from '../../compare/categories/categories-of.ts'
import type { Comparison } from '../../compare/comparison.ts'
import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { brownForsythe } from '../../stats/brown-forsythe.ts'
import { compareVariances } from './compare-variances.ts'
import { SpreadComparison, type SpreadOptions } from './spread-comparison.ts'

/**
 * Compares how far response times spread in the two periods: category by category with the
 * Brown-Forsythe test, corrected over the categories compared, and over all with
 * `compareVariances`.
 *
 * A category can become less predictable while its typical request takes as long as before; a
 * shift alone, with the spread as it was, is no difference here.
 *
 * @param source a comparison, or a stage of `categorize` over two periods
 * @param options.large only categories of more requests than this in both periods; default 10
 * @param options.alpha a category has changed when its q is below this; default 0.05
 * @throws OptionError for a number of requests that is negative or no number, or a level outside 0
 *   to 1; FlowdeltaError for an unknown option
 *
 * Source: Sambasivan 2013, §3.3.6 (all categories); Brown and Forsythe 1974 (each).
 *
 * @example
 * const spreads = compareSpreads(comparison)
 * spreads.changed.map(({ category, test }) => `${category} ${test.direction}`)
 */
export function compareSpreads(
  source: Comparison | Categories,
  options: Partial<SpreadOptions> = {},
): SpreadComparison {
  rejectUnknownOptions(options, ['large', 'alpha'])
  const { large = 10, alpha = 0.05 } = options
  if (!(large >= 0)) throw new OptionError('large', large, 'a number of requests, 0 or more')
  if (!(alpha > 0 && alpha < 1)) throw new OptionError('alpha', alpha, 'a level between 0 and 1')
  const categories = categoriesOf(source, 'compareSpreads')
  const compared = Array.from({ length: categories.size }, (_, category) => category).filter(
    (id) => categories.count(id, BEFORE) > large && categories.count(id, AFTER) > large,
  )
  const results = compared.map((category) =>
    brownForsythe(
      categories.responseTimes(category, BEFORE),
      categories.responseTimes(category, AFTER),
    ),
  )
  const q = benjaminiHochberg(results.map(({ p, testable }) => (testable ? p : Number.NaN)))
  const tests = results.map((test, i) => ({
    ...{ test, category: compared[i] as number, q: q[i] as number },
    rejected: (q[i] as number) < alpha,
  }))
  tests.sort((a, b) => a.test.p - b.test.p || a.category - b.category)
  const overall = compareVariances(categories, { large })
  return new SpreadComparison(categories, { large, alpha }, { overall, tests })
}
