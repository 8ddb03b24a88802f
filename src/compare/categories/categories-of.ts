import { FlowdeltaError, show } from '../../core/errors.ts'
import { FlowSet } from '../../flows/flow-set.ts'
import { Categories } from './categories.ts'

/**
 * The categories of a comparison, or these.
 *
 * @param verb what asks for them, for the message
 * @throws FlowdeltaError for anything else, such as flows that were not categorized
 */
export function categoriesOf(
  source: Categories | { readonly categories: Categories },
  verb: string,
): Categories {
  if (source instanceof Categories) return source
  const given: unknown = source
  if (given instanceof FlowSet) {
    throw new FlowdeltaError(
      `${verb} was given flows. Categorize them first: ${verb}(categorize(flows)).`,
    )
  }
  const categories: unknown = (given as { categories?: unknown } | null | undefined)?.categories
  if (categories instanceof Categories) return categories
  throw new FlowdeltaError(
    `${verb} was given ${show(given)}. Give a comparison, or what categorize makes.`,
  )
}
