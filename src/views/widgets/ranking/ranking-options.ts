import { count, defineOptions, flag, type OptionsOf, text } from '../../../core/options.ts'
import { STAGE_NAME } from '../define-widget.ts'

/** Options of the ranking browser, and its state. */
export const RANKING_WIDGET_OPTIONS = defineOptions({
  limit: count({ default: 30, unit: 'mutations', sentence: 'Mutations shown, the first ones' }),
  flows: count({
    default: 10,
    min: 0,
    unit: 'mutations',
    sentence: 'Mutations that open into their flows, unless these have more than 400 steps',
  }),
  explanations: count({
    default: 5,
    min: 0,
    unit: 'mutations',
    sentence: 'Mutations that open into their parameters, about 60,000 characters each',
  }),
  opened: count({
    default: null,
    or: null,
    unit: 'rank',
    sentence: 'Rank of the mutation that is open at first; null for none',
  }),
  threshold: flag({
    default: false,
    sentence: 'Whether the slider for the threshold and the level is open at first',
  }),
  traceUrl: text({
    default: null,
    or: null,
    sentence: 'Where traces are shown: jaeger=http://localhost:16686, or an address with {traceId}',
  }),
  name: STAGE_NAME,
})

export type RankingWidgetOptions = OptionsOf<typeof RANKING_WIDGET_OPTIONS>
