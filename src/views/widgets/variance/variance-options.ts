import { count, defineOptions, flag, type OptionsOf, oneOf } from '../../../core/options.ts'
import { VARIANCE_OPTIONS } from '../../../explain/variance/variance-sources.ts'
import { STAGE_NAME } from '../define-widget.ts'
import { MEASURE_NAMES } from './category-points.ts'

/** Options of the explorer of variance, and its state; `large`, `period` and `marks` are those of `findVariance`. */
export const VARIANCE_WIDGET_OPTIONS = defineOptions({
  ...VARIANCE_OPTIONS,
  category: count({
    default: null,
    or: null,
    min: 0,
    sentence: 'Category that is open at first; null for none',
  }),
  limit: count({
    default: 12,
    min: 0,
    unit: 'categories',
    sentence: 'Categories that carry their flow and edges, the highest C² first',
  }),
  categories: flag({
    default: false,
    sentence: 'Whether the plots of all categories are open at first',
  }),
  across: oneOf(MEASURE_NAMES, {
    default: 'before',
    sentence: 'Measure of categories to the right',
  }),
  up: oneOf(MEASURE_NAMES, { default: 'after', sentence: 'Measure of categories upwards' }),
  name: STAGE_NAME,
})

export type VarianceWidgetOptions = OptionsOf<typeof VARIANCE_WIDGET_OPTIONS>
