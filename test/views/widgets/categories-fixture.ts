import type { Comparison } from '../../../src/comparison/comparison.ts'
import type { StageTable } from '../../../src/core/stage.ts'
import { connectCharts } from '../../../src/views/notebook/connect-charts.ts'
import { tableColumns } from '../../../src/views/widgets/table/table-columns.ts'
import { categoriesData } from '../../../src/views/widgets/variance/variance-widget.tsx'
import { recordedCase } from '../../recorded.ts'

connectCharts()

export const comparison = await recordedCase('mds-prefetch')

export const data = categoriesData(comparison.categories, {
  comparison,
  large: 10,
  name: 'comparison',
})
export const columns = tableColumns(data.table)

/** What code from the widget gives when it is pasted. */
export function pasted(code: string, of: Comparison = comparison): StageTable {
  return new Function('comparison', `return ${code}`)(of)
}
