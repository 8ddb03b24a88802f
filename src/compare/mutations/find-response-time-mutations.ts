import { readOptions } from '../../core/options.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import {
  RESPONSE_TIME_OPTIONS,
  ResponseTimeMutations,
  type ResponseTimeOptions,
} from './response-time-mutations.ts'
import { testFamily } from './test-family.ts'

/**
 * Finds the categories whose requests take another time than before, though their structure is
 * the same, with the two-sample Kolmogorov-Smirnov test on response times, or another one.
 *
 * Null hypothesis: both periods' response times come from one distribution. A category with
 * n₁ · n₂ / (n₁ + n₂) ≤ 4 has too few requests to test and is never a mutation. Which edges are
 * responsible is worked out by `edges(category)`, on the critical path only.
 *
 * @param options.alpha significance level; default 0.05
 * @param options.alternative `'two-sided'` (default), `'slower'` or `'faster'` (after, that is)
 * @param options.correction `'none'` (default, as in the paper) or `'bh'`: Benjamini-Hochberg over
 *   the testable categories, and over the edges of each selected one
 * @param options.method p-values: `'stephens'` (default; asymptotic with Stephens' correction),
 *   `'exact'`, or `'auto'` (exact while n₁ · n₂ ≤ 10⁷)
 * @param options.test `'ks'` (default, as in the paper), `'anderson-darling'`, `'mann-whitney'`,
 *   `'permutation'`, `'p95'` or `'p99'`; see `SampleTest`
 * @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take
 *
 * Source: Sambasivan 2013, §2.4.2 and §2.6.2.
 *
 * @example
 * findResponseTimeMutations(categories, { alternative: 'slower' }).mutations
 */
export function findResponseTimeMutations(
  categories: Categories,
  given: Partial<ResponseTimeOptions> = {},
): ResponseTimeMutations {
  const options = readOptions(RESPONSE_TIME_OPTIONS, given)
  const pairs = Array.from({ length: categories.size }, (_, category) => ({
    before: categories.responseTimes(category, BEFORE),
    after: categories.responseTimes(category, AFTER),
  }))
  return new ResponseTimeMutations(categories, options, testFamily(pairs, options))
}
