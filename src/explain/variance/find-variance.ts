import { type Categories, squaredVariation } from '../../compare/categories/categories.ts'
import { categoriesOf } from '../../compare/categories/categorize.ts'
import type { Comparison } from '../../compare/comparison.ts'
import { readOptions } from '../../core/options.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { nameOfPeriod } from './compare-spreads.ts'
import { MarkedEdges } from './marked-edges.ts'
import { requireVarianceMarks } from './variance-marks.ts'
import {
  type CategorySpread,
  VARIANCE_OPTIONS,
  type VarianceOptions,
  VarianceSources,
} from './variance-sources.ts'

/**
 * Finds which kinds of request are unpredictable, and through `.category(id)` which edges on their
 * critical path are to blame.
 *
 * Requests of one category do the same work, so they should take about the same time. Categories are
 * ranked by the squared coefficient of variation C² = variance / mean² of their response times;
 * above 1 a category counts as unpredictable.
 *
 * @param source a comparison, or a stage of `categorize`, also of a single period
 * @param options.large only categories of more requests than this, period by period; default 10
 * @param options.period `'before'`, `'after'`, or `'both'` (default): each on its own, never pooled,
 *   because a change between the periods is no variance
 * @param options.marks what is known of edges already, see `markVariance`; shown in tables. Default:
 *   none. Those on edges that no category has are in `unused`
 * @throws OptionError for a number of requests that is negative or no number, or an unknown period;
 *   FlowdeltaError for an unknown option or a mark that is none
 *
 * Source: Sambasivan 2013, §5.4.
 *
 * @example
 * const variance = findVariance(comparison, { period: 'after' })
 * variance.ranked.length // 6
 * const worst = variance.category(variance.ranked[0])
 * worst.note // 'Shares add up to 1.'
 * worst.covariances(worst.edges[0].edge).table().print()
 */
export function findVariance(
  source: Comparison | Categories,
  given: Partial<VarianceOptions> = {},
): VarianceSources {
  const options = readOptions(VARIANCE_OPTIONS, given)
  const { large, period, marks } = options
  requireVarianceMarks(marks)
  const categories = categoriesOf(source, 'findVariance')
  const periods = [BEFORE, AFTER].filter(
    (each) => period === 'both' || nameOfPeriod(each) === period,
  )
  const all = Array.from({ length: categories.size }, (_, category) => category)
  const isLarge = (category: number, each: Period) => categories.count(category, each) > large
  const ranked = periods
    .flatMap((each) =>
      all.filter((id) => isLarge(id, each)).map((id) => spreadOf(categories, id, each)),
    )
    .sort(byVariation)
  const small = all.filter((id) => periods.every((each) => !isLarge(id, each))).length
  const marked = new MarkedEdges(categories, marks)
  return new VarianceSources({ categories, options, ranked, small }, marked)
}

function spreadOf(categories: Categories, category: number, period: Period): CategorySpread {
  const moments = categories.responseTimeMoments(category, period)
  return {
    category,
    period: nameOfPeriod(period),
    root: categories.root(category),
    requests: moments.count,
    meanUs: moments.mean,
    varianceUs2: moments.variance,
    c2: squaredVariation(moments),
  }
}

function byVariation(a: CategorySpread, b: CategorySpread): number {
  const unknown = Number(Number.isNaN(a.c2)) - Number(Number.isNaN(b.c2))
  return unknown || b.c2 - a.c2 || b.requests - a.requests || a.category - b.category
}
