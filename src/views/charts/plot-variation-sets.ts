import { OptionError } from '../../core/errors.ts'
import { shortText } from '../../core/shown-text.ts'
import { counted, percent } from '../../core/words.ts'
import type { PeriodName } from '../../explain/variance/period-name.ts'
import type { VarianceSources } from '../../explain/variance/variance-sources.ts'
import { type Ecdf, ecdf } from '../../stats/ecdf.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { logTicks } from './duration-axis.ts'
import { PALETTE } from './palette.ts'
import { shareAxis } from './share-axis.ts'
import { thinnedSteps } from './thinned-steps.ts'

/** Stages of `findVariance`, each by what it is to be called. */
export type VariationSets = Readonly<Record<string, VarianceSources>>

const WIDTH = 520
const HEIGHT = 280
const STEPS = 500
const LONGEST = 40
/** A colour each; after the thesis's own two, the others of Okabe and Ito that letters can have. */
const COLOURS = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#8C6BB1', '#7F7F7F'] as const
const DASHES = { before: [5, 3], after: [1, 0] } as const

/** C² of the large categories of one set, in one period. */
interface Curve {
  readonly set: number
  readonly name: string
  readonly period: PeriodName
  readonly values: Ecdf
  readonly belowOne: number
}

/**
 * Draws how predictable several sets of requests are, one over the other: the distribution of the
 * squared coefficient of variation C² = variance / mean² over the categories of each. The share of
 * categories below 1, which count as predictable, stands beside each name.
 *
 * Categories with C² = 0 stand at the left edge. Each set keeps its own `large` and `period`; one
 * with both periods is two curves.
 *
 * @param sets what each is called, and a stage of `findVariance`: one to six
 * @throws OptionError for no set, or more than six
 *
 * Source: Sambasivan 2013, §3.2 and Figures 3.2 and 3.3.
 *
 * @example
 * plotVariationSets({
 *   'as recorded': findVariance(comparison, { period: 'after' }),
 *   'without hosts': findVariance(comparison.with({ omitHosts: true }), { period: 'after' }),
 * })
 */
export function plotVariationSets(sets: VariationSets): Chart {
  const names = Object.keys(sets)
  if (names.length === 0 || names.length > COLOURS.length) {
    throw new OptionError(
      'sets',
      names.join(', '),
      `one to ${COLOURS.length} sets, each by its name`,
    )
  }
  const labels = uniqueLabels(names)
  const curves = Object.values(sets).flatMap((found, set) => curvesOf(found, set, labels))
  const domain = domainOf(curves)
  const constant = curves.reduce((sum, { values: { x, y, count } }) => {
    return sum + (x[0] === 0 ? Math.round((y[0] as number) * count) : 0)
  }, 0)
  return framedChart(
    {
      title: 'How predictable response times are, set by set',
      subtitle: [
        'C² = variance ÷ mean² of response times in each large category. Curves further left and higher are better.',
        ...curves.map(said),
      ],
      omissions: [
        constant > 0
          ? `C² is 0 in ${counted(constant, 'category', 'categories')}: drawn at the left edge.`
          : '',
        curves.some(({ values }) => values.x.length > STEPS)
          ? 'The curves are thinned, by less than half a pixel.'
          : '',
      ].filter((sentence) => sentence !== ''),
      width: WIDTH,
    },
    { width: WIDTH, height: HEIGHT, layer: [...divide(), steps(curves, domain), ...marks(curves)] },
  )
}

/** Shortened names can be the same, and each set needs its own. */
function uniqueLabels(names: readonly string[]): string[] {
  const short = names.map((name) => shortText(name, LONGEST))
  return short.map((name, i) => (short.indexOf(name) === i ? name : `${name} (${i + 1})`))
}

function curvesOf(found: VarianceSources, set: number, labels: readonly string[]): Curve[] {
  const { period } = found.options
  const periods = period === 'both' ? (['before', 'after'] as const) : [period]
  return periods.map((each) => ({
    ...{ set, name: labels[set] as string, period: each },
    values: ecdf(
      found.ranked.flatMap(({ period: of, c2 }) =>
        of === each && Number.isFinite(c2) ? [c2] : [],
      ),
    ),
    belowOne: found.shareBelowOne(each),
  }))
}

function domainOf(curves: readonly Curve[]): readonly [number, number] {
  const positive = curves.flatMap(({ values }) => Array.from(values.x).filter((c2) => c2 > 0))
  const least = positive.reduce((low, c2) => Math.min(low, c2), 0.1)
  const most = positive.reduce((high, c2) => Math.max(high, c2), 1)
  return [least / 1.5, Math.max(10, most * 1.5)]
}

function said({ name, period, values: { count }, belowOne }: Curve): string {
  return count === 0
    ? `${name}, ${period}: no category is large.`
    : `${name}, ${period}: ${percent(belowOne)} of ${counted(count, 'large category', 'large categories')} below 1.`
}

function steps(curves: readonly Curve[], domain: readonly [number, number]): SpecPart {
  const shown = curves.filter(({ values }) => values.count > 0)
  const names = [...new Set(shown.map(({ name }) => name))]
  const periods = [...new Set(shown.map(({ period }) => period))].sort().reverse()
  const axis = { title: 'C² of response times', values: logTicks(...domain), format: ',~r' }
  return {
    data: {
      values: shown.flatMap(({ name, period, values }) =>
        [{ x: domain[0], y: 0 }, ...thinnedSteps(values, STEPS), { x: domain[1], y: 1 }].map(
          ({ x, y }) => ({ name, period, c2: Math.max(x, domain[0]), share: y }),
        ),
      ),
    },
    mark: { type: 'line', interpolate: 'step-after', strokeWidth: 2, tooltip: false },
    encoding: {
      x: {
        ...{ field: 'c2', type: 'quantitative', axis },
        scale: { type: 'log', domain: [...domain], nice: false },
      },
      y: { field: 'share', type: 'quantitative', ...shareAxis('share of large categories') },
      color: {
        ...{
          field: 'name',
          type: 'nominal',
          legend: { title: null, columns: 2, symbolType: 'stroke' },
        },
        scale: {
          domain: names,
          range: names.map((name) => COLOURS[setOf(shown, name)] as string),
        },
      },
      strokeDash: {
        ...{ field: 'period', type: 'nominal' },
        scale: { domain: periods, range: periods.map((period) => [...DASHES[period]]) },
        legend: periods.length > 1 ? { title: null } : null,
      },
    },
  }
}

function setOf(curves: readonly Curve[], name: string): number {
  return curves.find((curve) => curve.name === name)?.set ?? 0
}

/** The line at 1. */
function divide(): SpecPart[] {
  return [
    {
      mark: { type: 'rule', color: PALETTE.softText, strokeDash: [4, 3] },
      encoding: { x: { datum: 1, type: 'quantitative' } },
    },
  ]
}

/** Closer than this, as shares, the numbers beside the line would stand on one another. */
const LINE = 0.055

/** Where each curve crosses the line at 1: a dot, and the share below it beside. */
function marks(curves: readonly Curve[]): SpecPart[] {
  const shown = curves
    .filter(({ values }) => values.count > 0)
    .sort((a, b) => a.belowOne - b.belowOne)
  let free = 0.02
  const rows = shown.map(({ set, name, period, belowOne }) => {
    const textY = Math.max(free, belowOne - LINE * 0.8)
    free = textY + LINE
    const isPaired = shown.some((other) => other.set === set && other.period !== period)
    const text = `${percent(belowOne)}${isPaired ? ` ${period}` : ''}`
    return { c2: 1, share: belowOne, textY, text, name }
  })
  // From the top down, where the line of letters would leave the drawing.
  const over = Math.max(0, free - LINE - 0.97)
  const y = (field: string) => ({ field, type: 'quantitative' })
  const color = { field: 'name', type: 'nominal' }
  const data = { values: rows.map((row) => ({ ...row, textY: row.textY - over })) }
  return [
    {
      data,
      mark: { type: 'point', filled: true, size: 45, opacity: 1 },
      encoding: { x: { field: 'c2', type: 'quantitative' }, y: y('share'), color },
    },
    ...[{ color: 'white', stroke: 'white', strokeWidth: 4 }, {}].map((look) => ({
      data,
      mark: {
        ...{ type: 'text', align: 'left', baseline: 'middle', dx: 8, fontSize: 12 },
        ...{ fontWeight: 'bold', ...look },
      },
      encoding: {
        ...{ x: { field: 'c2', type: 'quantitative' }, y: y('textY') },
        ...{ text: { field: 'text' }, ...('color' in look ? {} : { color }) },
      },
    })),
  ]
}
