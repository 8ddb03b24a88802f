import type { Categories } from '../categories/categories.ts'
import { OptionError } from '../errors.ts'
import { AFTER, BEFORE } from '../flows/flow-set.ts'
import { StructuralMutations, type StructuralOptions } from './structural-mutations.ts'

/**
 * Finds the categories that hold many more requests than before (structural mutations) or many
 * fewer (precursors: what the mutations may have been before).
 *
 * @param options.smPThreshold more requests than this must have come or gone; default 50
 * @param options.counts `'raw'` (default) compares counts as they are, which is right when both
 *   periods carried the same load; `'scaled'` scales after to as many requests as before
 * @throws OptionError for a threshold that is no number, or negative
 *
 * Source: Sambasivan 2013, §2.4.3 and §2.6.3.
 *
 * @example
 * findStructuralMutations(categories, { smPThreshold: 10 }).mutations
 */
export function findStructuralMutations(
  categories: Categories,
  { smPThreshold = 50, counts = 'raw' }: Partial<StructuralOptions> = {},
): StructuralMutations {
  if (!(smPThreshold >= 0)) {
    throw new OptionError('smPThreshold', smPThreshold, 'a number of requests, 0 or more')
  }
  if (counts !== 'raw' && counts !== 'scaled') {
    throw new OptionError('counts', counts, "'raw' or 'scaled'")
  }
  const { flows } = categories
  const factor =
    counts === 'scaled' && flows.count(AFTER) > 0 ? flows.count(BEFORE) / flows.count(AFTER) : 1
  const changes = Float64Array.from(
    { length: categories.size },
    (_, category) =>
      categories.count(category, AFTER) * factor - categories.count(category, BEFORE),
  )
  return new StructuralMutations(categories, { smPThreshold, counts }, changes)
}
