import type { RankedMutation, Ranking } from '../../compare/ranking/ranking.ts'
import { OptionError } from '../../core/errors.ts'
import { counted, grouped, signedDuration } from '../../core/words.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { linearDurationAxis } from './duration-axis.ts'
import { rootName } from './node-names.ts'
import { PALETTE } from './palette.ts'

/** What {@link plotContributions} can be told. */
export interface ContributionsOptions {
  /** How many mutations to draw, best ranked first; the chart says what is left out. Default 20. */
  readonly limit?: number
}

const WIDTH = 420
const BAR = 22
const LOOKS = [
  { kind: 'response-time mutation', color: PALETTE.change },
  { kind: 'structural mutation', color: PALETTE.after },
]

/**
 * Draws what each ranked mutation adds to the sum of all response times, as bars in the order of
 * their rank. Bars to the left save time.
 *
 * @param ranking a stage of `rankMutations`
 * @param options see {@link ContributionsOptions}
 * @throws OptionError for a limit that is no number, or below 1
 *
 * Source: Sambasivan 2013, §2.4.4.
 *
 * @example
 * plotContributions(comparison.ranking, { limit: 10 })
 */
export function plotContributions(
  ranking: Ranking,
  { limit = 20 }: ContributionsOptions = {},
): Chart {
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of mutations, 1 or more')
  const shown = ranking.mutations
    .filter(({ contributionUs }) => Number.isFinite(contributionUs))
    .slice(0, limit)
  const rows = shown.map((mutation) => rowOf(ranking, mutation))
  return framedChart(
    {
      title: 'What each change adds to the sum of all response times',
      subtitle:
        rows.length === 0
          ? ['No category changed, in number of requests or in response time.']
          : [
              'The longest bar explains most; bars to the left of 0 save time. In brackets: the category.',
            ],
      omissions: omissions(ranking, shown),
      width: WIDTH + 160,
    },
    { width: WIDTH, height: Math.max(1, rows.length) * BAR, layer: layers(rows) },
  )
}

interface Row {
  readonly rank: number
  /** Rank, name and category: different for every row. */
  readonly label: string
  readonly root: string
  readonly category: number
  readonly kind: string
  readonly requests: number
  readonly contributionUs: number
  readonly contribution: string
  readonly precursors: string
}

function rowOf({ responseTime: { categories } }: Ranking, mutation: RankedMutation): Row {
  const { rank, category, kind, requests, contributionUs, precursors } = mutation
  const named = precursors.slice(0, 5).map((each) => String(each.category))
  const more = precursors.length > 5 ? ` and ${precursors.length - 5} more` : ''
  return {
    rank,
    label: `${rank}. ${rootName(categories, category, 34)} (${category})`,
    root: rootName(categories, category, 300),
    category,
    kind: kind === 'structural' ? 'structural mutation' : 'response-time mutation',
    requests: Number(requests.toPrecision(6)),
    contributionUs,
    contribution: amount(mutation),
    precursors: named.length === 0 ? '–' : `${named.join(', ')}${more}`,
  }
}

/** The contribution with its sign; a mutation without a precursor has none. */
function amount({ kind, contributionUs, precursors }: RankedMutation): string {
  if (kind === 'structural' && precursors.length === 0) return 'unknown: no precursor found'
  return signedDuration(contributionUs)
}

function omissions({ mutations }: Ranking, shown: readonly RankedMutation[]): string[] {
  if (shown.length === mutations.length) return []
  const left = mutations.filter((mutation) => !shown.includes(mutation))
  const sumUs = left.reduce((sum, { contributionUs }) => sum + (contributionUs || 0), 0)
  return [
    `The first ${grouped(shown.length)} of ${counted(mutations.length, 'mutation')}; ` +
      `the others add ${signedDuration(sumUs).replace('+', '')} together.`,
  ]
}

function layers(rows: readonly Row[]): SpecPart[] {
  const lowUs = rows.reduce((least, { contributionUs }) => Math.min(least, contributionUs), 0)
  const highUs = rows.reduce((most, { contributionUs }) => Math.max(most, contributionUs), 0)
  // Room for the amounts beside the bars.
  const margin = (highUs - lowUs) * 0.18
  const { scale, axis } = linearDurationAxis({
    lowUs: lowUs < 0 ? lowUs - margin : 0,
    highUs: highUs > 0 || lowUs === 0 ? highUs + margin : 0,
    nice: false,
    ticks: 8,
    title: 'contribution to the change, mutation by mutation',
  })
  const looks = LOOKS.filter((look) => rows.some(({ kind }) => kind === look.kind))
  const y = {
    ...{ field: 'label', type: 'nominal', sort: null },
    axis: { title: null, labelLimit: 600, domain: false, ticks: false, labelPadding: 6 },
  }
  const x = { field: 'contributionUs', type: 'quantitative', scale, axis }
  const amounts = (side: 'right' | 'left') => ({
    data: { values: rows.filter((row) => row.contributionUs < 0 === (side === 'left')) },
    mark: {
      ...{ type: 'text', fontSize: 11, baseline: 'middle', color: PALETTE.text },
      ...{ align: side === 'left' ? 'right' : 'left', dx: side === 'left' ? -5 : 5 },
    },
    encoding: { x, y, text: { field: 'contribution' } },
  })
  return [
    {
      data: { values: rows },
      mark: { type: 'bar', height: 15 },
      encoding: {
        ...{ x, y },
        color: {
          ...{ field: 'kind', type: 'nominal', legend: { title: null } },
          scale: { domain: looks.map((look) => look.kind), range: looks.map(({ color }) => color) },
        },
        tooltip: [
          { field: 'rank', type: 'quantitative', title: 'rank', format: 'd' },
          { field: 'root', type: 'nominal', title: 'root' },
          { field: 'category', type: 'quantitative', title: 'category', format: 'd' },
          { field: 'kind', type: 'nominal', title: 'kind' },
          { field: 'requests', type: 'quantitative', title: 'requests', format: ',~r' },
          { field: 'contribution', type: 'nominal', title: 'contribution' },
          { field: 'precursors', type: 'nominal', title: 'precursor categories' },
        ],
      },
    },
    {
      mark: { type: 'rule', color: '#555555' },
      encoding: { x: { datum: 0, type: 'quantitative' } },
    },
    amounts('right'),
    amounts('left'),
  ]
}
