import { extent, range, sort, sum } from 'd3-array'
import { type Categories, squaredVariation } from '../../compare/categories/categories.ts'
import type { CategoryStructure } from '../../compare/categories/category-structure.ts'
import { FlowdeltaError, OptionError } from '../../core/errors.ts'
import { graphDepths } from '../../core/graph-depths.ts'
import {
  count,
  defineOptions,
  most,
  type OptionsOf,
  optionalNumber,
  optionalWord,
} from '../../core/options.ts'
import { amountsName, formatAmount, type Quantity, TIME } from '../../core/quantity.ts'
import { counted, grouped, percent, pValue, shortText, tooltipText } from '../../core/words.ts'
import type { CategoryVariance, EdgeVariance } from '../../explain/variance/category-variance.ts'
import type { Anomalies, Anomaly, AnomalyGroup } from '../../explain/variance/find-anomalies.ts'
import { VarianceSources } from '../../explain/variance/find-variance.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { type Ecdf, ecdf } from '../../stats/ecdf.ts'
import { periodOfName } from '../../traces/period.ts'
import { CHANGE_SCALE, SERIES } from '../page/palette.ts'
import { durationAxis, logAxis, openShareAxis, shareAxis } from './axes.ts'
import {
  apart,
  bars,
  type Curve,
  colorBy,
  curves,
  distinctTexts,
  matrix,
  on,
  rowNames,
  ruleAt,
  spread,
  textBeside,
  tooltip,
} from './builders.ts'
import type { Chart } from './chart.ts'
import { defineChart, framedChart, mostDrawn, onlyFirst, PALETTE } from './chart-frame.ts'
import { stepsBetween, thinned } from './ecdf-curves.ts'
import { rootName } from './node-names.ts'

/** Stages of `findVariance`, each by its name. */
export type VariationSets = Readonly<Record<string, VarianceSources>>

const BEFORE_DASH = [5, 3]

type Variation = Pick<Curve, 'name' | 'color' | 'dash'> & { readonly c2: Ecdf }

/** Draws the distribution of C² = variance ÷ mean² over large categories. Source: Sambasivan 2013, §3.2, Figure 3.2. */
export const squaredVariationChart = defineChart(
  {
    large: count({
      default: 10,
      min: 0,
      unit: 'requests',
      sentence: 'Draw only categories with more requests than this in a period',
    }),
  },
  (categories: Categories, { large }) => {
    const ofPeriod = (period: Period) =>
      ecdf(
        range(categories.size)
          .filter((category) => categories.count(category, period) > large)
          .map((category) => squaredVariation(categories.responseTimeMoments(category, period)))
          .filter(Number.isFinite),
      )
    return variationChart(`more than ${counted(large, 'request')}`, [
      { name: 'before', color: PALETTE.before, c2: ofPeriod(BEFORE) },
      { name: 'after', color: PALETTE.after, c2: ofPeriod(AFTER) },
    ])
  },
)

/** Draws {@link squaredVariationChart} for one to six sets of requests, one over the other. */
export const variationSetsChart = defineChart({}, (given: VariationSets | VarianceSources) => {
  const sets = given instanceof VarianceSources ? { '': given } : given
  const names = Object.keys(sets)
  if (names.length === 0 || names.length > SERIES.length) {
    const expected = `one to ${SERIES.length} sets, each by its name`
    throw new OptionError('sets', names.join(', '), expected)
  }
  const labels = distinctTexts(names, 40)
  const variations = Object.values(sets).flatMap((found, set) => {
    const { period } = found.options
    const periods = period === 'both' ? (['before', 'after'] as const) : [period]
    return periods.map((each) => ({
      name: labels[set] === '' ? each : `${labels[set]}, ${each}`,
      color: names.length > 1 ? (SERIES[set] as string) : PALETTE[each],
      ...(each === 'before' && names.length > 1 && { dash: BEFORE_DASH }),
      c2: ecdf(
        found.ranked
          .filter((row) => row.period === each && Number.isFinite(row.c2))
          .map(({ c2 }) => c2),
      ),
    }))
  })
  return variationChart('enough requests', variations)
})

function variationChart(large: string, variations: readonly Variation[]) {
  const positive = variations.flatMap(({ c2 }) => Array.from(c2.x).filter((x) => x > 0))
  const [least = 0.1, most = 1] = extent([0.1, 1, ...positive])
  const x = logAxis(
    [least / 1.5, Math.max(10, most * 1.5)],
    'C² of response times (left of 1: predictable)',
  )
  return framedChart(
    {
      title: 'How predictable response times are',
      subtitle: [
        `C² = variance ÷ mean² of the response times of each category with ${large}.`,
        ...variations.map(said),
      ],
      omissions: zeros(variations),
      width: 560,
    },
    curves({
      x,
      y: shareAxis('share of large categories'),
      curves: variations.map(({ c2, name, ...look }) => ({
        ...look,
        short: name,
        name: c2.count === 0 ? name : `${name}: ${percent(belowOne(c2))} below 1`,
        points: stepsBetween(c2, x.domain),
      })),
      over: [ruleAt(1, { color: PALETTE.softText, strokeDash: [4, 3] })],
      legend: { columns: 2, labelLimit: 270 },
      fields: ['set', 'c2', 'share'],
    }),
  )
}

function belowOne({ x, y }: Ecdf): number {
  return y[x.findLastIndex((c2) => c2 < 1)] ?? 0
}

function said({ name, c2 }: Variation): string {
  return c2.count === 0
    ? `${name}: no category is large enough.`
    : `${name}: C² is below 1 in ${Math.round(belowOne(c2) * c2.count)} of ${counted(c2.count, 'large category', 'large categories')} (${percent(belowOne(c2))}).`
}

function zeros(variations: readonly Variation[]): string | false {
  const found = variations.flatMap(({ name, c2 }) => {
    const zero = c2.x[0] === 0 ? Math.round((c2.y[0] ?? 0) * c2.count) : 0
    return zero > 0 ? [`${counted(zero, 'category', 'categories')} (${name})`] : []
  })
  return found.length > 0 && `C² is 0 in ${found.join(', ')}: drawn at the left edge.`
}

function largestInFlowOrder(
  found: CategoryVariance,
  edges: readonly EdgeVariance[],
  limit: number,
): EdgeVariance[] {
  const depths = flowDepths(drawnFlow(found.categories.structure(found.category)))
  const depth = ({ edge }: EdgeVariance) => depths[edge] ?? 0
  const largest = sort(edges, ({ share }) => -Math.abs(share)).slice(0, limit)
  return sort(largest, depth, ({ edge }) => edge)
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

/** Returns a category's flow as drawn; a node for the next round of a loop, as the step back would close a cycle. */
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

/** Draws how edges add up to a category's variance; some even it out. Source: Sambasivan 2013, §5.4.2. */
export const varianceWaterfallChart = defineChart(
  VARIANCE_WATERFALL_CHART_OPTIONS,
  (variance: VarianceSources, { limit, ...options }) =>
    waterfallChart(waterfallOf(varianceOf(variance, options), limit)),
)

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

export function waterfallChart({ rows, share, ...heading }: ReturnType<typeof waterfallOf>): Chart {
  const [low = 0, high = 1] = extent([0, 1, ...rows.flatMap(({ start, end }) => [start, end])])
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
  { category, period }: Omit<OptionsOf<typeof VARIANCE_WATERFALL_CHART_OPTIONS>, 'limit'>,
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
  const of = found.categories.flows.quantity
  const steps = [
    ...drawn.map((edge, i) => edgeStep(edge, i, of)),
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

/** Draws correlations between edges, in brackets where they may be chance. Source: Sambasivan 2013, §5.4.2. */
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
            mark: { type: 'text', baseline: 'middle', tooltip: false, color: PALETTE.title },
            encoding: { x, y, text: { field: 'text', type: 'nominal' } },
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
  const names = edges.map((edge) => tooltipText(edgeName(edge, 140)))
  return edges.flatMap((edge, i) =>
    edges.map((_, j) => {
      const own = { label: labels[i] as string, column: String(j + 1) }
      const cell = { ...own, edge: names[i] as string, otherEdge: names[j] as string }
      const blank = { ...cell, correlation: null, chance: '–' }
      if (i === j) {
        const variance = squaredDuration(edge.varianceUs2, of)
        const covariance = `its own variance: ${variance}`
        return { ...blank, covariance, requests: edge.requests, text: '' }
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

const WIDTH = 340
const STRIP = 36
const DOT = { usual: 14, unlike: 44, typical: 60 } as const
/** Dots of a strip; of more requests, some at even distances of the ascending times. */
const MAX_USUAL = 150
const MAX_UNLIKE = 60
/** A logarithmic axis when the longest time is more than this many times the shortest. */
const WIDE = 8
const KINDS = [
  { name: 'usual', color: PALETTE.rest },
  { name: 'the median of these', color: PALETTE.text },
  { name: 'far out', color: PALETTE.change },
] as const

/** Returns the requests of a group that are drawn as unlike the others. */
export function unlikeOf({ members }: AnomalyGroup): readonly number[] {
  return thinned(members, MAX_UNLIKE)
}

/** Draws each kind of request with anomalies as a strip of response times: those far out beside the others. */
export const anomaliesChart = defineChart(
  { limit: most(12, 'kinds of request', 'Maximum number of kinds of request drawn') },
  (found: Anomalies, { limit }) => {
    const { categories, groups: all } = found
    const { quantity: of } = categories.flows
    const strips = all.slice(0, limit)
    const amount = (us: number) => formatAmount(us, of)
    const labels = distinctTexts(strips, 44, ({ anomalies: [first] }) => {
      const { category, period } = first as Anomaly
      const when = found.anomalies.some((other) => other.period !== period) ? `, ${period}` : ''
      return `${rootName(categories, category, 30)} (${category}${when})`
    })
    const texts = strips.map(({ anomalies }, i) => {
      const first = anomalies[0] as Anomaly
      const requests = grouped(sum(anomalies, (each) => each.requests))
      const times = `${amount(first.medianUs)}, usually ${amount(first.usualUs)}`
      return { label: labels[i], said: `${requests} of ${grouped(first.of)}: ${times}` }
    })
    const rows = strips.flatMap((strip, i) => dotsOf(found, strip, labels[i] as string))
    const [lowUs = Infinity, highUs = -Infinity] = extent(rows, ({ us }) => us)
    const x = durationAxis({ lowUs, highUs, title: amountsName(of), of }, WIDE)
    const y = rowNames({ grid: true })
    const color = colorBy(KINDS, rows)
    const unlike = sum(found.anomalies, ({ requests }) => requests)
    return framedChart(
      {
        title: 'Requests unlike the others of their kind',
        none: strips.length === 0 && 'No request is far out.',
        subtitle: `Each dot is a request. ${counted(unlike, 'request')} in ${counted(all.length, 'kind')} of request are unlike the others.`,
        omissions: onlyFirst(limit, all.length, 'kind'),
        width: 740,
      },
      {
        width: WIDTH,
        height: strips.length * STRIP,
        data: { values: rows },
        layer: [
          {
            mark: { type: 'point', filled: true, opacity: 0.75 },
            encoding: {
              x: on(x, 'us'),
              y,
              yOffset: apart('offset'),
              color,
              size: { field: 'size', type: 'quantitative', scale: null, legend: null },
              tooltip: tooltip({ trace: 'trace', took: 'took' }),
            },
          },
          {
            data: { values: texts },
            ...textBeside({ field: 'said', x: { value: 'width' }, y }),
          },
        ],
      },
    )
  },
)

function dotsOf({ categories }: Anomalies, strip: AnomalyGroup, label: string) {
  const { ids, responseTimeUs, quantity } = categories.flows
  const dot = (kind: string, size: number) => (request: number, i: number) => {
    const us = responseTimeUs[request] as number
    const trace = tooltipText(ids[request] ?? '')
    const offset = size === DOT.typical ? 0 : spread(i, 1)
    return { label, kind, size, offset, us, trace, took: formatAmount(us, quantity) }
  }
  return [
    ...thinned(strip.usual, MAX_USUAL).map(dot('usual', DOT.usual)),
    ...strip.typical.map(dot('the median of these', DOT.typical)),
    ...unlikeOf(strip).map(dot('far out', DOT.unlike)),
  ]
}
