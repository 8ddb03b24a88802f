import type { Comparison } from '../../../compare/comparison.ts'
import { OptionError } from '../../../core/errors.ts'
import { traceLink, traceTemplate } from '../../../core/trace-links.ts'
import { counted } from '../../../core/words.ts'
import { defineWidget } from '../define-widget.ts'
import { EXPLANATION_STYLE } from '../explanation/explanation-view.tsx'
import { FLOW_STYLE } from '../flows/flow-view.tsx'
import { TABLE_STYLE } from '../table/table-head.tsx'
import { type RankingData, rankingData } from './ranking-model.ts'
import { RANKING_WIDGET_OPTIONS, type RankingWidgetOptions } from './ranking-options.ts'
import { RANKING_STYLE, RankingView } from './ranking-view.tsx'

/**
 * The ranked mutations to sort and to filter, with response times before and after in each row. A
 * mutation opens into its flows before and after, its low-level parameters, its edges, its
 * precursors and typical requests of both periods. A slider for `SM_P_THRESHOLD`, the level α, the
 * correction and the 1:N rule shows what `comparison.with(…)` gives, computed in the page.
 */
export const rankingWidget = defineWidget({
  name: 'ranking',
  title: 'Ranking browser',
  description: ({ details }: RankingData) =>
    `${counted(details.length, 'mutation')}; ` +
    'open one for its edges, its precursors and typical requests, or drag the threshold.',
  options: RANKING_WIDGET_OPTIONS,
  data,
  view: RankingView,
  style: TABLE_STYLE + FLOW_STYLE + EXPLANATION_STYLE + RANKING_STYLE,
  hasCharts: true,
})

function data(
  comparison: Comparison,
  { limit, flows, explanations, opened, traceUrl, name }: RankingWidgetOptions,
): RankingData {
  const shown = Math.min(limit, comparison.ranking.mutations.length)
  if (opened !== null && opened > shown) {
    throw new OptionError('opened', opened, `a rank from 1 to ${shown}, or null`)
  }
  const template = traceUrl === null ? null : traceTemplate(traceUrl)
  return rankingData(comparison, {
    limit,
    flows,
    explanations,
    name: name ?? 'comparison',
    link: (id) => (template === null ? null : traceLink(template, id)),
  })
}
