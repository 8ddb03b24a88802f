import { defineOptions, most, type OptionsOf, readOptions } from '../../core/options.ts'
import { tooltipText } from '../../core/shown-text.ts'
import { counted, pValue } from '../../core/words.ts'
import type { CategoryVariance, EdgeVariance } from '../../explain/variance/category-variance.ts'
import type { VarianceSources } from '../../explain/variance/find-variance.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { matrix } from './builders.ts'
import { tooltip } from './channels.ts'
import { framedChart, PALETTE, type SpecPart } from './chart-frame.ts'
import { edgeName, largestInFlowOrder, squaredDuration } from './flow-order.ts'
import { rootName } from './node-names.ts'
import { VARIANCE_WATERFALL_CHART_OPTIONS, varianceOf } from './variance-waterfall.ts'

export const COVARIANCES_CHART_OPTIONS = defineOptions({
  ...VARIANCE_WATERFALL_CHART_OPTIONS,
  limit: most(12, 'edges', 'Most edges drawn, largest share of the variance first'),
})

const CELL = 40
const MAX_NAME_LENGTH = 34
/** Purple to green through white: safe for color-blind readers, and no period's color. */
const DIVERGING = ['#762A83', '#C2A5CF', '#F7F7F7', '#A6DBA0', '#1B7837']
const ALPHA = 0.05

/**
 * Draws correlations between the critical-path edges with the most variance, in brackets where a
 * test over all pairs cannot tell them from 0. Source: Sambasivan 2013, §5.4.2; the drawing is our
 * own.
 */
export function covariancesChart(
  variance: VarianceSources,
  given?: Partial<OptionsOf<typeof COVARIANCES_CHART_OPTIONS>>,
) {
  const options = readOptions(COVARIANCES_CHART_OPTIONS, given)
  const found = varianceOf(variance, options)
  const varying = found.edges.filter(({ varianceUs2 }) => varianceUs2 > 0)
  const drawn = largestInFlowOrder(found, varying, options.limit)
  const labels = drawn.map((edge, i) => `${i + 1}. ${edgeName(edge, MAX_NAME_LENGTH)}`)
  const constant = found.edges.length - varying.length
  return framedChart(
    {
      title: `Which edges of ${rootName(found.categories, found.category, 60)} (category ${found.category}) vary together, ${found.period}`,
      subtitle:
        drawn.length === 0
          ? ['No edge on the critical path varies.']
          : [
              'Correlation of latencies, in the order of the flow. Green: long together; purple: one is long when the other is short.',
              `In brackets: may be chance (q ≥ ${ALPHA}, corrected over these pairs).`,
            ],
      omissions: [
        drawn.length < varying.length &&
          `Shows the ${drawn.length} of ${counted(varying.length, 'varying edge')} with the largest shares.`,
        constant > 0 &&
          drawn.length > 0 &&
          `${counted(constant, 'edge')} on the critical path ${constant === 1 ? 'does' : 'do'} not vary.`,
      ],
      width: drawn.length * CELL + 340,
    },
    matrix({
      rows: cellsOf(found, drawn, labels),
      labels,
      columns: labels.map((_, i) => String(i + 1)),
      cell: CELL,
      color: {
        field: 'correlation',
        type: 'quantitative',
        scale: { domain: [-1, -0.5, 0, 0.5, 1], range: DIVERGING },
        legend: {
          title: 'correlation',
          orient: 'right',
          direction: 'vertical',
          values: [-1, -0.5, 0, 0.5, 1],
          gradientLength: 120,
          format: '.1f',
        },
      },
      tooltip: TOOLTIP,
      over: (x, y) => [
        {
          transform: [{ filter: 'datum.correlation === null' }],
          mark: { type: 'rect', color: PALETTE.band, stroke: 'white' },
          encoding: { x, y, tooltip: tooltip(TOOLTIP) },
        },
        {
          mark: { type: 'text', baseline: 'middle', tooltip: false },
          encoding: { x, y, text: { field: 'text', type: 'nominal' }, color: LETTERS },
        },
      ],
    }),
  )
}

const TOOLTIP = {
  edge: 'edge',
  and: 'otherEdge',
  correlation: 'text',
  covariance: 'covariance',
  'corrected p': 'chance',
  'requests with both': ['requests', ',d'],
} as const

const LETTERS: SpecPart = {
  condition: { test: 'abs(datum.correlation) > 0.7', value: '#FFFFFF' },
  value: PALETTE.text,
}

/** Every two edges, with q over all pairs drawn: the stage's own is over the others of one edge. */
function pairsOf(found: CategoryVariance, edges: readonly EdgeVariance[]) {
  const pairs = edges.flatMap((edge, i) => {
    const { others } = found.covariances(edge.edge)
    return edges.slice(i + 1).flatMap((other, k) => {
      const pair = others.find((each) => each.edge === other.edge)
      if (pair === undefined || Number.isNaN(pair.correlation)) return []
      return [{ ...pair, key: `${i} ${i + 1 + k}` }]
    })
  })
  const q = benjaminiHochberg(pairs.map(({ p }) => p))
  const known = new Map(pairs.map((pair, at) => [pair.key, { ...pair, q: q[at] as number }]))
  return (one: number, other: number) =>
    known.get(`${Math.min(one, other)} ${Math.max(one, other)}`)
}

function cellsOf(
  found: CategoryVariance,
  edges: readonly EdgeVariance[],
  labels: readonly string[],
) {
  const pairOf = pairsOf(found, edges)
  const of = found.categories.flows.quantity
  return edges.flatMap((edge, i) =>
    edges.map((other, j) => {
      const cell = {
        label: labels[i] as string,
        column: String(j + 1),
        edge: tooltipText(edgeName(edge, 140)),
        otherEdge: tooltipText(edgeName(other, 140)),
      }
      const blank = { ...cell, correlation: null, chance: '–' }
      if (i === j) {
        const variance = squaredDuration(edge.varianceUs2, of)
        const own = { covariance: `its own variance: ${variance}`, requests: edge.requests }
        return { ...blank, ...own, text: '' }
      }
      const pair = pairOf(i, j)
      if (pair === undefined) return { ...blank, covariance: 'none', requests: 0, text: '–' }
      const value = hundredths(pair.correlation)
      return {
        ...cell,
        correlation: pair.correlation,
        text: pair.q < ALPHA ? value : `(${value})`,
        covariance: squaredDuration(pair.covarianceUs2, of),
        chance: Number.isNaN(pair.q) ? 'too few requests to test' : pValue(pair.q, 'q'),
        requests: pair.requests,
      }
    }),
  )
}

/** `.83`, `−.12`, `1`: as short as it is read. */
function hundredths(correlation: number): string {
  const text = Math.abs(correlation).toFixed(2).replace(/^0/, '').replace(/\.00$/, '')
  return text === '' ? '0' : `${correlation < 0 ? '−' : ''}${text}`
}
