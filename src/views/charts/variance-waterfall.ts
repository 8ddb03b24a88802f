import { FlowdeltaError } from '../../core/errors.ts'
import {
  defineOptions,
  most,
  type OptionsOf,
  optionalNumber,
  optionalWord,
  readOptions,
} from '../../core/options.ts'
import { formatAmount, type Quantity, TIME } from '../../core/quantity.ts'
import { tooltipText } from '../../core/shown-text.ts'
import { counted } from '../../core/words.ts'
import type { CategoryVariance, EdgeVariance } from '../../explain/variance/category-variance.ts'
import type { PeriodName } from '../../explain/variance/compare-spreads.ts'
import type { VarianceSources } from '../../explain/variance/find-variance.ts'
import { openShareAxis } from './axes.ts'
import { bars } from './builders.ts'
import { colorBy } from './channels.ts'
import { framedChart, PALETTE } from './chart-frame.ts'
import { edgeName, largestInFlowOrder, varianceShare } from './flow-order.ts'
import { rootName } from './node-names.ts'

export const VARIANCE_WATERFALL_CHART_OPTIONS = defineOptions({
  category: optionalNumber('Category; by default the least predictable one'),
  period: optionalWord(
    ['before', 'after'],
    'Period; by default the one in which the category is less predictable',
  ),
  limit: most(20, 'edges', 'Most edges drawn, largest share first; the others share one bar'),
})

/** Less of the variance than this is rounding. */
const MIN_SHARE = 1e-6

const LOOKS = [
  { name: 'adds to the variance', color: PALETTE.change },
  { name: 'evens it out', color: PALETTE.after },
  { name: 'beside these edges', color: PALETTE.faint },
  { name: 'response time', color: PALETTE.rest },
]

/**
 * Draws how edges of the critical path stack up to a category's variance; one that is short when
 * requests are long counts negative. Source: Sambasivan 2013, §5.4.2; the drawing is our own.
 */
export function varianceWaterfallChart(
  variance: VarianceSources,
  given?: Partial<OptionsOf<typeof VARIANCE_WATERFALL_CHART_OPTIONS>>,
) {
  const options = readOptions(VARIANCE_WATERFALL_CHART_OPTIONS, given)
  const found = varianceOf(variance, options)
  const { responseTime, category, categories } = found
  const known = found.edges.filter(({ share }) => !Number.isNaN(share))
  const drawn = largestInFlowOrder(found, known, options.limit)
  const rows = known.length === 0 ? [] : rowsOf(found, known, drawn)
  const ends = rows.flatMap(({ start, end }) => [start, end])
  const [low, high] = [Math.min(0, ...ends), Math.max(1, ...ends)]
  const room = (high - low) * 0.14
  const of = categories.flows.quantity
  const sd = `${formatAmount(responseTime.mean, of)} ± ${formatAmount(responseTime.sd, of)}`
  return framedChart(
    {
      title: `Where the variance of ${rootName(categories, category, 60)} (category ${category}) comes from, ${found.period}`,
      subtitle: [
        ...(rows.length === 0
          ? []
          : [
              `${counted(responseTime.count, 'request')}, ${sd}. Each bar is one edge’s share of that variance.`,
            ]),
        found.note,
      ],
      omissions: [
        rows.length > 0 &&
          drawn.length < found.edges.length &&
          `Shows the ${drawn.length} of ${counted(found.edges.length, 'edge')} with the largest shares, and the others together.`,
      ],
      width: 740,
    },
    bars({
      rows,
      axis: openShareAxis(
        [low < 0 ? low - room : 0, high + room],
        `share of the variance of ${of === TIME ? 'response times' : of.name}`,
      ),
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

export function varianceOf(
  variance: VarianceSources,
  { category, period }: { readonly category: number | null; readonly period: PeriodName | null },
): CategoryVariance {
  const chosen = category ?? variance.ranked[0]?.category
  if (chosen === undefined) {
    throw new FlowdeltaError(
      'No category has enough requests to look at. Give findVariance a smaller large.',
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
      : [restStep('beside the recorded critical path', found.restShare)]),
  ]
  let sum = 0
  const rows = steps.map(({ share, ...step }) => {
    const start = sum
    sum += share
    return { ...step, start: rounded(start), end: rounded(sum), share: varianceShare(share) }
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
    from: tooltipText(edge.from),
    to: tooltipText(edge.to),
    varies: `${formatAmount(meanUs, of)}${sd}`,
    path: `in ${varianceShare(onCriticalPath)} of the requests`,
  }
}

function restStep(label: string, share: number) {
  const none = '–'
  return {
    label,
    kind: 'beside these edges',
    share,
    from: none,
    to: none,
    varies: none,
    path: none,
  }
}

function rounded(share: number): number {
  return Number(share.toFixed(6))
}
