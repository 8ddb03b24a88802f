import type { Comparison } from '../../../compare/comparison.ts'
import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { traceLink, traceTemplate } from '../../../core/trace-links.ts'
import { counted } from '../../../core/words.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import { Widget } from '../widget.ts'
import { rankingData } from './ranking-data.ts'
import { RankingPicture } from './ranking-picture.tsx'

/** How the ranking browser is shown. */
export interface RankingBrowserOptions {
  /** Mutations that go into the page, the first of the ranking. Default 30. */
  readonly limit?: number
  /**
   * Mutations that open into the comparison of their flows, the first of the ranking; the others
   * show the line of code for it. Flows of more than 400 steps stay out of the page. Default 10.
   */
  readonly flows?: number
  /**
   * Mutations that open into their low-level parameters, the first of the ranking; about 60,000
   * characters each, before compression. Default 5.
   */
  readonly explanations?: number
  /** Rank of the mutation that is open at first. Default `null`, none. */
  readonly opened?: number | null
  /** What the comparison is called in the line of code. Default `'comparison'`. */
  readonly name?: string
  /**
   * Where typical traces are shown: a template of `traceTemplate`, such as
   * `'jaeger=http://localhost:16686'` or an address with `{traceId}` in it. Default `null`, no links.
   */
  readonly traceUrl?: string | null
}

/**
 * The ranked mutations to sort and to filter, with response times before and after in each row.
 * A mutation opens into the comparison of its flows before and after, its low-level parameters, its
 * edges, its precursors and typical requests of both periods.
 *
 * @param comparison from `compare`
 * @param options see {@link RankingBrowserOptions}
 * @throws OptionError for a limit below 1, flows below 0 or an address that is none, FlowdeltaError for an
 *   unknown option
 *
 * @example
 * exploreRanking(comparison, { limit: 5 }).title // 'Ranking browser'
 */
export function exploreRanking(
  comparison: Comparison,
  options: RankingBrowserOptions = {},
): Widget {
  rejectUnknownOptions(options, ['explanations', 'flows', 'limit', 'name', 'opened', 'traceUrl'])
  const { limit = 30, flows = 10, explanations = 5 } = options
  const { name = 'comparison', opened = null, traceUrl = null } = options
  if (!Number.isInteger(limit) || limit < 1) {
    throw new OptionError('limit', limit, 'a number of mutations, 1 or more')
  }
  for (const [option, count] of Object.entries({ flows, explanations })) {
    if (Number.isInteger(count) && count >= 0) continue
    throw new OptionError(option, count, 'a number of mutations, 0 or more')
  }
  const shown = Math.min(limit, comparison.ranking.mutations.length)
  if (opened !== null && !(Number.isInteger(opened) && opened >= 1 && opened <= shown)) {
    throw new OptionError('opened', opened, `a rank from 1 to ${shown}, or null`)
  }
  const template = traceUrl === null ? null : traceTemplate(traceUrl)
  const link = (id: string) => (template === null ? null : traceLink(template, id))
  const data = rankingData(comparison, { limit, flows, explanations, name, opened, link })
  return new Widget({
    ...{ view: 'ranking', title: 'Ranking browser', data, hasCharts: true },
    description:
      `${counted(data.table.totalRows, 'mutation')}; open one for its edges, its precursors and ` +
      'typical requests.',
    picture: () => renderSvg(RankingPicture({ data })),
  })
}
