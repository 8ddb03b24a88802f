import type { CategoryStructure } from '../../compare/categories/category-structure.ts'
import { FlowdeltaError } from '../../core/errors.ts'
import { graphDepths } from '../../core/graph-depths.ts'
import { defineOptions, optionalNumber, optionalWord } from '../../core/options.ts'
import { formatAmount, type Quantity, TIME } from '../../core/quantity.ts'
import { counted, percent, pValue, shortText, tooltipText } from '../../core/words.ts'
import type { CategoryVariance, EdgeVariance } from '../../explain/variance/category-variance.ts'
import type { VarianceSources } from '../../explain/variance/find-variance.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { type PeriodName, periodOfName } from '../../traces/period.ts'
import { CHANGE_SCALE } from '../page/palette.ts'
import { openShareAxis } from './axes.ts'
import { bars, colorBy, matrix, tooltip } from './builders.ts'
import type { Chart } from './chart.ts'
import { defineChart, framedChart, mostDrawn, PALETTE } from './chart-frame.ts'
import { rootName } from './node-names.ts'

function largestInFlowOrder(
  found: CategoryVariance,
  edges: readonly EdgeVariance[],
  limit: number,
): EdgeVariance[] {
  const depths = flowDepths(drawnFlow(found.categories.structure(found.category)))
  const depth = ({ edge }: EdgeVariance) => depths[edge] ?? 0
  return [...edges]
    .sort((a, b) => Math.abs(b.share) - Math.abs(a.share))
    .slice(0, limit)
    .sort((a, b) => depth(a) - depth(b) || a.edge - b.edge)
}

/** Returns the longest way, in edges, from the root to where each edge class begins. */
export function flowDepths(flow: Pick<DrawnFlow, 'labels' | 'from' | 'to' | 'classOf'>): number[] {
  const { labels, from, to, classOf } = flow
  const depth = graphDepths(labels.length, from, to)
  const depths: number[] = []
  from.forEach((node, edge) => {
    const number = classOf[edge] as number
    depths[number] = Math.min(depths[number] ?? Number.POSITIVE_INFINITY, depth[node] as number)
  })
  return depths
}

/** Names an edge on one line without repeating words of both labels: `node-1 disk call → reply`. */
export function edgeName(
  { from, to, fromRoundBefore }: { from: string; to: string; fromRoundBefore?: true },
  longest: number,
): string {
  const round = fromRoundBefore ? ' of the next round' : ''
  return `${shortText(from, longest)} → ${shortText(ownWords(from, to), longest)}${round}`
}

function ownWords(other: string, label: string): string {
  // A cut label is as good as the whole: only a limited part is ever shown.
  const words = label.slice(0, 1000).split(' ')
  const known = other.slice(0, 1000).split(' ')
  let same = 0
  while (same < words.length - 1 && words[same] === known[same]) same++
  return label.slice(words.slice(0, same).reduce((length, word) => length + word.length + 1, 0))
}

export function squaredDuration(us2: number, of: Quantity = TIME): string {
  if (Number.isNaN(us2)) return 'none'
  return `${us2 < 0 ? '−' : ''}(${formatAmount(Math.sqrt(Math.abs(us2)), of)})²`
}

export function varianceShare(share: number): string {
  if (share >= 0) return percent(share)
  return share > -0.005 ? 'under 1 %' : `−${percent(-share)}`
}

type DrawnFlow = ReturnType<typeof drawnFlow>

/**
 * Returns a category's flow as drawn. In folded flows a further node stands for the beginning of the next round: a step
 * from round to round would close a cycle.
 */
function drawnFlow(structure: CategoryStructure) {
  const { labels, from, to, classOf, classFrom, classTo } = structure
  const places = new Map<number, number>()
  const plain = classTo.length - structure.loops
  const loops = Array.from(classTo.subarray(plain), (target, loop) => {
    const place = places.get(target) ?? labels.length + places.size
    places.set(target, place)
    return { from: classFrom[plain + loop] as number, to: place, number: plain + loop }
  })
  const again = [...places.keys()]
  return {
    labels: [...labels, ...again.map((node) => `${labels[node]}, next round`)],
    from: Uint32Array.from([...from, ...loops.map((loop) => loop.from)]),
    to: Uint32Array.from([...to, ...loops.map((loop) => loop.to)]),
    classOf: Uint32Array.from([...classOf, ...loops.map(({ number }) => number)]),
  }
}

const VARIANCE_WATERFALL_CHART_OPTIONS = defineOptions({
  category: optionalNumber('Category; by default the least predictable one'),
  period: optionalWord(
    ['before', 'after'],
    'Period; by default the one in which the category is less predictable',
  ),
  limit: mostDrawn(20, 'edges', 'largest share first; the others share one bar'),
})

/** Share of the variance below which it is a rounding error. */
const MIN_SHARE = 1e-6

const LOOKS = [
  { name: 'adds to the variance', color: PALETTE.change },
  { name: 'evens it out', color: PALETTE.less },
  { name: 'outside these edges', color: PALETTE.faint },
  { name: 'response time', color: PALETTE.rest },
]

/**
 * Draws how edges of the critical path stack up to a category's variance; one that is short when
 * requests are long counts negative. Source: Sambasivan 2013, §5.4.2; the drawing is our own.
 */
export const varianceWaterfallChart = defineChart(
  VARIANCE_WATERFALL_CHART_OPTIONS,
  (variance: VarianceSources, { limit, ...options }) =>
    waterfallChart(waterfallOf(varianceOf(variance, options), limit)),
)

type Waterfall = ReturnType<typeof waterfallOf>

/** Returns the bars and words of a waterfall: plain data, from which pages draw it. */
export function waterfallOf(found: CategoryVariance, limit: number) {
  const { responseTime, category, categories } = found
  const known = found.edges.filter(({ share }) => !Number.isNaN(share))
  const drawn = largestInFlowOrder(found, known, limit)
  const rows = known.length === 0 ? [] : rowsOf(found, known, drawn)
  const of = categories.flows.quantity
  const sd = `${formatAmount(responseTime.mean, of)} ± ${formatAmount(responseTime.sd, of)}`
  return {
    rows,
    share: `share of the variance of ${of === TIME ? 'response times' : of.name}`,
    title: `Where the variance of ${rootName(categories, category, 100)} (category ${category}) comes from, ${found.period}`,
    subtitle: [
      rows.length > 0 &&
        `${counted(Math.round(categories.counted(category, periodOfName(found.period))), 'request')}, ${sd}. Each bar is one edge’s share of that variance.`,
      found.note,
    ],
    omissions:
      rows.length > 0 &&
      drawn.length < found.edges.length &&
      `Shows the ${drawn.length} of ${counted(found.edges.length, 'edge')} with the largest shares, and the others together.`,
  }
}

export function waterfallChart({ rows, share, ...heading }: Waterfall): Chart {
  const ends = rows.flatMap(({ start, end }) => [start, end])
  const [low, high] = [Math.min(0, ...ends), Math.max(1, ...ends)]
  const room = (high - low) * 0.14
  return framedChart(
    { ...heading, width: 740 },
    bars({
      rows,
      axis: openShareAxis([low < 0 ? low - room : 0, high + room], share),
      from: 'start',
      to: 'end',
      text: 'share',
      color: colorBy(LOOKS, rows),
      tooltip: {
        from: 'from',
        to: 'to',
        'share of the variance': 'share',
        latency: 'varies',
        'on the critical path': 'path',
      },
      width: 420,
    }),
  )
}

function varianceOf(
  variance: VarianceSources,
  { category, period }: { readonly category: number | null; readonly period: PeriodName | null },
): CategoryVariance {
  const chosen = category ?? variance.ranked[0]?.category
  if (chosen === undefined) {
    throw new FlowdeltaError(
      'No category has enough requests. Lower the option large of findVariance.',
    )
  }
  return variance.category(chosen, period === null ? {} : { period })
}

function rowsOf(
  found: CategoryVariance,
  known: readonly EdgeVariance[],
  drawn: readonly EdgeVariance[],
) {
  const others = known.filter((edge) => !drawn.includes(edge))
  const otherShare = others.reduce((sum, { share }) => sum + share, 0)
  const steps = [
    ...drawn.map((edge, i) => edgeStep(edge, i, found.categories.flows.quantity)),
    ...(others.length === 0 ? [] : [restStep(counted(others.length, 'other edge'), otherShare)]),
    ...(Math.abs(found.restShare) < MIN_SHARE
      ? []
      : [restStep('outside the recorded critical path', found.restShare)]),
  ]
  let sum = 0
  const rows = steps.map(({ share, ...step }) => {
    const start = sum
    sum += share
    const [from, to] = [start, sum].map((end) => Number(end.toFixed(6)))
    return { ...step, start: from as number, end: to as number, share: varianceShare(share) }
  })
  const whole = { ...restStep('variance of response times', 1), kind: 'response time' }
  return [...rows, { ...whole, start: 0, end: 1, share: '100 %' }]
}

function edgeStep(edge: EdgeVariance, i: number, of: Quantity) {
  const { share, meanUs, varianceUs2, onCriticalPath } = edge
  const sd = Number.isNaN(varianceUs2) ? '' : ` ± ${formatAmount(Math.sqrt(varianceUs2), of)}`
  return {
    label: `${i + 1}. ${edgeName(edge, 34)}`,
    kind: share < 0 ? 'evens it out' : 'adds to the variance',
    share,
    edge: edge.edge,
    from: tooltipText(edge.from),
    to: tooltipText(edge.to),
    varies: `${formatAmount(meanUs, of)}${sd}`,
    path: `in ${varianceShare(onCriticalPath)} of the requests`,
  }
}

function restStep(label: string, share: number) {
  const none = { edge: null, from: '–', to: '–', varies: '–', path: '–' }
  return { label, kind: 'outside these edges', share, ...none }
}

const CELL = 40
const CORRELATIONS = CHANGE_SCALE.slice(1, -1).map(([light]) => light)
const MAX_NAME_LENGTH = 34
const ALPHA = 0.05

/**
 * Draws correlations between the critical-path edges with the most variance, in brackets where a
 * test over all pairs cannot tell them from 0. Source: Sambasivan 2013, §5.4.2; the drawing is our
 * own.
 */
export const covariancesChart = defineChart(
  {
    ...VARIANCE_WATERFALL_CHART_OPTIONS,
    limit: mostDrawn(12, 'edges', 'largest share of the variance first'),
  },
  (variance: VarianceSources, options) => {
    const found = varianceOf(variance, options)
    const varying = found.edges.filter(({ varianceUs2 }) => varianceUs2 > 0)
    const drawn = largestInFlowOrder(found, varying, options.limit)
    const labels = drawn.map((edge, i) => `${i + 1}. ${edgeName(edge, MAX_NAME_LENGTH)}`)
    const constant = found.edges.length - varying.length
    return framedChart(
      {
        title: `Which edges of ${rootName(found.categories, found.category, 100)} (category ${found.category}) vary together, ${found.period}`,
        none: drawn.length === 0 && 'No edge on the critical path varies.',
        subtitle: [
          'Correlation of latencies, in the order of the flow. Orange: both are long together; purple: one is long when the other is short.',
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
          scale: { domain: [-1, -0.5, 0, 0.5, 1], range: CORRELATIONS },
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
            encoding: {
              x,
              y,
              text: { field: 'text', type: 'nominal' },
              color: { value: PALETTE.title },
            },
          },
        ],
      }),
    )
  },
)

const TOOLTIP = {
  edge: 'edge',
  and: 'otherEdge',
  correlation: 'text',
  covariance: 'covariance',
  'corrected p': 'chance',
  'requests with both': ['requests', ',d'],
} as const

/** Returns every two edges, with q over all pairs drawn: the stage's own q is over the others of one edge. */
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

function hundredths(correlation: number): string {
  const text = Math.abs(correlation).toFixed(2).replace(/^0/, '').replace(/\.00$/, '')
  return text === '' ? '0' : `${correlation < 0 ? '−' : ''}${text}`
}
