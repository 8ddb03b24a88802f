import type { Comparison } from '../../../src/comparison/comparison.ts'
import { explore } from '../../../src/views/explore.ts'
import type {
  SwimlaneData,
  SwimlaneOptions,
} from '../../../src/views/widgets/swimlanes/swimlane-model.ts'
import type { Widget } from '../../../src/views/widgets/widget.ts'
import { compareShops } from '../../compare/findings/fixture.ts'

export const comparison = compareShops({}, { payUs: 6000 })

const { categories } = comparison

/** Swimlanes of a category, or of traces. */
export function swimlanes(
  of: Comparison,
  what: number | NonNullable<SwimlaneOptions['traces']>,
  options: Partial<SwimlaneOptions> = {},
): Widget {
  const subject = typeof what === 'number' ? { category: what } : { traces: what }
  return explore(of, 'swimlanes', { ...subject, ...options })
}

export const dataOf = (widget: Widget) => (widget.data as { data: SwimlaneData }).data

export const paying = [...Array(categories.size).keys()].find(
  (category) => categories.nodeCount(category) > 6,
) as number
