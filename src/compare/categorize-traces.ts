import { defineOptions, type OptionsOf, pickOptions, readOptions } from '../core/options.ts'
import { buildFlows } from '../flows/build-flows.ts'
import { FLOW_OPTIONS } from '../flows/flow-set.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import { CATEGORY_OPTIONS, type Categories } from './categories/categories.ts'
import { categorize } from './categories/categorize.ts'
import { FORM_OPTIONS, foldedBy, withHostClasses, withKnowledge } from './comparison-options.ts'

/** Options of all that leads from traces to categories. */
export const CATEGORIZED_BY = defineOptions({
  ...CATEGORY_OPTIONS,
  ...FLOW_OPTIONS,
  ...FORM_OPTIONS,
})

/** Categorizes the requests of one period or of two, by the rule that people taught. */
export function categorizeTraces(
  [before, after]: readonly [before: TraceSet, after?: TraceSet | undefined],
  options: Partial<OptionsOf<typeof CATEGORIZED_BY>> = {},
): Categories {
  const ruled = withKnowledge(readOptions(CATEGORIZED_BY, options))
  const built = buildFlows(
    after === undefined ? before : [before, after],
    pickOptions(FLOW_OPTIONS, ruled),
  )
  const flows = foldedBy(withHostClasses(built, ruled), ruled)
  return categorize(flows, pickOptions(CATEGORY_OPTIONS, ruled))
}
