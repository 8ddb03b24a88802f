import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, percent } from '../../core/words.ts'
import type { CategoryVariance, EdgeVariance } from '../../explain/variance/category-variance.ts'
import type { PeriodName } from '../../explain/variance/compare-spreads.ts'
import type { VarianceSources } from '../../explain/variance/variance-sources.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { drawnFlow } from './drawn-flow.ts'
import { edgeName } from './edge-name.ts'
import { flowDepths } from './flow-depths.ts'
import { rootName } from './node-names.ts'
import { PALETTE } from './palette.ts'
import { varianceShare } from './variance-share.ts'

/** What {@link plotVarianceWaterfall} can be told. */
export interface VarianceWaterfallOptions {
  /** Which period; by default the one that `variance.category` takes. */
  readonly period?: PeriodName
  /** How many edges to draw, those with the largest shares; one bar more for the others. Default 20. */
  readonly limit?: number
}

const WIDTH = 420
const ROW = 24
const LONGEST = 34
/** Less of the variance than this is rounding. */
const NOTHING = 1e-6

const KINDS = {
  more: { name: 'adds to the variance', color: PALETTE.change },
  less: { name: 'evens it out', color: PALETTE.after },
  rest: { name: 'beside these edges', color: PALETTE.faint },
  whole: { name: 'response time', color: PALETTE.rest },
} as const

/**
 * Draws which edges of the critical path make the response times of a category vary: each edge's
 * share of the variance begins where that of the edge before it ends, in the order of the flow, so
 * that they stack up to the variance of response times, which is 1. Where they cannot, the chart
 * says why, and what is missing is a bar of its own.
 *
 * An edge that is short when requests are long has a negative share and leads back.
 *
 * @param variance a stage of `findVariance`
 * @param category its number
 * @param options see {@link VarianceWaterfallOptions}
 * @throws RangeError for a category that there is not; OptionError for an unknown period, or a limit
 *   that is no number, or below 1; FlowdeltaError for an unknown option
 *
 * Source: Sambasivan 2013, §5.4.2; the drawing is flowdelta's own.
 *
 * @example
 * const variance = findVariance(comparison)
 * plotVarianceWaterfall(variance, variance.ranked[0].category, { period: 'after' })
 */
export function plotVarianceWaterfall(
  variance: VarianceSources,
  category: number,
  options: VarianceWaterfallOptions = {},
): Chart {
  rejectUnknownOptions(options, ['period', 'limit'])
  const { period, limit = 20 } = options
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of edges, 1 or more')
  const found = variance.category(category, period === undefined ? {} : { period })
  const { responseTime } = found
  const name = rootName(found.categories, category, 60)
  const rows = rowsOf(found, limit)
  const drawn = rows.filter(({ kind }) => kind === KINDS.more.name || kind === KINDS.less.name)
  return framedChart(
    {
      title: `Where the variance of ${name} (category ${category}) comes from, ${found.period}`,
      subtitle: [
        ...(rows.length === 0
          ? []
          : [
              `${counted(responseTime.count, 'request')}, ${formatDuration(responseTime.mean)} ± ${formatDuration(responseTime.sd)}: ` +
                'each bar is the share that one edge of the critical path has in that variance.',
            ]),
        found.note,
      ],
      omissions:
        rows.length > 0 && drawn.length < found.edges.length
          ? [
              `Of ${counted(found.edges.length, 'edge')}, the ${drawn.length} with the largest shares; the others together.`,
            ]
          : [],
      width: WIDTH + 320,
    },
    { width: WIDTH, height: Math.max(1, rows.length) * ROW, layer: layers(rows) },
  )
}

interface Row {
  readonly label: string
  readonly kind: string
  readonly from: string
  readonly to: string
  readonly start: number
  readonly end: number
  /** Where the share is written: right of the bar. */
  readonly right: number
  readonly share: string
  readonly varies: string
  readonly path: string
}

function rowsOf(found: CategoryVariance, limit: number): Row[] {
  const known = found.edges.filter(({ share }) => !Number.isNaN(share))
  if (known.length === 0) return []
  const largest = [...known].sort((a, b) => Math.abs(b.share) - Math.abs(a.share)).slice(0, limit)
  const depths = flowDepths(drawnFlow(found.categories.structure(found.category)))
  const depth = ({ edge }: EdgeVariance) => depths[edge] as number
  const drawn = [...largest].sort((a, b) => depth(a) - depth(b) || a.edge - b.edge)
  const others = known.filter((edge) => !drawn.includes(edge))
  const steps = [
    ...drawn.map((edge, i) => ({ ...edgeRow(edge, i), share: edge.share })),
    ...(others.length === 0
      ? []
      : [
          restRow(
            `${counted(others.length, 'other edge')}`,
            others.reduce((sum, { share }) => sum + share, 0),
          ),
        ]),
    ...(Math.abs(found.restShare) < NOTHING
      ? []
      : [restRow('beside the recorded critical path', found.restShare)]),
  ]
  let sum = 0
  const rows = steps.map(({ share, ...row }): Row => {
    const start = sum
    sum += share
    return { ...row, ...placed(start, sum), share: varianceShare(share) }
  })
  const whole = { ...restRow('variance of response times', 1), kind: KINDS.whole.name }
  return [...rows, { ...whole, ...placed(0, 1), share: percent(1) }]
}

function edgeRow(edge: EdgeVariance, i: number) {
  const { share, meanUs, varianceUs2, onCriticalPath } = edge
  const sd = Number.isNaN(varianceUs2) ? '' : ` ± ${formatDuration(Math.sqrt(varianceUs2))}`
  return {
    label: `${i + 1}. ${edgeName(edge, LONGEST)}`,
    kind: share < 0 ? KINDS.less.name : KINDS.more.name,
    ...{ from: tooltipText(edge.from), to: tooltipText(edge.to) },
    varies: `${formatDuration(meanUs)}${sd}`,
    path: `in ${percent(onCriticalPath)} of the requests`,
  }
}

function restRow(label: string, share: number) {
  return { label, kind: KINDS.rest.name, share, from: '–', to: '–', varies: '–', path: '–' }
}

function placed(start: number, end: number) {
  const [from, to] = [rounded(start), rounded(end)]
  return { start: from, end: to, right: Math.max(from, to) }
}

function rounded(share: number): number {
  return Number(share.toFixed(6))
}

function layers(rows: readonly Row[]): SpecPart[] {
  const ends = rows.flatMap(({ start, end }) => [start, end])
  const low = Math.min(0, ...ends)
  const high = Math.max(1, ...ends)
  const kinds = Object.values(KINDS).filter(({ name }) => rows.some(({ kind }) => kind === name))
  const labelExpr = "format(datum.value * 100, 'd') + ' %'"
  const axis = { title: 'share of the variance of response times', tickCount: 6, labelExpr }
  // Room for the shares beside the bars.
  const scale = { domain: [low < 0 ? low - 0.05 : 0, high + (high - low) * 0.14], nice: false }
  const x = { field: 'start', type: 'quantitative', scale, axis }
  const y = {
    ...{ field: 'label', type: 'nominal', sort: null },
    axis: { title: null, labelLimit: 600, domain: false, ticks: false, labelPadding: 6 },
  }
  // From the end of each bar to the beginning of the next.
  const joints = rows.slice(0, -2).map((row, i) => ({
    ...{ end: row.end, label: row.label, next: rows[i + 1]?.label },
  }))
  return [
    {
      data: {
        values: joints.flatMap(({ end, label, next }, i) => [
          { end, label, joint: i },
          { end, label: next, joint: i },
        ]),
      },
      mark: {
        type: 'line',
        color: PALETTE.rest,
        strokeWidth: 1,
        strokeDash: [2, 2],
        tooltip: false,
      },
      encoding: {
        x: { field: 'end', type: 'quantitative', scale, axis },
        ...{ y, detail: { field: 'joint', type: 'nominal' } },
      },
    },
    {
      data: { values: rows },
      mark: { type: 'bar', height: 15 },
      encoding: {
        ...{ x, x2: { field: 'end' }, y },
        color: {
          ...{ field: 'kind', type: 'nominal', legend: { title: null } },
          scale: { domain: kinds.map(({ name }) => name), range: kinds.map(({ color }) => color) },
        },
        tooltip: [
          { field: 'from', type: 'nominal', title: 'from' },
          { field: 'to', type: 'nominal', title: 'to' },
          { field: 'share', type: 'nominal', title: 'share of the variance' },
          { field: 'varies', type: 'nominal', title: 'latency' },
          { field: 'path', type: 'nominal', title: 'on the critical path' },
        ],
      },
    },
    {
      mark: { type: 'rule', color: '#555555' },
      encoding: { x: { datum: 0, type: 'quantitative' } },
    },
    {
      data: { values: rows },
      mark: {
        ...{ type: 'text', fontSize: 11, baseline: 'middle', align: 'left', dx: 5 },
        color: PALETTE.text,
      },
      encoding: { x: { field: 'right', type: 'quantitative' }, y, text: { field: 'share' } },
    },
  ]
}
