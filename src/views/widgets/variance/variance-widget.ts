import { Comparison } from '../../../compare/comparison.ts'
import { type EncodedColumns, encodeColumns } from '../../../core/columns.ts'
import { OptionError } from '../../../core/errors.ts'
import { findVariance, type VarianceSources } from '../../../explain/variance/find-variance.ts'
import { defineWidget } from '../define-widget.ts'
import { TABLE_STYLE } from '../table/table-head.tsx'
import { VARIANCE_WIDGET_OPTIONS, type VarianceData, varianceData } from './variance-data.ts'
import { VARIANCE_STYLE, VarianceView } from './variance-view.tsx'

/**
 * Which kinds of request are unpredictable, and why: categories by C², opening into flow, edges and
 * what varies together; below, both periods' distributions of C². Source: Sambasivan 2013, §3.2,
 * Figures 3.2 and 3.3, and §5.4.
 */
export const varianceWidget = defineWidget({
  name: 'variance',
  title: 'Variance',
  description: () =>
    'Kinds of request by how unpredictable they are; open one to see which edges of its flow ' +
    'make it so, what these vary together with, and to mark why.',
  options: VARIANCE_WIDGET_OPTIONS,
  data: (
    stage: Comparison | VarianceSources,
    { large, period, marks, category, limit, name },
  ): EncodedColumns<VarianceData> => {
    const comparison = stage instanceof Comparison ? stage : null
    const variance =
      stage instanceof Comparison ? findVariance(stage, { large, period, marks }) : stage
    if (category !== null && !variance.ranked.some((spread) => spread.category === category)) {
      const expected = `the number of a category of more than ${variance.options.large} requests`
      throw new OptionError('category', category, expected)
    }
    const stageName = name ?? (comparison === null ? 'variance' : 'comparison')
    return encodeColumns(varianceData(variance, comparison, { limit, category, name: stageName }))
  },
  view: VarianceView,
  style: TABLE_STYLE + VARIANCE_STYLE,
  hasCharts: true,
})
