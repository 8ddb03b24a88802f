import { counted } from '../../../core/words.ts'
import { defineWidget } from '../define-widget.ts'
import { EXPLANATION_STYLE } from '../explanation/explanation-view.tsx'
import { FLOW_STYLE } from '../flows/flow-view.tsx'
import { TABLE_STYLE } from '../table/table-head.tsx'
import { RANKING_WIDGET_OPTIONS, type RankingData, rankingData } from './ranking-model.ts'
import { RANKING_STYLE, RankingView } from './ranking-view.tsx'

/**
 * The ranked mutations to sort and filter; each opens into flows, parameters, edges, precursors and
 * typical requests. A slider shows what `comparison.with(…)` gives, computed in the page.
 */
export const rankingWidget = defineWidget({
  name: 'ranking',
  title: 'Ranking browser',
  description: ({ details }: RankingData) =>
    `${counted(details.length, 'mutation')}; ` +
    'open one for its edges, its precursors and typical requests, or drag the threshold.',
  options: RANKING_WIDGET_OPTIONS,
  data: rankingData,
  view: RankingView,
  style: TABLE_STYLE + FLOW_STYLE + EXPLANATION_STYLE + RANKING_STYLE,
  hasCharts: true,
})
