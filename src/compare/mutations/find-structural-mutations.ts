import { readOptions } from '../../core/options.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import { countTypes } from './count-types.ts'
import {
  STRUCTURAL_OPTIONS,
  StructuralMutations,
  type StructuralOptions,
} from './structural-mutations.ts'

/**
 * Finds the categories that hold many more requests than before (structural mutations) or many
 * fewer (precursors: what the mutations may have been before).
 *
 * @param options.smPThreshold more requests than this must have come or gone; default 50. `'auto'`
 *   tests each category's share of the requests of its type instead (Fisher's exact test,
 *   corrected): right for short periods, for long ones, and for unequal load. Changes are then
 *   counted from what the category's share before would have given of the type's requests after
 * @param options.counts `'raw'` (default) compares counts as they are, which is right when both
 *   periods carried the same load; `'scaled'` scales after to as many requests as before;
 *   `'weighted'` counts each request as often as its sampling weight says, where one was recorded
 * @param options.alpha level of the tests of `'auto'`; default 0.05
 * @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take
 *
 * Source: Sambasivan 2013, §2.4.3 and §2.6.3.
 *
 * @example
 * findStructuralMutations(categories, { smPThreshold: 10 }).mutations
 */
export function findStructuralMutations(
  categories: Categories,
  given: Partial<StructuralOptions> = {},
): StructuralMutations {
  const options = readOptions(STRUCTURAL_OPTIONS, given)
  const { smPThreshold, counts } = options
  if (smPThreshold === 'auto') {
    return new StructuralMutations(categories, options, changesWithinTypes(categories))
  }
  const count = counts === 'weighted' ? weighted(categories) : categories.count.bind(categories)
  const factor = counts === 'scaled' ? loadRatio(categories) : 1
  const changes = Float64Array.from(
    { length: categories.size },
    (_, category) => count(category, AFTER) * factor - count(category, BEFORE),
  )
  return new StructuralMutations(categories, options, changes)
}

/** Requests after, less as many as there would be if the category had kept its share of its type. */
function changesWithinTypes(categories: Categories): Float64Array {
  return Float64Array.from(countTypes(categories), ({ before, after }, category) => {
    const growth = before > 0 ? after / before : 1
    return categories.count(category, AFTER) - growth * categories.count(category, BEFORE)
  })
}

function loadRatio({ flows }: Categories): number {
  const after = flows.count(AFTER)
  return after > 0 ? flows.count(BEFORE) / after : 1
}

/** Requests counted by their weights; one without counts once. */
function weighted(categories: Categories): (category: number, period: Period) => number {
  const { weight } = categories.flows
  if (weight === undefined) return categories.count.bind(categories)
  return (category, period) =>
    categories.members(category, period).reduce((sum, request) => {
      const own = weight[request] as number
      return sum + (Number.isNaN(own) ? 1 : own)
    }, 0)
}
