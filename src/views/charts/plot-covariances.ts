import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, pValue } from '../../core/words.ts'
import type { CategoryVariance, EdgeVariance } from '../../explain/variance/category-variance.ts'
import type { PeriodName } from '../../explain/variance/compare-spreads.ts'
import type { EdgeCovariance } from '../../explain/variance/edge-covariances.ts'
import type { VarianceSources } from '../../explain/variance/variance-sources.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { drawnFlow } from './drawn-flow.ts'
import { edgeName } from './edge-name.ts'
import { flowDepths } from './flow-depths.ts'
import { rootName } from './node-names.ts'
import { PALETTE } from './palette.ts'

/** What {@link plotCovariances} can be told. */
export interface CovariancesOptions {
  /** Which period; by default the one that `variance.category` takes. */
  readonly period?: PeriodName
  /** How many edges to draw, those with the largest shares of the variance. Default 12. */
  readonly limit?: number
}

const CELL = 40
const LONGEST = 34

/** Purple to green, through white: told apart by colour-blind readers too, and no period's colour. */
const DIVERGING = ['#762A83', '#C2A5CF', '#F7F7F7', '#A6DBA0', '#1B7837']
/** Beyond this, cells are too dark for dark letters. */
const DARK = 0.7
const ALPHA = 0.05

/**
 * Draws which edges of a category vary together: the correlation of the latencies of every two of
 * the edges on the critical path that have the most of the variance, from −1 (one is long when the
 * other is short) to 1. In brackets where a test, corrected over the pairs drawn, cannot tell it
 * from 0.
 *
 * @param variance a stage of `findVariance`
 * @param category its number
 * @param options see {@link CovariancesOptions}
 * @throws RangeError for a category that there is not; OptionError for an unknown period, or a limit
 *   that is no number, or below 1; FlowdeltaError for an unknown option
 *
 * Source: Sambasivan 2013, §5.4.2; the drawing is flowdelta's own.
 *
 * @example
 * const variance = findVariance(comparison)
 * plotCovariances(variance, variance.ranked[0].category, { limit: 8 })
 */
export function plotCovariances(
  variance: VarianceSources,
  category: number,
  options: CovariancesOptions = {},
): Chart {
  rejectUnknownOptions(options, ['period', 'limit'])
  const { period, limit = 12 } = options
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of edges, 1 or more')
  const found = variance.category(category, period === undefined ? {} : { period })
  const varying = found.edges.filter(({ varianceUs2 }) => varianceUs2 > 0)
  const depths = flowDepths(drawnFlow(found.categories.structure(category)))
  const depth = ({ edge }: EdgeVariance) => depths[edge] as number
  const drawn = [...varying]
    .sort((a, b) => Math.abs(b.share) - Math.abs(a.share))
    .slice(0, limit)
    .sort((a, b) => depth(a) - depth(b) || a.edge - b.edge)
  const cells = cellsOf(found, drawn)
  const constant = found.edges.length - varying.length
  return framedChart(
    {
      title: `Which edges of ${rootName(found.categories, category, 60)} (category ${category}) vary together, ${found.period}`,
      subtitle:
        drawn.length === 0
          ? ['No edge on the critical path varies.']
          : [
              'Correlation of latencies, edge by edge in the order of the flow: green, long together; purple, one long when the other is short. ' +
                `In brackets: may be chance (q ≥ ${ALPHA}, corrected over these pairs).`,
            ],
      omissions: [
        drawn.length < varying.length
          ? `Of ${counted(varying.length, 'varying edge')} on the critical path, the ${drawn.length} with the largest shares of the variance.`
          : '',
        constant > 0 && drawn.length > 0
          ? `${counted(constant, 'edge')} on the critical path ${constant === 1 ? 'does' : 'do'} not vary.`
          : '',
      ].filter((sentence) => sentence !== ''),
      width: drawn.length * CELL + 340,
    },
    {
      width: Math.max(1, drawn.length) * CELL,
      height: Math.max(1, drawn.length) * CELL,
      layer: layers(
        cells,
        drawn.map((edge, i) => `${i + 1}. ${edgeName(edge, LONGEST)}`),
      ),
    },
  )
}

interface Cell {
  readonly label: string
  /** Number of the other edge, as its own row is numbered. */
  readonly other: string
  readonly edge: string
  readonly otherEdge: string
  /** `null` on the diagonal, and where one of them does not vary in the requests they share. */
  readonly correlation: number | null
  readonly text: string
  readonly isDark: boolean
  readonly covariance: string
  readonly chance: string
  readonly requests: number
}

/** Every two edges, with q over all pairs drawn: the stage's own is over the others of one edge. */
function pairsOf(
  found: CategoryVariance,
  edges: readonly EdgeVariance[],
): (one: number, other: number) => Pair | undefined {
  const pairs = edges.flatMap((edge, i) => {
    const { others } = found.covariances(edge.edge)
    return edges.slice(i + 1).flatMap((other, k) => {
      const pair = others.find((each) => each.edge === other.edge)
      return pair === undefined || Number.isNaN(pair.correlation)
        ? []
        : [{ ...pair, key: `${i} ${i + 1 + k}` }]
    })
  })
  const q = benjaminiHochberg(pairs.map(({ p }) => p))
  const known = new Map(pairs.map((pair, at) => [pair.key, { ...pair, q: q[at] as number }]))
  return (one, other) => known.get(`${Math.min(one, other)} ${Math.max(one, other)}`)
}

type Pair = Pick<EdgeCovariance, 'correlation' | 'covarianceUs2' | 'requests' | 'q'>

function cellsOf(found: CategoryVariance, edges: readonly EdgeVariance[]): Cell[] {
  const pairOf = pairsOf(found, edges)
  return edges.flatMap((edge, i) => {
    const row = {
      label: `${i + 1}. ${edgeName(edge, LONGEST)}`,
      edge: tooltipText(edgeName(edge, 140)),
    }
    return edges.map((other, j): Cell => {
      const place = { ...row, other: String(j + 1), otherEdge: tooltipText(edgeName(other, 140)) }
      if (i === j) {
        const sd = formatDuration(Math.sqrt(edge.varianceUs2))
        const own = { covariance: `its own variance: (${sd})²`, chance: '–', isDark: false }
        return { ...place, ...own, correlation: null, text: '', requests: edge.requests }
      }
      const pair = pairOf(i, j)
      if (pair === undefined) {
        const none = { covariance: 'none', chance: '–', isDark: false, text: '–', requests: 0 }
        return { ...place, ...none, correlation: null }
      }
      const value = hundredths(pair.correlation)
      return {
        ...{ ...place, correlation: pair.correlation, requests: pair.requests },
        text: pair.q < ALPHA ? value : `(${value})`,
        isDark: Math.abs(pair.correlation) > DARK,
        covariance: squared(pair.covarianceUs2),
        chance: Number.isNaN(pair.q) ? 'too few requests to test' : pValue(pair.q, 'q'),
      }
    })
  })
}

/** `.83`, `−.12`, `1`: as short as it is read. */
function hundredths(correlation: number): string {
  const text = Math.abs(correlation).toFixed(2).replace(/^0/, '').replace(/\.00$/, '')
  return text === '' ? '0' : `${correlation < 0 ? '−' : ''}${text}`
}

/** A covariance by the duration whose square it is. */
function squared(us2: number): string {
  return `${us2 < 0 ? '−' : ''}(${formatDuration(Math.sqrt(Math.abs(us2)))})²`
}

function layers(cells: readonly Cell[], labels: readonly string[]): SpecPart[] {
  const numbers = labels.map((_, i) => String(i + 1))
  const plain = { title: null, domain: false, ticks: false }
  const x = {
    ...{ field: 'other', type: 'nominal', sort: null, scale: { domain: numbers } },
    axis: { ...plain, orient: 'top', labelAngle: 0 },
  }
  const y = {
    ...{ field: 'label', type: 'nominal', sort: null, scale: { domain: labels } },
    axis: { ...plain, labelLimit: 600, labelPadding: 6 },
  }
  const tooltip = [
    { field: 'edge', type: 'nominal', title: 'edge' },
    { field: 'otherEdge', type: 'nominal', title: 'and' },
    { field: 'text', type: 'nominal', title: 'correlation' },
    { field: 'covariance', type: 'nominal', title: 'covariance' },
    { field: 'chance', type: 'nominal', title: 'corrected p' },
    { field: 'requests', type: 'quantitative', title: 'requests with both', format: ',d' },
  ]
  const known = cells.filter(({ correlation }) => correlation !== null)
  const letters = (isDark: boolean) => ({
    data: { values: cells.filter((cell) => cell.isDark === isDark && cell.text !== '') },
    mark: {
      ...{ type: 'text', fontSize: 11, baseline: 'middle', tooltip: false },
      color: isDark ? '#FFFFFF' : PALETTE.text,
    },
    encoding: { x, y, text: { field: 'text' } },
  })
  return [
    {
      data: { values: cells.filter(({ correlation }) => correlation === null) },
      mark: { type: 'rect', color: PALETTE.band, stroke: 'white' },
      encoding: { x, y, tooltip },
    },
    {
      data: { values: known },
      mark: { type: 'rect', stroke: 'white' },
      encoding: {
        ...{ x, y, tooltip },
        color: {
          ...{ field: 'correlation', type: 'quantitative' },
          scale: { domain: [-1, -0.5, 0, 0.5, 1], range: DIVERGING },
          legend: {
            ...{ title: 'correlation', orient: 'right', direction: 'vertical' },
            ...{ values: [-1, -0.5, 0, 0.5, 1], gradientLength: 120, format: '.1f' },
          },
        },
      },
    },
    letters(false),
    letters(true),
  ]
}
