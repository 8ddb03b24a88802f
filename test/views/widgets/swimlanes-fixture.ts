import type { SwimlaneData } from '../../../src/views/widgets/swimlanes/swimlane-model.ts'
import { compareShops } from '../../compare/findings/fixture.ts'

export const comparison = compareShops({}, { payUs: 6000 })

const { categories } = comparison

export const dataOf = (widget: { readonly data: unknown }) => widget.data as SwimlaneData

export const paying = [...Array(categories.size).keys()].find(
  (category) => categories.nodeCount(category) > 6,
) as number
