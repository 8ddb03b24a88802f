import type { CategoryVariance } from '../explain/variance/category-variance.ts'
import type { SpreadComparison } from '../explain/variance/compare-spreads.ts'
import type { CategorySpread, VarianceSources } from '../explain/variance/variance-sources.ts'
import { numbers } from './json-numbers.ts'
import type { PeriodWarning } from './one-period.ts'

/** What there is to print. */
export interface VarianceResults {
  readonly variance: VarianceSources
  /** The spreads of two periods, compared; `null` of one period. */
  readonly spreads: SpreadComparison | null
  readonly warnings: readonly PeriodWarning[]
  readonly limit: number
}

/** Edges listed with one category. */
const MOST_EDGES = 50

/** `flowdelta.variance/1`: highest C² first, each with the edges that have the largest shares. */
export function varianceDocument({ variance, spreads, warnings, limit }: VarianceResults) {
  return {
    schema: 'flowdelta.variance/1',
    ...numbers({ shareBelowOne: variance.shareBelowOne() }),
    ...{ large: variance.options.large, smallCategories: variance.small },
    categories: variance.ranked.slice(0, limit).map((spread) => {
      const entry = categoryEntry(spread, variance.category(spread))
      return spreads === null ? entry : { ...entry, period: spread.period }
    }),
    ...(variance.ranked.length > limit && { truncated: { categories: variance.ranked.length } }),
    ...(spreads !== null && { spreads: spreadsEntry(spreads, limit) }),
    warnings: warnings.map(({ code, message }) => ({ code, message })),
  }
}

function categoryEntry(spread: CategorySpread, { edges, note }: CategoryVariance) {
  const { category, root, requests, meanUs, varianceUs2, c2 } = spread
  return {
    ...{ id: category, root, requests, ...numbers({ meanUs, varianceUs2, c2 }), note },
    edges: edges.slice(0, MOST_EDGES).map((edge) => ({
      ...{ from: edge.from, to: edge.to, occurrence: edge.occurrence },
      ...(edge.fromRoundBefore && { fromRoundBefore: true }),
      ...numbers({ varianceUs2: edge.varianceUs2, varianceShare: edge.share }),
      onCriticalPath: edge.onCriticalPath,
      ...(edge.mark !== null && { mark: edge.mark }),
    })),
    ...(edges.length > MOST_EDGES && { edgesInAll: edges.length }),
  }
}

/** Of two periods: is the variance another, over all categories and in each? */
function spreadsEntry({ overall, tests, categories }: SpreadComparison, limit: number) {
  return {
    overall: { ...numbers({ statistic: overall.statistic, p: overall.p }) },
    categories: tests.slice(0, limit).map(({ category, test, q, rejected }) => ({
      ...{ id: category, root: categories.root(category) },
      ...{ before: test.beforeCount, after: test.afterCount },
      ...numbers({
        beforeDeviationUs: test.beforeDeviation,
        afterDeviationUs: test.afterDeviation,
      }),
      ...numbers({ statistic: test.statistic, p: test.p, q }),
      ...{ direction: test.direction, changed: rejected },
    })),
  }
}
