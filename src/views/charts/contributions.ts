import type { RankedMutation, Ranking } from '../../compare/ranking/rank-mutations.ts'
import { defineOptions, most, type OptionsOf, readOptions } from '../../core/options.ts'
import { signedAmount, TIME } from '../../core/quantity.ts'
import { counted, grouped } from '../../core/words.ts'
import { durationAxisWithRoom } from './axes.ts'
import { bars } from './builders.ts'
import { colorBy, digits } from './channels.ts'
import { framedChart, PALETTE } from './chart-frame.ts'
import { rootName } from './node-names.ts'

export const CONTRIBUTIONS_CHART_OPTIONS = defineOptions({
  limit: most(20, 'mutations', 'Most mutations drawn, best first'),
})

const LOOKS = [
  { name: 'response-time mutation', color: PALETTE.change },
  { name: 'structural mutation', color: PALETTE.after },
]
const MAX_PRECURSORS = 5

/** Draws bars by rank of what each mutation adds. Source: Sambasivan 2013, §2.6.5. */
export function contributionsChart(
  ranking: Ranking,
  given?: Partial<OptionsOf<typeof CONTRIBUTIONS_CHART_OPTIONS>>,
) {
  const { limit } = readOptions(CONTRIBUTIONS_CHART_OPTIONS, given)
  const of = ranking.responseTime.categories.flows.quantity
  const shown = ranking.mutations
    .filter(({ contributionUs }) => Number.isFinite(contributionUs))
    .slice(0, limit)
  const rows = shown.map((mutation) => rowOf(ranking, mutation))
  return framedChart(
    {
      title: `How much each mutation adds to all ${of === TIME ? 'response times' : 'requests'}`,
      subtitle:
        rows.length === 0
          ? ['No category changed in number of requests or in response time.']
          : [
              `Bars to the left of 0 ${of === TIME ? 'save time' : `are less ${of.name}`}. The category is in brackets.`,
            ],
      omissions: omissions(ranking, shown),
      width: 700,
    },
    bars({
      rows,
      axis: durationAxisWithRoom(
        rows.map(({ contributionUs }) => contributionUs),
        { room: 0.2, title: 'contribution to the change', of },
      ),
      to: 'contributionUs',
      text: 'contribution',
      color: colorBy(LOOKS, rows),
      tooltip: {
        rank: ['rank', 'd'],
        root: 'root',
        category: ['category', 'd'],
        kind: 'kind',
        requests: ['requests', ',~r'],
        contribution: 'contribution',
        'precursor categories': 'precursors',
      },
    }),
  )
}

function rowOf({ responseTime: { categories } }: Ranking, mutation: RankedMutation) {
  const { rank, category, kind, requests, contributionUs, precursors } = mutation
  const named = precursors.slice(0, MAX_PRECURSORS).map((each) => String(each.category))
  const more = precursors.length - named.length
  const isUnknown = kind === 'structural' && precursors.length === 0
  return {
    rank,
    label: `${rank}. ${rootName(categories, category, 40)} (${category})`,
    root: rootName(categories, category, 300),
    category,
    kind: kind === 'structural' ? 'structural mutation' : 'response-time mutation',
    requests: digits(requests),
    contributionUs,
    contribution: isUnknown
      ? 'unknown: no precursor found'
      : signedAmount(contributionUs, categories.flows.quantity),
    precursors:
      named.length === 0 ? '–' : `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
  }
}

function omissions(
  { mutations, responseTime }: Ranking,
  shown: readonly RankedMutation[],
): string[] {
  if (shown.length === mutations.length) return []
  const left = mutations.filter((mutation) => !shown.includes(mutation))
  const sumUs = left.reduce((sum, { contributionUs }) => sum + (contributionUs || 0), 0)
  return [
    `Shows the first ${grouped(shown.length)} of ${counted(mutations.length, 'mutation')}; ` +
      `the others add ${signedAmount(sumUs, responseTime.categories.flows.quantity).replace('+', '')} together.`,
  ]
}
